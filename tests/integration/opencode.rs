// SPDX-License-Identifier: GPL-3.0-or-later
//! The plugin of OpenCode, Kilo Code and MiMo Code, and the two lines of npm's settings that come with it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::home::{Home, Outcome};

/// Each program, the folder of its settings, and whether npm's settings there are ours to mend.
const PROGRAMS: &[(&str, &str, bool)] =
    &[("opencode", ".config/opencode", true), ("kilo", ".config/kilo", true), ("mimocode", ".config/mimocode", false)];

const PROGRAM: &str = env!("CARGO_BIN_EXE_vigilctl");

fn install(home: &Home, agent: &str) -> Outcome {
    home.run(&["install", agent, "--program", PROGRAM])
}

fn uninstall(home: &Home, agent: &str) -> Outcome {
    home.run(&["uninstall", agent])
}

fn plugin(home: &Home, folder: &str) -> PathBuf {
    home.path().join(folder).join("plugins/vigil.js")
}

#[test]
fn each_program_gets_the_plugin_once_and_loses_it_without_a_trace() {
    for (agent, folder, npm) in PROGRAMS {
        let home = Home::new();
        let npmrc = home.path().join(folder).join(".npmrc");
        uninstall(&home, agent).assert_says("was not installed in");
        install(&home, agent).assert_says("installed in");
        let text = fs::read_to_string(plugin(&home, folder)).unwrap();
        assert!(text.contains(&format!("const program = \"{PROGRAM}\"")), "{agent}");
        assert_eq!(npmrc.exists(), *npm, "{agent}");
        home.run(&["doctor", agent]).assert_says(": complete\n");
        install(&home, agent).assert_says("already installed");
        assert_eq!(fs::read_to_string(plugin(&home, folder)).unwrap(), text, "twice is once");
        uninstall(&home, agent).assert_says("removed from");
        assert!(!plugin(&home, folder).exists() && !npmrc.exists(), "{agent}");
    }
}

#[test]
fn npms_settings_are_theirs_to_the_byte() {
    let large = format!("; {}\nregistry=https://npm.example/\n", "ü".repeat(1_000_000));
    for settings in [
        "",
        "\n",
        "registry=https://npm.example/",
        "\u{feff}; tabs\there\r\n\tsave-exact = true\r\n",
        "//npm.example/:_authToken=${TOKEN}\n",
        "# fetch-retries=3\nfetch-retries-not=4\n",
        large.as_str(),
    ] {
        let home = Home::new();
        let npmrc = home.path().join(".config/opencode/.npmrc");
        fs::create_dir_all(npmrc.parent().unwrap()).unwrap();
        fs::write(&npmrc, settings).unwrap();
        install(&home, "opencode").assert_says("installed");
        let after = fs::read_to_string(&npmrc).unwrap();
        assert!(after.lines().any(|line| line == "fetch-retries=0"), "{settings:.80}");
        install(&home, "opencode").assert_says("already installed");
        assert_eq!(fs::read_to_string(&npmrc).unwrap(), after, "twice is once");
        uninstall(&home, "opencode").assert_says("removed");
        assert_eq!(fs::read_to_string(&npmrc).unwrap(), settings, "every byte is there again");
    }
}

#[test]
fn whoever_has_said_how_often_to_try_keeps_it() {
    let home = Home::new();
    let npmrc = home.path().join(".config/kilo/.npmrc");
    fs::create_dir_all(npmrc.parent().unwrap()).unwrap();
    fs::write(&npmrc, "fetch-retries = 7\n").unwrap();
    install(&home, "kilo").assert_says("installed");
    home.run(&["doctor", "kilo"]).assert_says(": complete\n");
    uninstall(&home, "kilo").assert_says("removed");
    assert_eq!(fs::read_to_string(&npmrc).unwrap(), "fetch-retries = 7\n");
}

#[test]
fn a_plugin_of_somebody_else_is_left_alone() {
    for theirs in ["export const Mine = async () => ({})\n", "// Vigil's plugin, changed by me\n"] {
        let home = Home::new();
        let file = plugin(&home, ".config/opencode");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, theirs).unwrap();
        install(&home, "opencode").assert_refuses("line 1, column 1");
        uninstall(&home, "opencode").assert_says("was not installed");
        assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
        assert!(!home.path().join(".config/opencode/.npmrc").exists(), "nothing was written at all");
    }
}

#[test]
fn a_half_written_or_older_plugin_is_stale_and_mended() {
    let home = Home::new();
    install(&home, "opencode").assert_says("installed");
    let file = plugin(&home, ".config/opencode");
    let whole = fs::read_to_string(&file).unwrap();
    for half in [&whole[..whole.len() / 2], whole.lines().next().unwrap(), &whole.replace('\n', "\r\n")] {
        fs::write(&file, half).unwrap();
        home.run(&["doctor", "opencode"]).assert_says("OpenCode: stale\n");
        install(&home, "opencode").assert_says("brought up to date in ");
        assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    }
}

#[test]
fn links_stay_links() {
    let home = Home::new();
    let (folder, store) = (home.path().join(".config/opencode"), home.path().join("dotfiles"));
    fs::create_dir_all(folder.join("plugins")).unwrap();
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("npmrc"), "save-exact=true\n").unwrap();
    symlink(store.join("npmrc"), folder.join(".npmrc")).unwrap();
    install(&home, "opencode").assert_says("installed");
    assert!(folder.join(".npmrc").is_symlink());
    assert!(fs::read_to_string(store.join("npmrc")).unwrap().ends_with("fetch-retries=0\nsave-exact=true\n"));
    uninstall(&home, "opencode").assert_says("removed");
    assert!(folder.join(".npmrc").is_symlink());
    assert_eq!(fs::read_to_string(store.join("npmrc")).unwrap(), "save-exact=true\n");
}

#[test]
fn a_missing_line_is_missed_and_a_switch_is_said() {
    let home = Home::new();
    install(&home, "opencode").assert_says("installed");
    fs::remove_file(home.path().join(".config/opencode/.npmrc")).unwrap();
    home.run(&["doctor", "opencode"]).assert_says("OpenCode: partial\n");
    install(&home, "opencode").assert_says("brought up to date in ");
    let outcome = home.vigilctl(&["doctor", "opencode"]).env("OPENCODE_PURE", "1").output().unwrap();
    assert!(String::from_utf8(outcome.stdout).unwrap().contains("OPENCODE_PURE"));
}

#[test]
fn folders_of_variables_are_meant() {
    let home = Home::new();
    let mut command = home.vigilctl(&["install", "kilo", "--program", PROGRAM]);
    assert!(command.env("XDG_CONFIG_HOME", home.path().join("c")).output().unwrap().status.success());
    assert!(home.path().join("c/kilo/plugins/vigil.js").is_file() && !home.path().join(".config").exists());
}

#[test]
fn a_program_with_an_odd_name_is_a_literal_all_the_same() {
    let home = Home::new();
    let odd = home.script("o\"neil \\x ü/vigilctl", "exit 0");
    home.run(&["install", "mimocode", "--program", odd.to_str().unwrap()]).assert_says("installed");
    let file = plugin(&home, ".config/mimocode");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o111, 0);
    let code = format!(
        "const text = require('node:fs').readFileSync({file:?}, 'utf8'); \
         console.log(JSON.parse(/^const program = (.*)$/m.exec(text)[1]))"
    );
    let answer = std::process::Command::new("node").args(["-e", &code]).output().expect("Node is installed");
    assert_eq!(String::from_utf8(answer.stdout).unwrap().trim_end(), odd.to_str().unwrap());
}
