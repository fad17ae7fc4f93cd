// SPDX-License-Identifier: GPL-3.0-or-later
//! Pi's events, as our extension inside it tells them (`data/integrations/pi/vigil.js`).
//!
//! Names are Pi's own; facts are of versions 0.74.2 and 1.6.0, seen on the real program, and the captures under
//! `tests/agents/pi` show them. The extension adds how the last run ended (`outcome`), whether a prompt is the
//! machinery's (`automatic`), an id for each dialog, and a number for each event; where Pi is too old to say that it has
//! settled, it says so in its place.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::wire::Wire;
use crate::event::{Call, Event, Kind, Question, Said};
use crate::forward::{Field, text};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[
    text("reason"),
    text("outcome"),
    text("aborted"),
    text("tool_input.command"),
    text("tool_input.path"),
    text("tool_input.file_path"),
    text("tool_input.pattern"),
    text("tool_input.url"),
    text("tool_input.query"),
    text("tool_input.description"),
];

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, _env: &BTreeMap<String, String>) -> Option<Event> {
    let wire = Wire(payload);
    let mut event = Event::new("pi", name, kind(name, &wire)?);
    event.session = wire.owned("session_id");
    event.seq = wire.at("seq").and_then(Value::as_i64);
    event.title = match wire.at("title") {
        Some(Value::Null) => Said::Unknown,
        _ => wire.owned("title").into(),
    };
    event.model = wire.owned("model").into();
    event.message = wire.owned("message").into();
    event.call = Call {
        id: wire.owned("tool_use_id"),
        tool: wire.owned("tool_name"),
        input: None,
        detail: FIELDS.iter().filter(|field| field.path.starts_with("tool_input.")).find_map(|f| wire.owned(f.path)),
    };
    Some(event)
}

/// What each event means.
fn kind(name: &str, wire: &Wire<'_>) -> Option<Kind> {
    let is = |key, value| wire.text(key) == Some(value);
    let holds = |key| wire.at(key) == Some(&Value::Bool(true));
    Some(match name {
        // A reload starts the session again where it was.
        "session_start" => Kind::SessionStart { waiting: true },
        "session_shutdown" if is("reason", "reload") => Kind::Other,
        "session_shutdown" => {
            Kind::SessionEnd { successor: matches!(wire.text("reason"), Some("new" | "resume" | "fork")) }
        }
        "before_agent_start" => Kind::PromptSubmit { automatic: holds("automatic") },
        // Behind a prompt it says nothing new; alone it is a retry, or what else Pi takes up by itself.
        "agent_start" => Kind::PromptSubmit { automatic: true },
        "tool_execution_start" => Kind::PreToolUse,
        "tool_execution_end" => Kind::PostToolUse,
        "ui_prompt_start" => Kind::Question(Question::Request),
        "ui_prompt_end" => Kind::Answer,
        // Whether it tries again is said when it settles.
        "turn_end" if is("outcome", "error") => Kind::Error { recoverable: Some(true) },
        "agent_settled" if holds("aborted") => Kind::Interrupt,
        "agent_settled" if is("outcome", "error") => Kind::Error { recoverable: Some(false) },
        "agent_settled" => Kind::Stop,
        "turn_end" | "session_info_changed" => Kind::Other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(name: &str, payload: &str) -> Option<Event> {
        translate(name, &serde_json::from_str(payload).unwrap(), &BTreeMap::new())
    }

    #[test]
    fn every_row_of_the_table() {
        let end = |successor| Some(Kind::SessionEnd { successor });
        let prompt = |automatic| Some(Kind::PromptSubmit { automatic });
        let error = |recoverable| Some(Kind::Error { recoverable: Some(recoverable) });
        let rows: &[(&str, &str, Option<Kind>)] = &[
            ("session_start", r#"{"reason":"startup"}"#, Some(Kind::SessionStart { waiting: true })),
            ("session_start", r#"{"reason":"reload"}"#, Some(Kind::SessionStart { waiting: true })),
            ("session_shutdown", r#"{"reason":"reload"}"#, Some(Kind::Other)),
            ("session_shutdown", r#"{"reason":"new"}"#, end(true)),
            ("session_shutdown", r#"{"reason":"resume"}"#, end(true)),
            ("session_shutdown", r#"{"reason":"fork"}"#, end(true)),
            ("session_shutdown", r#"{"reason":"quit"}"#, end(false)),
            ("session_shutdown", "{}", end(false)),
            ("before_agent_start", r#"{"automatic":false}"#, prompt(false)),
            ("before_agent_start", r#"{"automatic":true}"#, prompt(true)),
            ("agent_start", "{}", prompt(true)),
            ("tool_execution_start", r#"{"tool_name":"bash"}"#, Some(Kind::PreToolUse)),
            ("tool_execution_end", r#"{"tool_name":"bash"}"#, Some(Kind::PostToolUse)),
            ("ui_prompt_start", "{}", Some(Kind::Question(Question::Request))),
            ("ui_prompt_end", "{}", Some(Kind::Answer)),
            ("turn_end", r#"{"outcome":"error"}"#, error(true)),
            ("turn_end", r#"{"outcome":"completed"}"#, Some(Kind::Other)),
            ("agent_settled", r#"{"aborted":true,"outcome":"error"}"#, Some(Kind::Interrupt)),
            ("agent_settled", r#"{"aborted":false,"outcome":"error"}"#, error(false)),
            ("agent_settled", r#"{"aborted":false,"outcome":"completed"}"#, Some(Kind::Stop)),
            ("agent_settled", "{}", Some(Kind::Stop)),
            ("session_info_changed", "{}", Some(Kind::Other)),
            ("no_such_event", "{}", None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(translated(name, payload).map(|event| event.kind), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn what_an_event_carries() {
        let event = translated(
            "tool_execution_start",
            r#"{"session_id":"s","seq":7,"model":"m","title":"T","tool_use_id":"c","tool_name":"bash",
                "tool_input":{"command":"ls"}}"#,
        )
        .unwrap();
        assert_eq!((event.session.as_deref(), event.seq), (Some("s"), Some(7)));
        assert_eq!((event.title, event.model), (Said::Value("T".into()), Said::Value("m".into())));
        assert_eq!(
            event.call,
            Call { id: Some("c".into()), tool: Some("bash".into()), input: None, detail: Some("ls".into()) }
        );
        assert_eq!(translated("session_info_changed", r#"{"title":null}"#).unwrap().title, Said::Unknown);
    }

    #[test]
    fn a_field_of_another_type_is_as_good_as_absent() {
        let event = translated("agent_settled", r#"{"aborted":"yes","outcome":[1],"seq":"x","title":7}"#).unwrap();
        assert_eq!((event.kind, event.seq, event.title), (Kind::Stop, None, Said::Nothing));
    }
}
