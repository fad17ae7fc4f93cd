// SPDX-License-Identifier: GPL-3.0-or-later
//! One session of an agent: its turn, its threads, what is open and what the user has not seen.
//!
//! Everything here speaks of one session alone. Which session an event belongs to, and what becomes of its row, is
//! decided elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::counters::Counter;
use super::order::{Stamp, Thread};
use super::questions::OpenQuestion;
use crate::event::{Place, Process, Said};
use crate::status::{Counts, Status};
use crate::time::{BootTime, Now};

/// When an event happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// When its hook started.
    pub(super) at: BootTime,
    /// The same, with its source's own number.
    pub(super) stamp: Stamp,
    /// The present.
    pub(super) now: Now,
    /// Whether it is too old for an alert (rule 13).
    pub(super) stale: bool,
    /// How long an error that may pass has to pass (rule 5).
    pub(super) grace: Duration,
}

/// The main turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Turn {
    /// It is being worked on.
    Running,
    /// It is over.
    Idle,
    /// It ended in an error.
    Failed,
}

/// Rule 5: an error that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grace {
    /// When the error's hook started.
    pub(super) at: BootTime,
    /// When it has lasted too long.
    pub(super) deadline: BootTime,
    /// The error was too old for an alert (rule 13).
    pub(super) stale: bool,
}

/// A turn's end whose alert is still to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finish {
    /// When we learnt of the turn's end, or of its last subagent's.
    pub(super) since: BootTime,
    /// Too old for an alert (rule 13).
    pub(super) stale: bool,
}

/// What is unseen, apart from questions, which know it of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unseen {
    pub(super) finished: bool,
    pub(super) failed: bool,
}

/// Why a session that has ended still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Life {
    /// It lives.
    Alive,
    /// Rule 9: its end, then, announced a successor.
    AwaitsSuccessor(BootTime),
    /// Rule 9: it ended then, and its agent does not clear on end.
    Ended(BootTime),
    /// Rule 10: its process died.
    Dead {
        /// When.
        died: BootTime,
        /// How long it stands, unless it is seen.
        until: BootTime,
    },
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) life: Life,
    pub(super) hidden: bool,
    pub(super) nested: bool,
    pub(super) surface: Option<String>,
    pub(super) process: Option<Process>,
    pub(super) tty: Option<String>,
    /// Rule 10: its terminal has gone; its process has until then to say good-bye.
    pub(super) tty_lost: Option<BootTime>,
    pub(super) pid: Option<u32>,
    pub(super) host: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) title: Option<String>,
    pub(super) model: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tool: Option<String>,
    /// What the tool works on: never written to disk.
    #[serde(skip)]
    pub(super) detail: Option<String>,

    pub(super) turn: Turn,
    /// Rule 1: from a Running event to the next stop, interrupt or failure.
    pub(super) turn_open: bool,
    /// Rule 1: a stop that closed no open turn, whose prompt may still arrive behind it.
    pub(super) unmatched_stop: Option<BootTime>,
    /// Section 6: the status file said that the turn is over, and no hook has said why.
    pub(super) quiet_end: Option<BootTime>,
    /// Rule 3.
    pub(super) interrupted: bool,
    pub(super) grace: Option<Grace>,
    pub(super) unseen: Unseen,
    pub(super) finish: Option<Finish>,
    /// Rule 14: a silent alert went out, and background work has run ever since.
    pub(super) quiet_given: bool,
    /// Rule 5: a failure whose one alert is still to be decided.
    pub(super) failure_alert: bool,

    pub(super) threads: BTreeMap<String, Thread>,
    /// Rule 4: how often its source has begun to count anew.
    pub(super) epoch: u32,
    pub(super) questions: Vec<OpenQuestion>,
    /// When the latest event started that closed all questions of all threads.
    pub(super) cleared: Option<Stamp>,
    /// When the latest full list started: what uncounted subagents had asked by then is nobody's.
    pub(super) departed: Option<Stamp>,
    /// Rule 8: it has sent permission requests, so notices about them are nothing new.
    pub(super) requests: bool,
    /// Rule 8: the same of elicitations.
    pub(super) elicitations: bool,
    pub(super) subagents: Counter,
    pub(super) background: Counter,
    /// Rule 7: it sends full lists of what runs, so the next one will tell.
    pub(super) lists: bool,
    pub(super) tasks: BTreeMap<String, bool>,

    /// The status it shows, and since when.
    pub(super) shown: Status,
    pub(super) since: Now,
    /// Counts up with each status event in the whole roster: the larger, the later.
    pub(super) updated: u64,
    pub(super) last_event: BootTime,
}

impl Session {
    /// A session not seen before. Until its first event says otherwise its turn counts as open (rule 1).
    pub(super) fn new(id: String, place: &Place, now: Now) -> Self {
        Self {
            id,
            life: Life::Alive,
            hidden: false,
            nested: false,
            surface: place.surface.clone(),
            process: place.process.clone(),
            tty: place.tty.clone().filter(|_| place.process.is_some()),
            tty_lost: None,
            pid: place.pid,
            host: place.host.clone(),
            cwd: place.cwd.clone(),
            title: None,
            model: None,
            message: None,
            tool: None,
            detail: None,
            turn: Turn::Running,
            turn_open: true,
            unmatched_stop: None,
            quiet_end: None,
            interrupted: false,
            grace: None,
            unseen: Unseen::default(),
            finish: None,
            quiet_given: false,
            failure_alert: false,
            threads: BTreeMap::new(),
            epoch: 0,
            questions: Vec::new(),
            cleared: None,
            departed: None,
            requests: false,
            elicitations: false,
            subagents: Counter::default(),
            background: Counter::default(),
            lists: false,
            tasks: BTreeMap::new(),
            shown: Status::Running,
            since: now,
            updated: 0,
            last_event: now.boot,
        }
    }

    /// The status: Needs input while any question is open, else the main turn's (rule 8).
    pub(super) fn status(&self) -> Status {
        match self.turn {
            _ if !self.questions.is_empty() => Status::NeedsInput,
            Turn::Running => Status::Running,
            Turn::Idle => Status::Idle,
            Turn::Failed => Status::Failed,
        }
    }

    /// Rule 7: a background subagent is counted once, as a subagent.
    pub(super) fn counts(&self) -> Counts {
        Counts { subagents: self.subagents.count(), background: self.background.count_without(&self.subagents) }
    }

    /// Whether its process is watched.
    pub(super) fn is_watched(&self) -> bool {
        self.process.is_some() && !matches!(self.life, Life::Dead { .. })
    }

    /// Rule 9: whether its end has been told already, though it still stands.
    pub(super) fn rests(&self) -> bool {
        matches!(self.life, Life::AwaitsSuccessor(_) | Life::Ended(_))
    }

    /// What the event says, for the row; a status event's message replaces the one before.
    pub(super) fn say(&mut self, message: &Said<String>) {
        message.clone().write(&mut self.message);
    }
}
