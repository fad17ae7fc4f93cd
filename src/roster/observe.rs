// SPDX-License-Identifier: GPL-3.0-or-later
//! What an agent's own status file tells beyond its hooks (section 6): answers, refusals, dismissals, interrupts.
//!
//! It settles what is open and ends a turn quietly; all else the hooks say better. It is compared with the main thread's
//! latest status event and never makes one late: the file is written a moment before or behind the hook of the same step.

use std::time::Duration;

use super::Outcome;
use super::session::{Moment, Session, Turn};
use crate::event::Observed;

/// A stop whose hook starts within this time of the status file's word belongs to the same turn's end.
const SAME_END: Duration = Duration::from_secs(2);

impl Session {
    /// Section 6: the status file, where it is newer than the hooks, decides what is open and whether the turn is over.
    pub(super) fn observe(&mut self, observed: Observed, moment: Moment) -> Outcome {
        let latest = self.threads.get("").and_then(super::order::Thread::latest);
        if latest.is_some_and(|latest| moment.at < latest.at) {
            return Outcome::Late;
        }
        let before = (self.turn, self.questions.len());
        match observed {
            Observed::Waiting => {}
            Observed::Busy => {
                self.close_all_questions(moment.stamp);
                // It was not over after all. A turn that a stop has ended stays so: what runs behind it is the user's
                // own command, a compaction, or a background subagent.
                if self.quiet_end.take().is_some() && self.turn == Turn::Idle {
                    self.turn = Turn::Running;
                    self.turn_open = true;
                }
            }
            Observed::Idle => {
                self.close_all_questions(moment.stamp);
                self.end_quietly(moment);
            }
        }
        if before == (self.turn, self.questions.len()) { Outcome::Recorded } else { Outcome::Applied }
    }

    /// The turn is over and no hook has said so: the user ended it. It raises nothing, and ends neither a grace nor a
    /// failure (rule 5).
    fn end_quietly(&mut self, moment: Moment) {
        if self.turn == Turn::Running && self.grace.is_none() {
            self.turn = Turn::Idle;
            self.turn_open = false;
            self.quiet_end = Some(moment.at);
            self.tool = None;
            self.detail = None;
            self.message = None;
        }
    }

    /// Whether the status file was only quicker than the stop of the same turn.
    pub(super) fn has_just_ended(&self, moment: Moment) -> bool {
        self.quiet_end.is_some_and(|end| moment.at.since(end) < SAME_END)
    }
}
