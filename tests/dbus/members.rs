// SPDX-License-Identifier: GPL-3.0-or-later
//! What each member does, seen in the next snapshot.

use std::collections::HashMap;

use gtk::glib::{self, prelude::*};
use vigil::snapshot::{LogLevel, LogView, ProgressView};
use vigil::status::{Attention, Status};

use crate::session::{Session, empty};

#[test]
fn an_event_makes_a_row() {
    let session = Session::start();
    session.hook("claude", "prompt-submit", r#"{"session_id":"s","workspace_id":"demo"}"#);
    let row = session.row("demo");
    assert_eq!((row.agent.as_str(), row.name.as_str()), ("claude", "Claude Code"));
    assert_eq!(
        (row.status, row.label.as_str(), row.icon.as_str()),
        (Status::Running, "Running", "content-loading-symbolic")
    );
    assert_eq!((row.sessions.len(), row.sessions[0].id.as_str()), (1, "s"));
    assert!(!row.watched, "no process is known");
}

#[test]
fn an_empty_event_name_is_the_payloads_own() {
    let session = Session::start();
    let payload = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/nowhere/shop","prompt":"hi"}"#;
    session.hook("claude", "", payload);
    let workspaces = session.snapshot().workspaces;
    assert_eq!(workspaces.len(), 1);
    assert_eq!((workspaces[0].name.as_str(), workspaces[0].path.as_deref()), ("shop", Some("/nowhere/shop")));
}

#[test]
fn a_status_is_set_and_cleared() {
    let session = Session::start();
    let set = |value: &str, options: HashMap<String, glib::Variant>| {
        session.must("SetStatus", &("demo", "build", value, options).to_variant());
        session.row("demo")
    };
    for (value, status, attention) in [
        ("Running", Status::Running, Attention::None),
        ("needs INPUT", Status::NeedsInput, Attention::NeedsInput),
        ("Running", Status::Running, Attention::None),
        ("Idle", Status::Idle, Attention::Finished),
        ("Failed", Status::Failed, Attention::Failed),
    ] {
        let row = set(value, empty());
        assert_eq!((row.status, row.attention), (status, attention), "{value}");
    }
    let options = HashMap::from([
        ("priority".to_string(), 7_i32.to_variant()),
        ("display-name".to_string(), "Build".to_variant()),
        ("agent".to_string(), false.to_variant()),
    ]);
    let row = set("linking", options);
    assert_eq!((row.status, row.attention), (Status::Idle, Attention::None));
    assert_eq!((row.message.as_deref(), row.name.as_str(), row.priority), (Some("linking"), "Build", 7));
    session.must("ClearStatus", &("demo", "build").to_variant());
    assert!(session.rows("demo").is_empty());
}

#[test]
fn counts_are_set() {
    let session = Session::start();
    session.hook("codex", "stop", r#"{"workspace_id":"demo"}"#);
    session.must("SetSubagentCounts", &("demo", "codex", 2_i32, 1_i32).to_variant());
    let row = session.row("demo");
    assert_eq!((row.status, row.subagents, row.background), (Status::Idle, 2, 1));
    assert_eq!(row.icon, "system-run-symbolic");
    session.must("SetSubagentCounts", &("demo", "codex", 0_i32, 1_i32).to_variant());
    let row = session.row("demo");
    assert_eq!((row.icon.as_str(), row.priority), ("media-playback-start-symbolic", -1));
}

#[test]
fn a_workspace_has_progress_and_a_log_line() {
    let session = Session::start();
    let workspace = || session.snapshot().workspaces.into_iter().find(|workspace| workspace.id == "demo");
    session.must("SetProgress", &("demo", 0.4_f64, "3 of 7").to_variant());
    let progress = workspace().and_then(|workspace| workspace.progress);
    assert_eq!(progress, Some(ProgressView { value: 0.4, label: "3 of 7".into() }));
    session.must("SetProgress", &("demo", 7.0_f64, "").to_variant());
    assert_eq!(workspace().and_then(|workspace| workspace.progress).map(|progress| progress.value), Some(1.0));
    session.must("AppendLog", &("demo", "warning", "built\nagain").to_variant());
    let log = workspace().and_then(|workspace| workspace.log);
    assert_eq!(log, Some(LogView { level: LogLevel::Warning, message: "built again".into() }));
    session.must("SetProgress", &("demo", -1.0_f64, "").to_variant());
    assert_eq!(workspace().and_then(|workspace| workspace.progress), None);
}

#[test]
fn a_row_is_seen_and_dismissed() {
    let session = Session::start();
    session.hook("codex", "stop", r#"{"workspace_id":"demo"}"#);
    let row = session.row("demo");
    assert_eq!((row.attention, session.property("Attention").get()), (Attention::Finished, Some(1_u32)));
    session.must("Acknowledge", &(row.id.as_str(),).to_variant());
    assert_eq!(session.row("demo").attention, Attention::None);
    assert_eq!(session.property("Attention").get(), Some(0_u32));
    session.must("Dismiss", &(row.id.as_str(),).to_variant());
    assert!(session.rows("demo").is_empty());
}

#[test]
fn one_session_of_a_row_is_seen() {
    let session = Session::start();
    for id in ["a", "b"] {
        session.hook("claude", "approval-request", &format!(r#"{{"session_id":"{id}","workspace_id":"demo"}}"#));
    }
    let row = session.row("demo");
    session.must("Acknowledge", &(format!("{}#a", row.id),).to_variant());
    let attention: Vec<Attention> = session.row("demo").sessions.iter().map(|session| session.attention).collect();
    assert_eq!(attention, [Attention::None, Attention::NeedsInput]);
    session.must("Dismiss", &(format!("{}#b", row.id),).to_variant());
    let row = session.row("demo");
    assert_eq!((row.sessions.len(), row.sessions[0].id.as_str()), (1, "a"));
}

#[test]
fn details_are_told_only_when_asked_for() {
    let session = Session::start();
    let payload = r#"{"hook_event_name":"PermissionRequest","session_id":"s","workspace_id":"demo",
        "tool_name":"Bash","tool_input":{"command":"rm -rf build"}}"#;
    session.hook("claude", "", payload);
    let ask = |details: bool| {
        let options = HashMap::from([("details".to_string(), details.to_variant())]);
        session.must("GetSnapshot", &(options,).to_variant()).child_value(0).str().unwrap().to_string()
    };
    assert!(!ask(false).contains("rm -rf"));
    assert!(ask(false).contains("Permission for Bash"));
    assert!(ask(true).contains("rm -rf build"));
    session.wait_for("the change", || !session.changes().is_empty());
    for signal in session.signals("Changed").into_iter().chain(session.signals("StateEvent")) {
        assert!(!signal.body.to_string().contains("rm -rf"), "signals carry no details");
    }
}

#[test]
fn properties_follow() {
    let session = Session::start();
    let counts = || -> HashMap<String, u32> { session.property("Counts").get().expect("Counts is a{su}") };
    assert_eq!(counts().values().sum::<u32>(), 0);
    assert_eq!(session.property("Version").str(), Some(vigil::app::config::VERSION));
    session.hook("codex", "prompt-submit", r#"{"workspace_id":"demo"}"#);
    session.hook("claude", "notification", r#"{"workspace_id":"demo"}"#);
    session.snapshot();
    assert_eq!((counts()["running"], counts()["needs-input"], counts()["idle"]), (1, 1, 0));
    let told = session.signals("PropertiesChanged");
    let (interface, changed): (String, glib::VariantDict) =
        (told[0].body.child_value(0).get().unwrap(), told[0].body.child_value(1).get().unwrap());
    assert_eq!(interface, "dev.vigil.Vigil1");
    assert!(changed.contains("Counts"));
}
