// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 3, 4, 5, 7 and 8 where events come late, twice, without ids, or from another source.

use serde_json::{Value, json};
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, running, with};

fn started(millis: u64) -> Sender {
    Sender::default().started(millis)
}

fn call(id: &str, tool: &str) -> Value {
    with("s", json!({ "tool_name": tool, "tool_use_id": id }))
}

// Rule 3

#[test]
fn an_interrupt_that_arrives_behind_the_tools_it_ended_is_not_late() {
    let mut scene = running("claude");
    scene.send("claude", "PreToolUse", call("a", "Bash"));
    scene.wait(100);
    scene.send("claude", "PostToolUse", call("a", "Bash"));
    assert_eq!(scene.send_from(&started(10_050), "claude", "interrupt", of("s")), Outcome::Applied);
    assert_eq!(scene.shown(), ("idle", "none", 0));
    scene.wait(10);
    assert_eq!(scene.send("claude", "PreToolUse", call("b", "Bash")), Outcome::Guarded);
    scene.send("claude", "UserPromptSubmit", of("s"));
    assert_eq!(scene.send_from(&started(10_060), "claude", "interrupt", of("s")), Outcome::Late, "a new turn is one");
    assert_eq!(scene.shown().0, "running");
    scene.wait(100);
    scene.send("claude", "PreToolUse", call("c", "Bash"));
    scene.send_from(&started(10_190), "claude", "UserPromptSubmit", of("s"));
    scene.send_from(&started(10_150), "claude", "interrupt", of("s"));
    assert_eq!(scene.shown().0, "running", "also one whose prompt is late");
}

#[test]
fn an_interrupt_takes_back_the_finish_of_a_prompt_that_is_still_to_come() {
    let mut scene = Scene::new();
    scene.send("codex", "session-start", with("s", json!({ "waiting": true })));
    scene.wait(1000);
    scene.send("codex", "stop", of("s"));
    scene.wait(100);
    scene.send("codex", "interrupt", of("s"));
    scene.send_from(&started(500), "codex", "prompt-submit", of("s"));
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

#[test]
fn an_interrupt_in_the_spool_takes_an_old_finish_back() {
    let mut scene = running("codex");
    scene.wait(100_000);
    scene.send_from(&started(20_000), "codex", "stop", of("s"));
    scene.send_from(&started(20_100), "codex", "interrupt", of("s"));
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

// Rule 4

#[test]
fn a_stop_that_arrives_behind_the_end_of_an_older_call_is_not_late() {
    let mut scene = running("codex");
    scene.send("codex", "pre-tool-use", call("a", "Bash"));
    scene.wait(100);
    scene.send("codex", "post-tool-use", call("a", "Bash"));
    assert_eq!(scene.send_from(&started(10_050), "codex", "stop", of("s")), Outcome::Applied);
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    let mut scene = running("codex");
    scene.send_from(&started(10_000), "codex", "pre-tool-use", of("s"));
    assert_eq!(scene.send_from(&started(9_000), "codex", "stop", of("s")), Outcome::Late, "work that began since");
}

#[test]
fn a_late_event_of_the_old_process_does_not_bring_it_back() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "codex", "prompt-submit", of("s"));
    scene.wait(5000);
    scene.send_from(&Sender::pid(8), "codex", "session-start", with("s", json!({ "waiting": true })));
    scene.send_from(&Sender::pid(7).started(2000), "codex", "prompt-submit", with("s", json!({ "title": "old" })));
    assert_eq!(scene.row().pid, Some(8));
}

