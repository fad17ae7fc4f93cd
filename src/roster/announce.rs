// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 14: what the roster asks the policy, and what it does with the verdicts.

use super::Roster;
use super::row::Row;
use super::session::Session;
use crate::policy::{self, Alert, AlertKind, StateEvent, StateName, Subject, Verdict};
use crate::time::Now;

impl Roster {
    /// Everything about a row that is due to be told now.
    pub(super) fn announce(&mut self, row: &mut Row, now: Now) {
        for _ in 0..std::mem::take(&mut row.starts) {
            self.tell(row, StateName::SessionStart);
        }
        for more in std::mem::take(&mut row.subagent_steps) {
            self.tell(row, if more { StateName::SubagentStart } else { StateName::SubagentStop });
        }
        if row.sessions.is_empty() {
            return;
        }
        let (shown, since) = (row.face().shown, row.face().since);
        if let Some(name) = policy::state_event(shown, since.boot, row.announced, now.boot) {
            row.announced = Some(shown);
            self.tell(row, name);
        }
        for index in 0..row.sessions.len() {
            self.alert(row, index, now);
        }
    }

    /// Asks about everything that a session may have to announce, and does what the policy says.
    fn alert(&mut self, row: &mut Row, index: usize, now: Now) {
        for subject in row.sessions[index].subjects() {
            let audience = row.sessions[index].audience(self.focus.as_deref(), self.shows_hidden);
            match policy::verdict(&subject, audience, now.boot) {
                Verdict::Wait(_) => {}
                Verdict::Never => row.sessions[index].close_subject(subject, false),
                Verdict::Go { silent } => {
                    row.sessions[index].close_subject(subject, silent);
                    let (kind, session) = (kind(subject), row.sessions[index].id.clone());
                    let view = row.view(true);
                    self.due.alerts.push(Alert { kind, silent, row: view, workspace: row.workspace.clone(), session });
                }
            }
        }
    }

    fn tell(&mut self, row: &Row, name: StateName) {
        if !row.sessions.is_empty() {
            self.due.state_events.push(StateEvent { name, row: row.view(false), workspace: row.workspace.clone() });
        }
    }

    /// A session has begun; it is told with what its first event makes of it.
    pub(super) fn announce_start(&mut self, number: u64) {
        if let Some(row) = self.rows.get_mut(&number) {
            row.starts += 1;
        }
    }

    /// A session is about to end: it is told once, with the row as it was.
    pub(super) fn announce_end(&mut self, number: u64, index: usize) {
        if self.rows.get(&number).and_then(|row| row.sessions.get(index)).is_none_or(Session::rests) {
            return;
        }
        let Some(mut row) = self.rows.remove(&number) else { return };
        row.subagent_steps.clear();
        for _ in 0..std::mem::take(&mut row.starts) {
            self.tell(&row, StateName::SessionStart);
        }
        self.tell(&row, StateName::SessionEnd);
        self.rows.insert(number, row);
    }
}

fn kind(subject: Subject) -> AlertKind {
    match subject {
        Subject::Finished { .. } => AlertKind::Finished,
        Subject::Question { .. } => AlertKind::NeedsInput,
        Subject::Failed => AlertKind::Failed,
    }
}

impl Session {
    /// The matter is closed; `silent` when a silent alert went out for it.
    fn close_subject(&mut self, subject: Subject, silent: bool) {
        match subject {
            Subject::Finished { .. } => {
                self.finish = None;
                self.quiet_given |= silent;
            }
            Subject::Question { opened } => {
                for question in self.questions.iter_mut().filter(|question| question.opened == opened) {
                    question.alert = false;
                }
            }
            Subject::Failed => self.failure_alert = false,
        }
    }
}
