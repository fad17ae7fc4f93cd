// SPDX-License-Identifier: GPL-3.0-or-later
//! Rules 6 to 8: subagents, counters, questions.

use serde_json::json;

use crate::scene::{of, running, with};

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
