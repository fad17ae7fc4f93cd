// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 13 and 14, and the row that sessions share.

use serde_json::json;
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, running, with};

// Rule 13: restart

#[test]
fn an_event_is_applied_once() {
    let mut scene = Scene::new();
    let sender = Sender { id: Some("one".into()), ..Sender::default() };
    scene.send_from(&sender, "codex", "subagent-start", of("s"));
    assert_eq!(scene.send_from(&sender, "codex", "stop", of("s")), Outcome::Duplicate);
    scene.restart(&[]);
    assert_eq!(scene.send_from(&sender, "codex", "stop", of("s")), Outcome::Duplicate);
}

#[test]
fn a_restart_repeats_no_alert_and_drops_the_dead() {
    let mut scene = Scene::new();
    for pid in [7, 8] {
        let session = format!("s{pid}");
        scene.send_from(&Sender::pid(pid), "codex", "approval-request", of(&session));
    }
    scene.wait(1000);
    assert_eq!(scene.alert_kinds().len(), 2);
    scene.restart(&[8]);
    scene.wait(60_000);
    assert_eq!(scene.alert_kinds().len(), 2);
    assert_eq!(scene.row().pid, Some(7));
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
}

#[test]
fn an_alert_that_was_not_given_yet_comes_after_the_restart() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    scene.restart(&[]);
    scene.wait(1500);
    assert_eq!(scene.alert_kinds(), ["finished"]);
}

#[test]
fn old_news_raise_attention_and_no_alert() {
    let mut scene = Scene::new();
    scene.millis = 100_000;
    for (age, alerts) in [(60_000, 1), (60_001, 0)] {
        for (name, payload) in
            [("stop", json!({})), ("approval-request", json!({})), ("error", json!({ "recoverable": false }))]
        {
            let session = format!("{name}{age}");
            let before = scene.alerts.len();
            let old = Sender::default().started(scene.millis - age);
            scene.send_from(&old, "codex", name, with(&session, payload));
            let attention = scene.rows().iter().find(|row| row.sessions[0].id == session).unwrap().attention;
            assert_ne!(attention.as_str(), "none");
            scene.wait(3000);
            assert_eq!(scene.alerts.len() - before, alerts, "{name} {age}");
        }
    }
}

// Rule 14: alerts and state events

#[test]
fn a_finished_alert_waits_for_the_later_of_turn_and_subagents() {
    let mut scene = running("codex");
    scene.alerts.clear();
    scene.send("codex", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.send("codex", "stop", of("s"));
    scene.wait(20_000);
    assert!(scene.alerts.is_empty());
    let ended = scene.millis;
    scene.send("codex", "subagent-stop", with("s", json!({ "agent_id": "a" })));
    scene.wait(20_000);
    assert_eq!(scene.alerts, [(ended + 1500, "finished")]);
}

#[test]
fn a_turn_that_resumes_was_not_over_and_an_end_cancels() {
    for next in ["prompt-submit", "session-end"] {
        let mut scene = running("codex");
        scene.send("codex", "stop", of("s"));
        scene.wait(1499);
        scene.send("codex", next, of("s"));
        scene.wait(60_000);
        assert!(scene.alerts.is_empty(), "{next}");
    }
}

#[test]
fn beside_background_work_it_is_silent_once() {
    let mut scene = running("codex");
    scene.send("codex", "background-start", with("s", json!({ "task_id": "a" })));
    for _ in 0..2 {
        scene.send("codex", "stop", of("s"));
        scene.wait(5000);
        scene.send("codex", "prompt-submit", of("s"));
        scene.wait(5000);
    }
    scene.send("codex", "background-stop", with("s", json!({ "task_id": "a" })));
    scene.wait(5000);
    assert_eq!(scene.alert_kinds(), ["finished-quiet"]);
    scene.send("codex", "stop", of("s"));
    scene.wait(5000);
    assert_eq!(scene.alert_kinds(), ["finished-quiet", "finished"]);
}

#[test]
fn a_question_that_answers_itself_is_not_announced() {
    let mut scene = running("codex");
    scene.send("codex", "approval-request", of("s"));
    scene.wait(499);
    scene.send("codex", "approval-response", of("s"));
    scene.wait(5000);
    assert!(scene.alerts.is_empty());
    assert_eq!(scene.told_names(), ["session.start", "session.busy", "session.waiting", "session.busy"]);
}

#[test]
fn nobody_is_told_what_they_are_looking_at() {
    let mut scene = Scene::new();
    scene.roster.set_focus(Some("pane".into()));
    scene.send("codex", "approval-request", json!({ "session_id": "s", "surface_id": "pane" }));
    scene.wait(5000);
    assert!(scene.alerts.is_empty());
}

#[test]
fn what_was_acknowledged_is_not_announced() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    let id = scene.row().id;
    scene.roster.acknowledge(&id, scene.now()).unwrap();
    scene.wait(5000);
    assert!(scene.alerts.is_empty());
}

#[test]
fn idle_is_told_once_it_has_lasted() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", of("s"));
    scene.send("codex", "stop", of("s"));
    scene.wait(1000);
    scene.send("codex", "prompt-submit", of("s"));
    scene.wait(1000);
    scene.send("codex", "stop", of("s"));
    scene.wait(1500);
    scene.send("codex", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.send("codex", "subagent-stop", with("s", json!({ "agent_id": "a" })));
    scene.send("codex", "session-end", of("s"));
    let expected = ["session.start", "session.busy", "session.idle", "subagent.start", "subagent.stop", "session.end"];
    assert_eq!(scene.told_names(), expected);
}

// Scope: the shared row

#[test]
fn two_sessions_share_a_row_that_shows_the_latest() {
    let here = |session: &str| with(session, json!({ "cwd": "/home/u/shop" }));
    let (one, two) = (Sender::pid(7).cwd("/home/u/shop"), Sender::pid(8).cwd("/home/u/shop"));
    let mut scene = Scene::new();
    scene.send_from(&one, "claude", "UserPromptSubmit", here("one"));
    scene.millis += 10;
    scene.send_from(&two, "claude", "UserPromptSubmit", here("two"));
    scene.millis += 10;
    scene.send_from(&two, "claude", "Stop", here("two"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    assert_eq!(scene.row().sessions.len(), 2);
    scene.send_from(&one, "claude", "PreToolUse", with("one", json!({ "tool_name": "Bash" })));
    assert_eq!(scene.shown().0, "running");
    scene.send_from(&one, "claude", "PermissionRequest", with("one", json!({ "tool_name": "Bash" })));
    scene.millis += 10;
    scene.send_from(&two, "claude", "UserPromptSubmit", here("two"));
    let row = scene.row();
    assert_eq!((row.status.as_str(), row.priority), ("needs-input", 10), "its question is not lost");
    assert_eq!(row.message.as_deref(), Some("Permission for Bash"));
    scene.roster.acknowledge(&row.id, scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.row().status.as_str(), "needs-input", "also after acknowledgement");
    scene.send_from(&one, "claude", "SessionEnd", with("one", json!({ "reason": "other" })));
    assert_eq!(scene.shown(), ("running", "none", 0));
    assert_eq!(scene.row().sessions.len(), 1);
}
