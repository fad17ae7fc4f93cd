// SPDX-License-Identifier: GPL-3.0-or-later
//! Hermes Agent: our plugin in its folder, and its name in the user's settings.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use vigil::integration::{State, Surroundings, find};

use crate::home::{Home, Outcome};

fn file(home: &Home, name: &str) -> PathBuf {
    home.path().join(".hermes").join(name)
}

fn with(settings: impl AsRef<[u8]>) -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join(".hermes")).unwrap();
    fs::write(file(&home, "config.yaml"), settings).unwrap();
    home
}

fn install(home: &Home) -> Outcome {
    home.run(&["install", "hermes", "--program", env!("CARGO_BIN_EXE_vigilctl")])
}

fn uninstall(home: &Home) -> Outcome {
    home.run(&["uninstall", "hermes"])
}

#[track_caller]
fn assert_state(home: &Home, state: State, says: Option<&str>) {
    let surroundings = Surroundings { home: Some(home.path().into()), ..Surroundings::default() };
    let report = find("hermes").unwrap().inspect(&surroundings, None);
    assert_eq!(report.state, state, "{report:?}");
    match says {
        Some(says) => assert!(report.advice.as_ref().is_some_and(|advice| advice.contains(says)), "{report:?}"),
        None => assert_eq!(report.advice, None),
    }
}

#[track_caller]
fn there_and_back(settings: impl AsRef<[u8]>) -> String {
    let home = with(settings.as_ref());
    assert_state(&home, State::Missing, Some("Run `vigilctl install hermes`"));
    install(&home).assert_says("Hermes Agent: installed in ");
    assert_state(&home, State::Complete, None);
    let after = fs::read_to_string(file(&home, "config.yaml")).unwrap();
    let plugin = fs::read_to_string(file(&home, "plugins/vigil/__init__.py")).unwrap();
    assert!(plugin.contains(&format!("PROGRAM = \"{}\"\n", env!("CARGO_BIN_EXE_vigilctl"))));
    install(&home).assert_says("already installed");
    assert_eq!(fs::read_to_string(file(&home, "config.yaml")).unwrap(), after, "twice is once");
    uninstall(&home).assert_says("removed from");
    assert_eq!(fs::read(file(&home, "config.yaml")).unwrap(), settings.as_ref(), "every byte is there again");
    assert!(!file(&home, "plugins/vigil").exists());
    uninstall(&home).assert_says("was not installed in");
    after
}

#[test]
fn users_files_are_given_back_to_the_byte() {
    // As Hermes writes them, and as people do.
    there_and_back(
        "model:\n  default: mock-model\n  provider: custom\nplugins:\n  enabled:\n  - kanban\n  - notes\n_config_version: 23\n",
    );
    there_and_back("# mine\r\nmodel: {default: x}   # c\r\nplugins:\r\n    enabled: [ kanban ]\r\n");
    there_and_back("\u{feff}model:\n    default: \"\\u00fc\"\nplugins:\n  disabled: [x]\n");
    there_and_back("a: &a {b: 1}\nc:\n  <<: *a\nprompt: |\n  plugins:\n    enabled: [x]\n");
    there_and_back("");
    there_and_back("{}\n");
    there_and_back(format!("{}\nplugins:\n  enabled:\n    - a\n", "# a long story\n".repeat(20_000)));
}

#[test]
fn without_settings_they_come_and_go_with_us() {
    let home = Home::new();
    install(&home).assert_says("installed");
    assert_eq!(fs::read_to_string(file(&home, "config.yaml")).unwrap(), "plugins:\n  enabled:\n    - vigil\n");
    assert_state(&home, State::Complete, None);
    uninstall(&home).assert_says("removed from");
    assert!(!file(&home, "config.yaml").exists() && !file(&home, "plugins/vigil").exists());
}

#[test]
fn what_is_refused_stays_as_it_is() {
    for (settings, says) in [
        ("a:\n\t- b\n", "config.yaml, line 2, column 2: tabs disallowed"),
        ("plugins:\n  enabled: &x [a]\n", "config.yaml, line 2, column 12: an anchor"),
        ("plugins:\n  enabled: yes\n", "config.yaml, line 2, column 12: `enabled` is no list. Nothing was changed"),
        ("- a\n", "config.yaml, line 1, column 1: the settings are no mapping"),
        ("plugins:\n  enabled: [a\n", "config.yaml, line 3, column 1:"),
    ] {
        let home = with(settings);
        install(&home).assert_refuses(says);
        assert_eq!(fs::read_to_string(file(&home, "config.yaml")).unwrap(), settings);
        assert!(!file(&home, "plugins").exists(), "nothing else was put in");
    }
    let home = with(b"a: \xff\n");
    install(&home).assert_refuses("is no UTF-8 in line 1");
}

