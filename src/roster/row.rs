// SPDX-License-Identifier: GPL-3.0-or-later
//! A row: an agent in a workspace, or in one pane of it, with the sessions beneath it.

use serde::{Deserialize, Serialize};

use super::session::{Life, Session};
use super::{Settings, Watched};
use crate::event::Process;
use crate::policy::{self, Audience, Subject, Verdict};
use crate::status::{Attention, Status};
use crate::time::BootTime;

/// What a row adds to its workspace and to the totals: status, attention, and how much of its task list is done.
pub(super) type Summary = (Status, Attention, (usize, usize));

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) workspace: String,
    pub(super) key: String,
    pub(super) agent: String,
    pub(super) display_name: Option<String>,
    /// A script's own order among the neighbours.
    pub(super) priority: Option<i32>,
    /// Whether `SetStatus` made it.
    pub(super) scripted: bool,
    /// In the order in which they came.
    pub(super) sessions: Vec<Session>,
    /// The last state that was told to the world (rule 14).
    pub(super) announced: Option<Status>,
    /// The processes and surfaces by which it is found.
    #[serde(skip)]
    pub(super) anchors: Vec<(Option<Process>, Option<String>)>,
    #[serde(skip)]
    pub(super) deadline: Option<BootTime>,
    /// What of it is watched.
    #[serde(skip)]
    pub(super) watched: Vec<Watched>,
    #[serde(skip)]
    pub(super) tallied: Option<Summary>,
    /// Changes of the subagent count that have not been announced yet: whether there are more.
    #[serde(skip)]
    pub(super) subagent_steps: Vec<bool>,
    /// Sessions that began and have not been announced yet.
    #[serde(skip)]
    pub(super) starts: u32,
}

impl Row {
    /// Its id on the wire.
    pub(super) fn id(&self) -> String {
        format!("r{}", self.number)
    }

    /// The number in an id; `None` for a text that is none.
    pub(super) fn number_of(id: &str) -> Option<u64> {
        let number: u64 = id.strip_prefix('r')?.parse().ok()?;
        (format!("r{number}") == id).then_some(number)
    }

    /// The session that speaks for the row: one with an open question, so that it is never lost behind another's
    /// progress (section 2, Scope), else the one that updated last. Nested and hidden ones speak only when alone.
    pub(super) fn face(&self) -> &Session {
        &self.sessions[self.face_index()]
    }

    /// Its place among the sessions. A row without sessions is forgotten as it settles.
    pub(super) fn face_index(&self) -> usize {
        let rank = |session: &Session| {
            let question = session.questions.iter().map(|question| (question.seen, question.opened)).min();
            let visible = !session.nested && !session.hidden;
            (visible, question.is_some(), question.map(std::cmp::Reverse), session.updated)
        };
        let sessions = self.sessions.iter().enumerate();
        sessions.max_by_key(|(_, session)| rank(session)).map(|(index, _)| index).unwrap_or_default()
    }

    /// The strongest of its sessions.
    pub(super) fn attention(&self) -> Attention {
        self.sessions.iter().map(Session::attention).max().unwrap_or_default()
    }

    /// Rule 12: tracked and exported, not shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.sessions.iter().all(|session| session.hidden)
    }

    /// Rule 12: beneath another agent.
    pub(super) fn is_nested(&self) -> bool {
        self.sessions.iter().all(|session| session.nested)
    }

    /// The processes of its sessions, as far as they are to be watched (rule 10).
    pub(super) fn processes(&self) -> Vec<Watched> {
        let watched = self.sessions.iter().filter(|session| session.is_watched());
        watched
            .filter_map(|session| Some(Watched { process: session.process.clone()?, tty: session.tty.clone() }))
            .collect()
    }

    /// What it adds to the totals; nothing while hidden or empty.
    pub(super) fn summary(&self) -> Option<Summary> {
        if self.sessions.is_empty() || self.is_hidden() {
            return None;
        }
        let tasks = &self.face().tasks;
        let done = tasks.values().filter(|done| **done).count();
        Some((self.face().shown, self.attention(), (done, tasks.len())))
    }

    /// When it has to be looked at next.
    pub(super) fn next_deadline(&self, settings: &Settings) -> Option<BootTime> {
        let sessions = self.sessions.iter().flat_map(|session| session.deadlines(settings));
        sessions.chain(self.idle_deadline()).min()
    }

    /// Rule 14: when an Idle that has not been told yet has lasted.
    fn idle_deadline(&self) -> Option<BootTime> {
        let face = self.face();
        let waits = face.shown == Status::Idle && self.announced != Some(Status::Idle);
        waits.then(|| face.since.boot + policy::IDLE_SETTLES)
    }
}

impl Session {
    /// What the policy has to judge about it, in the order of its strength.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        let mut subjects = Vec::new();
        if self.failure_alert {
            subjects.push(Subject::Failed);
        }
        let asked = self.questions.iter().filter(|question| question.alert).map(|question| question.opened).min();
        subjects.extend(asked.map(|opened| Subject::Question { opened }));
        subjects.extend(self.finish.map(|finish| Subject::Finished {
            since: finish.since,
            counts: self.counts(),
            quiet_given: self.quiet_given,
            stale: finish.stale,
        }));
        subjects
    }

    /// Whom an alert about it would reach.
    pub(super) fn audience(&self, focus: Option<&str>, shows_hidden: bool) -> Audience {
        Audience {
            shown: (shows_hidden || !self.hidden) && !self.nested,
            looked_at: focus.is_some() && self.surface.as_deref() == focus,
        }
    }

    /// Every time at which something about it becomes due.
    fn deadlines<'a>(&'a self, settings: &'a Settings) -> impl Iterator<Item = BootTime> + 'a {
        let alerts = self.subjects().into_iter().filter_map(|subject| {
            // Whether the user looks is asked when the time has come.
            match policy::verdict(&subject, Audience { shown: true, looked_at: false }, BootTime(0)) {
                Verdict::Wait(until) => until,
                Verdict::Go { .. } | Verdict::Never => Some(BootTime(0)),
            }
        });
        let dead = match self.life {
            Life::Dead { until, .. } => Some(until),
            _ => None,
        };
        let unwatched = self.process.is_none().then(|| self.last_event + settings.unwatched);
        let fixed = [self.grace.map(|grace| grace.deadline), dead, self.tty_lost, unwatched];
        alerts.chain(fixed.into_iter().flatten())
    }
}
