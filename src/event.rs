// SPDX-License-Identifier: GPL-3.0-or-later
//! The unified vocabulary, and what one event carries.
//!
//! An [`Event`] is what a translator makes of one hook call: what happened ([`Kind`]), to which session and thread,
//! when its hook started, and where it comes from. It says nothing of what a row should show: that is the roster's.

mod unified;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use unified::{Fields, background_tasks, kind_of_label};
pub use unified::{UnifiedKind, from_payload, progress_value};

use crate::snapshot::LogLevel;
use crate::text::short_id;
use crate::time::BootTime;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A session started; `waiting` when nothing runs before its first prompt.
    SessionStart {
        /// Nothing runs yet.
        waiting: bool,
    },
    /// The session goes on under another id, or under the same one, compacted.
    SessionRenamed,
    /// A prompt was submitted; `automatic` when the agent's own machinery wrote it.
    PromptSubmit {
        /// The agent's own machinery wrote it.
        automatic: bool,
    },
    /// A tool call begins.
    PreToolUse,
    /// A tool call has ended, well or not.
    PostToolUse,
    /// A batch of tool calls has ended: nothing of its thread is open any more.
    BatchEnd,
    /// The turn is over.
    Stop,
    /// The user interrupted, or reset the session.
    Interrupt,
    /// A permission or a question is open.
    Question(Question),
    /// A permission or a question was answered.
    Answer,
    /// The prompt has been idle for a while (rule 11).
    Reminder,
    /// What the agent's own status file says, where no hook tells (section 6).
    Observed(Observed),
    /// The agent met an error.
    Error {
        /// Whether it goes on by itself; `None` when it does not say.
        recoverable: Option<bool>,
    },
    /// The session is over; `successor` when another one follows in its place.
    SessionEnd {
        /// Another session follows in its place.
        successor: bool,
    },
    /// Absolute counts; `None` leaves a count as it is.
    SubagentUpdate {
        /// Subagents at work.
        subagents: Option<u32>,
        /// Background tasks that run.
        background: Option<u32>,
    },
    /// A subagent began: the event's thread.
    SubagentStart,
    /// A subagent ended: the event's thread.
    SubagentStop,
    /// A background task began.
    BackgroundStart(Option<String>),
    /// A background task ended.
    BackgroundStop(Option<String>),
    /// An entry of the session's task list.
    Task {
        /// Its id in the list.
        id: String,
        /// Whether it is done.
        done: bool,
    },
    /// The workspace's progress bar; `None` clears it.
    Progress(Option<f64>, String),
    /// The workspace's log line.
    Log(LogLevel, String),
    /// Known to one agent only, or to nobody: for the inspector.
    Other,
}

/// What an agent's own status file says of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observed {
    /// It works; a dialog that was open has been answered.
    Busy,
    /// It waits at its prompt; what was open has been dismissed or interrupted.
    Idle,
    /// A dialog is open.
    Waiting,
}

/// How a question came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// A tool that asks: its call is the question.
    Tool,
    /// A permission request, which usually names no call.
    Request,
    /// A server of tools asks.
    Elicitation,
    /// A notice of a permission request, seconds later (rule 8: opens nothing where requests are sent).
    PermissionNotice,
    /// The same of an elicitation.
    ElicitationNotice,
    /// A notice of any other question.
    Notice,
    /// A unified `notification` or `approval-request`: one question of its thread.
    Unified,
}

impl Kind {
    /// Whether this is a status event of its thread (section 3: those of section 1 with a status effect).
    pub fn is_status(&self) -> bool {
        match self {
            Self::SessionStart { .. }
            | Self::PromptSubmit { .. }
            | Self::PreToolUse
            | Self::PostToolUse
            | Self::BatchEnd
            | Self::Stop
            | Self::Interrupt
            | Self::Question(_)
            | Self::Reminder
            | Self::Error { .. }
            | Self::SessionEnd { .. } => true,
            Self::SessionRenamed
            | Self::Observed(_)
            | Self::Answer
            | Self::SubagentUpdate { .. }
            | Self::SubagentStart
            | Self::SubagentStop
            | Self::BackgroundStart(_)
            | Self::BackgroundStop(_)
            | Self::Task { .. }
            | Self::Progress(..)
            | Self::Log(..)
            | Self::Other => false,
        }
    }

    /// Whether this moves the main turn to Running.
    pub fn is_running(&self) -> bool {
        matches!(
            self,
            Self::SessionStart { waiting: false }
                | Self::PromptSubmit { .. }
                | Self::PreToolUse
                | Self::PostToolUse
                | Self::BatchEnd
                | Self::Question(Question::Tool)
        )
    }
}

/// A process, by what names it for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its id, where the agent gives one.
    pub id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// A hash of its input.
    pub input: Option<String>,
    /// What it works on, for the user's eyes only: a command line, a path, a question.
    pub detail: Option<String>,
}

/// A work tree or folder that an agent works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The top of the git work tree, else the folder itself; absolute.
    pub root: String,
    /// The title of a linked worktree (`repo · branch`); else the folder's name does.
    pub title: Option<String>,
}

