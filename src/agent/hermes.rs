// SPDX-License-Identifier: GPL-3.0-or-later
//! Hermes Agent's hooks, as our plugin inside it tells them (`data/integrations/hermes/__init__.py`).
//!
//! Names are Hermes' own; facts are of version 0.19.0, seen on the real program, and the captures under
//! `tests/agents/hermes` show them; `failed` is of later versions, as documented. The plugin leaves out what is not the
//! user's turn (children, the review behind a turn, requests that a model decides, an `on_session_end` of no turn), and
//! adds whether an error was the last attempt, the answer, and an id for a process that was left running, whose end it
//! tells as `background-stop`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::wire::Wire;
use crate::event::{Call, Event, Kind, Question};
use crate::forward::{Field, beginning, text};

/// What the translation reads beside the unified fields. Of a prompt only the beginning is read, enough to tell the
/// agent's own prompts from the user's.
pub(super) const FIELDS: &[Field] = &[
    beginning("user_message", 64),
    text("reason"),
    text("interrupted"),
    text("failed"),
    text("tool_input.command"),
    text("tool_input.path"),
    text("tool_input.pattern"),
    text("tool_input.url"),
    text("tool_input.query"),
    text("tool_input.question"),
    text("tool_input.goal"),
    text("tool_input.description"),
];

/// How the prompts begin that the agent's own machinery writes: a delegation or a process in the background has ended.
const MACHINERY: &[&str] = &["[ASYNC DELEGATION", "[IMPORTANT: Background process"];

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, _env: &BTreeMap<String, String>) -> Option<Event> {
    let wire = Wire(payload);
    let mut event = Event::new("hermes", name, kind(name, &wire)?);
    event.session = wire.owned("session_id");
    event.thread = wire.owned("agent_id");
    event.seq = wire.at("seq").and_then(Value::as_i64);
    event.model = wire.owned("model").into();
    event.call = Call {
        id: wire.owned("tool_use_id"),
        tool: wire.owned("tool_name"),
        input: None,
        detail: FIELDS.iter().filter(|field| field.path.starts_with("tool_input.")).find_map(|f| wire.owned(f.path)),
    };
    let question = || wire.owned("tool_input.question");
    let asks = event.kind == Kind::Question(Question::Tool);
    event.message = if asks { question() } else { wire.owned("message") }.into();
    if name == "post_tool_call" {
        event.began = wire.owned("task_id");
    }
    Some(event)
}

