// SPDX-License-Identifier: GPL-3.0-or-later
//! CodeWhale's settings: TOML that holds the user's providers and keys, and that one wrong word makes unreadable.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::home::{Home, Outcome};

/// Settings as a user has them.
const SETTINGS: &str = "# My own.\nprovider = \"openai\"   # for now\ntelemetry = false\n\n[providers.openai]\nbase_url = 'http://127.0.0.1:1/v1'\napi_key = \"secret\"\n\n[hooks]\nenabled = true\n\n[[hooks.hooks]]\nevent = \"turn_end\"\ncommand = \"notify-send done\"\n[hooks.hooks.condition]\ntype = \"mode\"\nmode = \"plan\"\n";

fn file(home: &Home) -> PathBuf {
    home.path().join(".codewhale/config.toml")
}

fn with(settings: impl AsRef<[u8]>) -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join(".codewhale")).unwrap();
    fs::write(file(&home), settings).unwrap();
    home
}

fn says_version(home: &Home, version: &str) {
    home.script("bin/codewhale", &format!("[ \"$*\" = --version ] && echo 'codewhale {version} (abc)'"));
}

fn install(home: &Home) -> Outcome {
    home.run(&["install", "codewhale", "--program", env!("CARGO_BIN_EXE_vigilctl")])
}

fn text(home: &Home) -> String {
    fs::read_to_string(file(home)).unwrap()
}

#[track_caller]
fn there_and_back(settings: impl AsRef<[u8]>) -> String {
    let home = with(settings.as_ref());
    says_version(&home, "0.10.2");
    install(&home).assert_says("CodeWhale: installed in ");
    let after = text(&home);
    assert_eq!(after.matches("' hook codewhale ").count(), 10, "{after}");
    home.run(&["doctor", "codewhale"]).assert_says("CodeWhale: complete\n");
    install(&home).assert_says("already installed");
    assert_eq!(text(&home), after, "twice is once");
    home.run(&["uninstall", "codewhale"]).assert_says("removed from");
    assert_eq!(fs::read(file(&home)).unwrap(), settings.as_ref(), "every byte is there again");
    after
}

#[test]
fn every_byte_is_there_again() {
    let after = there_and_back(SETTINGS);
    assert!(after.starts_with(SETTINGS));
    there_and_back(SETTINGS.replace('\n', "\r\n"));
    there_and_back(format!("\u{feff}{SETTINGS}"));
    there_and_back(SETTINGS.trim_end());
    there_and_back("");
    there_and_back("\t# nothing but this");
    there_and_back(format!("{SETTINGS}\n[big]\ntext = \"{}\"\n", "ü".repeat(1_000_000)));
}

#[test]
fn the_entries_are_exactly_these() {
    let home = with("");
    says_version(&home, "0.9.13");
    install(&home).assert_says("installed");
    let program = env!("CARGO_BIN_EXE_vigilctl");
    let entry = |event: &str, more: &str| {
        let command = format!("[ -x '{program}' ] && '{program}' hook codewhale {event} || :");
        format!(
            "[[hooks.hooks]]\nname = \"vigil-{event}\"\nevent = \"{event}\"\ncommand = \"{command}\"\ntimeout_secs = 5{more}"
        )
    };
    let expected = [
        entry("session_start", ""),
        entry("session_end", ""),
        entry("message_submit", "\nbackground = true"),
        entry("turn_end", ""),
        entry("subagent_spawn", ""),
        entry("subagent_complete", ""),
        entry("session_busy", ""),
        entry("waiting_for_user", ""),
        entry("session_idle", ""),
        entry("session_error", ""),
    ];
    assert_eq!(text(&home), expected.join("\n\n"));
    assert!(!text(&home).contains("default_timeout_secs"));
}