#[test]
fn what_python_made_of_it_goes_with_it_and_nothing_else() {
    let home = with("a: 1\n");
    install(&home).assert_says("installed");
    let made = file(&home, "plugins/vigil/__pycache__");
    fs::create_dir(&made).unwrap();
    fs::write(made.join("__init__.cpython-311.pyc"), "x").unwrap();
    uninstall(&home).assert_says("removed");
    assert!(!file(&home, "plugins/vigil").exists() && file(&home, "plugins").is_dir());
    install(&home).assert_says("installed");
    fs::create_dir(&made).unwrap();
    fs::write(made.join("mine.txt"), "x").unwrap();
    fs::write(file(&home, "plugins/vigil/notes.md"), "mine").unwrap();
    uninstall(&home).assert_says("removed");
    assert!(made.join("mine.txt").exists() && file(&home, "plugins/vigil/notes.md").exists());
    assert!(!file(&home, "plugins/vigil/__init__.py").exists());
}

#[test]
fn a_plugin_of_somebody_else_stays() {
    let home = with("a: 1\n");
    fs::create_dir_all(file(&home, "plugins/vigil")).unwrap();
    fs::write(file(&home, "plugins/vigil/__init__.py"), "# SPDX-License-Identifier: GPL-3.0-or-later\n").unwrap();
    install(&home).assert_refuses("__init__.py, line 1, column 1: this file is not Vigil's: move it away");
    assert_eq!(fs::read_to_string(file(&home, "config.yaml")).unwrap(), "a: 1\n");
    assert!(!file(&home, "plugins/vigil/plugin.yaml").exists());
}

#[test]
fn what_is_wrong_is_said() {
    let home = with("plugins:\n  enabled:\n  - notes\n");
    install(&home).assert_says("installed");
    fs::write(file(&home, "config.yaml"), "plugins:\n  enabled:\n  - notes\n").unwrap();
    assert_state(&home, State::Partial, Some("(`vigil` under `plugins.enabled`); run `vigilctl install hermes`"));
    fs::write(file(&home, "config.yaml"), "plugins:\n  enabled: [vigil]\n  disabled: [\"vigil\"]\n").unwrap();
    assert_state(&home, State::Stale, Some("`vigil` under `plugins.disabled` in "));
    fs::write(file(&home, "config.yaml"), "plugins:\n  enabled: [vigil]\n").unwrap();
    assert_state(&home, State::Complete, None);
    let manifest = fs::read_to_string(file(&home, "plugins/vigil/plugin.yaml")).unwrap();
    fs::write(file(&home, "plugins/vigil/plugin.yaml"), manifest.replace("\"1\"", "\"0\"")).unwrap();
    assert_state(&home, State::Stale, Some("another version of Vigil"));
    install(&home).assert_says("brought up to date");
    assert_state(&home, State::Complete, None);
}

#[test]
fn the_file_behind_a_link_is_changed_and_a_read_only_one_is_not() {
    let home = with("a: 1\n");
    let real = home.path().join("dotfiles.yaml");
    fs::rename(file(&home, "config.yaml"), &real).unwrap();
    symlink(&real, file(&home, "config.yaml")).unwrap();
    install(&home).assert_says("dotfiles.yaml");
    assert!(file(&home, "config.yaml").is_symlink());
    uninstall(&home).assert_says("removed");
    assert_eq!(fs::read_to_string(&real).unwrap(), "a: 1\n");
    if rustix::process::geteuid().is_root() {
        return;
    }
    fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
    install(&home).assert_refuses("plugins:\n  enabled:\n    - vigil\n");
}

#[test]
fn its_home_may_be_elsewhere() {
    let home = Home::new();
    let elsewhere = home.path().join("profiles/work");
    let mut command = home.vigilctl(&["install", "hermes", "--program", env!("CARGO_BIN_EXE_vigilctl")]);
    let outcome: Outcome = command.env("HERMES_HOME", &elsewhere).output().unwrap().into();
    outcome.assert_says("installed");
    assert!(elsewhere.join("plugins/vigil/__init__.py").is_file() && elsewhere.join("config.yaml").is_file());
    assert!(!file(&home, "").exists());
}
