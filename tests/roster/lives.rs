// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 9 to 12: ends, deaths, reminders, hidden and nested agents.

use serde_json::json;
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, process, running, with};

// Rule 9: ends

#[test]
fn a_session_end_takes_the_row_and_hermes_keeps_its() {
    let mut scene = running("codex");
    scene.send("codex", "session-end", of("s"));
    assert!(scene.rows().is_empty() && scene.workspaces().is_empty());
    let mut scene = running("hermes");
    scene.send("hermes", "stop", of("s"));
    scene.send("hermes", "session-end", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn an_ended_session_comes_back_only_with_a_new_beginning() {
    let mut scene = running("codex");
    scene.send("codex", "session-end", of("s"));
    let late = Sender::default().started(9_000);
    for name in ["pre-tool-use", "stop", "error", "approval-request"] {
        scene.millis += 10;
        assert_eq!(scene.send("codex", name, of("s")), Outcome::Homeless, "{name}");
    }
    assert_eq!(scene.send_from(&late, "codex", "prompt-submit", of("s")), Outcome::Homeless);
    scene.send("codex", "session-start", of("s"));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn an_end_that_comes_before_its_session_leaves_nothing_behind() {
    let mut scene = Scene::new();
    scene.millis = 1000;
    scene.send("codex", "session-end", of("s"));
    let late = Sender::default().started(500);
    assert_eq!(scene.send_from(&late, "codex", "stop", of("s")), Outcome::Homeless);
    assert!(scene.rows().is_empty());
}

#[test]
fn clear_leaves_the_row_for_its_successor() {
    for sender in [Sender::default(), Sender::pid(7)] {
        let mut scene = Scene::new();
        scene.send_from(&sender, "claude", "UserPromptSubmit", of("old"));
        scene.send_from(&sender, "claude", "Stop", of("old"));
        let id = scene.row().id;
        scene.send_from(&sender, "claude", "SessionEnd", with("old", json!({ "reason": "clear" })));
        assert_eq!(scene.shown(), ("idle", "none", 0));
        scene.millis += 100;
        scene.send_from(&sender, "claude", "SessionStart", with("new", json!({ "source": "clear" })));
        assert_eq!(scene.shown(), ("idle", "none", 0));
        let row = scene.row();
        assert_eq!((row.id, row.sessions.len(), &*row.sessions[0].id), (id, 1, "new"));
        scene.send_from(&sender, "claude", "SessionEnd", with("old", json!({ "reason": "other" })));
        assert_eq!(scene.rows().len(), 1, "a late end of the old one touches nothing");
    }
}

#[test]
fn compaction_changes_the_id_and_not_the_row() {
    let sender = Sender::pid(7);
    let mut scene = Scene::new();
    scene.send_from(&sender, "claude", "UserPromptSubmit", of("old"));
    let before = scene.row();
    scene.send_from(&sender, "claude", "SessionStart", with("new", json!({ "source": "compact" })));
    let after = scene.row();
    assert_eq!((after.id, after.status, &*after.sessions[0].id), (before.id, before.status, "new"));
}

// Rule 10: death

#[test]
fn a_death_from_each_state() {
    type Events<'a> = &'a [(&'a str, serde_json::Value)];
    type State<'a> = (&'a str, Events<'a>, Option<(&'a str, &'a str)>);
    let states: [State<'_>; 6] = [
        ("idle", &[("stop", json!({}))], None),
        ("running", &[], Some(("failed", "failed"))),
        ("needs input", &[("approval-request", json!({}))], Some(("failed", "failed"))),
        (
            "an unseen failure",
            &[("error", json!({ "recoverable": false, "message": "No credit" }))],
            Some(("failed", "failed")),
        ),
        ("a grace", &[("error", json!({}))], Some(("failed", "failed"))),
        ("finished with subagents", &[("subagent-update", json!({ "subagent_count": 2 })), ("stop", json!({}))], None),
    ];
    for (name, events, expected) in states {
        let mut scene = Scene::new();
        let sender = Sender::pid(7);
        scene.send_from(&sender, "codex", "prompt-submit", of("s"));
        for (event, payload) in events {
            scene.millis += 10;
            scene.send_from(&sender, "codex", event, with("s", payload.clone()));
        }
        assert!(scene.row().watched);
        scene.roster.process_gone(&process(7), scene.now());
        scene.check();
        let shown = scene.rows().first().map(|row| (row.status.as_str(), row.attention.as_str()));
        assert_eq!(shown, expected, "{name}");
        if let Some(row) = scene.rows().first() {
            assert_eq!((row.subagents, row.background, row.questions, row.watched), (0, 0, 0, false), "{name}");
            let says = if name == "an unseen failure" { "No credit" } else { "Ended unexpectedly" };
            assert_eq!(row.message.as_deref(), Some(says), "{name}");
            let alerts = scene.alert_kinds().len();
            scene.wait(599_000);
            assert_eq!(scene.rows().len(), 1, "{name}: it stands for ten minutes");
            scene.wait(1_000);
            assert!(scene.rows().is_empty(), "{name}: and no longer");
            assert_eq!(scene.alert_kinds().len(), alerts, "{name}: without an alert");
        }
    }
}

#[test]
fn a_seen_failure_goes_with_its_process_and_a_dead_row_when_it_is_seen() {
    let sender = Sender::pid(7);
    let mut scene = Scene::new();
    scene.send_from(&sender, "codex", "error", with("s", json!({ "recoverable": false })));
    let id = scene.row().id;
    scene.roster.acknowledge(&id, scene.now()).unwrap();
    scene.roster.process_gone(&process(7), scene.now());
    scene.check();
    assert!(scene.rows().is_empty());

    let mut scene = Scene::new();
    scene.send_from(&sender, "codex", "prompt-submit", of("s"));
    scene.roster.process_gone(&process(7), scene.now());
    let id = scene.row().id;
    scene.roster.acknowledge(&id, scene.now()).unwrap();
    scene.check();
    assert!(scene.rows().is_empty());
}

#[test]
fn what_arrives_behind_a_death_tells_what_was_before_it() {
    for name in ["stop", "session-end"] {
        let sender = Sender::pid(7);
        let mut scene = Scene::new();
        scene.send_from(&sender, "codex", "prompt-submit", of("s"));
        scene.millis += 100;
        scene.roster.process_gone(&process(7), scene.now());
        scene.send_from(&sender, "codex", "post-tool-use", of("s"));
        assert_eq!(scene.shown().0, "failed", "no tool brings it back");
        scene.send_from(&sender, "codex", name, of("s"));
        scene.wait(1);
        assert!(scene.rows().is_empty(), "{name}");
    }
}

#[test]
fn a_resumed_session_lives_in_its_new_process() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "claude", "UserPromptSubmit", of("s"));
    scene.roster.process_gone(&process(7), scene.now());
    scene.millis += 1000;
    scene.send_from(&Sender::pid(8), "claude", "SessionStart", with("s", json!({ "source": "resume" })));
    assert_eq!(scene.shown(), ("idle", "none", 0));
    assert_eq!(scene.row().pid, Some(8));
    scene.wait(700_000);
    assert_eq!(scene.rows().len(), 1);
}

#[test]
fn a_reused_pid_is_not_mistaken() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "codex", "prompt-submit", of("s"));
    let other = vigil::event::Process { pid: 7, start: 1 };
    scene.roster.process_gone(&other, scene.now());
    scene.check();
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_session_ends_with_its_terminal_unless_it_says_good_bye_first() {
    let sender = Sender { tty: (136 << 8) | 5, ..Sender::pid(7) };
    let mut scene = Scene::new();
    scene.send_from(&sender, "gemini", "prompt-submit", of("s"));
    scene.roster.tty_gone("pts/4", scene.now());
    scene.wait(5000);
    assert_eq!(scene.shown().0, "running", "another's terminal");
    scene.roster.tty_gone("pts/5", scene.now());
    scene.check();
    scene.wait(1999);
    assert_eq!(scene.shown().0, "running");
    scene.wait(1);
    assert_eq!(scene.shown(), ("failed", "failed", 0));

    let mut scene = Scene::new();
    scene.send_from(&sender, "gemini", "prompt-submit", of("s"));
    scene.roster.tty_gone("pts/5", scene.now());
    scene.wait(300);
    scene.send_from(&sender, "gemini", "session-end", of("s"));
    assert!(scene.rows().is_empty());
    assert!(!scene.told_names().contains(&"session.error"));
}

#[test]
fn no_time_calls_a_long_thought_idle_and_an_unwatched_row_ages() {
    let twelve_hours = 12 * 60 * 60 * 1000;
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "codex", "prompt-submit", of("s"));
    scene.wait(100 * twelve_hours);
    assert_eq!(scene.shown().0, "running");
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", of("s"));
    assert!(!scene.row().watched);
    scene.wait(twelve_hours - 1);
    assert_eq!(scene.shown().0, "running");
    scene.wait(1);
    assert!(scene.rows().is_empty());
}

// Rule 11: reminders

#[test]
fn a_reminder_is_not_a_question() {
    let reminder = json!({ "notification_type": "idle_prompt", "message": "Claude is waiting for your input" });
    let mut scene = running("claude");
    scene.send("claude", "Notification", with("s", reminder.clone()));
    assert_eq!(scene.shown(), ("idle", "none", 0), "it ends a turn quietly");
    let mut scene = running("claude");
    scene.send("claude", "Stop", of("s"));
    scene.send("claude", "Notification", with("s", reminder.clone()));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    let mut scene = running("claude");
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.send("claude", "Notification", with("s", reminder.clone()));
    assert_eq!(scene.shown(), ("idle", "none", 0), "the question was dismissed unseen");
    let mut scene = running("claude");
    scene.send("claude", "error", of("s"));
    scene.send("claude", "Notification", with("s", reminder));
    scene.wait(6000);
    assert_eq!(scene.shown().0, "failed", "it ends no grace");
}

// Rule 12: hidden and nested

#[test]
fn a_hidden_helper_is_exported_and_wants_nothing() {
    let mut scene = Scene::new();
    scene.send("hermes", "approval-request", with("s", json!({ "background": true })));
    scene.wait(5000);
    let row = scene.row();
    assert!(row.hidden);
    assert_eq!((row.status.as_str(), row.attention.as_str()), ("needs-input", "none"));
    assert!(scene.alerts.is_empty());
    assert_eq!(scene.told_names(), ["session.start", "session.waiting"]);
    assert_eq!(scene.roster.attention_count(), 0);
}

#[test]
fn an_agent_started_by_another_is_nested_never_in_its_place() {
    let parent = Sender::pid(7);
    let child = Sender { above: vec![50, 7], ..Sender::pid(8) };
    for (agent, event) in [("claude", "UserPromptSubmit"), ("codex", "prompt-submit")] {
        let mut scene = Scene::new();
        scene.send_from(&parent, "claude", "UserPromptSubmit", of("parent"));
        scene.send_from(&parent, "claude", "Stop", of("parent"));
        scene.wait(5000);
        scene.alerts.clear();
        scene.send_from(&child, agent, event, of("child"));
        let rows = scene.rows();
        assert_eq!(rows.len(), 2, "{agent}");
        let (nested, parents): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.nested);
        assert_eq!((parents[0].status.as_str(), parents[0].attention.as_str()), ("idle", "finished"), "{agent}");
        assert_eq!(nested[0].status.as_str(), "running");
        scene.millis += 10;
        scene.send_from(&child, agent, "stop", of("child"));
        scene.wait(5000);
        assert!(scene.alerts.is_empty(), "{agent}");
    }
}
