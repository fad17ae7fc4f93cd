// SPDX-License-Identifier: GPL-3.0-or-later
//! Every action, as `gapplication` reaches it.

use std::time::Duration;

use vigil::status::{Attention, Status};

use crate::session::Session;

/// Runs an action that must be taken.
#[track_caller]
fn act(session: &Session, name: &str, parameter: &str) {
    let outcome = session.action(name, Some(parameter).filter(|parameter| !parameter.is_empty()));
    assert!(outcome.status.success(), "{name} {parameter}: {}", String::from_utf8_lossy(&outcome.stderr));
}

#[test]
fn the_actions_are_those_of_the_design() {
    let session = Session::start();
    let mut names = session.actions();
    names.sort_unstable();
    let expected = [
        "about",
        "acknowledge",
        "clear-status",
        "dismiss",
        "hook",
        "install",
        "integrations",
        "jump",
        "next-attention",
        "preferences",
        "quit",
        "repair",
        "set-status",
        "show",
        "subagent-update",
        "uninstall",
    ];
    assert_eq!(names, expected);
}

#[test]
fn scripts_reach_everything() {
    let session = Session::start();
    act(&session, "hook", r#"('codex','stop','{"workspace_id":"demo"}')"#);
    let row = session.row("demo");
    assert_eq!((row.status, row.attention), (Status::Idle, Attention::Finished));
    act(&session, "subagent-update", "('demo','codex',2,1)");
    let row = session.row("demo");
    assert_eq!((row.subagents, row.background), (2, 1));
    act(&session, "acknowledge", &format!("'{}'", row.id));
    assert_eq!(session.row("demo").attention, Attention::None);
    act(&session, "set-status", "('demo','codex','Needs input','My Codex')");
    let row = session.row("demo");
    assert_eq!((row.status, row.name.as_str()), (Status::NeedsInput, "My Codex"));
    act(&session, "set-status", "('demo','build','linking','')");
    assert_eq!(session.rows("demo").len(), 2);
    act(&session, "clear-status", "('demo','build')");
    act(&session, "dismiss", &format!("'{}'", row.id));
    assert!(session.rows("demo").is_empty());
    assert!(!session.has_window(), "none of these opens a window");
}

#[test]
fn a_malformed_payload_changes_nothing() {
    let session = Session::start();
    act(&session, "hook", r#"('codex','stop','{"workspace_id":"demo"}')"#);
    let before = session.snapshot();
    for parameter in [
        r#"('codex','stop','{"workspace_id":')"#,
        "('codex','stop','7')",
        r#"('a b','stop','{"workspace_id":"demo"}')"#,
        r#"('codex','','{"workspace_id":"demo"}')"#,
        r#"('codex','stop','{"workspace_id":"demo","message":5}')"#,
    ] {
        act(&session, "hook", parameter);
        assert_eq!(session.snapshot(), before, "{parameter}");
    }
    act(&session, "subagent-update", "('demo','codex',-1,0)");
    act(&session, "set-status", "('','codex','Running','')");
    act(&session, "clear-status", "('demo','nobody')");
    act(&session, "acknowledge", "'nobody'");
    act(&session, "jump", "'r1'");
    assert_eq!(session.snapshot(), before);
    session.wait_for("ten refusals in the log", || session.log().matches("Refused").count() == 10);
}

#[test]
fn a_wrong_type_is_refused_by_the_action() {
    let session = Session::start();
    let before = session.snapshot();
    for (name, parameter) in [("hook", "'x'"), ("subagent-update", "('demo','codex','2','1')"), ("acknowledge", "5")] {
        let outcome = session.action(name, Some(parameter));
        assert!(!outcome.status.success(), "{name} {parameter}");
    }
    assert_eq!(session.snapshot(), before);
}

#[test]
fn only_show_and_activate_open_a_window() {
    let session = Session::start();
    assert!(!session.has_window());
    act(&session, "show", "");
    session.wait_for("a window", || session.has_window());

    let session = Session::start();
    let again = session.command(env!("CARGO_BIN_EXE_vigil")).output().expect("a second start ends by itself");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    session.wait_for("a window", || session.has_window());
}

/// Without a window manager, the window's own key is the way to close it.
fn close_window(session: &Session) {
    let keys = "window=$(xdotool search --onlyvisible --class vigil | tail -n 1) \
                && xdotool windowfocus --sync \"$window\" key --clearmodifiers ctrl+w";
    assert!(session.command("sh").args(["-c", keys]).status().expect("a shell").success());
}

#[test]
fn closing_the_window_keeps_the_service() {
    let mut session = Session::start();
    session.hook("codex", "stop", r#"{"workspace_id":"demo"}"#);
    act(&session, "show", "");
    session.wait_for("a window", || session.has_window());
    close_window(&session);
    session.wait_for("no window", || !session.has_window());
    assert_eq!(session.row("demo").status, Status::Idle);
    assert!(!session.has_ended());
    act(&session, "next-attention", "");
    session.wait_for("a window again", || session.has_window());
}

#[test]
fn closing_the_window_quits_when_set_so() {
    let mut session = Session::start_with("close-to-background=false");
    act(&session, "show", "");
    session.wait_for("a window", || session.has_window());
    close_window(&session);
    session.ends_within(Duration::from_secs(5));
}

#[test]
fn quit_quits() {
    let mut session = Session::start();
    act(&session, "show", "");
    session.wait_for("a window", || session.has_window());
    act(&session, "about", "");
    act(&session, "quit", "");
    session.wait_at_most(Duration::from_secs(5), "the end of the name", || !session.has_owner());
    session.ends_within(Duration::from_secs(5));
}
