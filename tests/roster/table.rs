// SPDX-License-Identifier: GPL-3.0-or-later
//! Section 1 of the status model, row by row, for all agents of the catalogue and one that is not in it.

use serde_json::json;
use vigil::agent::{self, CATALOGUE};
use vigil::event::UnifiedKind;
use vigil::roster::Outcome;

use crate::scene::{Scene, of, with};

fn agents() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|agent| agent.id).chain(["home-made"])
}

/// Event, more payload, status after it in a session whose turn runs.
fn effects(agent: &str) -> Vec<(&'static str, serde_json::Value, &'static str)> {
    let agent = agent::find(agent);
    let notified = if agent.notification_counts { "needs-input" } else { "running" };
    vec![
        ("session-start", json!({}), "running"),
        ("session-start", json!({ "waiting": true }), "idle"),
        ("prompt-submit", json!({}), "running"),
        ("pre-tool-use", json!({ "tool_name": "Bash" }), "running"),
        ("post-tool-use", json!({ "tool_name": "Bash" }), "running"),
        ("stop", json!({}), "idle"),
        ("notification", json!({ "message": "Well?" }), notified),
        ("session-end", json!({}), if agent.clears_on_end { "gone" } else { "idle" }),
        ("llm-complete", json!({}), "idle"),
        ("approval-request", json!({}), "needs-input"),
        ("approval-response", json!({}), "running"),
        ("interrupt", json!({}), "idle"),
        ("error", json!({ "recoverable": true }), "running"),
        ("error", json!({ "recoverable": false }), "failed"),
        ("error", json!({}), "running"),
        ("subagent-update", json!({ "subagent_count": 1 }), "running"),
        ("subagent-start", json!({ "agent_id": "a" }), "running"),
        ("subagent-stop", json!({ "agent_id": "a" }), "running"),
        ("background-start", json!({ "task_id": "a" }), "running"),
        ("background-stop", json!({ "task_id": "a" }), "running"),
        ("progress", json!({ "value": 0.5 }), "running"),
        ("log", json!({ "message": "hello" }), "running"),
        ("file-changed", json!({}), "running"),
    ]
}

#[test]
fn every_row_of_the_vocabulary() {
    for agent in agents() {
        for (name, payload, expected) in effects(agent) {
            let mut scene = Scene::new();
            scene.send(agent, "prompt-submit", of("s"));
            scene.millis += 10;
            scene.send(agent, name, with("s", payload));
            let shown = scene.rows().first().map_or("gone", |row| row.status.as_str());
            assert_eq!(shown, expected, "{agent} {name}");
        }
    }
}

#[test]
fn the_table_has_every_name() {
    let listed: Vec<&str> = effects("claude").iter().map(|(name, ..)| *name).collect();
    for name in UnifiedKind::names() {
        assert!(listed.contains(&name), "{name}");
    }
}

#[test]
fn an_unknown_error_fails_after_its_grace() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", of("s"));
    scene.send("codex", "error", with("s", json!({ "message": "no network" })));
    assert_eq!(scene.row().message.as_deref(), Some("no network"));
    scene.wait(5999);
    assert_eq!(scene.shown().0, "running");
    scene.wait(1);
    assert_eq!(scene.shown(), ("failed", "failed", 0));
}

#[test]
fn a_notification_of_an_agent_marked_no_changes_nothing() {
    for agent in CATALOGUE.iter().filter(|agent| !agent.notification_counts) {
        let mut scene = Scene::new();
        scene.send(agent.id, "stop", of("s"));
        let before = scene.row();
        assert_eq!(scene.send(agent.id, "notification", of("s")), Outcome::Recorded);
        assert_eq!(scene.row(), before, "{}", agent.id);
    }
}

#[test]
fn the_answer_of_hermes_in_this_spelling_is_recorded_only() {
    for (agent, expected) in [("hermes", "needs-input"), ("codex", "running")] {
        let mut scene = Scene::new();
        scene.send(agent, "approval-request", of("s"));
        scene.send(agent, "approval-response", of("s"));
        assert_eq!(scene.shown().0, expected, "{agent}");
    }
}

#[test]
fn a_status_label_wins_over_the_event() {
    for (label, expected) in
        [("running", "running"), ("IDLE", "idle"), ("Needs Input", "needs-input"), ("failed", "failed")]
    {
        let mut scene = Scene::new();
        scene.send("codex", "prompt-submit", of("s"));
        scene.send("codex", "stop", with("s", json!({ "status": label })));
        assert_eq!(scene.shown().0, expected, "{label}");
    }
    let mut scene = Scene::new();
    scene.send("codex", "stop", with("s", json!({ "status": "Thinking" })));
    assert_eq!(scene.shown().0, "idle");
}

#[test]
fn what_is_left_out_stays_and_null_is_unknown() {
    let mut scene = Scene::new();
    scene.send("pi", "subagent-update", with("s", json!({ "subagent_count": 2 })));
    assert!(scene.rows().is_empty(), "counters make no row");
    scene.send("pi", "prompt-submit", of("s"));
    scene.send("pi", "subagent-update", with("s", json!({ "subagent_count": 2, "background_count": 3 })));
    scene.send("pi", "subagent-update", with("s", json!({ "background_count": 1 })));
    assert_eq!(scene.counts(), (2, 1));
    scene.send("pi", "stop", with("s", json!({ "message": "Done" })));
    scene.send("pi", "stop", of("s"));
    assert_eq!(scene.row().message.as_deref(), Some("Done"));
    scene.send("pi", "stop", with("s", json!({ "message": null })));
    assert_eq!(scene.row().message, None);
}

#[test]
fn unified_events_honour_native_fields() {
    let mut scene = Scene::new();
    scene.send("claude", "prompt-submit", of("s"));
    scene.send("claude", "stop", with("s", json!({ "agent_id": "a" })));
    assert_eq!(scene.shown().0, "running", "a subagent's stop is not the main one's");
    scene.send("claude", "notification", with("s", json!({ "notification_type": "auth_success" })));
    assert_eq!(scene.shown().0, "running");
    let tasks = json!([{ "id": "a", "type": "subagent" }, { "id": "b", "type": "shell" }]);
    scene.send("claude", "stop", with("s", json!({ "background_tasks": tasks })));
    assert_eq!(scene.counts(), (1, 1));
    scene.send("claude", "notification", with("s", json!({ "notification_type": "idle_prompt" })));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}
