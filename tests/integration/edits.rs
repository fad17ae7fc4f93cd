// SPDX-License-Identifier: GPL-3.0-or-later
//! What an installation changes in a file, and what it leaves as it is.

use std::fmt::Write as _;
use std::fs;

use crate::home::Home;

/// Installs, looks at what is there, uninstalls, and finds the very bytes again.
#[track_caller]
fn there_and_back(settings: impl AsRef<[u8]>) -> String {
    let home = Home::with(settings.as_ref());
    home.install().assert_says("Claude Code: installed in ");
    let after = home.text();
    assert_eq!(home.events().len(), 17, "{after}");
    home.run(&["doctor", "claude"]).assert_says("Claude Code: complete\n");
    home.install().assert_says("already installed");
    assert_eq!(home.text(), after, "twice is once");
    home.uninstall().assert_says("removed from");
    assert_eq!(home.bytes(), settings.as_ref(), "every byte is there again");
    home.uninstall().assert_says("was not installed in");
    after
}

#[test]
fn spellings_and_order_stay() {
    let settings = "{\n  \"z\": 1.50,\n  \"a\": 1E+2,\n  \"t\": \"\\u00fc\\/\\ud83d\",\n  \"a\": [ ],\n  \"new\": {\"x\" :null}\n}\n";
    let after = there_and_back(settings);
    assert!(after.starts_with(settings.strip_suffix("\n}\n").unwrap()), "{after}");
    assert!(after.contains(",\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n"));
}

#[test]
fn line_ends_marks_and_indentation_stay() {
    let after = there_and_back("\u{feff}{\r\n    \"a\": 1\r\n}");
    assert!(after.starts_with("\u{feff}{\r\n    \"a\": 1,\r\n    \"hooks\": {\r\n        \"SessionStart\": [\r\n"));
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    let after = there_and_back("{\n\t\"a\": 1\n}\n");
    assert!(after.contains("\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n"));
    let after = there_and_back("{\"a\":1}\n");
    assert_eq!(after.matches('\n').count(), 1, "one line stays one line");
    assert!(after.starts_with("{\"a\":1,\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\","));
}

#[test]
fn empty_things_stay_empty_things() {
    for settings in [
        "",
        "\n",
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "{\"hooks\":{}}",
        "{\n  \"hooks\": {\n  }\n}\n",
        "{\"hooks\": {\"Stop\": [ ]}}",
    ] {
        there_and_back(settings);
    }
}

#[test]
fn large_files_are_no_trouble() {
    let numbers: Vec<String> = (0..100_000).map(|number| format!("{number}.0")).collect();
    there_and_back(format!("{{\n  \"n\": [{}]\n}}\n", numbers.join(",")));
    there_and_back(format!("{{\n  \"text\": \"{}\"\n}}\n", "ü".repeat(1_000_000)));
    there_and_back(format!("{{\"a\": {}{}}}", "[".repeat(200_000), "]".repeat(200_000)).replace("[]", "[7]"));
}

#[test]
fn hooks_of_others_stay() {
    let settings = r#"{
  "hooks": {
    "Stop": [
      { "matcher": "", "hooks": [ { "type": "command", "command": "play-sound" } ] }
    ],
    "Notification": [],
    "FileChanged": [{"hooks": [{"type": "command", "command": "/usr/bin/other hook claude"}]}]
  }
}
"#;
    let after = there_and_back(settings);
    assert!(after.contains("\"command\": \"play-sound\" } ] },\n      {\n        \"hooks\": [\n"), "{after}");
}

#[test]
fn what_is_added_meanwhile_stays() {
    let home = Home::new();
    home.install().assert_says("installed");
    let more = home.text().replacen("{\n  \"hooks\"", "{\n  \"model\": \"opus\",\n  \"hooks\"", 1);
    fs::write(home.settings(), more).unwrap();
    home.uninstall().assert_says("removed");
    assert_eq!(home.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    fs::remove_dir(home.path().join(".claude")).unwrap();
    home.install().assert_says("installed");
    assert_eq!(home.events().len(), 17);
    home.uninstall().assert_says("removed");
    assert!(!home.settings().exists());
}

#[test]
fn nothing_is_made_where_nothing_is_to_be_removed() {
    let home = Home::new();
    fs::remove_dir(home.path().join(".claude")).unwrap();
    home.uninstall().assert_says("was not installed");
    assert!(!home.path().join(".claude").exists());
}

#[test]
fn the_agents_own_folder_is_meant() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_vigilctl");
    let mut command = home.vigilctl(&["install", "claude", "--program", program]);
    let outcome = command.env("CLAUDE_CONFIG_DIR", home.path().join("elsewhere")).output().unwrap();
    assert!(outcome.status.success());
    assert!(home.path().join("elsewhere/settings.json").is_file() && !home.settings().exists());
}

