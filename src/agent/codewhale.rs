// SPDX-License-Identifier: GPL-3.0-or-later
//! CodeWhale's own events.
//!
//! Facts are of version 0.10.2, seen on the real program (the captures under `tests/agents/codewhale`) and read in its
//! source. Most payloads name neither event nor session: the event is an argument of the hook's command, the session
//! stands in the environment. The state events came with 0.9.13; before, nothing tells of a question.
//!
//! Hooks run on two workers, so that they overtake each other: the end of a turn is said up to three times
//! (`session_idle`, `turn_end`, `session_error`), in any order, and each of them alone has to be right.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::event::{Event, Kind, Question, Said};
use crate::forward::{Field, text};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[text("reason"), text("last_turn_status"), text("error"), text("model_backed")];

/// The variables that name the session, the older one last; up to 0.8.59 at least there is only that.
const SESSION: &[&str] = &["CODEWHALE_SESSION_ID", "DEEPSEEK_SESSION_ID"];

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, env: &BTreeMap<String, String>) -> Option<Event> {
    let text = |key: &str| payload.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let owned = |key: &str| text(key).map(ToString::to_string);
    let kind = match name {
        "session_start" => Kind::SessionStart { waiting: true },
        "session_end" => Kind::SessionEnd { successor: false },
        "message_submit" => Kind::PromptSubmit { automatic: false },
        // Work begins or goes on: behind the user's own prompt, which says so itself, behind an answer, or because a
        // subagent's end has woken the agent (seen). In each case what was asked before is over.
        "session_busy" => Kind::PromptSubmit { automatic: true },
        "waiting_for_user" => Kind::Question(Question::Request),
        "session_idle" => end(text("last_turn_status").unwrap_or("interrupted")),
        // Only for a turn that has ended failed; what the agent mends by itself is no such error.
        "session_error" => Kind::Error { recoverable: Some(false) },
        // A compaction by hand and the user's own shell command end like turns, without a model. Their `session_idle`
        // says that a turn was completed; an interrupt takes that back.
        "turn_end" if is_of_no_model(payload) && text("status") == Some("completed") => Kind::Interrupt,
        "turn_end" => end(text("status").unwrap_or_default()),
        "subagent_spawn" => Kind::SubagentStart,
        "subagent_complete" => Kind::SubagentStop,
        // `on_error` is sent for each tool that fails or is refused, too (seen). Tool calls are waited for, so that no
        // hook of ours is there, and may be a subagent's.
        "on_error" | "tool_call_before" | "tool_call_after" | "mode_change" | "shell_env" => Kind::Other,
        _ => return None,
    };
    let mut event = Event::new("codewhale", name, kind);
    let variable = SESSION.iter().find_map(|name| env.get(*name).filter(|id| !id.is_empty()));
    event.session = variable.cloned().or_else(|| owned("session_id"));
    event.thread = matches!(event.kind, Kind::SubagentStart | Kind::SubagentStop).then(|| owned("agent_id")).flatten();
    event.model = owned("model").into();
    event.message = match event.kind {
        Kind::Error { .. } => owned("error").into(),
        Kind::Question(_) => Said::from(text("reason").and_then(question).map(ToString::to_string)),
        _ => Said::Nothing,
    };
    Some(event)
}

/// What a turn's last status means. Esc leaves none (seen).
fn end(status: &str) -> Kind {
    match status {
        "failed" => Kind::Error { recoverable: Some(false) },
        "interrupted" => Kind::Interrupt,
        _ => Kind::Stop,
    }
}

fn is_of_no_model(payload: &Map<String, Value>) -> bool {
    payload.get("model_backed") == Some(&Value::Bool(false))
}

