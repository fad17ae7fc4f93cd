// SPDX-License-Identifier: GPL-3.0-or-later
//! What is left untouched, and what is said of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use crate::home::{Home, NOBODY};

#[track_caller]
fn refused(settings: impl AsRef<[u8]>, says: &str) {
    let home = Home::with(settings.as_ref());
    home.install().assert_refuses(says);
    assert_eq!(home.bytes(), settings.as_ref());
    let left: Vec<_> = fs::read_dir(home.path().join(".claude")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

#[test]
fn what_the_agent_would_not_read_is_refused_with_its_place() {
    refused(
        "{\n  // mine\n  \"a\": 1\n}\n",
        "line 2, column 3: a comment, which JSON does not have. Nothing was changed",
    );
    refused("{\n  \"a\": 1,\n}\n", "line 2, column 9: a comma before a closing bracket");
    refused("{\"a\": tru}", "line 1, column 7:");
    refused("{\"hooks\": [1]}", "line 1, column 11: `hooks` is no object");
    refused("{\"hooks\": {\"Stop\": {}}}", "line 1, column 20: `Stop` is no list");
    refused("[]", "line 1, column 1: the settings are no object");
    refused(b"{\n\"a\": \"\xff\"}", "is no UTF-8 in line 2");
}

#[test]
fn an_uninstallation_is_refused_likewise() {
    let home = Home::with("{ /* mine */ }");
    home.uninstall().assert_refuses("line 1, column 3: a comment");
    assert_eq!(home.text(), "{ /* mine */ }");
}

#[test]
fn links_that_lead_nowhere_are_refused() {
    let home = Home::new();
    symlink("nowhere.json", home.settings()).unwrap();
    home.install().assert_refuses("settings.json is a link that leads nowhere");
    assert!(!home.path().join(".claude/nowhere.json").exists());
    home.run(&["doctor"]).assert_says("is a link that leads nowhere");
}

#[test]
fn links_in_a_circle_are_refused() {
    let home = Home::new();
    symlink("other.json", home.settings()).unwrap();
    symlink("settings.json", home.path().join(".claude/other.json")).unwrap();
    home.install().assert_refuses("settings.json is a link in a circle");
}

#[test]
fn a_folder_that_leads_nowhere_is_refused() {
    let home = Home::new();
    fs::remove_dir(home.path().join(".claude")).unwrap();
    symlink("nowhere", home.path().join(".claude")).unwrap();
    home.install().assert_refuses("is in a folder that is a link to nowhere");
}

#[test]
fn what_is_no_file_is_refused() {
    let home = Home::new();
    fs::create_dir(home.settings()).unwrap();
    home.install().assert_refuses("is not a regular file");
    fs::remove_dir(home.settings()).unwrap();
    symlink("/dev/null", home.settings()).unwrap();
    home.install().assert_refuses("is not a regular file");
    fs::remove_file(home.settings()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.settings()).status().unwrap();
    assert!(made.success());
    // Nobody writes to the other end: who reads it first waits for ever.
    home.install().assert_refuses("is not a regular file");
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let home = Home::with("{}");
    fs::hard_link(home.settings(), home.path().join("second")).unwrap();
    home.install().assert_refuses("it has a second name");
    assert_eq!(home.text(), "{}");
}

/// One message with the file behind the link, then what to put in by hand.
#[track_caller]
fn assert_snippet(outcome: &crate::home::Outcome, file: &std::path::Path) {
    outcome.assert_refuses(&format!("{} cannot be written: ", file.display()));
    let (message, snippet) = outcome.stderr.split_once('\n').unwrap();
    assert!(message.ends_with("Put this in where it is written from:"), "{message}");
    let snippet: serde_json::Value = serde_json::from_str(snippet).expect("the snippet is JSON");
    assert_eq!(snippet["hooks"].as_object().unwrap().len(), 17);
}

#[test]
fn a_read_only_folder_gets_a_snippet_for_its_file() {
    let home = Home::new();
    let store = home.path().join("store");
    fs::create_dir(&store).unwrap();
    let real = store.join("settings.json");
    fs::write(&real, "{}").unwrap();
    symlink(&real, home.settings()).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&real, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(&store, fs::Permissions::from_mode(0o555)).unwrap();
    assert_snippet(&home.install_as_nobody(), &real);
    assert_eq!(fs::read(&real).unwrap(), b"{}");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_read_only_file_stays_so_in_a_folder_that_is_not() {
    let home = Home::with("{}");
    fs::set_permissions(home.settings(), fs::Permissions::from_mode(0o444)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(home.path().join(".claude"), Some(NOBODY), Some(NOBODY)).unwrap();
        chown(home.settings(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    assert_snippet(&home.install_as_nobody(), &home.settings());
    assert_eq!(home.text(), "{}");
}

#[test]
fn a_home_that_may_not_be_written_gets_a_snippet() {
    let home = Home::new();
    fs::remove_dir(home.path().join(".claude")).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let outcome = home.install_as_nobody();
    outcome.assert_refuses(".claude cannot be written: ");
    assert!(outcome.stderr.contains("\"SessionStart\": ["));
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_program_that_will_not_last_is_refused() {
    // Where it is built is a folder that will not last.
    let home = Home::new();
    home.run(&["install", "claude"]).assert_refuses("will not last: it is in a ");
    assert!(!home.settings().exists());
    let other = home.script("bin/other", "");
    home.run(&["install", "claude", "--program", other.to_str().unwrap()]).assert_refuses("is not called vigilctl");
    home.run(&["install", "claude", "--program", "/nowhere/vigilctl"]).assert_refuses("is not a program");
}

#[test]
fn agents_that_cannot_be_installed_into_are_named() {
    let home = Home::new();
    home.run(&["install", "codebuff"]).assert_refuses("Vigil cannot be put into Codebuff yet");
    let outcome = home.run(&["doctor", "nonesuch"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("there is no agent `nonesuch`"));
    assert_eq!(home.run(&["install"]).code, Some(2));
}
