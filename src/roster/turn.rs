// SPDX-License-Identifier: GPL-3.0-or-later
//! The main turn: what each status event does to it (section 1), attention (rule 1), stickiness (rule 2), the
//! interrupt guard (rule 3), errors and their grace (rule 5) and reminders (rule 11).

use super::session::{Finish, Grace, Life, Moment, Session, Turn, Unseen};
use crate::event::{Event, Kind, Question, Said};
use crate::status::Attention;
use crate::time::Now;

impl Session {
    /// Section 1: the effect of a status event of the main thread.
    pub(super) fn move_turn(&mut self, event: &Event, moment: Moment) {
        match event.kind {
            Kind::SessionStart { waiting: true } => self.wait(),
            Kind::PromptSubmit { automatic } => {
                self.run(event, moment);
                self.take_prompt(automatic, event);
            }
            Kind::Stop => self.stop(event, moment),
            Kind::Interrupt => self.interrupt(),
            Kind::Reminder => self.remind(),
            Kind::Error { recoverable } => self.err(recoverable, event, moment),
            _ if event.kind.is_running() => self.run(event, moment),
            _ => {}
        }
    }

    /// A Running event: the turn is open, a failure is over (rule 1), and a grace that the event is younger than
    /// (rule 5). A turn that resumes before its finished alert was not over (rule 14).
    fn run(&mut self, event: &Event, moment: Moment) {
        if self.grace.is_some_and(|grace| moment.at > grace.at) {
            self.grace = None;
            self.message = None;
        }
        if self.turn == Turn::Failed {
            self.message = None;
        }
        self.turn = Turn::Running;
        self.turn_open = true;
        self.unseen.failed = false;
        self.failure_alert = false;
        self.finish = None;
        self.unmatched_stop = None;
        self.quiet_end = None;
        self.life = Life::Alive;
        if event.call.tool.is_some() && !matches!(event.kind, Kind::PostToolUse) {
            self.tool.clone_from(&event.call.tool);
            self.detail.clone_from(&event.call.detail);
            self.message = None;
        }
        if !matches!(event.kind, Kind::Question(_)) {
            self.say(&event.message);
        }
    }

    /// Rule 1: the user's own prompt shows that all has been seen; one made by the agent's machinery does not.
    fn take_prompt(&mut self, automatic: bool, event: &Event) {
        self.tool = None;
        self.detail = None;
        if event.message == Said::Nothing {
            self.message = None;
        }
        if !automatic {
            self.see();
            if self.tasks.values().all(|done| *done) {
                self.tasks.clear();
            }
        }
    }

    /// Rules 1 and 2: the turn is over, waiting for the user. A stop never ends a grace or a failure (rule 5), and
    /// without an open turn it raises nothing, unless its agent never says that one begins.
    fn stop(&mut self, event: &Event, moment: Moment) {
        if self.grace.is_some() || self.turn == Turn::Failed {
            self.turn_open = false;
            return;
        }
        self.say(&event.message);
        self.tool = None;
        self.detail = None;
        self.turn = Turn::Idle;
        if self.turn_open || event.is_whole_turn || self.has_just_ended(moment) {
            self.finish_turn(moment);
        } else {
            self.unmatched_stop = Some(moment.at);
        }
    }

    /// Rule 1: a turn has finished; the user has not seen it.
    fn finish_turn(&mut self, moment: Moment) {
        self.turn_open = false;
        self.unmatched_stop = None;
        self.quiet_end = None;
        self.unseen.finished = true;
        self.finish = Some(Finish { since: moment.now.boot, stale: moment.stale });
    }

    /// Rule 1: the prompt of a turn arrives behind the stop that ended it.
    pub(super) fn match_stop(&mut self, moment: Moment) {
        if let Some(stop) = self.unmatched_stop.filter(|stop| moment.at <= *stop && self.turn == Turn::Idle) {
            // The turn's end is as old as its stop.
            self.finish_turn(Moment { stale: moment.now.boot.since(stop) > super::STALE, ..moment });
        }
    }

    /// A session-start that only waits: Idle. It keeps `finished` and Failed and ends no grace (rule 2).
    fn wait(&mut self) {
        self.life = Life::Alive;
        if self.grace.is_none() && self.turn != Turn::Failed {
            self.turn = Turn::Idle;
            self.turn_open = false;
            self.tool = None;
            self.detail = None;
        }
    }