#[test]
fn a_new_process_counts_its_events_anew() {
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "pi", "prompt-submit", with("s", json!({ "seq": 100 })));
    scene.wait(5000);
    scene.send_from(&Sender::pid(8), "pi", "prompt-submit", with("s", json!({ "seq": 1 })));
    scene.wait(10);
    assert_eq!(scene.send_from(&Sender::pid(8), "pi", "stop", with("s", json!({ "seq": 2 }))), Outcome::Applied);
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn a_reload_counts_its_events_anew_in_the_same_process() {
    let pi = Sender::pid(7);
    let mut scene = Scene::new();
    scene.send_from(&pi, "pi", "prompt-submit", with("s", json!({ "seq": 100 })));
    scene.send_from(&pi, "pi", "approval-request", with("s", json!({ "seq": 101 })));
    scene.wait(5000);
    scene.send_from(&pi, "pi", "session-start", with("s", json!({ "seq": 1, "waiting": true })));
    scene.wait(10);
    assert_eq!(scene.send_from(&pi, "pi", "prompt-submit", with("s", json!({ "seq": 2 }))), Outcome::Applied);
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn numbers_come_before_the_clock_for_questions_and_counters_too() {
    let mut scene = running("pi");
    scene.send_from(&started(10_000), "pi", "approval-request", with("s", json!({ "seq": 1 })));
    scene.send_from(&started(9_990), "pi", "stop", with("s", json!({ "seq": 2 })));
    assert_eq!(scene.shown(), ("idle", "finished", 0), "the stop comes behind the question");
    scene.send_from(&started(9_990), "pi", "subagent-update", with("s", json!({ "seq": 5, "subagent_count": 2 })));
    scene.send_from(&started(10_000), "pi", "subagent-update", with("s", json!({ "seq": 4, "subagent_count": 7 })));
    assert_eq!(scene.counts(), (2, 0));
}

// Rule 5

#[test]
fn the_grace_of_an_old_error_ends_without_an_alert() {
    let mut scene = running("codex");
    scene.wait(100_000);
    scene.send_from(&started(20_000), "codex", "error", of("s"));
    scene.wait(10_000);
    assert_eq!(scene.shown(), ("failed", "failed", 0));
    assert!(scene.alerts.is_empty());
}

#[test]
fn an_announced_retry_behind_a_grace_goes_on() {
    let mut scene = running("codex");
    scene.send("codex", "error", of("s"));
    scene.send("codex", "stop", of("s"));
    scene.wait(100);
    scene.send("codex", "error", with("s", json!({ "recoverable": true })));
    scene.wait(10_000);
    assert_eq!(scene.shown(), ("running", "none", 0));
    scene.send("codex", "stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

// Rule 6

#[test]
fn a_subagents_session_events_touch_no_other_thread() {
    for (name, more) in
        [("session-start", json!({ "waiting": true })), ("session-end", json!({})), ("interrupt", json!({}))]
    {
        let mut scene = running("codex");
        scene.send("codex", "approval-request", of("s"));
        let mut payload = with("s", more);
        payload["agent_id"] = json!("a");
        scene.send("codex", name, payload);
        assert_eq!(scene.shown(), ("needs-input", "needs-input", 1), "{name}");
    }
}

// Rule 7

#[test]
fn a_start_behind_the_list_that_no_longer_names_it_counts_nothing() {
    let mut scene = running("claude");
    scene.send("claude", "Stop", with("s", json!({ "background_tasks": [] })));
    scene.send_from(&started(9_000), "claude", "SubagentStart", with("s", json!({ "agent_id": "a" })));
    let bash = json!({ "tool_name": "Bash", "tool_use_id": "c", "tool_response": { "backgroundTaskId": "b" } });
    scene.send_from(&started(9_000), "claude", "PostToolUse", with("s", bash));
    assert_eq!(scene.counts(), (0, 0));
}

#[test]
fn a_list_behind_the_next_prompt_still_tells_of_what_was_older() {
    let mut scene = running("claude");
    scene.send("claude", "SubagentStart", with("s", json!({ "agent_id": "a" })));
    scene.wait(1000);
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.send("claude", "SubagentStart", with("s", json!({ "agent_id": "b" })));
    let late = started(10_500);
    assert_eq!(scene.send_from(&late, "claude", "Stop", with("s", json!({ "background_tasks": [] }))), Outcome::Late);
    assert_eq!(scene.counts(), (1, 0));
}

#[test]
fn a_background_subagent_is_counted_once() {
    let mut scene = running("opencode");
    scene.send("opencode", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.send("opencode", "background-start", with("s", json!({ "task_id": "a" })));
    scene.send("opencode", "background-start", with("s", json!({ "task_id": "b" })));
    assert_eq!(scene.counts(), (1, 1));
}

// Rule 8

#[test]
fn a_notice_belongs_to_the_call_at_work_and_goes_with_it() {
    for (name, more) in [
        ("Notification", json!({ "notification_type": "permission_prompt", "message": "May I?" })),
        ("notification", json!({ "message": "May I?" })),
        ("approval-request", json!({})),
    ] {
        let mut scene = running("claude");
        scene.send("claude", "PreToolUse", call("a", "Bash"));
        scene.wait(6000);
        scene.send("claude", name, with("s", more.clone()));
        assert_eq!(scene.shown().0, "needs-input", "{name}");
        scene.wait(3000);
        scene.send("claude", "PostToolUse", call("a", "Bash"));
        assert_eq!(scene.shown().0, "running", "{name}");
        // An agent that tells only of the ends of its calls.
        scene.send("claude", name, with("s", more));
        scene.wait(3000);
        scene.send("claude", "PostToolUse", call("b", "Bash"));
        assert_eq!(scene.shown().0, "running", "{name}");
    }
}

#[test]
fn only_permission_notices_are_nothing_new_where_requests_are_sent() {
    let notice = |kind: &str| with("s", json!({ "notification_type": kind }));
    let mut scene = running("claude");
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.send("claude", "PostToolBatch", of("s"));
    for kind in ["permission_prompt", "worker_permission_prompt"] {
        assert_eq!(scene.send("claude", "Notification", notice(kind)), Outcome::Recorded, "{kind}");
        assert_eq!(scene.shown().0, "running", "{kind}");
    }
    for kind in ["elicitation_dialog", "agent_needs_input"] {
        scene.wait(10);
        scene.send("claude", "Notification", notice(kind));
        assert_eq!(scene.shown(), ("needs-input", "needs-input", 1), "{kind}");
        scene.send("claude", "PostToolBatch", of("s"));
    }
    let mut scene = running("claude");
    scene.send("claude", "Elicitation", with("s", json!({ "mcp_server_name": "m" })));
    scene.send("claude", "ElicitationResult", with("s", json!({ "mcp_server_name": "m" })));
    scene.send("claude", "Notification", notice("elicitation_dialog"));
    assert_eq!(scene.shown().0, "running", "it was answered");
    scene.send("claude", "Notification", notice("permission_prompt"));
    assert_eq!(scene.shown().0, "needs-input", "an elicitation is no permission request");
}

#[test]
fn an_elicitations_answer_closes_that_question_alone() {
    let mut scene = running("claude");
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.send("claude", "Elicitation", with("s", json!({ "mcp_server_name": "m", "message": "Who?" })));
    assert_eq!(scene.shown().2, 2);
    scene.send("claude", "ElicitationResult", with("s", json!({ "mcp_server_name": "m" })));
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
    assert_eq!(scene.row().message.as_deref(), Some("Permission for Bash"));
}

#[test]
fn an_answer_may_come_before_its_question() {
    let mut scene = running("codex");
    scene.wait(1000);
    scene.send("codex", "approval-response", call("a", "Bash"));
    scene.send_from(&started(10_500), "codex", "approval-request", call("a", "Bash"));
    assert_eq!(scene.shown().0, "running");
    scene.wait(10);
    scene.send("codex", "approval-request", call("a", "Bash"));
    assert_eq!(scene.shown().0, "needs-input", "asked again it is a new one");
    let mut scene = running("claude");
    scene.wait(1000);
    scene.send("claude", "PostToolUse", call("q", "AskUserQuestion"));
    scene.send_from(&started(10_500), "claude", "PreToolUse", call("q", "AskUserQuestion"));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn the_late_end_of_an_older_call_closes_no_younger_question() {
    let bash = |id: Option<&str>, command: &str| {
        with("s", json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": command } }))
    };
    let mut scene = running("claude");
    scene.send("claude", "PreToolUse", bash(Some("a"), "one"));
    scene.wait(2000);
    scene.send("claude", "PermissionRequest", bash(None, "two"));
    scene.send_from(&started(10_500), "claude", "PostToolUse", bash(Some("a"), "one"));
    assert_eq!(scene.shown().0, "needs-input");
    scene.send("claude", "PreToolUse", bash(Some("b"), "two"));
    scene.wait(10);
    scene.send("claude", "PostToolUse", bash(Some("b"), "two"));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_waiting_start_of_the_same_process_closes_no_question_and_a_new_process_all() {
    let waiting = || with("s", json!({ "waiting": true }));
    let mut scene = Scene::new();
    scene.send_from(&Sender::pid(7), "codex", "approval-request", of("s"));
    scene.send_from(&Sender::pid(7), "codex", "subagent-start", with("s", json!({ "agent_id": "a" })));
    scene.wait(10);
    scene.send_from(&Sender::pid(7), "codex", "session-start", waiting());
    assert_eq!((scene.shown().0, scene.counts().0), ("needs-input", 1));
    scene.send_from(&Sender::pid(8), "codex", "session-start", waiting());
    assert_eq!((scene.shown(), scene.counts().0), (("idle", "none", 0), 0));
}

#[test]
fn an_interrupt_leaves_what_was_asked_since() {
    let mut scene = running("codex");
    scene.wait(1000);
    scene.send("codex", "approval-request", with("s", json!({ "agent_id": "a" })));
    scene.send_from(&started(10_500), "codex", "interrupt", of("s"));
    assert_eq!(scene.shown().0, "needs-input");
    scene.send_from(&started(10_400), "codex", "approval-request", with("s", json!({ "agent_id": "b" })));
    assert_eq!(scene.shown().2, 1, "and what was asked before is not asked any more");
}
