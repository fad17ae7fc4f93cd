// SPDX-License-Identifier: GPL-3.0-or-later
//! The agent catalogue: one const table, one entry an agent.
//!
//! Adding an agent is one entry here and one translation file. An id outside the table is welcome too: it speaks the
//! unified vocabulary and has a row for each of its surfaces.

pub mod claude;
mod codebuff;
mod codewhale;
mod codex;
pub mod gap;
mod hermes;
pub mod journal;
mod opencode;
mod pi;
mod pool;
pub mod vibe;
mod wire;
mod writer;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use claude::notice;

use crate::event::{self, Event, Kind, UnifiedKind};
use crate::forward::{self, Field, whole};
use crate::origin::{self, Found, Here, comm_matches};
use crate::protocol::{ErrorName, Origin, Refusal};
use crate::text;

/// What one row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of the agent's sessions in a workspace share one row.
    Session,
    /// Each terminal pane has a row of its own.
    Surface,
}

/// How an agent's events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integration {
    /// Shell hooks in its settings file.
    Hooks,
    /// A plugin or extension that runs inside it.
    Plugin,
    /// Its session log is watched.
    Log,
    /// Its hooks, and its journal or log.
    HooksAndLog,
    /// Whatever scripts send.
    Scripts,
}

/// Makes an event of a native one; `None` for a name that the agent does not have.
type Translate = fn(&str, &Map<String, Value>, &BTreeMap<String, String>) -> Option<Event>;

/// One agent.
#[derive(Clone, Copy, Debug)]
pub struct Agent<'a> {
    /// Its id on the wire.
    pub id: &'a str,
    /// What people call it.
    pub name: &'a str,
    /// How its events arrive.
    pub integration: Integration,
    /// What one row stands for.
    pub scope: Scope,
    /// Whether the unified `notification` means a question.
    pub notification_counts: bool,
    /// Whether its unified `approval-response` is recorded only.
    pub records_unified_answers: bool,
    /// Whether its row goes on session-end.
    pub clears_on_end: bool,
    /// Whether subagents end with the turn when nothing says what still runs (rule 7).
    pub subagents_end_with_turn: bool,
    /// Names of its processes, besides its id.
    pub processes: &'static [&'static str],
    /// The variable in which its hooks find its pid.
    pub pid_variable: Option<&'static str>,
    /// The server that may run its hooks for many terminals.
    pub server: Option<Server>,
    /// The payload's key that names the event.
    pub name_key: &'static str,
    /// The native fields that its translator reads.
    pub fields: &'static [Field],
    /// Its translator; without one only the unified vocabulary is understood.
    translate: Option<Translate>,
}

/// A process of an agent's that serves sessions of others: its terminal, environment and parents are not theirs.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The argument by which it is known.
    pub word: &'static str,
    /// Arguments of processes that run without it.
    pub apart: &'static [&'static str],
}

impl Server {
    /// Whether a process with that argument is none that the server serves.
    pub fn leaves_out(&self, argument: &str) -> bool {
        argument == self.word || self.apart.contains(&argument)
    }
}

/// The fields of the unified vocabulary, read for every agent.
pub const UNIFIED_FIELDS: &[Field] = &[
    whole("session_id"),
    whole("workspace_id"),
    whole("surface_id"),
    whole("cwd"),
    forward::text("title"),
    forward::text("model"),
    whole("transcript_path"),
    forward::text("message"),
    forward::text("tool_name"),
    whole("tool_use_id"),
    whole("agent_id"),
    forward::text("subagent_count"),
    forward::text("background_count"),
    whole("background_tasks.[].id"),
    forward::text("background_tasks.[].type"),
    whole("task_id"),
    forward::text("background"),
    forward::text("waiting"),
    forward::text("automatic"),
    forward::text("notification_type"),
    forward::text("recoverable"),
    forward::text("error_category"),
    forward::text("severity"),
    forward::text("code"),
    forward::text("seq"),
    forward::text("status"),
    forward::text("display_name"),
    forward::text("value"),
    forward::text("label"),
    forward::text("level"),
    forward::hash("tool_input"),
];

const UNLISTED: Agent<'static> = Agent {
    id: "",
    name: "",
    integration: Integration::Scripts,
    scope: Scope::Surface,
    notification_counts: true,
    records_unified_answers: false,
    clears_on_end: true,
    subagents_end_with_turn: false,
    processes: &[],
    pid_variable: None,
    server: None,
    name_key: "hook_event_name",
    fields: &[],
    translate: None,
};