    /// Rule 3: the user interrupted: Idle, and the guard goes up. A finish whose alert still waits is taken back. A
    /// failure and its grace are over too: the user is there (rule 5).
    fn interrupt(&mut self) {
        if self.finish.take().is_some() {
            self.unseen.finished = false;
        }
        self.unmatched_stop = None;
        self.quiet_end = None;
        self.interrupted = true;
        self.grace = None;
        self.unseen.failed = false;
        self.failure_alert = false;
        self.turn = Turn::Idle;
        self.turn_open = false;
        self.message = None;
        self.tool = None;
        self.detail = None;
    }

    /// Rule 3: whether the guard ignores an event: late tool use of the interrupted turn.
    pub(super) fn is_guarded(&self, event: &Event) -> bool {
        self.interrupted
            && matches!(
                event.kind,
                Kind::PreToolUse | Kind::Question(Question::Tool) | Kind::PostToolUse | Kind::BatchEnd
            )
    }

    /// Rule 3: a prompt lifts the guard, and so does every status event that is not a Running one; a session that
    /// starts anew has nothing left of the interrupted turn.
    pub(super) fn lift_guard(&mut self, event: &Event) {
        let starts = matches!(event.kind, Kind::PromptSubmit { .. } | Kind::SessionStart { .. });
        if starts || !event.kind.is_running() {
            self.interrupted = false;
        }
    }

    /// Rule 11: an idle reminder ends a turn that is still Running, quietly; Idle and Failed stay as they are, and a
    /// grace goes on.
    fn remind(&mut self) {
        if self.turn == Turn::Running && self.grace.is_none() {
            self.turn = Turn::Idle;
            self.turn_open = false;
            self.tool = None;
            self.detail = None;
            self.message = None;
        }
    }

    /// Rule 5: an error, by what it says of itself.
    fn err(&mut self, recoverable: Option<bool>, event: &Event, moment: Moment) {
        self.say(&event.message);
        match recoverable {
            // It goes on, although a stop may have come with the error that it now retries.
            Some(true) => self.turn_open |= self.grace.take().is_some() && self.turn == Turn::Running,
            Some(false) => self.fail(!moment.stale),
            None if self.turn == Turn::Failed => {}
            None => {
                self.finish = None;
                let deadline = moment.now.boot + moment.grace;
                self.grace.get_or_insert(Grace { at: moment.at, deadline, stale: moment.stale });
            }
        }
    }

    /// Rule 5: the turn has failed. One alert a failure, however long it lasts.
    pub(super) fn fail(&mut self, alert: bool) {
        self.grace = None;
        self.finish = None;
        self.turn_open = false;
        if self.turn != Turn::Failed {
            self.turn = Turn::Failed;
            self.unseen.failed = true;
            self.failure_alert = alert;
        }
    }

    /// Rule 5: a grace that has lasted too long.
    pub(super) fn end_grace(&mut self, now: Now) {
        if let Some(grace) = self.grace.filter(|grace| grace.deadline <= now.boot) {
            self.fail(!grace.stale);
        }
    }

    /// Rule 5: after a suspend a grace starts again.
    pub(super) fn restart_grace(&mut self, now: Now, length: std::time::Duration) {
        if let Some(grace) = &mut self.grace {
            grace.deadline = now.boot + length;
        }
    }

    /// Rule 1: what the user has not seen of this session, the strongest of it. Hidden and nested sessions want nothing
    /// (rule 12).
    pub(super) fn attention(&self) -> Attention {
        if self.hidden || self.nested {
            Attention::None
        } else if self.questions.iter().any(|question| !question.seen) {
            Attention::NeedsInput
        } else if self.unseen.failed && self.turn == Turn::Failed {
            Attention::Failed
        } else if self.unseen.finished {
            Attention::Finished
        } else {
            Attention::None
        }
    }

    /// Rule 1: the user has seen this session. What was still to be announced is known now.
    pub(super) fn see(&mut self) {
        self.unseen = Unseen::default();
        self.finish = None;
        self.failure_alert = false;
        for question in &mut self.questions {
            question.seen = true;
            question.alert = false;
        }
    }
}
