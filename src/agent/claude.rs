// SPDX-License-Identifier: GPL-3.0-or-later
//! Claude Code's own events (status model, section 6).
//!
//! Facts are of versions 2.1.197 and 2.1.332, seen on the real program; the captures under `tests/agents/claude-code`
//! show them. Hooks alone do not tell of an approval given, a refusal, Esc, or a dismissed question: [`status`] does.

pub mod status;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::wire::Wire;
use crate::event::{self, Call, Event, Kind, Question, Said};
use crate::forward::{self, Field, beginning, text, whole};

/// What the translation reads beside the unified fields. Of a prompt only the beginning is read, enough to tell the
/// agent's own prompts from the user's.
pub(super) const FIELDS: &[Field] = &[
    text("hook_event_name"),
    text("source"),
    text("reason"),
    beginning("prompt", TASK_NOTIFICATION.len()),
    text("error"),
    text("is_interrupt"),
    text("last_assistant_message"),
    text("session_title"),
    text("mcp_server_name"),
    text("tool_input.command"),
    text("tool_input.file_path"),
    text("tool_input.notebook_path"),
    text("tool_input.path"),
    text("tool_input.pattern"),
    text("tool_input.url"),
    text("tool_input.query"),
    text("tool_input.description"),
    text("tool_input.plan"),
    text("tool_input.questions.[].question"),
    whole("tool_response.backgroundTaskId"),
];

/// How the prompt begins that the end of a background task writes (seen, 2.1.332).
const TASK_NOTIFICATION: &str = "<task-notification>";

/// Where the user's own prompts come from, where that is said; `system`, `loop_wakeup` and others are the agent's own.
const USERS: &[&str] = &["user", "sdk"];

/// What is asked with a plan, which the event need not hold (2.1.332: its input is empty) and which is the user's.
const PLAN: &str = "Approve the plan?";

/// Errors that no retry mends (section 6); all others get their grace.
const FATAL: &[&str] = &[
    "authentication_failed",
    "oauth_org_not_allowed",
    "account_on_hold",
    "verification_required",
    "billing_error",
    "model_not_found",
    "invalid_request",
    "cloud_credential_error",
];

/// What a notification of that type means; without a type, its text decides.
pub fn notice(kind: Option<&str>, message: &str) -> Kind {
    match kind {
        Some("permission_prompt" | "worker_permission_prompt") => Kind::Question(Question::PermissionNotice),
        Some("elicitation_dialog" | "elicitation_url_dialog") => Kind::Question(Question::ElicitationNotice),
        Some("agent_needs_input") => Kind::Question(Question::Notice),
        Some("idle_prompt") => Kind::Reminder,
        Some(_) => Kind::Other,
        None if message.contains("waiting for your input") => Kind::Reminder,
        None if message.contains("permission") => Kind::Question(Question::PermissionNotice),
        None if message.contains("needs your") => Kind::Question(Question::Notice),
        None => Kind::Other,
    }
}

/// Makes an event of a native one.
pub(super) fn translate(name: &str, payload: &Map<String, Value>, env: &BTreeMap<String, String>) -> Option<Event> {
    let wire = Wire(payload);
    let mut event = Event::new("claude", name, kind(name, &wire, env)?);
    event.session = wire.owned("session_id");
    event.thread = wire.owned("agent_id");
    event.title = wire.owned("session_title").into();
    event.model = wire.owned("model").into();
    event.call = Call {
        id: wire.owned("tool_use_id").or_else(|| elicitation_id(name, &wire)),
        tool: wire.owned("tool_name"),
        input: wire.owned(forward::HASH_KEY),
        detail: detail(&wire),
    };
    event.message = message(&event.kind, name, &wire);
    if event.kind == Kind::Stop {
        event.tasks = event::background_tasks(payload);
    }
    if event.kind == Kind::PostToolUse {
        event.began = wire.owned("tool_response.backgroundTaskId");
    }
    Some(event)
}

