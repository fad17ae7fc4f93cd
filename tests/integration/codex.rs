// SPDX-License-Identifier: GPL-3.0-or-later
//! Codex: its hooks file, and the trust without which it runs none of it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use vigil::integration::{Report, State, Surroundings, find};

use crate::home::{Home, Outcome};

const PROGRAM: &str = env!("CARGO_BIN_EXE_vigilctl");

fn hooks(home: &Home) -> PathBuf {
    home.path().join(".codex/hooks.json")
}

fn settings(home: &Home) -> PathBuf {
    home.path().join(".codex/config.toml")
}

/// A home with Codex in it, and that hooks file.
fn home(text: Option<&str>) -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join(".codex")).unwrap();
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/codex_server.py");
    let script = format!("case $1 in app-server) exec /usr/bin/python3 {server};; *) echo 'codex-cli 0.171.0';; esac");
    home.script("bin/codex", &script);
    if let Some(text) = text {
        fs::write(hooks(&home), text).unwrap();
    }
    home
}

fn install(home: &Home, more: &[&str]) -> Outcome {
    home.run(&[&["install", "codex", "--program", PROGRAM], more].concat())
}

fn uninstall(home: &Home) -> Outcome {
    home.run(&["uninstall", "codex"])
}

fn inspect(home: &Home) -> Report {
    let surroundings =
        Surroundings { home: Some(home.path().into()), root: home.path().into(), ..Surroundings::default() };
    find("codex").unwrap().inspect(&surroundings, None)
}

#[track_caller]
fn assert_advises(home: &Home, state: State, says: &str) {
    let report = inspect(home);
    assert_eq!(report.state, state, "{report:?}");
    assert!(report.advice.as_ref().is_some_and(|advice| advice.contains(says)), "{report:?}");
}

#[test]
fn every_byte_is_there_again() {
    let theirs = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine","timeout":5}]}]}}"#;
    let long = format!("{{\n  \"description\": \"{}\"\n}}\n", "ü".repeat(500_000));
    for text in [
        "{}",
        "",
        "{\n  \"description\": \"x\",\n  \"hooks\": {\n    \"Stop\": [ ]\n  }\n}\n",
        "{\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]\r\n\t}\r\n}\r\n",
        "\u{feff}{\"hooks\": {}}",
        theirs,
        &long,
    ] {
        let home = home(Some(text));
        install(&home, &[]).assert_says("Codex: installed in ");
        let after = fs::read_to_string(hooks(&home)).unwrap();
        assert_eq!(after.matches("hook codex || :").count(), 12, "{after}");
        install(&home, &[]).assert_says("already installed");
        assert_eq!(fs::read_to_string(hooks(&home)).unwrap(), after, "twice is once");
        uninstall(&home).assert_says("removed from");
        assert_eq!(fs::read_to_string(hooks(&home)).unwrap(), text);
    }
    let home = home(None);
    install(&home, &[]).assert_says("installed");
    uninstall(&home).assert_says("removed");
    assert!(!hooks(&home).exists());
}

#[test]
fn a_link_stays_a_link() {
    let home = home(None);
    fs::write(home.path().join("mine.json"), "{\"hooks\": {}}\n").unwrap();
    std::os::unix::fs::symlink("../mine.json", hooks(&home)).unwrap();
    install(&home, &["--trust"]).assert_says("trusts 12 hooks");
    assert!(hooks(&home).is_symlink());
    assert_eq!(inspect(&home).state, State::Complete);
    uninstall(&home).assert_says("removed");
    assert_eq!(fs::read_to_string(home.path().join("mine.json")).unwrap(), "{\"hooks\": {}}\n");
}

#[test]
fn what_codex_would_not_read_is_refused_with_its_place() {
    for (text, says) in [
        ("{\n  // mine\n  \"hooks\": {}\n}\n", "line 2, column 3: a comment, which JSON does not have"),
        ("{\n  \"model\": \"x\",\n  \"hooks\": {}\n}\n", "line 2, column 3: `model` does not belong there"),
        ("{\"hooks\": {\"Stop\": {}}}", "line 1, column 20: `Stop` is no list"),
        ("{\"hooks\": {\"Stop\": [", "line 1, column "),
        ("[]", "line 1, column 1: the settings are no object"),
    ] {
        let home = home(Some(text));
        install(&home, &[]).assert_refuses(says);
        assert_eq!(fs::read_to_string(hooks(&home)).unwrap(), text);
        assert_advises(&home, State::Missing, "the agent ignores such a file");
    }
}

/// Their places are what is trusted of them.
#[test]
fn hooks_of_others_keep_their_places() {
    let theirs = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine","timeout":5}]}]}}"#;
    let home = home(Some(theirs));
    install(&home, &[]).assert_says("installed");
    let json: Value = serde_json::from_slice(&fs::read(hooks(&home)).unwrap()).unwrap();
    assert_eq!(json["hooks"]["Stop"][0]["hooks"][0]["command"], "mine");
    assert_eq!(json["hooks"]["Stop"][1]["hooks"][0]["timeout"], 3);
}

#[test]
fn without_trust_they_are_stale() {
    let home = home(None);
    let outcome = install(&home, &[]);
    outcome.assert_says("Codex: installed in ");
    outcome.assert_says("Codex does not run 12 of the 12 hooks before you trust them: run `vigilctl install codex");
    assert!(!settings(&home).exists() && !home.path().join("asked").exists(), "nobody was asked");
    assert_advises(&home, State::Stale, "with its command /hooks");
    home.run(&["doctor", "codex"]).assert_says("Codex: stale\n");
}

