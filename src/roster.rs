// SPDX-License-Identifier: GPL-3.0-or-later
//! The state machine: events in, rows out.
//!
//! The roster reads no clock and does no I/O: the time comes in with each step, what it waits for comes out as
//! [`Roster::next_deadline`], and [`Roster::tick`] lets it act. Rule numbers are those of the status model (`docs/`),
//! each in one function:
//!
//! 1. attention and open turns: `turn.rs`
//! 2. finished is sticky: `turn.rs`
//! 3. the interrupt guard: `turn.rs`
//! 4. order: `order.rs`, `apply.rs`
//! 5. errors and their grace: `turn.rs`
//! 6. subagents never speak for the main agent: `apply.rs`, where only the main thread moves the turn
//! 7. counters: `counters.rs`, `apply.rs`
//! 8. open questions: `questions.rs`
//! 9. ends, successors, returns: `ending.rs`, `lookup.rs`, `memory.rs`
//! 10. dead processes, lost terminals, unwatched rows: `ending.rs`
//! 11. reminders: `turn.rs`
//! 12. hidden and nested: `lookup.rs`, `row.rs`
//! 13. restart: `restore.rs`, `memory.rs`
//! 14. alerts and state events: `announce.rs`, decided by [`crate::policy`]

mod announce;
mod apply;
mod counters;
mod ending;
mod invariants;
mod lookup;
mod memory;
mod observe;
mod order;
mod publish;
mod questions;
mod restore;
mod row;
mod script;
mod session;
mod turn;
mod view;
mod workspace;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use publish::{Publisher, changes};
pub use restore::State;
pub use script::StatusOptions;

use crate::agent::{self, Agent};
use crate::event::{Event, Kind, Process};
use crate::policy::{Alert, StateEvent};
use crate::status::{Attention, Status};
use crate::time::{BootTime, Now};
use lookup::Anchor;
use memory::{Ended, Seen};
use order::Stamp;
use row::Row;
use session::Moment;
use workspace::Workspace;

/// An event older than this when it is applied raises attention, not an alert (rule 13).
const STALE: Duration = Duration::from_secs(60);

/// What the user may set, in the roster's terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How long an error that may pass has to pass (rule 5).
    pub error_grace: Duration,
    /// How long an unwatched row lives without an event (rule 10).
    pub unwatched: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { error_grace: Duration::from_secs(6), unwatched: Duration::from_secs(12 * 60 * 60) }
    }
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
pub struct Roster {
    settings: Settings,
    rows: BTreeMap<u64, Row>,
    workspaces: BTreeMap<u64, Workspace>,
    seen: Seen,
    ended: Ended,
    /// Counts rows and workspaces ever made: their ids.
    made: u64,
    /// Counts status events: which session updated last.
    updates: u64,
    asleep: Duration,
    focus: Option<String>,
    shows_hidden: bool,

