// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 1 to 5: attention, the turn, the guard, order, errors.

use std::time::Duration;

use serde_json::json;
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, running, with};

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