const fn entry(id: &'static str, name: &'static str, integration: Integration) -> Agent<'static> {
    Agent { id, name, integration, ..UNLISTED }
}

/// The catalogue (status model, section 2).
pub const CATALOGUE: &[Agent<'static>] = &[
    Agent {
        scope: Scope::Session,
        subagents_end_with_turn: true,
        pid_variable: Some("CLAUDE_PID"),
        processes: &["claude.exe"],
        fields: claude::FIELDS,
        translate: Some(claude::translate),
        ..entry("claude", "Claude Code", Integration::Hooks)
    },
    Agent { notification_counts: false, ..entry("codebuff", "Codebuff", Integration::Log) },
    Agent {
        notification_counts: false,
        server: Some(codex::SERVER),
        fields: codex::FIELDS,
        translate: Some(codex::translate),
        ..entry("codex", "Codex", Integration::Hooks)
    },
    Agent { notification_counts: false, ..entry("freebuff", "Freebuff", Integration::Log) },
    Agent {
        notification_counts: false,
        records_unified_answers: true,
        clears_on_end: false,
        fields: hermes::FIELDS,
        translate: Some(hermes::translate),
        ..entry("hermes", "Hermes Agent", Integration::Plugin)
    },
    Agent {
        processes: &[".kilo"],
        name_key: "type",
        fields: opencode::FIELDS,
        translate: Some(|name, payload, env| opencode::translate("kilo", name, payload, env)),
        ..entry("kilo", "Kilo Code", Integration::Plugin)
    },
    Agent {
        processes: &["mimo", ".mimocode"],
        name_key: "type",
        fields: opencode::FIELDS,
        translate: Some(|name, payload, env| opencode::translate("mimocode", name, payload, env)),
        ..entry("mimocode", "MiMo Code", Integration::Plugin)
    },
    Agent {
        notification_counts: false,
        // Up to 2.20 at least it is `vibe`, in 2.26.1 `Vibe CLI`; the server below `vibe-rs` is another (seen).
        processes: &["vibe-rs", "Vibe CLI"],
        fields: vibe::FIELDS,
        translate: Some(vibe::translate),
        ..entry("vibe", "Mistral Vibe", Integration::HooksAndLog)
    },
    Agent {
        // The file that npm installs is called so on Linux, too (1.18.33).
        processes: &["opencode.exe"],
        name_key: "type",
        fields: opencode::FIELDS,
        translate: Some(|name, payload, env| opencode::translate("opencode", name, payload, env)),
        ..entry("opencode", "OpenCode", Integration::Plugin)
    },
    Agent {
        notification_counts: false,
        // As `pi --mode rpc` calls itself.
        processes: &["pi-rpc"],
        fields: pi::FIELDS,
        translate: Some(pi::translate),
        ..entry("pi", "Pi Agent", Integration::Plugin)
    },
    Agent {
        notification_counts: false,
        fields: pool::FIELDS,
        translate: Some(pool::translate),
        ..entry("pool", "Poolside Agent CLI", Integration::HooksAndLog)
    },
    Agent {
        notification_counts: false,
        name_key: "event",
        fields: codewhale::FIELDS,
        translate: Some(codewhale::translate),
        ..entry("codewhale", "CodeWhale", Integration::Hooks)
    },
    Agent {
        notification_counts: false,
        subagents_end_with_turn: true,
        ..entry("gemini", "Gemini CLI", Integration::Hooks)
    },
];

/// The agent of that id: its entry, or one made for an id outside the table.
pub fn find(id: &str) -> Agent<'_> {
    CATALOGUE.iter().find(|agent| agent.id == id).copied().unwrap_or(Agent { id, name: id, ..UNLISTED })
}

impl Agent<'_> {
    /// Whether a process of that name (`comm`) may be one of its own.
    pub fn has_process(&self, comm: &str) -> bool {
        comm_matches(comm, self.id) || self.processes.iter().any(|name| comm_matches(comm, name))
    }

    /// Every field of a payload that is read for this agent.
    pub fn all_fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        UNIFIED_FIELDS.iter().chain(self.fields)
    }
}

/// An agent's id as it may come from outside: short, one word, nothing that could be mistaken for something else.
///
/// # Errors
///
/// [`ErrorName::InvalidArgument`] for an empty or overlong id, or one with white space or control characters.
pub fn check_id(id: &str) -> Result<(), Refusal> {
    let fine = !id.is_empty() && id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fine {
        Ok(())
    } else {
        Err(Refusal::new(
            ErrorName::InvalidArgument,
            "An agent's id is a word of at most 64 letters, digits, dots, dashes and underscores",
        ))
    }
}

