// SPDX-License-Identifier: GPL-3.0-or-later
//! Ends: of sessions (rule 9), of processes and terminals (rule 10), by the user's hand, and by age.

use std::time::Duration;

use super::session::{Life, Moment, Session, Turn};
use super::{Outcome, Roster};
use crate::agent::Agent;
use crate::event::{Event, Kind, Process};
use crate::protocol::{ErrorName, Refusal};
use crate::time::{BootTime, Now};

/// Rule 10: how long a session whose process died unexpectedly stands.
const DEAD_STANDS: Duration = Duration::from_secs(10 * 60);

/// How long a process whose terminal has gone may take to say good-bye: Claude Code's session-end hook runs on the
/// hang-up, and comes a moment behind the terminal's end.
const HANG_UP: Duration = Duration::from_secs(2);

/// What a row says whose process died in the middle of something.
pub(super) const UNEXPECTED_END: &str = "Ended unexpectedly";

impl Session {
    /// Rule 10: what a late event of a dead session does; `None` when the session lives, or has come back in a new
    /// process.
    pub(super) fn outlived(&mut self, event: &Event) -> Option<Outcome> {
        if !matches!(self.life, Life::Dead(_)) {
            return None;
        }
        let returned = event.place.process.is_some() && event.place.process != self.process;
        if returned {
            self.life = Life::Alive;
            self.turn = Turn::Idle;
            self.unseen.failed = false;
            self.message = None;
            return None;
        }
        match event.kind {
            Kind::SessionEnd { .. } => None,
            // The turn had ended before the process did.
            Kind::Stop if event.thread.is_none() => {
                self.life = Life::Dead(BootTime(0));
                Some(Outcome::Late)
            }
            _ => Some(Outcome::Recorded),
        }
    }

    /// Rule 10: its process has died. Returns whether it is over; else it stands, failed, for a while.
    fn die(&mut self, now: Now) -> bool {
        let over = match self.turn {
            _ if matches!(self.life, Life::AwaitsSuccessor | Life::Ended) => true,
            _ if !self.questions.is_empty() => false,
            Turn::Idle => self.grace.is_none(),
            Turn::Failed => !self.unseen.failed,
            Turn::Running => false,
        };
        if over {
            return true;
        }
        let had_failed = self.turn == Turn::Failed && self.questions.is_empty();
        self.clear_counters();
        self.close_all_questions(now.boot);
        self.fail(false);
        self.unseen.finished = false;
        self.tty_lost = None;
        self.tool = None;
        self.detail = None;
        if !had_failed {
            self.unseen.failed = true;
            self.failure_alert = false;
            self.message = Some(UNEXPECTED_END.to_string());
        }
        self.life = Life::Dead(now.boot + DEAD_STANDS);
        false
    }

    /// Rule 9: it is over, and still stands: Idle, nothing running, nothing asked.
    fn rest(&mut self, life: Life, at: BootTime) {
        self.clear_counters();
        self.close_all_questions(at);
        self.turn = Turn::Idle;
        self.turn_open = false;
        self.interrupted = false;
        self.grace = None;
        self.finish = None;
        self.failure_alert = false;
        self.unseen.failed = false;
        self.tool = None;
        self.detail = None;
        self.life = life;
    }
}

impl Roster {
    /// Rule 9: session-end. A late one touches nothing; one that announces a successor leaves the row for it; else the
    /// session goes, unless its agent does not clear on end.
    pub(super) fn end(&mut self, agent: &Agent<'_>, number: u64, index: usize, event: &Event, moment: Moment) {
        let Some(session) = self.rows.get_mut(&number).and_then(|row| row.sessions.get_mut(index)) else { return };
        if session.threads.get("").is_some_and(|thread| thread.is_late(event, moment.at)) {
            return;
        }
        let successor = matches!(event.kind, Kind::SessionEnd { successor: true });
        session.last_event = moment.now.boot;
        if successor && !matches!(session.life, Life::Dead(_)) {
            session.rest(Life::AwaitsSuccessor, moment.at);
            session.unseen.finished = false;
            session.message = None;
        } else if agent.clears_on_end {
            self.remember_end(number, index, moment.at);
            self.remove_session(number, index);
        } else {
            session.rest(Life::Ended, moment.at);
        }
    }

    /// Notes that a session has ended, so that late events do not bring it back.
    pub(super) fn remember_end(&mut self, number: u64, index: usize, at: BootTime) {
        let Some(row) = self.rows.get(&number) else { return };
        let Some(session) = row.sessions.get(index) else { return };
        self.ended.insert(row.agent.clone(), session.id.clone(), row.key_of(session), at);
    }

