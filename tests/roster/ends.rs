// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 9, 10, 12 and 13: what has ended stays ended, and what goes on is found again.

use serde_json::{Value, json};
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, process, with};

// Rule 9

#[test]
fn only_a_new_beginning_brings_back_what_rests() {
    let ends: [(&str, &str, Value); 2] =
        [("hermes", "session-end", json!({})), ("claude", "SessionEnd", json!({ "reason": "clear" }))];
    for (agent, end, more) in ends {
        let mut scene = Scene::new();
        scene.send(agent, "prompt-submit", of("s"));
        scene.wait(1000);
        scene.send(agent, "stop", of("s"));
        scene.wait(1000);
        scene.send(agent, end, with("s", more));
        scene.wait(10);
        for (name, more) in [
            ("post-tool-use", json!({})),
            ("approval-request", json!({})),
            ("error", json!({ "recoverable": false })),
            ("subagent-start", json!({ "agent_id": "a" })),
            ("background-start", json!({ "task_id": "b" })),
        ] {
            assert_eq!(scene.send(agent, name, with("s", more)), Outcome::Recorded, "{agent} {name}");
            assert_eq!((scene.shown().0, scene.counts()), ("idle", (0, 0)), "{agent} {name}");
        }
        let late = Sender::default().started(500);
        assert_eq!(scene.send_from(&late, agent, "prompt-submit", of("s")), Outcome::Recorded, "{agent}");
        scene.send(agent, "prompt-submit", of("s"));
        assert_eq!(scene.shown().0, "running", "{agent}");
        let told = scene.told_names().into_iter().filter(|name| ["session.start", "session.end"].contains(name));
        assert_eq!(told.collect::<Vec<_>>(), ["session.start", "session.end", "session.start"], "{agent}");
    }
}

#[test]
fn each_end_is_told_at_once_and_once() {
    let mut scene = Scene::new();
    let sender = Sender::pid(7);
    scene.send_from(&sender, "claude", "UserPromptSubmit", of("old"));
    scene.send_from(&sender, "claude", "SessionEnd", with("old", json!({ "reason": "clear" })));
    assert_eq!(scene.told_names(), ["session.start", "session.busy", "session.end"]);
    scene.wait(10);
    scene.send_from(&sender, "claude", "SessionStart", with("new", json!({ "source": "clear" })));
    assert_eq!(scene.told_names()[3..], ["session.start"]);
    let mut scene = Scene::new();
    scene.send_from(&sender, "hermes", "prompt-submit", of("s"));
    scene.send_from(&sender, "hermes", "session-end", of("s"));
    scene.roster.process_gone(&process(7), scene.now());
    scene.check();
    assert!(scene.rows().is_empty());
    assert_eq!(scene.told_names(), ["session.start", "session.busy", "session.end"]);
}

#[test]
fn a_late_end_is_late() {
    let mut scene = Scene::new();
    scene.wait(1000);
    scene.send("claude", "UserPromptSubmit", of("s"));
    let late = Sender::default().started(500);
    assert_eq!(scene.send_from(&late, "claude", "SessionEnd", of("s")), Outcome::Late);
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_session_that_came_back_is_not_held_to_its_old_end() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", of("s"));
    scene.send("codex", "session-end", of("s"));
    scene.wait(10);
    scene.send("codex", "session-start", of("s"));
    let id = scene.row().id;
    scene.roster.dismiss(&id, scene.now()).unwrap();
    scene.check();
    scene.send("codex", "pre-tool-use", of("s"));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn hermes_does_not_outlive_its_process() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "hermes", "prompt-submit", of("s"));
    scene.roster.process_gone(&process(7), scene.now());
    scene.check();
    scene.wait(10);
    scene.send_from(&Sender::pid(7), "hermes", "session-end", of("s"));
    assert!(scene.rows().is_empty());
}

// Rule 10

#[test]
fn what_a_dead_process_sent_late_makes_no_row() {
    let sender = Sender::pid(7);
    let mut scene = Scene::new();
    scene.send_from(&sender, "codex", "prompt-submit", of("s"));
    scene.send_from(&sender, "codex", "stop", of("s"));
    scene.wait(5000);
    scene.roster.process_gone(&process(7), scene.now());
    scene.check();
    for name in ["post-tool-use", "stop", "approval-request"] {
        assert_eq!(scene.send_from(&sender, "codex", name, of("s")), Outcome::Homeless, "{name}");
    }
    scene.wait(10);
    scene.send_from(&Sender::pid(8), "codex", "session-start", of("s"));
    assert_eq!(scene.shown().0, "running", "and a resumed one does");
}

