// SPDX-License-Identifier: GPL-3.0-or-later
//! The Poolside Agent CLI's settings: YAML that holds the user's servers and rules.

use std::fs;
use std::path::PathBuf;

use crate::home::{Home, Outcome};

/// Settings as a user may have them, with every key that its documentation names.
const SETTINGS: &str = "# My own.\nmcp_servers:\n  files: {command: npx, args: [\"-y\", files]}\ntools:\n  - shell\n\nhooks:\n  stop_hook_max_continuations: 3\n  PostToolUse:\n    - name: format   # after each edit\n      matcher: \"edit|write\"\n      command: |\n        make format\n      timeout: 30\n\n# the end\npool:\n  theme: dark\n";

fn file(home: &Home) -> PathBuf {
    home.path().join(".config/poolside/settings.yaml")
}

fn install(home: &Home) -> Outcome {
    home.run(&["install", "pool", "--program", env!("CARGO_BIN_EXE_vigilctl")])
}

fn with(settings: impl AsRef<[u8]>) -> Home {
    let home = Home::new();
    fs::create_dir_all(file(&home).parent().unwrap()).unwrap();
    fs::write(file(&home), settings).unwrap();
    home
}

#[test]
fn every_byte_is_there_again() {
    for settings in [SETTINGS.to_string(), SETTINGS.replace('\n', "\r\n"), format!("\u{feff}{SETTINGS}"), String::new()]
    {
        let home = with(&settings);
        install(&home).assert_says("Poolside Agent CLI: installed in ");
        let after = fs::read_to_string(file(&home)).unwrap();
        assert_eq!(after.matches("' hook pool ").count(), 6, "{after}");
        home.run(&["doctor", "pool"]).assert_says("Poolside Agent CLI: complete\n");
        install(&home).assert_says("already installed");
        assert_eq!(fs::read_to_string(file(&home)).unwrap(), after, "twice is once");
        home.run(&["uninstall", "pool"]).assert_says("removed from");
        assert_eq!(fs::read_to_string(file(&home)).unwrap(), settings, "every byte is there again");
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    install(&home).assert_says("installed");
    home.run(&["uninstall", "pool"]).assert_says("removed");
    assert!(!file(&home).exists());
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    for (settings, says) in [
        ("a: 1\n  b: 2\n", "line 2, column "),
        ("hooks: {}\n", "line 1, column 1: `hooks` is not written as keys of its own lines. Nothing was changed"),
    ] {
        let home = with(settings);
        install(&home).assert_refuses(says);
        home.run(&["uninstall", "pool"]).assert_refuses(says);
        assert_eq!(fs::read_to_string(file(&home)).unwrap(), settings);
    }
}