#[test]
fn trust_is_given_by_codex_itself_and_to_ours_alone() {
    let home = home(Some(r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine","timeout":5}]}]}}"#));
    let before = "# mine\nmodel = \"x\"\n";
    fs::write(settings(&home), before).unwrap();
    install(&home, &["--trust"]).assert_says("Codex: trusts 12 hooks");
    let after = fs::read_to_string(settings(&home)).unwrap();
    assert!(after.starts_with(before) && after.matches("trusted_hash").count() == 12, "{after}");
    assert!(!after.contains(":stop:0:0"), "{after}");
    let asked = fs::read_to_string(home.path().join("asked")).unwrap();
    assert_eq!(asked, "initialize\ninitialized\nhooks/list\nconfig/batchWrite\nhooks/list\n");
    assert_eq!((inspect(&home).state, inspect(&home).advice), (State::Complete, None));
    home.run(&["doctor", "codex"]).assert_says("Codex: complete\n");
    // Nothing is left to be trusted, and nobody is asked again.
    install(&home, &["--trust"]).assert_says("already installed");
    assert_eq!(fs::read_to_string(home.path().join("asked")).unwrap(), asked);
    // What is put in again is what was trusted.
    uninstall(&home).assert_says("removed");
    install(&home, &[]).assert_says("installed");
    assert_eq!(inspect(&home).state, State::Complete);
}

#[test]
fn a_changed_hook_is_no_longer_trusted() {
    let home = home(None);
    install(&home, &["--trust"]).assert_says("trusts 12 hooks");
    let text = fs::read_to_string(hooks(&home)).unwrap();
    fs::write(hooks(&home), text.replacen("\"timeout\": 3", "\"timeout\": 2", 1)).unwrap();
    assert_advises(&home, State::Stale, "Codex does not run 1 of the 12 hooks before you trust them");
    let config = fs::read_to_string(settings(&home)).unwrap();
    fs::write(hooks(&home), text).unwrap();
    let off = config.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    fs::write(settings(&home), &off).unwrap();
    assert_advises(&home, State::Stale, "1 of the hooks are switched off in Codex");
    install(&home, &["--trust"]).assert_says("already installed");
    assert_eq!(fs::read_to_string(settings(&home)).unwrap(), off, "the user's no is a no");
}

#[test]
fn a_refusal_is_said() {
    let home = home(None);
    fs::write(home.path().join("refuses"), "").unwrap();
    let outcome = install(&home, &["--trust"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stderr.contains("trust them there, with its command /hooks: it refuses config/batchWrite: not today")
    );
    assert!(hooks(&home).exists() && !settings(&home).exists());
    home.script("bin/codex", "echo 'codex-cli 0.171.0'");
    let outcome = install(&home, &["--trust"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("could not be told to trust"), "{outcome:?}");
    fs::remove_file(home.path().join("bin/codex")).unwrap();
    let outcome = install(&home, &["--trust"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("the program was not found"), "{outcome:?}");
}

#[test]
fn hooks_that_are_switched_off_are_stale() {
    for (file, text, says) in [
        (".codex/config.toml", "[features]\nhooks = false\n", "`features.hooks = false` in "),
        (".codex/config.toml", "[features]\ncodex_hooks = false\n", "`features.codex_hooks = false` in "),
        (".codex/config.toml", "a = 1\nmodel =\n", "config.toml, line 2: "),
        ("etc/codex/requirements.toml", "allow_managed_hooks_only = true\n", "`allow_managed_hooks_only` in "),
        ("etc/codex/managed_config.toml", "[features]\nhooks = false\n", "ask whoever manages this machine"),
    ] {
        let home = home(None);
        install(&home, &["--trust"]).assert_says("trusts 12 hooks");
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let trusted = fs::read_to_string(&file).unwrap_or_default();
        fs::write(&file, format!("{text}{trusted}")).unwrap();
        assert_advises(&home, State::Stale, says);
    }
}

#[test]
fn codex_home_is_meant() {
    let home = home(None);
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut command = home.vigilctl(&["install", "codex", "--trust", "--program", PROGRAM]);
    let outcome: Outcome = command.env("CODEX_HOME", &elsewhere).output().unwrap().into();
    outcome.assert_says("trusts 12 hooks");
    assert!(elsewhere.join("hooks.json").is_file() && !hooks(&home).exists());
}

/// Sessions that run are named: they go on without the hooks.
#[test]
fn sessions_that_run_already_are_named() {
    let home = home(None);
    let copy = home.path().join("codex");
    fs::copy("/bin/sleep", &copy).unwrap();
    // `script` gives it a terminal.
    let mut session = std::process::Command::new("/usr/bin/script");
    session.args(["-qc", &format!("exec {} 60", copy.display()), "/dev/null"]).stdin(std::process::Stdio::piped());
    let mut session = session.stdout(std::process::Stdio::null()).spawn().unwrap();
    let is_there = || {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", session.id())).unwrap_or_default();
        let child = children.split_whitespace().next().map(ToString::to_string)?;
        (fs::read_to_string(format!("/proc/{child}/comm")).ok()? == "codex\n").then_some(child)
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while is_there().is_none() && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    let child = is_there().expect("a process in a terminal");
    let outcome = install(&home, &[]);
    let _ = session.kill();
    let _ = session.wait();
    outcome.assert_says("Codex that runs already goes on without; start it anew: ");
    outcome.assert_says(&format!("{child} on pts/"));
}
