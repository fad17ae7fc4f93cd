// SPDX-License-Identifier: GPL-3.0-or-later
//! Mistral Vibe's own events.
//!
//! Facts are of versions 2.20.0 and 3.0.2, seen on the real program (the captures under `tests/agents/vibe`). Its hooks
//! tell of tool calls and of the end of a turn, and nothing else; what they leave out is in the journal ([`journal`]),
//! where there is one, from 2.23 on. There `post_agent` comes some 70 ms before the journal says the same.

pub mod journal;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::event::{Call, Event, Kind, Question};
use crate::forward::{Field, HASH_KEY, text, whole};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[
    whole("parent_session_id"),
    whole("tool_call_id"),
    text("tool_input.command"),
    text("tool_input.questions.[].question"),
];

/// Makes an event of a native one; the names are those from 2.21 on, and the older ones.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, _env: &BTreeMap<String, String>) -> Option<Event> {
    let text = |path: &str| payload.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    let owned = |path: &str| text(path).map(ToString::to_string);
    let parent = owned("parent_session_id");
    // `file_system.bash`, `ui.ask_user_question`; the older versions have only the last word.
    let asks = text("tool_name").is_some_and(|tool| tool.rsplit('.').next() == Some("ask_user_question"));
    let kind = match name {
        "pre_tool" | "before_tool" if asks => Kind::Question(Question::Tool),
        "pre_tool" | "before_tool" => Kind::PreToolUse,
        // Behind a refusal too (seen, 3.0.2).
        "post_tool" | "after_tool" => Kind::PostToolUse,
        "post_agent" | "post_agent_turn" if parent.is_some() => Kind::SubagentStop,
        "post_agent" | "post_agent_turn" => Kind::Stop,
        _ => return None,
    };
    let mut event = Event::new("vibe", name, kind);
    let input = payload.get("tool_input");
    let at = |pointer: &str| input.and_then(|input| input.pointer(pointer)).and_then(Value::as_str);
    event.call = Call {
        id: owned("tool_call_id"),
        tool: owned("tool_name"),
        input: owned(HASH_KEY),
        detail: at("/command").map(ToString::to_string),
    };
    if asks {
        event.message = at("/questions/0/question").map(ToString::to_string).into();
    }
    // The older store is a file. Beside it there is no journal, and so nothing tells of a prompt.
    event.is_whole_turn =
        event.kind == Kind::Stop && text("transcript_path").is_some_and(|path| path.ends_with(".jsonl"));
    event.thread = parent.is_some().then(|| owned("session_id")).flatten();
    event.session = parent.or_else(|| owned("session_id"));
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
        let question = Kind::Question(Question::Tool);
        let rows: &[(&[&str], &str, Kind)] = &[
            (&["pre_tool", "before_tool"], r#"{"tool_name":"file_system.bash"}"#, Kind::PreToolUse),
            (&["pre_tool", "before_tool"], r#"{"tool_name":"ui.ask_user_question"}"#, question.clone()),
            (&["pre_tool", "before_tool"], r#"{"tool_name":"ask_user_question"}"#, question),
            (&["pre_tool", "before_tool"], r#"{"tool_name":"x.do_not_ask_user_question"}"#, Kind::PreToolUse),
            (&["post_tool", "after_tool"], r#"{"tool_status":"failure"}"#, Kind::PostToolUse),
            (&["post_agent", "post_agent_turn"], r#"{"parent_session_id":null}"#, Kind::Stop),
            (&["post_agent", "post_agent_turn"], r#"{"parent_session_id":"s"}"#, Kind::SubagentStop),
        ];
        for (names, payload, kind) in rows {
            for name in *names {
                assert_eq!(translated(name, payload).unwrap().kind, *kind, "{name} {payload}");
            }
        }
        assert_eq!(translated("stop", "{}"), None);
    }

    #[test]
    fn a_child_session_is_a_thread_of_its_parent() {
        let event = translated("pre_tool", r#"{"session_id":"child-1","parent_session_id":"s"}"#).unwrap();
        assert_eq!((event.session.as_deref(), event.thread.as_deref()), (Some("s"), Some("child-1")));
        let event = translated("pre_tool", r#"{"session_id":"s","parent_session_id":null}"#).unwrap();
        assert_eq!((event.session.as_deref(), event.thread), (Some("s"), None));
    }

    #[test]
    fn only_without_a_journal_a_stop_is_a_turn_of_its_own() {
        let stop = |path: &str| translated("post_agent", &format!(r#"{{"transcript_path":"{path}"}}"#)).unwrap();
        assert!(stop("/home/user/.vibe/logs/session/session_1/messages.jsonl").is_whole_turn);
        assert!(!stop("/home/user/.vibe/logs/session/unified/s").is_whole_turn);
    }
}
