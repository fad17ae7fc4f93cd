// SPDX-License-Identifier: GPL-3.0-or-later
//! The published state: what `GetSnapshot`, `Changed`, the window and every export show.
//!
//! A view, never a source: the roster makes it and nothing reads it back into the roster. A [`Change`] is whole, so a
//! reader that applies each [`Change`] to its copy ([`Snapshot::apply`]) holds what the next `GetSnapshot` would give.

use serde::{Deserialize, Serialize};

use crate::protocol::SNAPSHOT_VERSION;
use crate::status::{Attention, Status};

/// Everything, at one serial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format's version.
    pub version: u32,
    /// Counts the published changes.
    pub serial: u64,
    /// In the order in which they came to be.
    pub workspaces: Vec<WorkspaceView>,
}

/// One workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceView {
    /// Opaque to readers; an explicit id or a path.
    pub id: String,
    /// The title.
    pub name: String,
    /// Absolute, as given.
    pub path: Option<String>,
    /// The branch that HEAD names, or a short commit.
    pub branch: Option<String>,
    /// Whether the work tree differs from HEAD; unknown is `None`.
    pub dirty: Option<bool>,
    /// The strongest of its rows.
    pub attention: Attention,
    /// Progress of its work.
    pub progress: Option<ProgressView>,
    /// The latest log line.
    pub log: Option<LogView>,
    /// Ports that its processes listen on.
    pub ports: Vec<u16>,
    /// Its rows, by priority, then name. A [`Change`] carries a workspace without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<RowView>>,
}

/// A progress bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressView {
    /// From 0 to 1.
    pub value: f64,
    /// What is being done, or how much of it.
    pub label: String,
}

/// A log line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogView {
    /// How much it matters.
    pub level: LogLevel,
    /// The line.
    pub message: String,
}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// For the record.
    #[default]
    Info,
    /// Worth a look.
    Warning,
    /// Something went wrong.
    Error,
}

impl LogLevel {
    /// The level of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "info" => Some(Self::Info),
            "warning" => Some(Self::Warning),
            "error" => Some(Self::Error),
            _ => None,
        }
    }
}

/// One agent row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowView {
    /// Opaque and stable.
    pub id: String,
    /// The agent's id in the catalogue, or any other.
    pub agent: String,
    /// What to call it.
    pub name: String,
    /// What it is doing.
    pub status: Status,
    /// The status as an English label.
    pub label: String,
    /// The indicator.
    pub icon: String,
    /// Subagents at work.
    pub subagents: u32,
    /// Background tasks that run.
    pub background: u32,
    /// A hidden helper.
    pub hidden: bool,
    /// Started by another tracked agent.
    pub nested: bool,
    /// Whether its process is watched.
    pub watched: bool,
    /// What the user has not seen.
    pub attention: Attention,
    /// What the agent said or asked.
    pub message: Option<String>,
    /// The tool at work, or the last one.
    pub tool: Option<String>,
    /// Open questions.
    pub questions: u32,
    /// The terminal pane.
    pub surface: Option<String>,
    /// The agent's process.
    pub pid: Option<u32>,
    /// Another machine's name; `None` for this one.
    pub host: Option<String>,
    /// When the status last changed, RFC 3339.
    pub since: String,
    /// Order among its neighbours, highest first.
    pub priority: i32,
    /// The sessions beneath it.
    pub sessions: Vec<SessionView>,
    /// With details only: what the tool works on (a command line, a path).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// With details only: the open question, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// With details only: where the agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// One session beneath a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    /// The agent's own session id, unchanged.
    pub id: String,
    /// What it is doing.
    pub status: Status,
    /// What the user has not seen of it.
    pub attention: Attention,
    /// Subagents at work.
    pub subagents: u32,
    /// Background tasks that run.
    pub background: u32,
    /// Open questions.
    pub questions: u32,
    /// The terminal pane.
    pub surface: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
}

/// One element of `Changed`: a whole row, a whole workspace without its rows, or the id of something that is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Change {
    /// A row as it is now.
    Row(RowChange),
    /// A workspace as it is now.
    Workspace(WorkspaceChange),
    /// A row or a workspace that is gone.
    Removed(Removed),
}

