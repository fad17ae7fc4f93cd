// SPDX-License-Identifier: GPL-3.0-or-later
//! The unified vocabulary on the wire: names, payload, and what they mean (status model, section 1).
//!
//! Hook scripts and D-Bus callers may send these for any agent. Every field is optional and unknown ones are ignored;
//! a known field of the wrong type is the caller's mistake, and said.

use serde_json::{Map, Value};

use super::{BackgroundTask, Call, Event, Kind, Question, Said};
use crate::agent::{Agent, notice};
use crate::protocol::{ErrorName, Refusal};
use crate::snapshot::LogLevel;
use crate::status::Status;

/// A name of the unified vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the name in `NAMES`, and its meaning is the table of section 1")]
pub enum UnifiedKind {
    SessionStart,
    PromptSubmit,
    PreToolUse,
    PostToolUse,
    Stop,
    Notification,
    SessionEnd,
    LlmComplete,
    ApprovalRequest,
    ApprovalResponse,
    Interrupt,
    Error,
    SubagentUpdate,
    SubagentStart,
    SubagentStop,
    BackgroundStart,
    BackgroundStop,
    Progress,
    Log,
}

/// The vocabulary: every name, and what it is.
const NAMES: &[(&str, UnifiedKind)] = &[
    ("session-start", UnifiedKind::SessionStart),
    ("prompt-submit", UnifiedKind::PromptSubmit),
    ("pre-tool-use", UnifiedKind::PreToolUse),
    ("post-tool-use", UnifiedKind::PostToolUse),
    ("stop", UnifiedKind::Stop),
    ("notification", UnifiedKind::Notification),
    ("session-end", UnifiedKind::SessionEnd),
    ("llm-complete", UnifiedKind::LlmComplete),
    ("approval-request", UnifiedKind::ApprovalRequest),
    ("approval-response", UnifiedKind::ApprovalResponse),
    ("interrupt", UnifiedKind::Interrupt),
    ("error", UnifiedKind::Error),
    ("subagent-update", UnifiedKind::SubagentUpdate),
    ("subagent-start", UnifiedKind::SubagentStart),
    ("subagent-stop", UnifiedKind::SubagentStop),
    ("background-start", UnifiedKind::BackgroundStart),
    ("background-stop", UnifiedKind::BackgroundStop),
    ("progress", UnifiedKind::Progress),
    ("log", UnifiedKind::Log),
];

