// SPDX-License-Identifier: GPL-3.0-or-later
//! The events of OpenCode and of its forks Kilo Code and MiMo Code, as our plugin in them sends them
//! (`data/integrations/opencode/vigil.js`): native events, and beside them `vigil`, what only the plugin knows.
//!
//! Facts are of OpenCode 1.18.33 and Kilo Code 7.7.7, seen on the real programs; the captures under
//! `tests/agents/opencode` and `tests/agents/kilo` show them. MiMo Code could not be run: what is read of it is of the
//! schemas that its makers publish.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::wire::Wire;
use crate::event::{Call, Event, Kind, Question, Said};
use crate::forward::{Field, text, whole};

/// What the translation reads beside the unified fields.
pub(super) const FIELDS: &[Field] = &[
    whole("type"),
    whole("properties.id"),
    whole("properties.requestID"),
    whole("properties.callID"),
    whole("properties.processID"),
    whole("properties.status"),
    whole("properties.status.type"),
    whole("properties.status.requestID"),
    text("properties.status.message"),
    whole("properties.error.name"),
    text("properties.error.data.message"),
    text("properties.info.title"),
    text("properties.model"),
    text("properties.tool"),
    text("properties.args.command"),
    text("properties.args.filePath"),
    text("properties.args.pattern"),
    text("properties.args.url"),
    text("properties.args.query"),
    text("properties.args.path"),
    text("properties.args.description"),
    text("properties.permission"),
    text("properties.action"),
    text("properties.patterns.[]"),
    text("properties.metadata.command"),
    text("properties.questions.[].question"),
    whole("vigil.session"),
    whole("vigil.thread"),
    whole("vigil.seq"),
    whole("vigil.age_ms"),
    whole("vigil.automatic"),
    whole("vigil.quiet"),
    whole("vigil.server"),
    whole("vigil.background"),
    text("vigil.message"),
];

/// An event waits in the plugin for those before it, each of which takes milliseconds; nothing waits longer than this.
const OLDEST: u64 = 60_000;

/// Makes an event of that agent of a native one.
pub(super) fn translate(
    agent: &str,
    name: &str,
    payload: &Map<String, Value>,
    _env: &BTreeMap<String, String>,
) -> Option<Event> {
    let wire = Wire(payload);
    let thread = wire.owned("vigil.thread");
    let mut event = Event::new(agent, name, kind(name, &wire, thread.is_some())?);
    event.session = wire.owned("vigil.session");
    event.thread = thread;
    event.seq = wire.at("vigil.seq").and_then(Value::as_i64);
    let age = wire.at("vigil.age_ms").and_then(Value::as_u64).unwrap_or_default();
    event.age = Duration::from_millis(age.min(OLDEST));
    event.place.served = wire.is_true("vigil.server");
    event.call = call(name, &wire);
    event.began = wire.owned("vigil.background");
    event.message = message(&event.kind, &wire);
    if name.starts_with("session.") && event.thread.is_none() {
        event.title = wire.owned("properties.info.title").into();
    }
    if name == "chat.message" {
        event.model = wire.owned("properties.model").into();
    }
    Some(event)
}

/// What each event means, of a child session or another thread, or of the main one.
fn kind(name: &str, wire: &Wire<'_>, is_child: bool) -> Option<Kind> {
    let status = wire.text("properties.status.type").unwrap_or_default();
    Some(match (name, is_child) {
        ("session.status", true) if status == "idle" => Kind::SubagentStop,
        ("session.status", true) => Kind::SubagentStart,
        ("session.deleted", true) => Kind::SubagentStop,
        // MiMo's subagents have no session of their own.
        ("actor.status", true) => match wire.text("properties.status") {
            Some("running") => Kind::SubagentStart,
            Some("idle") => Kind::SubagentStop,
            _ => Kind::Other,
        },
        ("session.created", false) => Kind::SessionStart { waiting: true },
        ("session.deleted", false) => Kind::SessionEnd { successor: false },
        ("chat.message", false) => Kind::PromptSubmit { automatic: wire.is_true("vigil.automatic") },
        ("session.status", false) => status_kind(status, wire),
        ("session.error", false) if wire.text("properties.error.name") == Some(ABORTED) => Kind::Interrupt,
        // It stays: what passes is a retry.
        ("session.error", false) => Kind::Error { recoverable: Some(false) },
        // Kilo: the user stopped it.
        ("session.drain.interrupted", false) => Kind::Interrupt,
        ("tool.execute.before", false) => Kind::PreToolUse,
        ("tool.execute.after", false) => Kind::PostToolUse,
        // Kilo has this event, and does not give it to plugins: ours sends it once the process has gone.
        ("background_process.deleted", false) => Kind::BackgroundStop(wire.owned("properties.processID")),
        ("permission.asked" | "permission.v2.asked" | "question.asked" | "question.v2.asked", _) => {
            Kind::Question(Question::Request)
        }
        (
            "permission.replied"
            | "permission.v2.replied"
            | "question.replied"
            | "question.v2.replied"
            | "question.rejected"
            | "question.v2.rejected",
            _,
        ) => Kind::Answer,
        ("session.created" | "session.updated" | "session.error", _) => Kind::Other,
        _ => return None,
    })
}

