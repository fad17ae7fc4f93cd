// SPDX-License-Identifier: GPL-3.0-or-later
//! Pi: our extension in its folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use vigil::integration::{State, Surroundings, find};

use crate::home::{Home, Outcome};

fn extension(home: &Home) -> PathBuf {
    home.path().join(".pi/agent/extensions/vigil.js")
}

fn install(home: &Home) -> Outcome {
    home.run(&["install", "pi", "--program", env!("CARGO_BIN_EXE_vigilctl")])
}

#[track_caller]
fn assert_state(home: &Home, state: State, says: Option<&str>) {
    let surroundings = Surroundings { home: Some(home.path().into()), ..Surroundings::default() };
    let report = find("pi").unwrap().inspect(&surroundings, None);
    assert_eq!(report.state, state, "{report:?}");
    match says {
        Some(says) => assert!(report.advice.as_ref().is_some_and(|advice| advice.contains(says)), "{report:?}"),
        None => assert_eq!(report.advice, None),
    }
}

#[test]
fn it_is_put_in_and_taken_out() {
    let home = Home::new();
    assert_state(&home, State::Missing, Some("Run `vigilctl install pi`"));
    install(&home).assert_says("Pi Agent: installed in ");
    let text = fs::read_to_string(extension(&home)).unwrap();
    assert!(text.contains(&format!("const PROGRAM = \"{}\";", env!("CARGO_BIN_EXE_vigilctl"))), "{text}");
    assert_state(&home, State::Complete, None);
    install(&home).assert_says("already installed");
    home.run(&["uninstall", "pi"]).assert_says("removed from");
    assert!(!extension(&home).exists());
    home.run(&["uninstall", "pi"]).assert_says("was not installed in");
}

#[test]
fn an_older_one_of_ours_is_brought_up_to_date() {
    let home = Home::new();
    install(&home).assert_says("installed");
    let text = fs::read_to_string(extension(&home)).unwrap();
    fs::write(extension(&home), text.replace("const WAITING = 256", "const WAITING = 1")).unwrap();
    assert_state(&home, State::Stale, Some("another version of Vigil; run `vigilctl install pi`"));
    install(&home).assert_says("brought up to date");
    assert_eq!(fs::read_to_string(extension(&home)).unwrap(), text);
}

#[test]
fn a_program_that_has_gone_is_said() {
    let home = Home::new();
    let program = home.script("bin/vigilctl", "");
    home.run(&["install", "pi", "--program", program.to_str().unwrap()]).assert_says("installed");
    fs::remove_file(&program).unwrap();
    assert_state(&home, State::Stale, Some("which is not there; run `vigilctl install pi`"));
}

#[test]
fn a_file_of_somebody_else_stays() {
    let home = Home::new();
    fs::create_dir_all(extension(&home).parent().unwrap()).unwrap();
    fs::write(extension(&home), "// SPDX-License-Identifier: GPL-3.0-or-later\r\n\texport default () => {};").unwrap();
    let before = fs::read(extension(&home)).unwrap();
    assert_state(&home, State::Missing, Some("Run"));
    install(&home).assert_refuses("vigil.js, line 1, column 1: this file is not Vigil's: move it away");
    home.run(&["uninstall", "pi"]).assert_says("was not installed in");
    assert_eq!(fs::read(extension(&home)).unwrap(), before);
}

#[test]
fn the_file_behind_a_link_is_written_and_the_link_stays() {
    let home = Home::new();
    let real = home.path().join("dotfiles/vigil.js");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::write(&real, "").unwrap();
    fs::create_dir_all(extension(&home).parent().unwrap()).unwrap();
    symlink(&real, extension(&home)).unwrap();
    install(&home).assert_says("dotfiles/vigil.js");
    assert_state(&home, State::Complete, None);
    home.run(&["uninstall", "pi"]).assert_says("removed");
    assert_eq!(fs::read_to_string(&real).unwrap(), "");
    assert!(extension(&home).is_symlink());
}

#[test]
fn its_folder_may_be_elsewhere() {
    let home = Home::new();
    let absolute = home.path().join("absolute");
    for (folder, place) in
        [("~/elsewhere", home.path().join("elsewhere")), (absolute.to_str().unwrap(), absolute.clone())]
    {
        let mut command = home.vigilctl(&["install", "pi", "--program", env!("CARGO_BIN_EXE_vigilctl")]);
        let outcome: Outcome = command.env("PI_CODING_AGENT_DIR", folder).output().unwrap().into();
        outcome.assert_says("installed");
        assert!(place.join("extensions/vigil.js").is_file(), "{folder}");
    }
    assert!(!extension(&home).exists());
}

#[test]
fn what_is_switched_off_in_its_settings_is_stale() {
    let home = Home::new();
    install(&home).assert_says("installed");
    let settings = home.path().join(".pi/agent/settings.json");
    let own = format!("-{}", extension(&home).display());
    for entry in ["-extensions/vigil.js", "!extensions/vigil.js", "-./extensions/vigil.js", &own] {
        let text = format!("{{\"extensions\": [\"~/other.ts\", \"{entry}\"]}}");
        fs::write(&settings, &text).unwrap();
        assert_state(&home, State::Stale, Some(&format!("`{entry}` under `extensions` in ")));
        assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    }
    for text in ["", "{", "[]", "{\"extensions\": [\"+extensions/vigil.js\", \"-extensions/other.js\", 7]}"] {
        fs::write(&settings, text).unwrap();
        assert_state(&home, State::Complete, None);
    }
}