/// One entry of a full list of what runs beside the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    /// Its id.
    pub id: String,
    /// Whether it is a subagent; else it is a background task.
    pub subagent: bool,
}

/// A value that an event may leave out (unchanged), know to be unknown, or state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Said<T> {
    /// Left out: as before.
    #[default]
    Nothing,
    /// `null`: unknown from now on.
    Unknown,
    /// Stated.
    Value(T),
}

impl<T> Said<T> {
    /// Writes what was said over what was known.
    pub fn write(self, known: &mut Option<T>) {
        match self {
            Self::Nothing => {}
            Self::Unknown => *known = None,
            Self::Value(value) => *known = Some(value),
        }
    }

    /// The value, if one was stated.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

impl<T> From<Option<T>> for Said<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Self::Value)
    }
}

/// Where an event was seen, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// An explicit workspace id.
    pub workspace: Option<String>,
    /// The project of the working directory.
    pub project: Option<Project>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The terminal pane, or an explicit surface id.
    pub surface: Option<String>,
    /// Whether payload or environment named that surface; a terminal device alone names none.
    pub surface_named: bool,
    /// The agent's process, where it may be watched.
    pub process: Option<Process>,
    /// The terminal device that the process had, `pts/3`.
    pub tty: Option<String>,
    /// The processes above it, nearest first.
    pub ancestors: Vec<Process>,
    /// The pid to show, which for another machine's process is not one of ours.
    pub pid: Option<u32>,
    /// Another machine's name.
    pub host: Option<String>,
    /// The process serves many sessions: it is watched, and is nobody's identity (rule 9).
    pub served: bool,
}

impl Place {
    /// The project's root, else the working directory.
    pub fn folder(&self) -> Option<String> {
        self.project.as_ref().map(|project| project.root.clone()).or_else(|| self.cwd.clone())
    }

    /// Rule 9: of a server. Where it runs itself is not where its sessions are; only a surface that the event itself
    /// names is theirs.
    pub(crate) fn serve(&mut self, surface: Option<String>) {
        self.served = true;
        self.tty = None;
        self.surface_named = surface.is_some();
        self.surface = surface;
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The agent's id, of the catalogue or any other.
    pub agent: String,
    /// The event's name as it came, for the inspector.
    pub name: String,
    /// What happened.
    pub kind: Kind,
    /// Random id of the delivery: applied once (rule 13).
    pub id: Option<String>,
    /// When it happened: when its hook started, less its age (rule 4); `None` when that cannot be compared.
    pub at: Option<BootTime>,
    /// How long before its delivery it happened, where its source lets events wait in a queue.
    pub age: Duration,
    /// Orders the events of one source before any clock.
    pub seq: Option<i64>,
    /// The agent's own session id.
    pub session: Option<String>,
    /// The subagent that it speaks of; `None` is the main thread.
    pub thread: Option<String>,
    /// Where it was seen.
    pub place: Place,
    /// The tool call it belongs to.
    pub call: Call,
    /// What the agent said or asked.
    pub message: Said<String>,
    /// The session's title.
    pub title: Said<String>,
    /// The model at work.
    pub model: Said<String>,
    /// What to call the row.
    pub display_name: Option<String>,
    /// A hidden helper.
    pub hidden: Option<bool>,
    /// Everything that runs beside the turn, whole (rule 7).
    pub tasks: Option<Vec<BackgroundTask>>,
    /// A background task that this very call began.
    pub began: Option<String>,
    /// A stop of an agent that tells of no prompt: it ends a turn whose beginning nobody saw (rule 1).
    pub is_whole_turn: bool,
}

impl Event {
    /// An event with nothing in it but its kind.
    pub fn new(agent: impl Into<String>, name: impl Into<String>, kind: Kind) -> Self {
        Self {
            agent: agent.into(),
            name: name.into(),
            kind,
            id: None,
            at: None,
            age: Duration::ZERO,
            seq: None,
            session: None,
            thread: None,
            place: Place::default(),
            call: Call::default(),
            message: Said::Nothing,
            title: Said::Nothing,
            model: Said::Nothing,
            display_name: None,
            hidden: None,
            tasks: None,
            began: None,
            is_whole_turn: false,
        }
    }

    /// Ids that are only ever compared are kept short: whatever comes in, what is remembered of it stays small.
    pub(crate) fn shorten_ids(&mut self) {
        let shorten = |id: &mut String| *id = short_id(std::mem::take(id));
        let own = [&mut self.thread, &mut self.call.id, &mut self.call.input, &mut self.began];
        own.into_iter().flatten().for_each(shorten);
        self.tasks.iter_mut().flatten().map(|task| &mut task.id).for_each(shorten);
        match &mut self.kind {
            Kind::BackgroundStart(Some(id)) | Kind::BackgroundStop(Some(id)) | Kind::Task { id, .. } => shorten(id),
            _ => {}
        }
    }

    /// Whether it names a session, a workspace or a surface; one that names none makes no row.
    pub fn names_something(&self) -> bool {
        self.session.is_some() || self.place.workspace.is_some() || self.place.surface_named
    }
}