/// The error of a turn that the user interrupted.
const ABORTED: &str = "MessageAbortedError";

/// The plugin tells a status only where it says something new: busy where the turn goes on by itself, idle where a turn
/// was open.
fn status_kind(status: &str, wire: &Wire<'_>) -> Kind {
    match status {
        "busy" => Kind::PromptSubmit { automatic: true },
        // The user ended it: by a refusal, or by giving up while there was no network.
        "idle" if wire.is_true("vigil.quiet") => Kind::Interrupt,
        "idle" => Kind::Stop,
        "retry" => Kind::Error { recoverable: Some(true) },
        // Kilo: it waits until the network is there again, or the user steps in.
        "offline" => Kind::Question(Question::Request),
        _ => Kind::Other,
    }
}

/// A request is known by its own id: what is asked of one call may be several requests.
fn call(name: &str, wire: &Wire<'_>) -> Call {
    if name.starts_with("tool.") {
        return Call {
            id: wire.owned("properties.callID"),
            tool: wire.owned("properties.tool"),
            input: None,
            detail: detail(wire),
        };
    }
    let request = wire.owned("properties.requestID").or_else(|| wire.owned("properties.status.requestID"));
    let asked = || wire.owned("properties.id").filter(|_| name.ends_with(".asked"));
    let pattern = || wire.at("properties.patterns")?.get(0)?.as_str().map(ToString::to_string);
    Call {
        id: request.or_else(asked),
        tool: wire.owned("properties.permission").or_else(|| wire.owned("properties.action")),
        input: None,
        detail: wire.owned("properties.metadata.command").or_else(pattern),
    }
}

/// What a call works on: the one argument that a person would name it by.
fn detail(wire: &Wire<'_>) -> Option<String> {
    const BY_WORTH: &[&str] = &["command", "filePath", "pattern", "url", "query", "path", "description"];
    BY_WORTH.iter().find_map(|name| wire.owned(&format!("properties.args.{name}")))
}

