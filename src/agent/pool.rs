// SPDX-License-Identifier: GPL-3.0-or-later
//! The Poolside Agent CLI's own events.
//!
//! Its documentation (of 1.0.16) names six hooks and most of their fields; the program could not be run, so nothing here
//! is seen, and the captures of its tests are written by hand. Payloads are not known to name their event, so that the
//! command does. No hook tells of a permission, a question, an error, a subagent or the session's end.

pub mod journal;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::event::{Call, Event, Kind};
use crate::forward::{self, Field, text};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[
    text("hook_event_name"),
    text("tool_input.cmd"),
    text("tool_input.command"),
    text("tool_input.path"),
    text("tool_input.url"),
    text("tool_input.query"),
];

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, _env: &BTreeMap<String, String>) -> Option<Event> {
    let text =
        |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_string);
    let kind = match name {
        "SessionStart" => Kind::SessionStart { waiting: true },
        "UserPromptSubmit" => Kind::PromptSubmit { automatic: false },
        "PreToolUse" => Kind::PreToolUse,
        "PostToolUse" => Kind::PostToolUse,
        "Stop" => Kind::Stop,
        // A compaction by hand leaves Idle as it is; one in a turn changes nothing that is shown.
        "PreCompact" => Kind::Other,
        _ => return None,
    };
    let mut event = Event::new("pool", name, kind);
    event.session = text(payload.get("session_id"));
    event.call = Call {
        id: text(payload.get("tool_use_id")),
        tool: text(payload.get("tool_name")),
        input: text(payload.get(forward::HASH_KEY)),
        detail: payload.get("tool_input").and_then(|input| {
            ["cmd", "command", "path", "url", "query"].into_iter().find_map(|key| text(input.get(key)))
        }),
    };
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(name: &str, payload: &str) -> Option<Event> {
        translate(name, &serde_json::from_str(payload).unwrap(), &BTreeMap::new())
    }

    #[test]
    fn every_row_of_the_table() {
        let rows: &[(&str, Option<Kind>)] = &[
            ("SessionStart", Some(Kind::SessionStart { waiting: true })),
            ("UserPromptSubmit", Some(Kind::PromptSubmit { automatic: false })),
            ("PreToolUse", Some(Kind::PreToolUse)),
            ("PostToolUse", Some(Kind::PostToolUse)),
            ("PreCompact", Some(Kind::Other)),
            ("Stop", Some(Kind::Stop)),
            ("Notification", None),
        ];
        for (name, expected) in rows {
            assert_eq!(translated(name, r#"{"session_id":"s"}"#).map(|event| event.kind), *expected, "{name}");
        }
    }

    #[test]
    fn a_call_is_known_by_its_tool_and_input() {
        let payload = r#"{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"make"},"vigil_input_hash":"7"}"#;
        let event = translated("PreToolUse", payload).unwrap();
        let call = Call { id: None, tool: Some("shell".into()), input: Some("7".into()), detail: Some("make".into()) };
        assert_eq!((event.session.as_deref(), event.call), (Some("s"), call));
        assert_eq!(translated("PreToolUse", r#"{"tool_input":7,"tool_name":[]}"#).unwrap().call, Call::default());
    }
}
