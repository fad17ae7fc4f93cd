// SPDX-License-Identifier: GPL-3.0-or-later
//! The four states, and what is advised.

use std::fs;

use serde_json::{Value, json};
use vigil::integration::{Report, State, Surroundings, find};

use crate::home::Home;

fn page(home: &Home) -> Value {
    let outcome = home.run(&["doctor", "claude", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn the_page_is_exactly_this() {
    let home = Home::new();
    let entry = |state: &str, advice: Option<&str>| {
        let line = json!({"agent": "claude", "state": state, "file": home.settings(), "advice": advice});
        json!({"version": 1, "integrations": [line]})
    };
    assert_eq!(page(&home), entry("missing", Some("Run `vigilctl install claude`")));
    home.install().assert_says("installed");
    assert_eq!(page(&home), entry("complete", None));
}

#[test]
fn people_read_what_was_found() {
    let home = Home::new();
    let program = home.script("bin/claude", "echo '2.1.332 (Claude Code)'");
    home.install().assert_says("installed");
    let outcome = home.run(&["doctor", "claude"]);
    let expected = format!(
        "Claude Code: complete\n  settings  {}\n  program   {}, version 2.1.332\nVigil: cannot be asked",
        home.settings().display(),
        program.display()
    );
    outcome.assert_says(&expected);
}

#[test]
fn a_program_that_does_not_answer_holds_nobody_up() {
    let home = Home::new();
    home.script("bin/claude", "exit 7");
    home.run(&["doctor", "claude"]).assert_says("which does not say its version");
}

fn inspect(home: &Home) -> Report {
    let surroundings =
        Surroundings { home: Some(home.path().into()), root: home.path().into(), ..Surroundings::default() };
    find("claude").unwrap().inspect(&surroundings, None)
}

#[track_caller]
fn assert_advises(home: &Home, state: State, says: &str) {
    let report = inspect(home);
    assert_eq!(report.state, state, "{report:?}");
    assert!(report.advice.as_ref().is_some_and(|advice| advice.contains(says)), "{report:?}");
}

#[test]
fn hooks_that_are_switched_off_are_stale() {
    let home = Home::with("{\n  \"disableAllHooks\": true\n}\n");
    assert_advises(&home, State::Missing, "settings.json switches all hooks off");
    home.install().assert_says(".claude/settings.json switches all hooks off; remove it");
    assert_advises(&home, State::Stale, "`disableAllHooks` in ");
    fs::write(home.settings(), home.text().replace("true", "false")).unwrap();
    assert_eq!(inspect(&home).state, State::Complete);
}

#[test]
fn the_administrators_word_counts() {
    for (file, key) in [
        ("managed-settings.json", "allowManagedHooksOnly"),
        ("managed-settings.json", "disableAllHooks"),
        ("managed-settings.d/10-hooks.json", "allowManagedHooksOnly"),
    ] {
        let home = Home::new();
        home.install().assert_says("installed");
        let managed = home.path().join("etc/claude-code").join(file);
        fs::create_dir_all(managed.parent().unwrap()).unwrap();
        fs::write(&managed, "{}").unwrap();
        assert_eq!(inspect(&home).state, State::Complete);
        fs::write(&managed, format!("{{\"{key}\": true}}")).unwrap();
        assert_advises(&home, State::Stale, &format!("`{key}` in {} switches your hooks off", managed.display()));
    }
}

#[test]
fn a_file_that_the_agent_ignores_holds_nothing() {
    let home = Home::new();
    home.install().assert_says("installed");
    fs::write(home.settings(), format!("// mine\n{}", home.text())).unwrap();
    assert_advises(&home, State::Missing, "line 1, column 1: a comment, which JSON does not have; the agent ignores");
}

#[test]
fn a_program_that_is_gone_is_stale() {
    let home = Home::new();
    let program = home.script("bin/vigilctl", "");
    home.run(&["install", "claude", "--program", program.to_str().unwrap()]).assert_says("installed");
    assert_eq!(inspect(&home).state, State::Complete);
    fs::remove_file(&program).unwrap();
    assert_advises(&home, State::Stale, &format!("The hooks run {}, which is not there; run", program.display()));
}

#[test]
fn some_events_without_an_entry_are_partial() {
    let home = Home::new();
    home.install().assert_says("installed");
    let mut json = home.json();
    json["hooks"].as_object_mut().unwrap().remove("PreCompact");
    fs::write(home.settings(), json.to_string()).unwrap();
    assert_advises(&home, State::Partial, "1 of 17 hooks are not there (PreCompact); run `vigilctl install claude`");
}