    // Derived from the above, and made anew when the state is restored.
    sessions: HashMap<(String, String), u64>,
    keys: HashMap<(String, String), u64>,
    workspace_ids: HashMap<String, u64>,
    deadlines: BTreeSet<(BootTime, u64)>,
    anchors: HashMap<Anchor, BTreeSet<u64>>,
    /// Rows that wait for a successor (rule 9).
    awaiting: BTreeSet<u64>,
    /// Workspaces by the name that they have alone.
    namesakes: HashMap<String, BTreeSet<u64>>,
    /// Workspaces without rows, the longest untouched first.
    rowless: BTreeSet<(BootTime, u64)>,
    rowless_deadline: Option<BootTime>,
    tally: BTreeMap<(bool, &'static str), u32>,
    /// Whether what is to be watched has changed since it was asked for.
    rewatch: bool,
    /// The same of the workspaces' folders.
    refolder: bool,

    // What has not been asked for yet.
    dirty: Dirty,
    due: Due,
}

impl Roster {
    /// An empty roster.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            rows: BTreeMap::new(),
            workspaces: BTreeMap::new(),
            seen: Seen::default(),
            ended: Ended::default(),
            made: 0,
            updates: 0,
            asleep: Duration::ZERO,
            focus: None,
            shows_hidden: false,
            sessions: HashMap::new(),
            keys: HashMap::new(),
            workspace_ids: HashMap::new(),
            deadlines: BTreeSet::new(),
            anchors: HashMap::new(),
            awaiting: BTreeSet::new(),
            namesakes: HashMap::new(),
            rowless: BTreeSet::new(),
            rowless_deadline: None,
            tally: BTreeMap::new(),
            rewatch: false,
            refolder: false,
            dirty: Dirty::default(),
            due: Due::default(),
        }
    }

    /// Changes what the user may set. What already waits keeps the time that it was given.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Which surface the user is looking at, where that is known (rule 14).
    pub fn set_focus(&mut self, surface: Option<String>) {
        self.focus = surface;
    }

    /// Whether the user looks at hidden agents too: they raise alerts then (rule 12).
    pub fn set_shows_hidden(&mut self, shows: bool) {
        self.shows_hidden = shows;
    }

    /// Applies one event.
    pub fn apply(&mut self, mut event: Event, now: Now) -> Outcome {
        self.wake(now);
        event.shorten_ids();
        if !self.seen.is_new(event.id.as_ref()) {
            return Outcome::Duplicate;
        }
        let moment = self.moment(&event, now);
        let agent_id = event.agent.clone();
        let agent = agent::find(&agent_id);
        if let Some(outcome) = self.apply_to_workspace(&agent, &event, now) {
            return outcome;
        }
        let Some(found) = self.find_or_make(&agent, &event, moment) else {
            return Outcome::Homeless;
        };
        self.apply_to_session(&agent, found, event, moment)
    }

    /// When an event happens.
    fn moment(&self, event: &Event, now: Now) -> Moment {
        // A clock ahead of ours would make everything behind it late.
        let at = event.at.unwrap_or(now.boot).min(now.boot);
        let stale = now.boot.since(at) > STALE;
        Moment { at, stamp: Stamp::of(event, at), now, stale, grace: self.settings.error_grace }
    }

    /// Applies an event to the session that it speaks for, and has its row follow.
    fn apply_to_session(
        &mut self,
        agent: &Agent<'_>,
        (number, index): (u64, usize),
        event: Event,
        moment: Moment,
    ) -> Outcome {
        self.locate(number, &event.place, moment.now);
        let Some(row) = self.rows.get_mut(&number) else { return Outcome::Homeless };
        if let Some(name) = event.display_name.as_deref().map(crate::text::one_line).filter(|name| !name.is_empty()) {
            row.display_name = Some(name);
        }
        let session = &mut row.sessions[index];
        let speaks = event.thread.is_none()
            && (event.kind.is_status() || matches!(event.kind, Kind::Answer | Kind::Observed(_)));
        let (before, rested) = (session.subagents.count(), session.rests());
        let outcome = match session.outlived(&event, moment) {
            Some(outcome) => outcome,
            None if matches!(event.kind, Kind::SessionEnd { .. }) && event.thread.is_none() => {
                self.end(agent, (number, index), &event, moment)
            }
            None => session.apply(agent, event, moment),
        };
        if let Some(row) = self.rows.get_mut(&number)
            && let Some(session) = row.sessions.get_mut(index)
        {
            if outcome == Outcome::Applied && speaks {
                self.updates += 1;
                session.updated = self.updates;
            }
            let after = session.subagents.count();
            row.subagent_steps.extend((before != after).then_some(before < after));
            if rested && !session.rests() {
                self.announce_start(number);
            }
        }
        self.settle(number, moment.now);
        outcome
    }

    /// Rule 5: a grace never expires in the first moments after a resume from suspend: it starts again.
    fn wake(&mut self, now: Now) {
        // The two clocks are not read at the same instant; a suspend is never this short.
        const JITTER: Duration = Duration::from_millis(500);
        if now.asleep > self.asleep + JITTER {
            let length = self.settings.error_grace;
            let graced: Vec<u64> = self
                .rows
                .iter_mut()
                .filter_map(|(number, row)| {
                    let graced = row.sessions.iter().any(|session| session.grace.is_some());
                    row.sessions.iter_mut().for_each(|session| session.restart_grace(now, length));
                    graced.then_some(*number)
                })
                .collect();
            self.asleep = now.asleep;
            for number in graced {
                self.settle(number, now);
            }
        }
    }

    /// Lets it act on what has become due.
    pub fn tick(&mut self, now: Now) {
        self.wake(now);
        while let Some((deadline, number)) = self.deadlines.first().copied() {
            if deadline > now.boot {
                break;
            }
            self.deadlines.pop_first();
            if number == 0 {
                self.drop_stale_workspaces(now);
            } else {
                self.expire(number, now);
                self.settle(number, now);
            }
        }
    }

    /// When [`Self::tick`] has something to do next.
    pub fn next_deadline(&self) -> Option<BootTime> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Everything to be watched (rule 10), if that has changed since the last call.
    pub fn take_watched(&mut self) -> Option<BTreeSet<Watched>> {
        std::mem::take(&mut self.rewatch).then(|| self.rows.values().flat_map(|row| row.watched.clone()).collect())
    }

    /// After any change to a row: what it shows, what is due, when it has to be looked at again. One function, so that
    /// nothing can change a row and forget the rest.
    fn settle(&mut self, number: u64, now: Now) {
        let Some(mut row) = self.rows.remove(&number) else { return };
        self.dirty.rows.insert(row.id());
        for session in &mut row.sessions {
            let status = session.status();
            if session.shown != status {
                session.shown = status;
                session.since = now;
            }
        }
        self.announce(&mut row, now);
        self.retally(&mut row);
        if let Some(deadline) = row.deadline.take() {
            self.deadlines.remove(&(deadline, number));
        }
        self.anchor(&mut row);
        let watched = row.processes();
        if row.watched != watched {
            row.watched = watched;
            self.rewatch = true;
        }
        if row.sessions.is_empty() {
            self.forget_row(&row, now);
            return;
        }
        row.deadline = row.next_deadline(&self.settings).map(|deadline| deadline.max(BootTime(now.boot.0 + 1)));
        if let Some(deadline) = row.deadline {
            self.deadlines.insert((deadline, number));
        }
        self.rows.insert(number, row);
    }

    /// Keeps the totals, and marks the workspace when what it shows of its rows has changed.
    fn retally(&mut self, row: &mut Row) {
        let (old, new) = (row.tallied.take(), row.summary());
        if old != new {
            self.dirty.workspaces.insert(row.workspace.clone());
        }
        for (summary, step) in [(old, -1), (new, 1)] {
            let Some((status, attention, _)) = summary else { continue };
            for (key, counts) in [((false, status.as_str()), true), ((true, ""), attention != Attention::None)] {
                if counts {
                    let tally = self.tally.entry(key).or_default();
                    *tally = tally.saturating_add_signed(step);
                }
            }
        }
        row.tallied = new;
    }

    /// How many rows want the user, of those that are shown.
    pub fn attention_count(&self) -> u32 {
        self.tally.get(&(true, "")).copied().unwrap_or_default()
    }

    /// Rows that are shown, by status.
    pub fn status_counts(&self) -> [(Status, u32); 4] {
        Status::ALL.map(|status| (status, self.tally.get(&(false, status.as_str())).copied().unwrap_or_default()))
    }

    /// Ids of what changed since the last call.
    pub fn take_dirty(&mut self) -> Dirty {
        std::mem::take(&mut self.dirty)
    }

    /// What became due since the last call.
    pub fn take_due(&mut self) -> Due {
        std::mem::take(&mut self.due)
    }
}