/// Every row of the table of section 6.
fn kind(name: &str, wire: &Wire<'_>, env: &BTreeMap<String, String>) -> Option<Kind> {
    Some(match name {
        "SessionStart" if wire.text("source") == Some("compact") => Kind::SessionRenamed,
        "SessionStart" => Kind::SessionStart { waiting: true },
        "UserPromptSubmit" => {
            let notification = wire.text("prompt").is_some_and(|prompt| prompt.starts_with(TASK_NOTIFICATION));
            let machinery = wire.text("source").is_some_and(|source| !USERS.contains(&source));
            Kind::PromptSubmit { automatic: notification || machinery }
        }
        "PreToolUse" if asks(wire) => Kind::Question(Question::Tool),
        "PreToolUse" => Kind::PreToolUse,
        "PostToolUse" => Kind::PostToolUse,
        "PostToolUseFailure" if wire.is_true("is_interrupt") => Kind::Interrupt,
        "PostToolUseFailure" => Kind::PostToolUse,
        "PostToolBatch" => Kind::BatchEnd,
        "Stop" => Kind::Stop,
        "StopFailure" => {
            let fatal = wire.text("error").is_some_and(|error| FATAL.contains(&error));
            Kind::Error { recoverable: fatal.then_some(false) }
        }
        // In print mode nobody can answer: the request is denied by itself (seen, capture print-perm).
        "PermissionRequest" if is_print_mode(env) => Kind::Other,
        "PermissionRequest" => Kind::Question(Question::Request),
        "Elicitation" => Kind::Question(Question::Elicitation),
        "ElicitationResult" => Kind::Answer,
        "Notification" => notice(wire.text("notification_type"), wire.text("message").unwrap_or_default()),
        "SubagentStart" => Kind::SubagentStart,
        "SubagentStop" => Kind::SubagentStop,
        "TaskCreated" | "TaskCompleted" => match wire.text("task_id") {
            Some(id) => Kind::Task { id: id.to_string(), done: name == "TaskCompleted" },
            None => Kind::Other,
        },
        "SessionEnd" => Kind::SessionEnd { successor: matches!(wire.text("reason"), Some("clear" | "resume")) },
        "PreCompact"
        | "PostCompact"
        | "PermissionDenied"
        | "UserPromptExpansion"
        | "TeammateIdle"
        | "Setup"
        | "InstructionsLoaded"
        | "CwdChanged"
        | "DirectoryAdded"
        | "ConfigChange"
        | "PreModelSwitch"
        | "PostModelSwitch"
        | "PreSkillShellCommand"
        | "FileChanged"
        | "MessageDisplay"
        | "WorktreeCreate"
        | "WorktreeRemove" => Kind::Other,
        _ => return None,
    })
}

/// A server has one question open at a time; its name tells which answer is whose.
fn elicitation_id(name: &str, wire: &Wire<'_>) -> Option<String> {
    let server = wire.text("mcp_server_name").filter(|_| name.starts_with("Elicitation"))?;
    Some(format!("elicitation {server}"))
}

/// Tools whose call is a question to the user.
fn asks(wire: &Wire<'_>) -> bool {
    matches!(wire.text("tool_name"), Some("AskUserQuestion" | "ExitPlanMode"))
}