    /// Takes a session away, and says so. The row goes as it settles.
    pub(super) fn remove_session(&mut self, number: u64, index: usize) {
        let Some(row) = self.rows.get_mut(&number) else { return };
        if index >= row.sessions.len() {
            return;
        }
        self.announce_end(number);
        let Some(row) = self.rows.get_mut(&number) else { return };
        let session = row.sessions.remove(index);
        let key = (row.agent.clone(), session.id);
        if self.sessions.get(&key) == Some(&number) {
            self.sessions.remove(&key);
        }
    }

    /// Rule 10: a process has ended, and with it its sessions.
    pub fn process_gone(&mut self, process: &Process, now: Now) {
        self.wake(now);
        self.let_die(now, |session| session.process.as_ref() == Some(process));
    }

    /// Rule 10: a terminal has gone, and with it the sessions that had it. Their processes may still say good-bye.
    pub fn tty_gone(&mut self, tty: &str, now: Now) {
        self.wake(now);
        let mut touched = Vec::new();
        for (number, row) in &mut self.rows {
            for session in &mut row.sessions {
                if session.is_watched() && session.tty.as_deref() == Some(tty) && session.tty_lost.is_none() {
                    session.tty_lost = Some(now.boot + HANG_UP);
                    touched.push(*number);
                }
            }
        }
        for number in touched {
            self.settle(number, now);
        }
    }

    fn let_die(&mut self, now: Now, is_dead: impl Fn(&Session) -> bool) {
        let touched: Vec<u64> =
            self.rows.iter().filter(|(_, row)| row.sessions.iter().any(&is_dead)).map(|(number, _)| *number).collect();
        for number in touched {
            self.sweep(number, |session| {
                is_dead(session) && !matches!(session.life, Life::Dead(_)) && session.die(now)
            });
            self.settle(number, now);
        }
    }

    /// Lets each session of a row be judged, and takes away those of which the judge says so.
    fn sweep(&mut self, number: u64, mut is_over: impl FnMut(&mut Session) -> bool) {
        let mut index = 0;
        while let Some(session) = self.rows.get_mut(&number).and_then(|row| row.sessions.get_mut(index)) {
            if is_over(session) {
                self.remove_session(number, index);
            } else {
                index += 1;
            }
        }
    }

    /// What has become due for a row, apart from alerts: graces (rule 5), lost terminals, dead sessions that have stood
    /// long enough, and unwatched ones without an event for too long (rule 10).
    pub(super) fn expire(&mut self, number: u64, now: Now) {
        let unwatched = self.settings.unwatched;
        self.sweep(number, |session| {
            session.end_grace(now);
            let hung_up = session.tty_lost.is_some_and(|until| until <= now.boot) && session.die(now);
            let stood = matches!(session.life, Life::Dead(until) if until <= now.boot);
            let aged = session.process.is_none() && session.last_event + unwatched <= now.boot;
            hung_up || stood || aged
        });
    }

    /// The user has seen a row, or one of its sessions (`ROW#SESSION`).
    ///
    /// # Errors
    ///
    /// [`ErrorName::UnknownRow`].
    pub fn acknowledge(&mut self, row: &str, now: Now) -> Result<(), Refusal> {
        let (number, session) = self.named(row)?;
        self.sweep(number, |candidate| {
            if session.as_ref().is_some_and(|session| *session != candidate.id) {
                return false;
            }
            candidate.see();
            matches!(candidate.life, Life::Dead(_))
        });
        self.settle(number, now);
        Ok(())
    }

    /// The user removes a row, or one of its sessions. One that goes on comes back with its next status event.
    ///
    /// # Errors
    ///
    /// [`ErrorName::UnknownRow`].
    pub fn dismiss(&mut self, row: &str, now: Now) -> Result<(), Refusal> {
        let (number, session) = self.named(row)?;
        self.sweep(number, |candidate| session.as_ref().is_none_or(|session| *session == candidate.id));
        self.settle(number, now);
        Ok(())
    }

    /// The row of an id, and the session if one is named.
    fn named(&self, id: &str) -> Result<(u64, Option<String>), Refusal> {
        let unknown = || Refusal::new(ErrorName::UnknownRow, "No row has that id");
        let (row, session) = match id.split_once('#') {
            Some((row, session)) => (row, Some(session)),
            None => (id, None),
        };
        let number = super::row::Row::number_of(row).ok_or_else(unknown)?;
        let known = self.rows.get(&number).ok_or_else(unknown)?;
        if session.is_some_and(|session| known.sessions.iter().all(|candidate| candidate.id != session)) {
            return Err(Refusal::new(ErrorName::UnknownRow, "That row has no session of that id"));
        }
        Ok((number, session.map(ToString::to_string)))
    }
}