#[test]
fn a_dead_session_goes_on_with_any_event_of_its_new_process() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "codex", "prompt-submit", of("s"));
    scene.wait(1000);
    scene.roster.process_gone(&process(7), scene.now());
    scene.check();
    let older = Sender::pid(6).started(500);
    assert_eq!(scene.send_from(&older, "codex", "pre-tool-use", of("s")), Outcome::Recorded, "an older one is not new");
    scene.wait(1000);
    scene.send_from(&Sender::pid(8), "codex", "pre-tool-use", of("s"));
    assert_eq!((scene.shown().0, scene.row().pid, scene.row().watched), ("running", Some(8), true));
}

// Rule 12

#[test]
fn hidden_agents_raise_alerts_where_the_user_looks_at_them() {
    let mut scene = Scene::new();
    scene.roster.set_shows_hidden(true);
    scene.send("hermes", "approval-request", with("s", json!({ "background": true })));
    scene.wait(5000);
    assert_eq!(scene.alert_kinds(), ["needs-input"]);
}

#[test]
fn a_nested_agent_without_an_id_does_not_speak_for_its_parent() {
    let pane = |pid: u32, above: Vec<u32>| Sender { tty: (136 << 8) | 5, above, ..Sender::pid(pid) };
    let mut scene = Scene::new();
    scene.send_from(&pane(7, Vec::new()), "codex", "prompt-submit", json!({ "workspace_id": "w" }));
    scene.wait(10);
    scene.send_from(&pane(8, vec![7]), "codex", "stop", json!({ "workspace_id": "w" }));
    let rows = scene.rows();
    assert_eq!(rows.len(), 2);
    let parent = rows.iter().find(|row| !row.nested).unwrap();
    assert_eq!((parent.status.as_str(), parent.pid), ("running", Some(7)));
}

// Rule 13

#[test]
fn a_tools_input_is_never_written_to_disk() {
    let mut scene = Scene::new();
    let bash = json!({ "tool_name": "Bash", "tool_use_id": "a", "tool_input": { "command": "rm -rf secret" } });
    scene.send("claude", "PreToolUse", with("s", bash.clone()));
    scene.send("claude", "PermissionRequest", with("s", bash));
    let state = serde_json::to_string(&scene.roster.replicate()).unwrap();
    assert!(!state.contains("secret"), "{state}");
    scene.restart(&[]);
    assert_eq!(scene.row().message.as_deref(), Some("Permission for Bash"));
}

// Which event makes a row, and where

#[test]
fn a_row_without_a_folder_moves_to_its_first_one() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", of("s"));
    let row = scene.row().id;
    scene.send("codex", "pre-tool-use", with("s", json!({ "cwd": "/home/u/shop" })));
    let workspaces = scene.workspaces();
    assert_eq!(workspaces.len(), 1);
    assert_eq!((&*workspaces[0].name, workspaces[0].path.as_deref()), ("shop", Some("/home/u/shop")));
    assert_eq!(scene.row().id, row);
    scene.send("codex", "pre-tool-use", with("s", json!({ "cwd": "/home/u/docs" })));
    assert_eq!(scene.workspaces()[0].id, "/home/u/shop");
}

#[test]
fn an_explicit_workspace_gets_its_path_from_a_later_event() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", json!({ "session_id": "s", "workspace_id": "7" }));
    assert_eq!(scene.workspaces()[0].path, None);
    scene.send("codex", "pre-tool-use", json!({ "session_id": "s", "workspace_id": "7", "cwd": "/home/u/shop" }));
    assert_eq!(scene.workspaces()[0].path.as_deref(), Some("/home/u/shop"));
    assert_eq!(scene.workspaces()[0].name, "shop");
}

#[test]
fn progress_of_an_unknown_session_without_a_place_is_nobodys() {
    let mut scene = Scene::new();
    assert_eq!(scene.send("codex", "progress", with("s", json!({ "value": 0.5 }))), Outcome::Homeless);
    assert!(scene.workspaces().is_empty());
}