/// Makes an [`Event`] of one delivery: a native or unified name (`""` takes the payload's own), a payload that went
/// through [`forward`], where it came from, and what was found there.
///
/// # Errors
///
/// [`ErrorName::InvalidPayload`] when the payload is not a JSON object, names no event where none is given, or has a
/// known field of the wrong type under a unified name.
pub fn event(
    agent: &Agent<'_>,
    name: &str,
    payload: &Map<String, Value>,
    origin: &Origin,
    here: &Here,
    found: Found,
) -> Result<Event, Refusal> {
    let own_name = payload.get(agent.name_key).and_then(Value::as_str);
    let name = if name.is_empty() { own_name.unwrap_or_default() } else { name };
    if name.is_empty() {
        let message = format!("No event is named, neither in the call nor as `{}` in the payload", agent.name_key);
        return Err(Refusal::new(ErrorName::InvalidPayload, message));
    }
    let mut event = match UnifiedKind::parse(name) {
        Some(kind) => event::from_payload(agent, name, kind, payload)?,
        None => native(agent, name, payload, origin),
    };
    event.id = origin.id.clone().filter(|id| !id.is_empty()).map(text::short_id);
    event.at = origin::at(origin, here).map(|at| at - event.age);
    let fields = event::Fields(payload);
    let (workspace, surface) = (fields.id("workspace_id")?, fields.id("surface_id")?);
    let cwd = payload.get("cwd").and_then(Value::as_str).map(ToString::to_string);
    let served = event.place.served;
    event.place = origin::place(agent, origin, here, found, workspace, surface.clone(), cwd);
    if served {
        event.place.serve(surface);
    }
    Ok(event)
}

/// A native event; without a session id it changes nothing, for nobody could say what it belongs to.
fn native(agent: &Agent<'_>, name: &str, payload: &Map<String, Value>, origin: &Origin) -> Event {
    let translated = agent.translate.and_then(|translate| translate(name, payload, &origin.env));
    match translated {
        Some(event) if event.session.is_some() => event,
        _ => Event::new(agent.id, name, Kind::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 2 of the status model, row by row: id, name, scope, unified `notification`, clears on session-end.
    const TABLE: &[(&str, &str, Scope, bool, bool)] = &[
        ("claude", "Claude Code", Scope::Session, true, true),
        ("codebuff", "Codebuff", Scope::Surface, false, true),
        ("codex", "Codex", Scope::Surface, false, true),
        ("freebuff", "Freebuff", Scope::Surface, false, true),
        ("hermes", "Hermes Agent", Scope::Surface, false, false),
        ("kilo", "Kilo Code", Scope::Surface, true, true),
        ("mimocode", "MiMo Code", Scope::Surface, true, true),
        ("vibe", "Mistral Vibe", Scope::Surface, false, true),
        ("opencode", "OpenCode", Scope::Surface, true, true),
        ("pi", "Pi Agent", Scope::Surface, false, true),
        ("pool", "Poolside Agent CLI", Scope::Surface, false, true),
        ("codewhale", "CodeWhale", Scope::Surface, false, true),
        ("gemini", "Gemini CLI", Scope::Surface, false, true),
    ];

    #[test]
    fn the_catalogue_is_the_table() {
        assert_eq!(CATALOGUE.len(), TABLE.len());
        for (agent, row) in CATALOGUE.iter().zip(TABLE) {
            let entry = (agent.id, agent.name, agent.scope, agent.notification_counts, agent.clears_on_end);
            assert_eq!(entry, *row);
        }
    }

    #[test]
    fn an_id_outside_the_table_is_welcome() {
        let agent = find("home-made");
        assert_eq!((agent.id, agent.scope), ("home-made", Scope::Surface));
        assert!(agent.notification_counts && agent.clears_on_end);
    }

    #[test]
    fn ids_are_words() {
        assert!(check_id("home-made_2.0").is_ok());
        for bad in ["", "a b", "a\n", "<b>", &"x".repeat(65)] {
            assert!(check_id(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_nameless_event_is_refused() {
        let refusal = event(&find("claude"), "", &Map::new(), &Origin::default(), &Here::default(), Found::default());
        assert_eq!(refusal.unwrap_err().name, ErrorName::InvalidPayload);
    }
}