/// What each hook means.
fn kind(name: &str, wire: &Wire<'_>) -> Option<Kind> {
    let holds = |key| wire.at(key) == Some(&Value::Bool(true));
    Some(match name {
        // The terminal interface says the second at its start, too.
        "on_session_start" | "on_session_reset" => Kind::SessionStart { waiting: true },
        "pre_llm_call" => {
            let prompt = wire.text("user_message").unwrap_or_default();
            Kind::PromptSubmit { automatic: MACHINERY.iter().any(|beginning| prompt.starts_with(beginning)) }
        }
        // Told only behind an error that seemed to be the end: another model or key goes on.
        "pre_api_request" => Kind::PromptSubmit { automatic: true },
        "api_request_error" => Kind::Error { recoverable: wire.at("recoverable").and_then(Value::as_bool) },
        "pre_tool_call" if wire.text("tool_name") == Some("clarify") => Kind::Question(Question::Tool),
        "pre_tool_call" => Kind::PreToolUse,
        "post_tool_call" => Kind::PostToolUse,
        "pre_approval_request" => Kind::Question(Question::Request),
        // At once: an approved command may run for long.
        "post_approval_response" => Kind::Answer,
        // The end of a turn, not of the session; an interrupted one is called completed, too.
        "on_session_end" if holds("interrupted") => Kind::Interrupt,
        "on_session_end" if holds("failed") => Kind::Error { recoverable: Some(false) },
        "on_session_end" => Kind::Stop,
        "on_session_finalize" => Kind::SessionEnd { successor: wire.text("reason") == Some("session_boundary") },
        "subagent_start" => Kind::SubagentStart,
        "subagent_stop" => Kind::SubagentStop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Said;

    fn translated(name: &str, payload: &str) -> Option<Event> {
        translate(name, &serde_json::from_str(payload).unwrap(), &BTreeMap::new())
    }

    #[test]
    fn every_row_of_the_table() {
        let end = |successor| Some(Kind::SessionEnd { successor });
        let prompt = |automatic| Some(Kind::PromptSubmit { automatic });
        let error = |recoverable| Some(Kind::Error { recoverable });
        let rows: &[(&str, &str, Option<Kind>)] = &[
            ("on_session_start", "{}", Some(Kind::SessionStart { waiting: true })),
            ("on_session_reset", r#"{"reason":"new_session"}"#, Some(Kind::SessionStart { waiting: true })),
            ("pre_llm_call", r#"{"user_message":"hi"}"#, prompt(false)),
            ("pre_llm_call", r#"{"user_message":"[IMPORTANT] read this"}"#, prompt(false)),
            ("pre_llm_call", r#"{"user_message":"[IMPORTANT: Background process proc_1 completed"}"#, prompt(true)),
            ("pre_llm_call", r#"{"user_message":"[ASYNC DELEGATION deleg_1"}"#, prompt(true)),
            ("pre_api_request", "{}", prompt(true)),
            ("api_request_error", r#"{"recoverable":true}"#, error(Some(true))),
            ("api_request_error", r#"{"recoverable":false}"#, error(Some(false))),
            ("api_request_error", "{}", error(None)),
            ("pre_tool_call", r#"{"tool_name":"terminal"}"#, Some(Kind::PreToolUse)),
            ("pre_tool_call", r#"{"tool_name":"clarify"}"#, Some(Kind::Question(Question::Tool))),
            ("post_tool_call", r#"{"tool_name":"clarify"}"#, Some(Kind::PostToolUse)),
            ("pre_approval_request", "{}", Some(Kind::Question(Question::Request))),
            ("post_approval_response", "{}", Some(Kind::Answer)),
            ("on_session_end", r#"{"interrupted":false,"failed":false}"#, Some(Kind::Stop)),
            ("on_session_end", r#"{"interrupted":true,"failed":false}"#, Some(Kind::Interrupt)),
            ("on_session_end", r#"{"interrupted":false,"failed":true}"#, error(Some(false))),
            ("on_session_finalize", r#"{"reason":"session_boundary"}"#, end(true)),
            ("on_session_finalize", r#"{"reason":"shutdown"}"#, end(false)),
            ("on_session_finalize", "{}", end(false)),
            ("subagent_start", r#"{"agent_id":"a"}"#, Some(Kind::SubagentStart)),
            ("subagent_stop", r#"{"agent_id":"a"}"#, Some(Kind::SubagentStop)),
            ("post_llm_call", "{}", None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(translated(name, payload).map(|event| event.kind), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn what_an_event_carries() {
        let asked = translated(
            "pre_tool_call",
            r#"{"session_id":"s","seq":3,"model":"m","tool_name":"clarify","tool_use_id":"c",
                "tool_input":{"question":"Which?"}}"#,
        )
        .unwrap();
        assert_eq!((asked.session.as_deref(), asked.seq, asked.call.id.as_deref()), (Some("s"), Some(3), Some("c")));
        assert_eq!((asked.message, asked.model), (Said::Value("Which?".into()), Said::Value("m".into())));
        let request = translated(
            "pre_approval_request",
            r#"{"agent_id":"a","message":"recursive delete","tool_input":{"command":"rm -rf x"}}"#,
        )
        .unwrap();
        assert_eq!((request.thread.as_deref(), request.call.detail.as_deref()), (Some("a"), Some("rm -rf x")));
        assert_eq!(request.message, Said::Value("recursive delete".into()));
        let left = translated("post_tool_call", r#"{"tool_name":"terminal","task_id":"proc_1"}"#).unwrap();
        assert_eq!(left.began.as_deref(), Some("proc_1"));
    }

    #[test]
    fn a_field_of_another_type_is_as_good_as_absent() {
        let event = translated("on_session_end", r#"{"interrupted":1,"failed":"x","seq":1.5,"message":[]}"#).unwrap();
        assert_eq!((event.kind, event.seq, event.message), (Kind::Stop, None, Said::Nothing));
    }
}
