// SPDX-License-Identifier: GPL-3.0-or-later
//! What to announce, and when (rule 14). Decides only; outputs deliver.

use serde::{Deserialize, Serialize};

use crate::snapshot::RowView;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertKind {
    /// A turn finished.
    Finished,
    /// A question is open.
    NeedsInput,
    /// A turn failed.
    Failed,
}

/// An alert that is due now.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// What it is about.
    pub kind: AlertKind,
    /// Whether it goes out without sound, because background work still runs.
    pub silent: bool,
    /// The row, with details.
    pub row: RowView,
    /// The row's workspace.
    pub workspace: String,
    /// The session that it is about.
    pub session: String,
}

/// The name of a state event, for the D-Bus signal and the user's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateName {
    /// A session began.
    SessionStart,
    /// It works.
    SessionBusy,
    /// It waits for an answer.
    SessionWaiting,
    /// It has been idle for a moment.
    SessionIdle,
    /// It failed.
    SessionError,
    /// It is over.
    SessionEnd,
    /// A subagent began.
    SubagentStart,
    /// A subagent ended.
    SubagentStop,
}

impl StateName {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session.start",
            Self::SessionBusy => "session.busy",
            Self::SessionWaiting => "session.waiting",
            Self::SessionIdle => "session.idle",
            Self::SessionError => "session.error",
            Self::SessionEnd => "session.end",
            Self::SubagentStart => "subagent.start",
            Self::SubagentStop => "subagent.stop",
        }
    }
}

/// A state event that is due now.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEvent {
    /// What happened.
    pub name: StateName,
    /// The row as it is now, or was when it went.
    pub row: RowView,
    /// The row's workspace.
    pub workspace: String,
}
