// SPDX-License-Identifier: GPL-3.0-or-later
//! Codex's own events.
//!
//! Facts are of version 0.171.0, seen on the real program; the captures under `tests/agents/codex` show them. A session
//! begins for its hooks with the first prompt. An approval given, an error of the model's server and what becomes of a
//! background terminal are told by no hook; a terminal that goes on after its call has no PostToolUse at all. What the
//! program set as `notify` is given is not read: it also tells of title generators and children, and of turns twice.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Server;
use super::wire::Wire;
use crate::event::{Call, Event, Kind, Question, Said};
use crate::forward::{self, Field, text};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[
    text("hook_event_name"),
    text("source"),
    text("last_assistant_message"),
    text("tool_input.command"),
    text("tool_input.task_name"),
    text("tool_input.query"),
    text("tool_input.path"),
    text("tool_input.questions.[].question"),
];

/// Its shared server runs the hooks of all terminals but those that are started without it.
pub(super) const SERVER: Server =
    Server { word: "app-server", apart: &["exec", "e", "review", "--no-daemon", "-c", "--config"] };

/// The model that the agent asks by itself whether a call may be let through: its turns are none of the user's.
const REVIEWER: &str = "codex-auto-review";

/// The tool that asks the user.
const ASKS: &str = "request_user_input";

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, _env: &BTreeMap<String, String>) -> Option<Event> {
    let wire = Wire(payload);
    let kind = kind(name, &wire)?;
    let reviews = wire.text("model") == Some(REVIEWER);
    let mut event = Event::new("codex", name, if reviews { Kind::Other } else { kind });
    event.session = wire.owned("session_id");
    event.thread = wire.owned("agent_id");
    if reviews {
        return Some(event);
    }
    // A subagent may have another one.
    event.model = wire.owned("model").filter(|_| event.thread.is_none()).into();
    event.call = Call {
        id: wire.owned("tool_use_id"),
        tool: wire.owned("tool_name"),
        input: wire.owned(forward::HASH_KEY),
        detail: detail(&wire),
    };
    event.message = match event.kind {
        Kind::Stop => wire.owned("last_assistant_message").into(),
        Kind::Question(Question::Tool) => first_question(&wire).into(),
        _ => Said::Nothing,
    };
    Some(event)
}

/// Every row of the table.
fn kind(name: &str, wire: &Wire<'_>) -> Option<Kind> {
    Some(match name {
        "SessionStart" if wire.text("source") == Some("compact") => Kind::SessionRenamed,
        "SessionStart" => Kind::SessionStart { waiting: true },
        "UserPromptSubmit" => Kind::PromptSubmit { automatic: false },
        "PreToolUse" if asks(wire) => Kind::Question(Question::Tool),
        "PreToolUse" => Kind::PreToolUse,
        "PermissionRequest" => Kind::Question(Question::Request),
        "PostToolUse" => Kind::PostToolUse,
        "SubagentStart" => Kind::SubagentStart,
        "SubagentStop" => Kind::SubagentStop,
        "Stop" => Kind::Stop,
        "Interrupt" => Kind::Interrupt,
        "SessionEnd" => Kind::SessionEnd { successor: false },
        "PreCompact" | "PostCompact" => Kind::Other,
        _ => return None,
    })
}

/// Whether the user is asked. The tool is offered in plan mode only, which `permission_mode` does not tell: it says
/// `default` there, too, or `bypassPermissions` where no permission is ever asked (both seen). Where the model calls it all the same it returns at once, and the turn's end closes the
/// question (seen, capture exec-ask).
fn asks(wire: &Wire<'_>) -> bool {
    wire.text("tool_name") == Some(ASKS)
}

fn first_question(wire: &Wire<'_>) -> Option<String> {
    wire.at("tool_input.questions")?.get(0)?.get("question")?.as_str().map(ToString::to_string)
}

/// What a call works on: the one argument that a person would name it by.
fn detail(wire: &Wire<'_>) -> Option<String> {
    const BY_WORTH: &[&str] = &["tool_input.command", "tool_input.query", "tool_input.path", "tool_input.task_name"];
    BY_WORTH.iter().find_map(|path| wire.owned(path)).or_else(|| first_question(wire))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, payload: &str) -> Option<Event> {
        translate(name, &serde_json::from_str(payload).unwrap(), &BTreeMap::new())
    }

    #[test]
    fn every_row_of_the_table() {
        let asked = r#"{"tool_name":"request_user_input","permission_mode":"default"}"#;
        let rows: &[(&str, &str, Option<Kind>)] = &[
            ("SessionStart", r#"{"source":"startup"}"#, Some(Kind::SessionStart { waiting: true })),
            ("SessionStart", r#"{"source":"clear"}"#, Some(Kind::SessionStart { waiting: true })),
            ("SessionStart", r#"{"source":"compact"}"#, Some(Kind::SessionRenamed)),
            ("UserPromptSubmit", r#"{"prompt":"hi"}"#, Some(Kind::PromptSubmit { automatic: false })),
            ("PreToolUse", r#"{"tool_name":"Bash"}"#, Some(Kind::PreToolUse)),
            ("PreToolUse", asked, Some(Kind::Question(Question::Tool))),
            ("PermissionRequest", r#"{"tool_name":"Bash"}"#, Some(Kind::Question(Question::Request))),
            ("PostToolUse", r#"{"tool_name":"Bash"}"#, Some(Kind::PostToolUse)),
            ("SubagentStart", r#"{"agent_id":"a"}"#, Some(Kind::SubagentStart)),
            ("SubagentStop", r#"{"agent_id":"a"}"#, Some(Kind::SubagentStop)),
            ("Stop", "{}", Some(Kind::Stop)),
            ("Interrupt", "{}", Some(Kind::Interrupt)),
            ("PreCompact", "{}", Some(Kind::Other)),
            ("PostCompact", "{}", Some(Kind::Other)),
            ("SessionEnd", r#"{"reason":"other"}"#, Some(Kind::SessionEnd { successor: false })),
            ("notify", r#"{"type":"agent-turn-complete"}"#, None),
            ("agent-turn-complete", "{}", None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(event(name, payload).map(|event| event.kind), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn a_review_by_the_agent_itself_is_for_the_inspector() {
        for name in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Stop"] {
            let event = event(name, r#"{"session_id":"s","model":"codex-auto-review"}"#).unwrap();
            assert_eq!((event.kind, event.model), (Kind::Other, Said::Nothing), "{name}");
        }
    }

    #[test]
    fn a_subagent_is_a_thread_of_its_session() {
        let payload = r#"{"session_id":"s","agent_id":"a","model":"small"}"#;
        let event = event("UserPromptSubmit", payload).unwrap();
        assert_eq!((event.session.as_deref(), event.thread.as_deref()), (Some("s"), Some("a")));
        assert_eq!(event.model, Said::Nothing);
    }

    #[test]
    fn what_is_asked_is_the_message() {
        let questions = r#""tool_input":{"questions":[{"question":"Which colour?"}]}"#;
        let payload = format!(r#"{{"tool_name":"request_user_input",{questions}}}"#);
        assert_eq!(event("PreToolUse", &payload).unwrap().message, Said::Value("Which colour?".into()));
    }

    #[test]
    fn a_field_of_another_type_is_as_good_as_absent() {
        let event = event("PreToolUse", r#"{"tool_name":7,"tool_input":[],"model":{},"agent_id":[]}"#).unwrap();
        assert_eq!((event.kind, event.thread, event.call), (Kind::PreToolUse, None, Call::default()));
    }
}