/// What it waits for. Neither the tool nor the question is named.
fn question(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "approval" => "Permission to use a tool",
        "user_input" => "A question",
        "goal_continuation" => "To go on towards its goal",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(name: &str, payload: &str, env: &[(&str, &str)]) -> Option<Event> {
        let payload: Map<String, Value> = serde_json::from_str(payload).unwrap();
        let env = env.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        translate(name, &payload, &env)
    }

    #[test]
    fn every_row_of_the_table() {
        let failed = Some(Kind::Error { recoverable: Some(false) });
        let question = Some(Kind::Question(Question::Request));
        let rows: &[(&str, &str, Option<Kind>)] = &[
            ("session_start", "{}", Some(Kind::SessionStart { waiting: true })),
            ("session_end", "{}", Some(Kind::SessionEnd { successor: false })),
            ("message_submit", r#"{"text":"x"}"#, Some(Kind::PromptSubmit { automatic: false })),
            ("session_busy", r#"{"from":"idle"}"#, Some(Kind::PromptSubmit { automatic: true })),
            ("session_busy", r#"{"from":"waiting"}"#, Some(Kind::PromptSubmit { automatic: true })),
            ("waiting_for_user", r#"{"reason":"approval"}"#, question.clone()),
            ("waiting_for_user", r#"{"reason":"user_input"}"#, question.clone()),
            ("waiting_for_user", r#"{"reason":"goal_continuation"}"#, question),
            ("session_idle", r#"{"last_turn_status":"completed"}"#, Some(Kind::Stop)),
            ("session_idle", r#"{"last_turn_status":"failed"}"#, failed.clone()),
            ("session_idle", r#"{"last_turn_status":"interrupted"}"#, Some(Kind::Interrupt)),
            ("session_idle", r#"{"last_turn_status":"brand new"}"#, Some(Kind::Stop)),
            ("session_idle", "{}", Some(Kind::Interrupt)),
            ("session_error", r#"{"status":"failed"}"#, failed.clone()),
            ("turn_end", r#"{"status":"completed","model_backed":true}"#, Some(Kind::Stop)),
            ("turn_end", r#"{"status":"completed","model_backed":false}"#, Some(Kind::Interrupt)),
            ("turn_end", r#"{"status":"failed","model_backed":false}"#, failed.clone()),
            ("turn_end", r#"{"status":"failed"}"#, failed),
            ("turn_end", r#"{"status":"interrupted"}"#, Some(Kind::Interrupt)),
            ("turn_end", r#"{"status":"unknown"}"#, Some(Kind::Stop)),
            ("turn_end", r#"{"status":7}"#, Some(Kind::Stop)),
            ("subagent_spawn", r#"{"agent_id":"a"}"#, Some(Kind::SubagentStart)),
            ("subagent_complete", r#"{"agent_id":"a","status":"failed"}"#, Some(Kind::SubagentStop)),
            ("on_error", "{}", Some(Kind::Other)),
            ("tool_call_before", "{}", Some(Kind::Other)),
            ("tool_call_after", "{}", Some(Kind::Other)),
            ("mode_change", "{}", Some(Kind::Other)),
            ("shell_env", "{}", Some(Kind::Other)),
            ("no_such_event", "{}", None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(translated(name, payload, &[]).map(|event| event.kind), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn the_environment_names_the_session() {
        let session = |payload, env: &[(&str, &str)]| translated("session_idle", payload, env).unwrap().session;
        let both = [("CODEWHALE_SESSION_ID", "sess_1"), ("DEEPSEEK_SESSION_ID", "sess_2")];
        assert_eq!(session(r#"{"session_id":"sess_3"}"#, &both).as_deref(), Some("sess_1"));
        assert_eq!(session(r#"{"session_id":"sess_3"}"#, &both[1..]).as_deref(), Some("sess_2"));
        assert_eq!(session(r#"{"session_id":"sess_3"}"#, &[("CODEWHALE_SESSION_ID", "")]).as_deref(), Some("sess_3"));
        assert_eq!(session("{}", &[]), None);
    }

    #[test]
    fn only_subagents_have_a_thread() {
        let thread = |name| translated(name, r#"{"agent_id":"agent_1"}"#, &[]).unwrap().thread;
        assert_eq!(thread("subagent_spawn").as_deref(), Some("agent_1"));
        assert_eq!(thread("subagent_complete").as_deref(), Some("agent_1"));
        assert_eq!(thread("turn_end"), None);
    }

    #[test]
    fn what_is_asked_and_what_failed_is_the_message() {
        let message = |name, payload| translated(name, payload, &[]).unwrap().message;
        let said = |text: &str| Said::Value(text.to_string());
        assert_eq!(message("waiting_for_user", r#"{"reason":"approval"}"#), said("Permission to use a tool"));
        assert_eq!(message("waiting_for_user", r#"{"reason":"brand new"}"#), Said::Nothing);
        assert_eq!(message("session_error", r#"{"error":"mock 401"}"#), said("mock 401"));
        assert_eq!(message("turn_end", r#"{"status":"failed","error":"mock 401"}"#), said("mock 401"));
        assert_eq!(message("session_idle", r#"{"last_turn_status":"failed"}"#), Said::Nothing);
    }
}
