// SPDX-License-Identifier: GPL-3.0-or-later
//! Section 3 of the status model, rule by rule.

use std::time::Duration;

use serde_json::json;
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, process, with};

fn running(agent: &str) -> Scene {
    let mut scene = Scene::new();
    scene.send(agent, "prompt-submit", of("s"));
    scene.wait(10_000);
    scene
}

// Rule 1: attention

#[test]
fn attention_rises_with_a_turns_end_and_falls_when_it_is_seen() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    let id = scene.row().id;
    scene.roster.acknowledge(&id, scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

#[test]
fn the_users_own_prompt_shows_that_all_has_been_seen() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    scene.millis += 1;
    scene.send("codex", "prompt-submit", with("s", json!({ "automatic": true })));
    assert_eq!(scene.shown(), ("running", "finished", 0));
    scene.millis += 1;
    scene.send("codex", "prompt-submit", of("s"));
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn attention_falls_with_its_cause_back_to_the_finished_turn() {
    let mut scene = running("codex");
    scene.send("codex", "approval-request", with("s", json!({ "agent_id": "a" })));
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
    scene.send("codex", "approval-response", with("s", json!({ "agent_id": "a" })));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn new_work_ends_a_failure() {
    let mut scene = running("codex");
    scene.send("codex", "error", with("s", json!({ "recoverable": false })));
    assert_eq!(scene.shown(), ("failed", "failed", 0));
    scene.millis += 1;
    scene.send("codex", "pre-tool-use", of("s"));
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn a_stop_without_an_open_turn_raises_nothing() {
    let mut scene = Scene::new();
    scene.send("codex", "session-start", with("s", json!({ "waiting": true })));
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

#[test]
fn in_a_session_not_seen_before_a_stop_closes_a_turn() {
    let mut scene = Scene::new();
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn the_prompt_that_arrives_behind_its_stop_finishes_the_turn() {
    let mut scene = Scene::new();
    scene.send("codex", "session-start", with("s", json!({ "waiting": true })));
    scene.wait(1000);
    scene.send("codex", "stop", of("s"));
    let late = Sender::default().started(500);
    assert_eq!(scene.send_from(&late, "codex", "prompt-submit", of("s")), Outcome::Late);
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

// Rule 2: finished is sticky

#[test]
fn finished_outlives_whatever_only_waits() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    for (name, payload) in [("stop", json!({})), ("session-start", json!({ "waiting": true }))] {
        scene.millis += 10;
        scene.send("codex", name, with("s", payload));
        assert_eq!(scene.shown(), ("idle", "finished", 0), "{name}");
    }
    scene.wait(5000);
    scene.send("codex", "pre-tool-use", of("s"));
    assert_eq!(scene.shown(), ("running", "finished", 0), "tool use keeps it");
}

// Rule 3: the interrupt guard

#[test]
fn late_tools_of_an_interrupted_turn_are_ignored() {
    let mut scene = running("codex");
    scene.send("codex", "interrupt", of("s"));
    scene.millis += 10;
    for name in ["pre-tool-use", "post-tool-use"] {
        assert_eq!(scene.send("codex", name, of("s")), Outcome::Guarded);
        assert_eq!(scene.shown(), ("idle", "none", 0));
    }
    for (name, payload) in [
        ("subagent-update", json!({ "subagent_count": 1 })),
        ("progress", json!({ "value": 1 })),
        ("log", json!({ "message": "x" })),
        ("compaction", json!({})),
    ] {
        scene.send("codex", name, with("s", payload));
        assert_eq!(scene.send("codex", "pre-tool-use", of("s")), Outcome::Guarded, "{name} does not lift the guard");
    }
}

#[test]
fn a_prompt_or_a_waiting_event_lifts_the_guard() {
    let lifting =
        [("prompt-submit", json!({})), ("stop", json!({})), ("approval-request", json!({})), ("error", json!({}))];
    for (name, payload) in lifting {
        let mut scene = running("codex");
        scene.send("codex", "interrupt", of("s"));
        scene.millis += 3000;
        scene.send("codex", name, with("s", payload));
        scene.millis += 3000;
        assert_eq!(scene.send("codex", "pre-tool-use", of("s")), Outcome::Applied, "{name}");
    }
}

#[test]
fn an_interrupt_right_behind_the_stop_takes_the_finish_back() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    scene.wait(1000);
    scene.send("codex", "interrupt", of("s"));
    scene.wait(10_000);
    assert_eq!(scene.shown(), ("idle", "none", 0));
    assert!(scene.alerts.is_empty());
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    scene.wait(2000);
    scene.send("codex", "interrupt", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0), "its alert is out: it was a finish");
}

// Rule 4: order

#[test]
fn a_late_event_settles_only_its_own() {
    let mut scene = running("codex");
    scene.wait(5000);
    scene.send("codex", "stop", of("s"));
    let late = Sender::default().started(12_000);
    for name in ["pre-tool-use", "prompt-submit", "error"] {
        assert_eq!(scene.send_from(&late, "codex", name, of("s")), Outcome::Late, "{name}");
        assert_eq!(scene.shown(), ("idle", "finished", 0), "{name}");
    }
}

#[test]
fn a_late_question_is_asked_unless_its_thread_has_gone_on() {
    let mut scene = running("claude");
    scene.wait(1000);
    let call = |id: &str, tool: &str| with("s", json!({ "tool_name": tool, "tool_use_id": id }));
    scene.send("claude", "PreToolUse", call("a", "Bash"));
    scene.millis += 200;
    scene.send("claude", "PreToolUse", call("b", "Read"));
    let late = Sender::default().started(11_100);
    let request = with("s", json!({ "tool_name": "Bash" }));
    assert_eq!(scene.send_from(&late, "claude", "PermissionRequest", request.clone()), Outcome::Late);
    assert_eq!(scene.shown().0, "needs-input");
    scene.millis += 3000;
    scene.send("claude", "Stop", of("s"));
    assert_eq!(scene.send_from(&late, "claude", "PermissionRequest", request), Outcome::Late);
    assert_eq!(scene.shown().0, "idle");
}

#[test]
fn a_tools_end_whose_call_began_before_the_stop_is_late() {
    let mut scene = running("codex");
    scene.send("codex", "pre-tool-use", with("s", json!({ "tool_use_id": "a" })));
    scene.millis += 100;
    scene.send("codex", "stop", of("s"));
    scene.millis += 60_000;
    assert_eq!(scene.send("codex", "post-tool-use", with("s", json!({ "tool_use_id": "a" }))), Outcome::Late);
    assert_eq!(scene.shown().0, "idle");
}

#[test]
fn without_a_call_id_a_tools_end_is_late_for_two_seconds() {
    for (after, outcome) in [(1999, Outcome::Late), (2000, Outcome::Applied)] {
        let mut scene = running("codex");
        scene.send("codex", "stop", of("s"));
        scene.millis += after;
        assert_eq!(scene.send("codex", "post-tool-use", of("s")), outcome, "{after} ms");
    }
}

#[test]
fn numbers_of_a_source_come_before_any_clock() {
    let mut scene = running("pi");
    scene.send("pi", "stop", with("s", json!({ "seq": 8 })));
    scene.millis += 5000;
    assert_eq!(scene.send("pi", "pre-tool-use", with("s", json!({ "seq": 7 }))), Outcome::Late);
    assert_eq!(scene.shown().0, "idle");
    let early = Sender::default().started(scene.millis - 5000);
    assert_eq!(scene.send_from(&early, "pi", "prompt-submit", with("s", json!({ "seq": 9 }))), Outcome::Applied);
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn arrival_decides_between_equal_times() {
    let mut scene = running("codex");
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.send("codex", "prompt-submit", of("s")), Outcome::Applied);
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_clock_ahead_of_ours_makes_nothing_late() {
    let mut scene = running("codex");
    let ahead = Sender::default().started(scene.millis + 1_000_000);
    scene.send_from(&ahead, "codex", "pre-tool-use", of("s"));
    scene.millis += 10;
    assert_eq!(scene.send("codex", "stop", of("s")), Outcome::Applied);
}

// Rule 5: errors

#[test]
fn a_recoverable_error_only_shows() {
    let mut scene = running("codex");
    scene.send("codex", "error", with("s", json!({ "recoverable": true, "message": "Rate limited" })));
    scene.wait(60_000);
    assert_eq!(scene.shown(), ("running", "none", 0));
    assert_eq!(scene.row().message.as_deref(), Some("Rate limited"));
    assert!(scene.alerts.is_empty());
}

#[test]
fn only_work_that_began_after_the_error_cancels_its_grace() {
    let mut scene = running("codex");
    scene.send("codex", "error", of("s"));
    let older = Sender::default().started(9_000);
    scene.send_from(&older, "codex", "pre-tool-use", of("s"));
    scene.send("codex", "stop", of("s"));
    scene.send("codex", "session-start", with("s", json!({ "waiting": true })));
    scene.wait(6000);
    assert_eq!(scene.shown(), ("failed", "failed", 0));
    let mut scene = running("codex");
    scene.send("codex", "error", of("s"));
    scene.millis += 1;
    scene.send("codex", "pre-tool-use", of("s"));
    scene.wait(60_000);
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn nothing_that_only_waits_ends_a_failure() {
    let mut scene = running("claude");
    scene.send("claude", "error", with("s", json!({ "recoverable": false })));
    for (name, payload) in [
        ("stop", json!({})),
        ("session-start", json!({ "waiting": true })),
        ("Notification", json!({ "notification_type": "idle_prompt" })),
        ("error", json!({})),
    ] {
        scene.millis += 100;
        scene.send("claude", name, with("s", payload));
        scene.wait(10_000);
        assert_eq!(scene.shown(), ("failed", "failed", 0), "{name}");
    }
    assert_eq!(scene.alert_kinds(), ["failed"], "one alert a failure");
    scene.send("claude", "interrupt", of("s"));
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

#[test]
fn a_grace_starts_again_after_a_suspend() {
    let mut scene = running("codex");
    scene.send("codex", "error", of("s"));
    scene.millis += 3_600_000;
    scene.asleep += Duration::from_secs(3_599);
    scene.roster.tick(scene.now());
    scene.check();
    assert_eq!(scene.shown().0, "running");
    scene.wait(5999);
    assert_eq!(scene.shown().0, "running");
    scene.wait(1);
    assert_eq!(scene.shown().0, "failed");
}

// Rule 6: subagents

#[test]
fn subagents_never_speak_for_the_main_agent() {
    let mut scene = running("codex");
    for name in ["stop", "interrupt", "error", "session-start"] {
        scene.send("codex", name, with("s", json!({ "agent_id": "a", "recoverable": false, "waiting": true })));
        assert_eq!(scene.shown(), ("running", "none", 0), "{name}");
    }
    scene.send("codex", "stop", of("s"));
    scene.send("codex", "pre-tool-use", with("s", json!({ "agent_id": "a" })));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn a_question_of_a_subagent_is_the_users_to_answer() {
    let mut scene = running("codex");
    scene.send("codex", "approval-request", with("s", json!({ "agent_id": "a" })));
    scene.send("codex", "post-tool-use", of("s"));
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown().0, "needs-input", "another thread's events close nothing");
    scene.send("codex", "subagent-stop", with("s", json!({ "agent_id": "a" })));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

// Rule 7: counters

#[test]
fn subagents_end_with_the_turn_only_where_nothing_else_ends_them() {
    for (agent, left) in [("claude", 0), ("gemini", 0), ("codex", 1), ("opencode", 1), ("hermes", 1), ("home-made", 1)]
    {
        let mut scene = running(agent);
        scene.send(agent, "subagent-start", with("s", json!({ "agent_id": "a" })));
        scene.send(agent, "background-start", with("s", json!({ "task_id": "b" })));
        scene.send(agent, "stop", of("s"));
        assert_eq!(scene.counts(), (left, 1), "{agent}");
    }
}

#[test]
fn a_full_list_is_the_truth() {
    let mut scene = running("claude");
    scene.send("claude", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.send("claude", "approval-request", with("s", json!({ "agent_id": "a" })));
    let tasks =
        json!([{ "id": "b", "type": "subagent" }, { "id": "c", "type": "shell" }, { "id": "d", "type": "monitor" }]);
    scene.send("claude", "Stop", with("s", json!({ "background_tasks": tasks })));
    assert_eq!(scene.counts(), (1, 2));
    assert_eq!(scene.shown(), ("idle", "finished", 0), "a departed subagent's question is nobody's");
}

#[test]
fn absolute_counts_replace() {
    let mut scene = running("codex");
    scene.send("codex", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.send("codex", "subagent-update", with("s", json!({ "subagent_count": 5, "background_count": 2 })));
    assert_eq!(scene.counts(), (5, 2));
}

// Rule 8: questions

#[test]
fn several_signals_for_one_question_are_one_entry_and_one_alert() {
    let mut scene = running("claude");
    let ask = json!({ "tool_name": "AskUserQuestion", "tool_input": { "questions": [{ "question": "Which?" }] } });
    let mut call = with("s", ask.clone());
    call["tool_use_id"] = json!("q");
    scene.send("claude", "PreToolUse", call);
    scene.send("claude", "PermissionRequest", with("s", ask));
    scene.wait(6000);
    scene.send(
        "claude",
        "Notification",
        with("s", json!({ "notification_type": "permission_prompt", "message": "?" })),
    );
    scene.wait(6000);
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
    assert_eq!(scene.row().message.as_deref(), Some("Which?"));
    assert_eq!(scene.alert_kinds(), ["needs-input"]);
    let answered = json!({ "tool_name": "AskUserQuestion", "tool_use_id": "q", "tool_input": { "answers": {} } });
    scene.send("claude", "PostToolUse", with("s", answered));
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn a_request_takes_the_call_whose_input_is_its_own() {
    for reversed in [false, true] {
        let mut scene = running("claude");
        let bash = |id: Option<&str>, command: &str| {
            let mut payload = with("s", json!({ "tool_name": "Bash", "tool_input": { "command": command } }));
            if let Some(id) = id {
                payload["tool_use_id"] = json!(id);
            }
            payload
        };
        let mut steps = vec![
            ("PreToolUse", bash(Some("a"), "one")),
            ("PreToolUse", bash(Some("b"), "two")),
            ("PermissionRequest", bash(None, "one")),
        ];
        if reversed {
            steps.rotate_right(1);
        }
        for (name, payload) in steps {
            scene.send("claude", name, payload);
        }
        scene.send("claude", "PostToolUse", bash(Some("b"), "two"));
        assert_eq!(scene.shown().0, "needs-input", "reversed {reversed}: the other call's end closes nothing");
        scene.send("claude", "PostToolUse", bash(Some("a"), "one"));
        assert_eq!(scene.shown().0, "running", "reversed {reversed}");
    }
}

#[test]
fn two_questions_are_two() {
    let mut scene = running("claude");
    let bash = |id: Option<&str>| {
        with("s", json!({ "tool_name": "Bash", "tool_input": { "command": "x" }, "tool_use_id": id }))
    };
    scene.send("claude", "PreToolUse", bash(Some("a")));
    scene.send("claude", "PreToolUse", bash(Some("b")));
    scene.send("claude", "PermissionRequest", bash(None));
    scene.send("claude", "PermissionRequest", bash(None));
    assert_eq!(scene.shown().2, 2);
    scene.send("claude", "PostToolUse", bash(Some("a")));
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
}

#[test]
fn a_later_call_that_ends_shows_that_its_thread_has_gone_on() {
    let mut scene = running("claude");
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Bash", "tool_use_id": "a" })));
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.millis += 900;
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Read", "tool_use_id": "b" })));
    scene.send("claude", "PostToolUse", with("s", json!({ "tool_name": "Read", "tool_use_id": "b" })));
    assert_eq!(scene.shown().0, "needs-input", "a parallel one closes nothing");
    scene.millis += 200;
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Read", "tool_use_id": "c" })));
    assert_eq!(scene.shown().0, "needs-input");
    scene.send("claude", "PostToolUse", with("s", json!({ "tool_name": "Read", "tool_use_id": "c" })));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_question_asked_again_after_it_was_closed_is_a_new_one() {
    let mut scene = running("codex");
    for _ in 0..2 {
        scene.send("codex", "approval-request", of("s"));
        scene.wait(1000);
        scene.send("codex", "approval-response", of("s"));
        scene.wait(1000);
    }
    assert_eq!(scene.alert_kinds(), ["needs-input", "needs-input"]);
}

#[test]
fn a_dead_call_is_not_adopted() {
    let mut scene = running("claude");
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Bash", "tool_use_id": "dead" })));
    scene.millis += 5000;
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.millis += 1000;
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Bash", "tool_use_id": "live" })));
    scene.send("claude", "PostToolUse", with("s", json!({ "tool_name": "Bash", "tool_use_id": "live" })));
    assert_eq!(scene.shown().0, "running");
}

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
    type Shown<'a> = Option<(&'a str, &'a str)>;
    let states: [(&str, Events<'_>, Shown<'_>); 6] = [
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
