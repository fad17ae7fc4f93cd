// SPDX-License-Identifier: GPL-3.0-or-later
//! The tools by which scripts, agents and Séance's scripts reach the application.

use std::path::PathBuf;
use std::process::Output;

use vigil::protocol::{APP_ID, INTERFACE, OBJECT_PATH};
use vigil::snapshot::Snapshot;
use vigil::status::{Attention, Status};

use crate::session::Session;

#[track_caller]
fn quiet(outcome: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let seen = (outcome.status.code(), text(&outcome.stdout), text(&outcome.stderr));
    assert_eq!(seen, (Some(0), String::new(), String::new()));
}

fn is_installed(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder: PathBuf| folder.join(program).exists())
}

#[test]
fn busctl() {
    if !is_installed("busctl") {
        return;
    }
    let session = Session::start();
    let busctl = |words: &[&str]| {
        let mut command = session.command("busctl");
        command.args(["--user", "call", APP_ID, OBJECT_PATH, INTERFACE]).args(words);
        let outcome = command.output().unwrap();
        assert!(outcome.status.success(), "{words:?}: {}", String::from_utf8_lossy(&outcome.stderr));
        String::from_utf8(outcome.stdout).unwrap()
    };
    busctl(&["Hook", "sssa{sv}", "codex", "prompt-submit", r#"{"workspace_id":"demo"}"#, "1", "host", "s", "box"]);
    let row = session.row("demo");
    assert_eq!((row.status, row.host.as_deref()), (Status::Running, Some("box")));
    busctl(&["SetStatus", "sssa{sv}", "demo", "codex", "Failed", "2", "priority", "i", "4", "message", "s", "Ouch"]);
    let row = session.row("demo");
    assert_eq!((row.status, row.priority, row.message.as_deref()), (Status::Failed, 4, Some("Ouch")));
    assert!(busctl(&["GetSnapshot", "a{sv}", "0"]).contains("Ouch"));
}

#[test]
fn gdbus() {
    let session = Session::start();
    let gdbus = |words: &[&str]| {
        let mut command = session.command("gdbus");
        command.args(["call", "--session", "--dest", APP_ID, "--object-path", OBJECT_PATH, "--method"]).args(words);
        command.output().expect("gdbus is installed")
    };
    let member = |name: &str| format!("{INTERFACE}.{name}");
    assert!(gdbus(&[&member("Hook"), "codex", "stop", r#"{"workspace_id":"demo"}"#, "{}"]).status.success());
    assert_eq!(session.row("demo").status, Status::Idle);
    let refused = gdbus(&[&member("Hook"), "codex", "stop", "[", "{}"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("dev.vigil.Vigil1.Error.InvalidPayload"));
}

#[test]
fn an_agents_hook() {
    let session = Session::start();
    let payload = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"hi"}"#;
    quiet(&session.vigilctl(&["hook", "claude"], payload));
    let workspace = &session.snapshot().workspaces[0];
    assert_eq!(workspace.path.as_deref(), session.home().to_str(), "the folder in which the hook ran");
    let row = &workspace.rows.as_ref().unwrap()[0];
    assert_eq!((row.status, row.host.as_deref()), (Status::Running, None));
    quiet(&session.vigilctl(&["hook", "claude", "Stop"], &payload.replace("UserPromptSubmit", "Stop")));
    assert_eq!(session.row(&workspace.id).status, Status::Idle);
}

#[test]
fn seances_spelling() {
    let session = Session::start();
    let payload = r#"{"session_id":"s","workspace_id":"7"}"#;
    for (event, status) in [
        ("session-start", Status::Running),
        ("notification", Status::NeedsInput),
        ("prompt-submit", Status::Running),
        ("stop", Status::Idle),
    ] {
        quiet(&session.vigilctl(&["ctl", "opencode-hook", event], payload));
        assert_eq!(session.row("7").status, status, "{event}");
    }
    quiet(&session.vigilctl(&["pi-hook", "stop", "--workspace", "8", "--surface", "p", "--socket", "/x"], "{}"));
    let row = session.row("8");
    assert_eq!((row.agent.as_str(), row.surface.as_deref()), ("pi", Some("p")));
    quiet(&session.vigilctl(&["ctl", "opencode-hook", "session-end"], payload));
    assert!(session.rows("7").is_empty());
    let pong = session.vigilctl(&["ctl", "ping"], "");
    assert_eq!(String::from_utf8_lossy(&pong.stdout).trim(), "pong");
}

/// The environment of Séance's panes names workspace and surface.
#[test]
fn an_environment_names_the_place() {
    let session = Session::start();
    let mut hook = session.command(env!("CARGO_BIN_EXE_vigilctl"));
    hook.args(["codex-hook", "stop"]).env("SEANCE_WORKSPACE_ID", "9").env("SEANCE_SURFACE_ID", "pane");
    quiet(&hook.output().unwrap());
    assert_eq!(session.row("9").surface.as_deref(), Some("pane"));
}

#[test]
fn the_command_line() {
    let session = Session::start();
    quiet(&session.vigilctl(&["set-status", "demo", "build", "Running", "--display-name", "Build"], ""));
    quiet(&session.vigilctl(&["set-progress", "demo", "0.25", "1 of 4"], ""));
    quiet(&session.vigilctl(&["append-log", "demo", "linking", "--level", "warning"], ""));
    quiet(&session.vigilctl(&["set-status", "demo", "build", "Needs input"], ""));
    let row = session.row("demo");
    assert_eq!((row.name.as_str(), row.attention), ("Build", Attention::NeedsInput));
    quiet(&session.vigilctl(&["ack", &row.id], ""));
    assert_eq!(session.row("demo").attention, Attention::None);

    let json = session.vigilctl(&["status", "--json"], "");
    let told: Snapshot = serde_json::from_slice(&json.stdout).expect("a snapshot");
    assert_eq!(told, session.snapshot());
    let plain = String::from_utf8(session.vigilctl(&["status"], "").stdout).unwrap();
    assert!(plain.contains("Build"), "{plain}");

    quiet(&session.vigilctl(&["clear-status", "demo", "build"], ""));
    assert!(session.rows("demo").is_empty());
    for words in [&["dismiss", "r99"][..], &["ack", "r99"], &["notify", "demo", "title", "body"]] {
        let outcome = session.vigilctl(words, "");
        assert_eq!(outcome.status.code(), Some(1), "{words:?}");
        assert!(!outcome.stderr.is_empty(), "{words:?}");
    }
    assert_eq!(session.vigilctl(&["jump", "--next"], "").status.code(), Some(1));
}

#[test]
fn a_recording_is_played() {
    let session = Session::start();
    let recording = [
        r#"{"t_ms":0,"event":"session-start","agent":"codex","payload":{"session_id":"s","workspace_id":"demo"}}"#,
        r##"{"t_ms":5,"event":"#driver: looks","payload":{}}"##,
        r#"{"t_ms":20,"event":"stop","agent":"codex","payload":{"session_id":"s","workspace_id":"demo"}}"#,
    ];
    let file = session.home().join("recording.jsonl");
    std::fs::write(&file, recording.join("\n")).unwrap();
    let outcome = session.vigilctl(&["replay", file.to_str().unwrap()], "");
    assert_eq!(outcome.status.code(), Some(0), "{}", String::from_utf8_lossy(&outcome.stderr));
    assert_eq!(session.row("demo").status, Status::Idle);
}