#[test]
fn a_rewrite_by_the_agent_is_no_trouble() {
    let home = Home::with("{\"model\": \"opus\"}");
    home.install().assert_says("installed");
    // As Claude Code writes: all of it anew, two spaces a step, what it forgot left out.
    let mut json = home.json();
    json["hooks"].as_object_mut().unwrap().remove("Stop");
    fs::write(home.settings(), format!("{}\n", serde_json::to_string_pretty(&json).unwrap())).unwrap();
    home.run(&["doctor"]).assert_says("Claude Code: partial\n");
    home.install().assert_says("brought up to date");
    assert_eq!(home.events().len(), 17);
    home.uninstall().assert_says("removed");
    assert_eq!(home.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_path_that_has_moved_is_moved_in_place() {
    let home = Home::new();
    home.install().assert_says("installed");
    let now = home.text();
    let mut old = now.replace(env!("CARGO_BIN_EXE_vigilctl"), "/opt/old/vigilctl");
    // One of them in a group of the user's.
    let theirs = "{ \"type\": \"command\", \"command\": \"mine\" },\n          {";
    old = old.replacen("          {", &format!("          {theirs}"), 1);
    fs::write(home.settings(), &old).unwrap();
    home.run(&["doctor"]).assert_says("Claude Code: stale\n");
    home.install().assert_says("brought up to date");
    assert_eq!(home.text(), old.replace("/opt/old/vigilctl", env!("CARGO_BIN_EXE_vigilctl")));
}

#[test]
fn a_dry_run_says_all_and_does_nothing() {
    let settings = "{\n  \"a\": 1\n}\n";
    let home = Home::with(settings);
    let outcome = home.run(&["install", "claude", "--dry-run", "--program", env!("CARGO_BIN_EXE_vigilctl")]);
    let mut expected = String::new();
    let file = home.settings();
    let _ = write!(expected, "--- {0}\n+++ {0}\n@@ -1,3 +1,", file.display());
    outcome.assert_says(&expected);
    outcome.assert_says("\n {\n-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n");
    assert_eq!(home.text(), settings);
    let left: Vec<_> = fs::read_dir(home.path().join(".claude")).unwrap().collect();
    assert_eq!(left.len(), 1);
    home.run(&["uninstall", "claude", "--dry-run"]).assert_says("Nothing would change in ");
    home.install().assert_says("installed");
    home.run(&["uninstall", "claude", "--dry-run"]).assert_says("\n-  \"a\": 1,\n");
    assert_eq!(home.events().len(), 17);
}

#[test]
fn known_versions_get_the_events_of_the_task_list() {
    for (version, count) in [("2.1.332", 19), ("2.1.197", 19), ("2.0.76", 11)] {
        let home = Home::new();
        home.script("bin/claude", &format!("[ \"$*\" = --version ] && echo '{version} (Claude Code)'"));
        let outcome = home.install();
        outcome.assert_says("installed");
        assert!(!outcome.stdout.contains("was not found"), "{outcome:?}");
        assert_eq!(home.events().len(), count, "{version}");
        home.install().assert_says("already installed");
    }
}

#[test]
fn an_older_version_than_before_loses_what_it_does_not_know() {
    let home = Home::new();
    home.script("bin/claude", "echo '2.1.332 (Claude Code)'");
    home.install().assert_says("installed");
    home.script("bin/claude", "echo '2.1.76 (Claude Code)'");
    home.run(&["doctor"]).assert_says("Claude Code: stale\n");
    home.install().assert_says("brought up to date");
    assert!(!home.events().contains(&"StopFailure".to_string()));
    home.run(&["doctor"]).assert_says("Claude Code: complete\n");
}

#[test]
fn a_program_that_is_gone_costs_nothing() {
    let home = Home::new();
    let copy = home.path().join("it's here/vigilctl");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    fs::copy("/bin/sh", &copy).unwrap();
    home.run(&["install", "claude", "--program", copy.to_str().unwrap()]).assert_says("installed");
    let command = home.json()["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_string();
    let sh = |command: &str| std::process::Command::new("/bin/sh").args(["-c", command]).output().unwrap();
    home.script("it's here/vigilctl", "echo \"called with $*\"; exit 3");
    let called = sh(&command);
    assert_eq!((called.status.code(), called.stdout.as_slice()), (Some(0), &b"called with hook claude\n"[..]));
    fs::remove_file(&copy).unwrap();
    let gone = sh(&command);
    assert_eq!((gone.status.code(), gone.stdout.len(), gone.stderr.len()), (Some(0), 0, 0));
}