/// What the agent said or asked.
fn message(kind: &Kind, wire: &Wire<'_>) -> Said<String> {
    let question = || wire.at("properties.questions")?.get(0)?.get("question")?.as_str().map(ToString::to_string);
    match kind {
        // Without a last word, what a retry said must not stand.
        Kind::Stop => wire.owned("vigil.message").map_or(Said::Unknown, Said::Value),
        Kind::Error { .. } => {
            let said = wire.owned("properties.error.data.message").or_else(|| wire.owned("properties.status.message"));
            said.or_else(|| wire.owned("properties.error.name")).into()
        }
        Kind::Question(_) => question().or_else(|| wire.owned("properties.status.message")).into(),
        _ => Said::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, payload: &str) -> Option<Event> {
        let payload: Map<String, Value> = serde_json::from_str(payload).unwrap();
        translate("kilo", name, &payload, &BTreeMap::new())
    }

    #[test]
    fn every_row_of_the_table() {
        const CHILD: &str = r#""vigil":{"session":"s","thread":"t"}"#;
        let request = Some(Kind::Question(Question::Request));
        let status = |kind: &str| format!(r#"{{"properties":{{"status":{{"type":"{kind}"}}}}}}"#);
        let of_child = |kind: &str| format!(r#"{{"properties":{{"status":{{"type":"{kind}"}}}},{CHILD}}}"#);
        let actor = |kind: &str| format!(r#"{{"properties":{{"status":"{kind}"}},{CHILD}}}"#);
        let quiet = r#"{"properties":{"status":{"type":"idle"}},"vigil":{"quiet":true}}"#.to_string();
        let error = |name: &str| format!(r#"{{"properties":{{"error":{{"name":"{name}","data":{{}}}}}}}}"#);
        let rows: &[(&str, String, Option<Kind>)] = &[
            ("session.created", "{}".into(), Some(Kind::SessionStart { waiting: true })),
            ("session.updated", "{}".into(), Some(Kind::Other)),
            ("session.deleted", "{}".into(), Some(Kind::SessionEnd { successor: false })),
            ("session.deleted", format!("{{{CHILD}}}"), Some(Kind::SubagentStop)),
            ("chat.message", "{}".into(), Some(Kind::PromptSubmit { automatic: false })),
            ("chat.message", r#"{"vigil":{"automatic":true}}"#.into(), Some(Kind::PromptSubmit { automatic: true })),
            ("session.status", status("busy"), Some(Kind::PromptSubmit { automatic: true })),
            ("session.status", status("idle"), Some(Kind::Stop)),
            ("session.status", quiet, Some(Kind::Interrupt)),
            ("session.status", status("retry"), Some(Kind::Error { recoverable: Some(true) })),
            ("session.status", status("offline"), request.clone()),
            ("session.status", status("notice"), Some(Kind::Other)),
            ("session.status", of_child("busy"), Some(Kind::SubagentStart)),
            ("session.status", of_child("idle"), Some(Kind::SubagentStop)),
            ("actor.status", actor("running"), Some(Kind::SubagentStart)),
            ("actor.status", actor("idle"), Some(Kind::SubagentStop)),
            ("session.error", error("APIError"), Some(Kind::Error { recoverable: Some(false) })),
            ("session.error", error(ABORTED), Some(Kind::Interrupt)),
            ("session.error", format!("{{{CHILD}}}"), Some(Kind::Other)),
            ("session.drain.interrupted", "{}".into(), Some(Kind::Interrupt)),
            ("tool.execute.before", "{}".into(), Some(Kind::PreToolUse)),
            ("tool.execute.after", "{}".into(), Some(Kind::PostToolUse)),
            (
                "background_process.deleted",
                r#"{"properties":{"processID":"bgp_1"}}"#.into(),
                Some(Kind::BackgroundStop(Some("bgp_1".into()))),
            ),
            ("permission.asked", "{}".into(), request.clone()),
            ("permission.v2.asked", format!("{{{CHILD}}}"), request.clone()),
            ("question.asked", "{}".into(), request),
            ("permission.replied", "{}".into(), Some(Kind::Answer)),
            ("question.replied", "{}".into(), Some(Kind::Answer)),
            ("question.rejected", "{}".into(), Some(Kind::Answer)),
            ("tool.execute.before", format!("{{{CHILD}}}"), None),
            ("lsp.updated", "{}".into(), None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(event(name, payload).map(|event| event.kind), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn what_the_plugin_knows_is_taken_over() {
        let payload = r#"{"type":"permission.asked","properties":{"sessionID":"t","id":"per_1","permission":"bash",
            "patterns":["ls"],"metadata":{}},
            "vigil":{"session":"s","thread":"t","seq":7,"age_ms":90000000,"server":true}}"#;
        let event = event("permission.asked", payload).unwrap();
        assert_eq!(
            (event.agent.as_str(), event.session.as_deref(), event.thread.as_deref()),
            ("kilo", Some("s"), Some("t"))
        );
        assert_eq!((event.seq, event.age, event.place.served), (Some(7), Duration::from_secs(60), true));
        assert_eq!((event.call.id.as_deref(), event.call.tool.as_deref()), (Some("per_1"), Some("bash")));
        assert_eq!(event.call.detail.as_deref(), Some("ls"));
    }

    #[test]
    fn what_is_asked_and_said_is_the_message() {
        let said = |name, payload| event(name, payload).unwrap().message;
        let question = r#"{"properties":{"questions":[{"question":"Which one?"}]}}"#;
        assert_eq!(said("question.asked", question), Said::Value("Which one?".into()));
        let retry = r#"{"properties":{"status":{"type":"retry","message":"mock 500"}}}"#;
        assert_eq!(said("session.status", retry), Said::Value("mock 500".into()));
        let error = r#"{"properties":{"error":{"name":"APIError","data":{"message":"mock 401"}}}}"#;
        assert_eq!(said("session.error", error), Said::Value("mock 401".into()));
        let idle = r#"{"properties":{"status":{"type":"idle"}},"vigil":{"message":"All done."}}"#;
        assert_eq!(said("session.status", idle), Said::Value("All done.".into()));
        assert_eq!(said("session.status", r#"{"properties":{"status":{"type":"idle"}}}"#), Said::Unknown);
    }

    #[test]
    fn nothing_in_a_payload_is_trusted() {
        for bad in [
            r#"{"properties":7,"vigil":[]}"#,
            r#"{"properties":{"status":[],"questions":{},"patterns":"x"},"vigil":{"seq":"x","age_ms":-1}}"#,
        ] {
            for name in ["session.status", "session.error", "question.asked", "permission.asked", "actor.status"] {
                assert_eq!(event(name, bad).and_then(|event| event.session), None, "{name} {bad}");
            }
        }
    }
}
