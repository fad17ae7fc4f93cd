// SPDX-License-Identifier: GPL-3.0-or-later
//! Ends: of sessions (rule 9), of processes and terminals (rule 10), by the user's hand, and by age.

use std::time::Duration;

use super::lookup::{Anchor, is_beginning};
use super::order::Stamp;
use super::session::{Life, Moment, Session, Turn};
use super::{Outcome, Roster};
use crate::agent::Agent;
use crate::event::{Event, Kind, Place, Process};
use crate::protocol::{ErrorName, Refusal};
use crate::time::{BootTime, Now};

/// Rule 10: how long a session whose process died unexpectedly stands.
const DEAD_STANDS: Duration = Duration::from_secs(10 * 60);

/// How long a process whose terminal has gone may take to say good-bye: Claude Code's session-end hook runs on the
/// hang-up, and comes a moment behind the terminal's end.
const HANG_UP: Duration = Duration::from_secs(2);

/// What a row says whose process died in the middle of something.
pub(super) const UNEXPECTED_END: &str = "Ended unexpectedly";

/// What becomes of a session that is looked at.
enum Fate {
    Stays,
    /// It is taken away, and may come back with its next status event.
    Goes,
    /// It has ended: only a new beginning brings it back (rule 9).
    Ends,
}

impl Session {
    /// Rules 9 and 10: what an event does to a session that has ended and still stands; `None` when the session lives,
    /// or comes back.
    pub(super) fn outlived(&mut self, event: &Event, moment: Moment) -> Option<Outcome> {
        let ends = matches!(event.kind, Kind::SessionEnd { .. });
        match self.life {
            Life::Alive => None,
            Life::AwaitsSuccessor(ended) | Life::Ended(ended) => {
                let concerns = is_beginning(event) && moment.at > ended || ends || event.kind == Kind::SessionRenamed;
                (!concerns).then_some(Outcome::Recorded)
            }
            Life::Dead { died, .. } => {
                let moved = event.place.process.is_some() && event.place.process != self.process;
                if moved && moment.at > died {
                    self.come_back(&event.place);
                    return None;
                }
                // The turn had ended before the process did.
                if event.kind == Kind::Stop && event.thread.is_none() && !moved {
                    self.life = Life::Dead { died, until: BootTime(0) };
                    return Some(Outcome::Late);
                }
                (!ends).then_some(Outcome::Recorded)
            }
        }
    }

    /// Rule 10: a dead session goes on in a new process.
    fn come_back(&mut self, place: &Place) {
        self.life = Life::Alive;
        self.process.clone_from(&place.process);
        self.tty.clone_from(&place.tty);
        self.pid = place.pid;
        self.turn = Turn::Idle;
        self.unseen.failed = false;
        self.message = None;
    }

    /// Rule 10: its process has died. Returns whether it is over; else it stands, failed, for a while.
    fn die(&mut self, now: Now) -> bool {
        let over = match self.turn {
            _ if self.rests() => true,
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
        self.close_all_questions(Stamp::at(now.boot));
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
        self.life = Life::Dead { died: now.boot, until: now.boot + DEAD_STANDS };
        false
    }

    /// Rule 9: it is over, and still stands: Idle, nothing running, nothing asked.
    fn rest(&mut self, life: Life) {
        self.clear_counters();
        self.questions.clear();
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
    /// session goes, unless its agent does not clear on end. The end of a dead one only confirms what is known.
    pub(super) fn end(
        &mut self,
        agent: &Agent<'_>,
        (number, index): (u64, usize),
        event: &Event,
        moment: Moment,
    ) -> Outcome {
        let Some(session) = self.session_mut(number, index) else { return Outcome::Homeless };
        let moment = session.number(event, moment);
        if session.is_late(event, moment) {
            return Outcome::Late;
        }
        session.last_event = moment.now.boot;
        let successor = matches!(event.kind, Kind::SessionEnd { successor: true });
        let dead = matches!(session.life, Life::Dead { .. });
        if dead || session.life != Life::Alive && !successor || agent.clears_on_end && !successor {
            if dead || agent.clears_on_end {
                self.remember_end(number, index, moment.at);
                self.remove_session(number, index);
            }
            return Outcome::Applied;
        }
        self.announce_end(number, index);
        if let Some(session) = self.session_mut(number, index) {
            if successor {
                session.rest(Life::AwaitsSuccessor(moment.at));
                session.unseen.finished = false;
                session.message = None;
            } else {
                session.rest(Life::Ended(moment.at));
            }
        }
        Outcome::Applied
    }

    fn session_mut(&mut self, number: u64, index: usize) -> Option<&mut Session> {
        self.rows.get_mut(&number)?.sessions.get_mut(index)
    }

    /// Takes a session away, and says so. The row goes as it settles.
    pub(super) fn remove_session(&mut self, number: u64, index: usize) {
        let Some(row) = self.rows.get_mut(&number) else { return };
        if index >= row.sessions.len() {
            return;
        }
        self.announce_end(number, index);
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
        for number in self.anchored(&Anchor::Process(process.clone())) {
            self.sweep(number, now, |session| {
                let dies = session.process.as_ref() == Some(process) && !matches!(session.life, Life::Dead { .. });
                if dies && session.die(now) { Fate::Ends } else { Fate::Stays }
            });
            self.settle(number, now);
        }
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

    /// Lets each session of a row be judged, and does what the judge says.
    fn sweep(&mut self, number: u64, now: Now, mut judge: impl FnMut(&mut Session) -> Fate) {
        let mut index = 0;
        while let Some(session) = self.session_mut(number, index) {
            match judge(session) {
                Fate::Stays => index += 1,
                Fate::Ends => {
                    self.remember_end(number, index, now.boot);
                    self.remove_session(number, index);
                }
                Fate::Goes => self.remove_session(number, index),
            }
        }
    }

    /// What has become due for a row, apart from alerts: graces (rule 5), lost terminals, dead sessions that have stood
    /// long enough, and unwatched ones without an event for too long (rule 10).
    pub(super) fn expire(&mut self, number: u64, now: Now) {
        let unwatched = self.settings.unwatched;
        self.sweep(number, now, |session| {
            session.end_grace(now);
            let hung_up = session.tty_lost.is_some_and(|until| until <= now.boot) && session.die(now);
            let stood = matches!(session.life, Life::Dead { until, .. } if until <= now.boot);
            let aged = session.process.is_none() && session.last_event + unwatched <= now.boot;
            match (hung_up || stood, aged) {
                (true, _) => Fate::Ends,
                (_, true) => Fate::Goes,
                _ => Fate::Stays,
            }
        });
    }

    /// The user has seen a row, or one of its sessions (`ROW#SESSION`).
    ///
    /// # Errors
    ///
    /// [`ErrorName::UnknownRow`].
    pub fn acknowledge(&mut self, row: &str, now: Now) -> Result<(), Refusal> {
        let (number, session) = self.named(row)?;
        self.sweep(number, now, |candidate| {
            if session.as_ref().is_some_and(|session| *session != candidate.id) {
                return Fate::Stays;
            }
            candidate.see();
            if matches!(candidate.life, Life::Dead { .. }) { Fate::Ends } else { Fate::Stays }
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
        let named = |candidate: &Session| session.as_ref().is_none_or(|session| *session == candidate.id);
        self.sweep(number, now, |candidate| if named(candidate) { Fate::Goes } else { Fate::Stays });
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