impl UnifiedKind {
    /// The kind of that name; `None` for a name that is not of the vocabulary.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// All names, in the order of the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

/// The event that a unified name and its payload mean, for that agent.
///
/// # Errors
///
/// [`ErrorName::InvalidPayload`] when a known field has the wrong type or a value out of its range.
pub fn from_payload(
    agent: &Agent<'_>,
    name: &str,
    kind: UnifiedKind,
    payload: &Map<String, Value>,
) -> Result<Event, Refusal> {
    let fields = Fields(payload);
    let own = own_kind(agent, kind, &fields)?;
    let kind = match fields.text("status")?.value().and_then(|label| Status::from_label(label)) {
        Some(status) => kind_of_label(status),
        None => own,
    };
    let mut event = Event::new(agent.id, name, kind);
    event.session = fields.id("session_id")?;
    event.thread = fields.id("agent_id")?;
    event.seq = fields.integer("seq")?;
    event.message = fields.text("message")?;
    event.title = fields.text("title")?;
    event.model = fields.text("model")?;
    event.display_name = fields.text("display_name")?.value().filter(|name| !name.is_empty()).cloned();
    event.hidden = fields.boolean("background")?;
    event.call = Call {
        id: fields.id("tool_use_id")?,
        tool: fields.text("tool_name")?.value().cloned(),
        input: fields.text(crate::forward::HASH_KEY)?.value().cloned(),
        detail: None,
    };
    event.tasks = background_tasks(payload);
    if event.message == Said::Nothing && matches!(event.kind, Kind::Error { .. }) {
        event.message = fields.text("error_category")?;
    }
    Ok(event)
}

/// The kind that a status label means, wherever a label is given: by a script's `status` field or by `SetStatus`.
pub(crate) fn kind_of_label(status: Status) -> Kind {
    match status {
        Status::Running => Kind::PromptSubmit { automatic: false },
        Status::Idle => Kind::Stop,
        Status::NeedsInput => Kind::Question(Question::Unified),
        Status::Failed => Kind::Error { recoverable: Some(false) },
    }
}

fn own_kind(agent: &Agent<'_>, kind: UnifiedKind, fields: &Fields<'_>) -> Result<Kind, Refusal> {
    Ok(match kind {
        UnifiedKind::SessionStart => Kind::SessionStart { waiting: fields.boolean("waiting")?.unwrap_or(false) },
        UnifiedKind::PromptSubmit => Kind::PromptSubmit { automatic: fields.boolean("automatic")?.unwrap_or(false) },
        UnifiedKind::PreToolUse => Kind::PreToolUse,
        UnifiedKind::PostToolUse => Kind::PostToolUse,
        UnifiedKind::Stop | UnifiedKind::LlmComplete => Kind::Stop,
        UnifiedKind::Notification if !agent.notification_counts => Kind::Other,
        UnifiedKind::Notification => match fields.text("notification_type")?.value() {
            Some(kind) => notice(Some(kind), ""),
            None => Kind::Question(Question::Unified),
        },
        UnifiedKind::SessionEnd => Kind::SessionEnd { successor: false },
        UnifiedKind::ApprovalRequest => Kind::Question(Question::Unified),
        UnifiedKind::ApprovalResponse if agent.records_unified_answers => Kind::Other,
        UnifiedKind::ApprovalResponse => Kind::Answer,
        UnifiedKind::Interrupt => Kind::Interrupt,
        UnifiedKind::Error => Kind::Error { recoverable: fields.boolean("recoverable")? },
        UnifiedKind::SubagentUpdate => Kind::SubagentUpdate {
            subagents: fields.count("subagent_count")?,
            background: fields.count("background_count")?,
        },
        UnifiedKind::SubagentStart => Kind::SubagentStart,
        UnifiedKind::SubagentStop => Kind::SubagentStop,
        UnifiedKind::BackgroundStart => Kind::BackgroundStart(fields.id("task_id")?),
        UnifiedKind::BackgroundStop => Kind::BackgroundStop(fields.id("task_id")?),
        UnifiedKind::Progress => {
            let label = fields.text("label")?.value().cloned().unwrap_or_default();
            let value = fields.number("value")?.ok_or_else(|| invalid("value", "a number from 0 to 1"))?;
            Kind::Progress(progress_value(value)?, label)
        }
        UnifiedKind::Log => {
            let level = match fields.text("level")?.value() {
                None => LogLevel::Info,
                Some(level) => LogLevel::parse(level).ok_or_else(|| invalid("level", "info, warning or error"))?,
            };
            Kind::Log(level, fields.text("message")?.value().cloned().unwrap_or_default())
        }
    })
}

/// What a progress value means: below 0 clears, above 1 is 1, not finite is refused.
///
/// # Errors
///
/// [`ErrorName::InvalidArgument`] when it is not finite.
pub fn progress_value(value: f64) -> Result<Option<f64>, Refusal> {
    if !value.is_finite() {
        return Err(Refusal::new(ErrorName::InvalidArgument, "The progress is not a finite number"));
    }
    Ok((value >= 0.0).then(|| value.min(1.0)))
}

/// The full list of what runs beside the turn. An entry without an id cannot be followed and is left out.
pub(crate) fn background_tasks(payload: &Map<String, Value>) -> Option<Vec<BackgroundTask>> {
    let list = payload.get("background_tasks")?.as_array()?;
    Some(
        list.iter()
            .filter_map(|task| {
                let id = task.get("id")?.as_str()?.to_string();
                let subagent = task.get("type").and_then(Value::as_str) == Some("subagent");
                Some(BackgroundTask { id, subagent })
            })
            .collect(),
    )
}

fn invalid(field: &str, wanted: &str) -> Refusal {
    Refusal::new(ErrorName::InvalidPayload, format!("In the payload, `{field}` is not {wanted}"))
}

/// Typed access to a payload: absent, null and wrong are three things.
pub(crate) struct Fields<'a>(pub(crate) &'a Map<String, Value>);

impl Fields<'_> {
    pub(crate) fn text(&self, key: &str) -> Result<Said<String>, Refusal> {
        match self.0.get(key) {
            None => Ok(Said::Nothing),
            Some(Value::Null) => Ok(Said::Unknown),
            Some(Value::String(text)) => Ok(Said::Value(text.clone())),
            Some(_) => Err(invalid(key, "a text")),
        }
    }

    /// An id: a text, or a whole number as scripts write it. An empty one is none.
    pub(crate) fn id(&self, key: &str) -> Result<Option<String>, Refusal> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) if number.is_u64() => Ok(Some(number.to_string())),
            Some(_) => Err(invalid(key, "an id")),
        }
    }

    fn boolean(&self, key: &str) -> Result<Option<bool>, Refusal> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(invalid(key, "true or false")),
        }
    }

    fn integer(&self, key: &str) -> Result<Option<i64>, Refusal> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| invalid(key, "a whole number")),
        }
    }

    fn count(&self, key: &str) -> Result<Option<u32>, Refusal> {
        match self.integer(key)? {
            None => Ok(None),
            Some(count) => u32::try_from(count).map(Some).map_err(|_| invalid(key, "a count of 0 or more")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<f64>, Refusal> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| invalid(key, "a number")),
        }
    }
}