/// Known to be without a user: only where the variable says so; unknown counts as interactive.
fn is_print_mode(env: &BTreeMap<String, String>) -> bool {
    env.get("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entrypoint| entrypoint.starts_with("sdk-"))
}

/// What the agent said or asked. What a tool works on is not said here: see [`detail`].
fn message(kind: &Kind, name: &str, wire: &Wire<'_>) -> Said<String> {
    match kind {
        Kind::Stop => wire.owned("last_assistant_message").into(),
        Kind::Error { .. } => wire.owned("last_assistant_message").or_else(|| wire.owned("error")).into(),
        Kind::Question(Question::Tool | Question::Request) if wire.text("tool_name") == Some("ExitPlanMode") => {
            Said::Value(PLAN.to_string())
        }
        Kind::Question(Question::Tool) => first_question(wire).into(),
        Kind::Question(Question::Request) if wire.text("tool_name") == Some("AskUserQuestion") => {
            first_question(wire).into()
        }
        Kind::Question(_) if name == "Notification" || name == "Elicitation" => wire.owned("message").into(),
        _ => Said::Nothing,
    }
}

fn first_question(wire: &Wire<'_>) -> Option<String> {
    wire.at("tool_input.questions")?.get(0)?.get("question")?.as_str().map(ToString::to_string)
}

/// What a call works on: the one argument that a person would name it by.
fn detail(wire: &Wire<'_>) -> Option<String> {
    const BY_WORTH: &[&str] = &[
        "tool_input.command",
        "tool_input.file_path",
        "tool_input.notebook_path",
        "tool_input.pattern",
        "tool_input.url",
        "tool_input.query",
        "tool_input.path",
        "tool_input.plan",
        "tool_input.description",
    ];
    BY_WORTH.iter().find_map(|path| wire.owned(path)).or_else(|| first_question(wire))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(name: &str, payload: &str) -> Option<Kind> {
        kind_in(name, payload, &[])
    }

    fn kind_in(name: &str, payload: &str, env: &[(&str, &str)]) -> Option<Kind> {
        let payload: Map<String, Value> = serde_json::from_str(payload).unwrap();
        let env = env.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        translate(name, &payload, &env).map(|event| event.kind)
    }

    #[test]
    fn every_row_of_the_table() {
        let question = |source| Some(Kind::Question(source));
        let rows: &[(&str, &str, Option<Kind>)] = &[
            ("SessionStart", r#"{"source":"startup"}"#, Some(Kind::SessionStart { waiting: true })),
            ("SessionStart", r#"{"source":"compact"}"#, Some(Kind::SessionRenamed)),
            ("UserPromptSubmit", r#"{"prompt":"hi"}"#, Some(Kind::PromptSubmit { automatic: false })),
            ("UserPromptSubmit", r#"{"prompt":"<task-notification>\n"}"#, Some(Kind::PromptSubmit { automatic: true })),
            ("UserPromptSubmit", r#"{"source":"user"}"#, Some(Kind::PromptSubmit { automatic: false })),
            ("UserPromptSubmit", r#"{"source":"loop_wakeup"}"#, Some(Kind::PromptSubmit { automatic: true })),
            ("PreToolUse", r#"{"tool_name":"Bash"}"#, Some(Kind::PreToolUse)),
            ("PreToolUse", r#"{"tool_name":"AskUserQuestion"}"#, question(Question::Tool)),
            ("PreToolUse", r#"{"tool_name":"ExitPlanMode"}"#, question(Question::Tool)),
            ("PostToolUse", r#"{"tool_name":"Bash"}"#, Some(Kind::PostToolUse)),
            ("PostToolUseFailure", r#"{"is_interrupt":false}"#, Some(Kind::PostToolUse)),
            ("PostToolUseFailure", r#"{"is_interrupt":true}"#, Some(Kind::Interrupt)),
            ("PostToolBatch", "{}", Some(Kind::BatchEnd)),
            ("Stop", "{}", Some(Kind::Stop)),
            ("PermissionRequest", r#"{"tool_name":"Bash"}"#, question(Question::Request)),
            ("Elicitation", "{}", question(Question::Elicitation)),
            ("ElicitationResult", "{}", Some(Kind::Answer)),
            ("SubagentStart", "{}", Some(Kind::SubagentStart)),
            ("SubagentStop", "{}", Some(Kind::SubagentStop)),
            ("TaskCreated", r#"{"task_id":"1"}"#, Some(Kind::Task { id: "1".into(), done: false })),
            ("TaskCompleted", r#"{"task_id":"1"}"#, Some(Kind::Task { id: "1".into(), done: true })),
            ("SessionEnd", r#"{"reason":"clear"}"#, Some(Kind::SessionEnd { successor: true })),
            ("SessionEnd", r#"{"reason":"resume"}"#, Some(Kind::SessionEnd { successor: true })),
            ("SessionEnd", r#"{"reason":"other"}"#, Some(Kind::SessionEnd { successor: false })),
            ("SessionEnd", r#"{"reason":"prompt_input_exit"}"#, Some(Kind::SessionEnd { successor: false })),
            ("PreCompact", "{}", Some(Kind::Other)),
            ("PostCompact", "{}", Some(Kind::Other)),
            ("CwdChanged", "{}", Some(Kind::Other)),
            ("NoSuchEvent", "{}", None),
        ];
        for (name, payload, expected) in rows {
            assert_eq!(kind_of(name, payload), *expected, "{name} {payload}");
        }
    }

    #[test]
    fn errors_that_no_retry_mends() {
        for error in FATAL {
            let payload = format!(r#"{{"error":"{error}"}}"#);
            assert_eq!(kind_of("StopFailure", &payload), Some(Kind::Error { recoverable: Some(false) }), "{error}");
        }
        for error in ["rate_limit", "overloaded", "server_error", "unknown", "max_output_tokens"] {
            let payload = format!(r#"{{"error":"{error}"}}"#);
            assert_eq!(kind_of("StopFailure", &payload), Some(Kind::Error { recoverable: None }), "{error}");
        }
    }

    #[test]
    fn notifications_by_type_and_by_text() {
        for (kind, question) in [
            ("permission_prompt", Question::PermissionNotice),
            ("worker_permission_prompt", Question::PermissionNotice),
            ("elicitation_dialog", Question::ElicitationNotice),
            ("elicitation_url_dialog", Question::ElicitationNotice),
            ("agent_needs_input", Question::Notice),
        ] {
            assert_eq!(notice(Some(kind), ""), Kind::Question(question), "{kind}");
        }
        assert_eq!(notice(Some("idle_prompt"), ""), Kind::Reminder);
        for kind in ["auth_success", "agent_completed", "elicitation_complete", "push_notification", "brand_new"] {
            assert_eq!(notice(Some(kind), "Claude needs your permission"), Kind::Other, "{kind}");
        }
        assert_eq!(notice(None, "Claude is waiting for your input"), Kind::Reminder);
        let permission = "Claude needs your permission to use Bash";
        assert_eq!(notice(None, permission), Kind::Question(Question::PermissionNotice));
        assert_eq!(notice(None, "Claude needs your attention"), Kind::Question(Question::Notice));
        assert_eq!(notice(None, "Logged in"), Kind::Other);
    }

    #[test]
    fn in_print_mode_nobody_is_asked() {
        let payload = r#"{"tool_name":"Bash"}"#;
        assert_eq!(kind_in("PermissionRequest", payload, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]), Some(Kind::Other));
        let interactive = kind_in("PermissionRequest", payload, &[("CLAUDE_CODE_ENTRYPOINT", "cli")]);
        assert_eq!(interactive, Some(Kind::Question(Question::Request)));
    }

    #[test]
    fn what_is_asked_is_the_message() {
        let payload: Map<String, Value> = serde_json::from_str(
            r#"{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which colour?"}]}}"#,
        )
        .unwrap();
        for name in ["PreToolUse", "PermissionRequest"] {
            let event = translate(name, &payload, &BTreeMap::new()).unwrap();
            assert_eq!(event.message, Said::Value("Which colour?".into()), "{name}");
        }
        let payload: Map<String, Value> =
            serde_json::from_str(r#"{"tool_name":"ExitPlanMode","tool_input":{}}"#).unwrap();
        for name in ["PreToolUse", "PermissionRequest"] {
            let event = translate(name, &payload, &BTreeMap::new()).unwrap();
            assert_eq!(event.message, Said::Value(PLAN.into()), "{name}");
        }
    }
}