/// A name that it does not know keeps it from starting.
#[test]
fn a_version_gets_no_name_that_it_does_not_know() {
    let home = with(SETTINGS);
    // Not found: only what every version knows.
    install(&home).assert_says("installed");
    let core = text(&home);
    assert!(core.contains("hook codewhale turn_end") && !core.contains("session_idle"), "{core}");
    says_version(&home, "0.9.12");
    install(&home).assert_says("already installed");
    says_version(&home, "0.10.2");
    home.run(&["doctor", "codewhale"]).assert_says("CodeWhale: partial\n");
    install(&home).assert_says("brought up to date");
    assert!(text(&home).contains("hook codewhale session_idle"));
    says_version(&home, "0.9.12");
    home.run(&["doctor", "codewhale"])
        .assert_says("There is a hook for session_busy, which version 0.9.12 does not know");
    install(&home).assert_says("brought up to date");
    assert_eq!(text(&home), core);
}

#[test]
fn hooks_that_are_switched_off_are_stale() {
    let home = with(SETTINGS.replace("enabled = true", "enabled = false"));
    install(&home).assert_says("config.toml switches all hooks off; remove it");
    home.run(&["doctor", "codewhale"]).assert_says("CodeWhale: stale\n");
}

#[test]
fn what_the_agent_would_not_read_is_refused_with_its_place() {
    for (settings, says) in [
        ("a = 1\nb = [1,,2]\n", "line 2, column "),
        ("a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        ("a = \"half\n", "line 1, column "),
        ("[hooks]\nhooks = []\n", "line 2, column 9: `hooks.hooks` is not written as tables (`[[hooks.hooks]]`)"),
    ] {
        let home = with(settings);
        install(&home).assert_refuses(says);
        home.run(&["uninstall", "codewhale"]).assert_refuses(says);
        assert_eq!(text(&home), settings);
        assert_eq!(fs::read_dir(home.path().join(".codewhale")).unwrap().count(), 1, "nothing is left beside it");
    }
    let home = with(b"a = \"\xff\"\n");
    install(&home).assert_refuses("is no UTF-8 in line 1");
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    install(&home).assert_says("installed");
    assert!(text(&home).ends_with("5\n"));
    home.run(&["uninstall", "codewhale"]).assert_says("removed");
    assert!(!file(&home).exists());
}

#[test]
fn a_link_stays_a_link() {
    let home = with("");
    let real = home.path().join("dotfiles.toml");
    fs::remove_file(file(&home)).unwrap();
    fs::write(&real, SETTINGS).unwrap();
    symlink(&real, file(&home)).unwrap();
    install(&home).assert_says("installed");
    home.run(&["uninstall", "codewhale"]).assert_says("removed");
    assert_eq!(fs::read_to_string(&real).unwrap(), SETTINGS);
    assert!(file(&home).is_symlink());
}

/// Where it reads its settings from, by its own rules.
#[test]
fn the_agents_own_file_is_meant() {
    let program = env!("CARGO_BIN_EXE_vigilctl");
    let words = ["install", "codewhale", "--program", program];
    for (variable, value, expected) in [
        ("CODEWHALE_HOME", "elsewhere", "elsewhere/config.toml"),
        ("CODEWHALE_CONFIG_PATH", "mine.toml", "mine.toml"),
        ("DEEPSEEK_CONFIG_PATH", "mine.toml", "mine.toml"),
    ] {
        let home = Home::new();
        for value in [home.path().join(value).display().to_string(), format!("~/{value}")] {
            let outcome = home.vigilctl(&words).env(variable, value).output().unwrap();
            assert!(outcome.status.success(), "{outcome:?}");
            assert!(home.path().join(expected).is_file() && !file(&home).exists(), "{variable}");
        }
    }
}

/// Settings of its older name are read only where there are none of the new one: ours must not hide them.
#[test]
fn the_older_folder_is_not_hidden() {
    let home = Home::new();
    let legacy = home.path().join(".deepseek/config.toml");
    fs::create_dir(legacy.parent().unwrap()).unwrap();
    fs::write(&legacy, SETTINGS).unwrap();
    install(&home).assert_says(".deepseek/config.toml");
    assert!(!file(&home).exists());
    home.run(&["uninstall", "codewhale"]).assert_says("removed");
    assert_eq!(fs::read_to_string(&legacy).unwrap(), SETTINGS);
    fs::create_dir(home.path().join(".codewhale")).unwrap();
    fs::write(file(&home), "").unwrap();
    install(&home).assert_says(".codewhale/config.toml");
    assert_eq!(fs::read_to_string(&legacy).unwrap(), SETTINGS);
}