/// A row as it is now, and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowChange {
    /// Always `row`.
    pub kind: RowKind,
    /// The id of its workspace.
    pub workspace: String,
    /// The row.
    #[serde(flatten)]
    pub row: RowView,
}

/// A workspace as it is now, without its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceChange {
    /// Always `workspace`.
    pub kind: WorkspaceKind,
    /// The workspace.
    #[serde(flatten)]
    pub workspace: WorkspaceView,
}

/// A thing that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// What kind of thing it was; absent from older senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ThingKind>,
    /// Its id.
    pub id: String,
    /// Always true.
    pub removed: bool,
}

/// What a removed id was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThingKind {
    /// A row.
    Row,
    /// A workspace.
    Workspace,
}

/// The word `row`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowKind {
    /// `row`
    #[default]
    #[serde(rename = "row")]
    Row,
}

/// The word `workspace`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspaceKind {
    /// `workspace`
    #[default]
    #[serde(rename = "workspace")]
    Workspace,
}

impl Change {
    /// A row as it is now.
    pub fn row(workspace: impl Into<String>, row: RowView) -> Self {
        Self::Row(RowChange { kind: RowKind::Row, workspace: workspace.into(), row })
    }

    /// A workspace as it is now; its rows are left out.
    pub fn workspace(workspace: WorkspaceView) -> Self {
        Self::Workspace(WorkspaceChange {
            kind: WorkspaceKind::Workspace,
            workspace: WorkspaceView { rows: None, ..workspace },
        })
    }

    /// Something that is gone.
    pub fn removed(kind: ThingKind, id: impl Into<String>) -> Self {
        Self::Removed(Removed { kind: Some(kind), id: id.into(), removed: true })
    }
}

/// The order of rows within a workspace: priority, then name, then age.
pub fn row_order(a: &RowView, b: &RowView) -> std::cmp::Ordering {
    b.priority.cmp(&a.priority).then_with(|| a.name.cmp(&b.name)).then_with(|| row_age(&a.id).cmp(&row_age(&b.id)))
}

/// Ids are opaque to readers outside; here a longer id is a younger row.
fn row_age(id: &str) -> (usize, &str) {
    (id.len(), id)
}

impl Snapshot {
    /// Nothing at all.
    pub fn empty() -> Self {
        Self { version: SNAPSHOT_VERSION, serial: 0, workspaces: Vec::new() }
    }

    /// Brings the copy of a reader up to date.
    pub fn apply(&mut self, serial: u64, changes: &[Change]) {
        self.serial = serial;
        for change in changes {
            match change {
                Change::Row(change) => self.put_row(&change.workspace, &change.row),
                Change::Workspace(change) => self.put_workspace(&change.workspace),
                Change::Removed(removed) => self.remove(removed),
            }
        }
    }

    fn put_row(&mut self, workspace: &str, row: &RowView) {
        self.remove_row(&row.id);
        let Some(workspace) = self.workspaces.iter_mut().find(|candidate| candidate.id == workspace) else {
            return;
        };
        let rows = workspace.rows.get_or_insert_default();
        let position = rows.partition_point(|other| row_order(other, row).is_lt());
        rows.insert(position, row.clone());
    }

    fn put_workspace(&mut self, workspace: &WorkspaceView) {
        if let Some(old) = self.workspaces.iter_mut().find(|candidate| candidate.id == workspace.id) {
            let rows = old.rows.take();
            *old = WorkspaceView { rows, ..workspace.clone() };
        } else {
            self.workspaces.push(WorkspaceView { rows: Some(Vec::new()), ..workspace.clone() });
        }
    }

    fn remove(&mut self, removed: &Removed) {
        if removed.kind != Some(ThingKind::Workspace) {
            self.remove_row(&removed.id);
        }
        if removed.kind != Some(ThingKind::Row) {
            self.workspaces.retain(|workspace| workspace.id != removed.id);
        }
    }

    fn remove_row(&mut self, id: &str) {
        for rows in self.workspaces.iter_mut().filter_map(|workspace| workspace.rows.as_mut()) {
            rows.retain(|row| row.id != id);
        }
    }
}
