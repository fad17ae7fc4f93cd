// SPDX-License-Identifier: GPL-3.0-or-later
//! The state machine: events in, rows out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Process};
use crate::policy::{Alert, StateEvent};
use crate::protocol::Refusal;
use crate::snapshot::{LogLevel, RowView, Snapshot, WorkspaceView};
use crate::status::{Attention, Counts, Status};
use crate::time::{BootTime, Now};

/// What the user may set, in the roster's terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How long an error that may pass has to pass (rule 5).
    pub error_grace: std::time::Duration,
    /// How long an unwatched row lives without an event (rule 10).
    pub unwatched: std::time::Duration,
}

/// What became of an event: for tests and for the inspector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what its kind does.
    Applied,
    /// It was applied before (rule 13).
    Duplicate,
    /// It came late and settled its own call, question or counter (rule 4).
    Late,
    /// The interrupt guard ignored it (rule 3).
    Guarded,
    /// Recorded; nothing changed.
    Recorded,
    /// It names no session, workspace or surface, or one that has ended (rule 9).
    Homeless,
}

/// Options of `SetStatus`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusOptions {
    /// Order among the neighbours, instead of the status's own.
    pub priority: Option<i32>,
    /// What to call the row.
    pub display_name: Option<String>,
    /// What the row says.
    pub message: Option<String>,
}

/// Ids of what changed since the last time it was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dirty {
    /// Workspaces, gone ones included.
    pub workspaces: BTreeSet<String>,
    /// Rows, gone ones included.
    pub rows: BTreeSet<String>,
}

/// What is due to be told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Due {
    /// State events, in order.
    pub state_events: Vec<StateEvent>,
    /// Alerts, in order.
    pub alerts: Vec<Alert>,
}

/// A process to be watched, and the terminal it had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watched {
    /// The process.
    pub process: Process,
    /// Its terminal, `pts/3`.
    pub tty: Option<String>,
}

/// The state machine.
#[derive(Debug)]
pub struct Roster {}

#[allow(unused_variables, clippy::unused_self)]
impl Roster {
    /// An empty roster.
    pub fn new(settings: Settings) -> Self {
        Self {}
    }
    /// Applies one event.
    pub fn apply(&mut self, event: Event, now: Now) -> Outcome {
        Outcome::Recorded
    }
    /// Lets it act on what has become due.
    pub fn tick(&mut self, now: Now) {}
    /// When [`Self::tick`] has something to do next.
    pub fn next_deadline(&self) -> Option<BootTime> {
        None
    }
    /// A process has ended (rule 10).
    pub fn process_gone(&mut self, process: &Process, now: Now) {}
    /// A terminal has gone (rule 10).
    pub fn tty_gone(&mut self, tty: &str, now: Now) {}
    /// Everything to be watched. Changes only when [`Self::apply`] and its like are called.
    pub fn watched(&self) -> BTreeSet<Watched> {
        BTreeSet::new()
    }
    /// `SetStatus`.
    pub fn set_status(
        &mut self,
        workspace: &str,
        key: &str,
        value: &str,
        options: StatusOptions,
        now: Now,
    ) -> Result<(), Refusal> {
        Ok(())
    }
    /// `ClearStatus`.
    pub fn clear_status(&mut self, workspace: &str, key: &str, now: Now) -> Result<(), Refusal> {
        Ok(())
    }
    /// `SetSubagentCounts`.
    pub fn set_counts(
        &mut self,
        workspace: &str,
        key: &str,
        subagents: i32,
        background: i32,
        now: Now,
    ) -> Result<(), Refusal> {
        Ok(())
    }
    /// `SetProgress`.
    pub fn set_progress(&mut self, workspace: &str, value: f64, label: &str, now: Now) -> Result<(), Refusal> {
        Ok(())
    }
    /// `AppendLog`.
    pub fn append_log(&mut self, workspace: &str, level: &str, message: &str, now: Now) -> Result<(), Refusal> {
        Ok(())
    }
    /// The user has seen a row, or one of its sessions (`ROW#SESSION`).
    pub fn acknowledge(&mut self, row: &str, now: Now) -> Result<(), Refusal> {
        Ok(())
    }
    /// The user removes a row, or one of its sessions.
    pub fn dismiss(&mut self, row: &str, now: Now) -> Result<(), Refusal> {
        Ok(())
    }
    /// The row that wants the user most: strongest attention, the oldest first.
    pub fn next_attention(&self) -> Option<String> {
        None
    }
    /// What a workspace's work tree looks like.
    pub fn set_git(&mut self, workspace: &str, branch: Option<String>, dirty: Option<bool>) {}
    /// Ids of workspaces and the folder each works in.
    pub fn folders(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// Ids of what changed since the last call.
    pub fn take_dirty(&mut self) -> Dirty {
        Dirty::default()
    }
    /// What became due since the last call.
    pub fn take_due(&mut self) -> Due {
        Due::default()
    }
    /// A row and the id of its workspace.
    pub fn row_view(&self, id: &str, details: bool) -> Option<(String, RowView)> {
        None
    }
    /// A workspace without its rows.
    pub fn workspace_view(&self, id: &str) -> Option<WorkspaceView> {
        None
    }
    /// Everything, at that serial.
    pub fn snapshot(&self, serial: u64, details: bool) -> Snapshot {
        Snapshot::empty()
    }
    /// How many rows want the user (rows that are shown).
    pub fn attention_count(&self) -> u32 {
        0
    }
    /// Rows that are shown, by status.
    pub fn status_counts(&self) -> [(Status, u32); 4] {
        Status::ALL.map(|status| (status, 0))
    }
}
