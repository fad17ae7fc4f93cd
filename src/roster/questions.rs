// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 8: open questions are a set. Each belongs to a thread and is known by its call id.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::order::{PastCall, Stamp};
use super::session::{Moment, Session};
use crate::event::{self, Event, Kind, Question, Said};
use crate::time::BootTime;

/// A call that began this long after a question shows, when it ends, that its thread has gone on.
const GONE_ON: Duration = Duration::from_secs(1);

/// How many questions of one session are kept open.
const QUESTIONS: usize = 64;

/// One open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenQuestion {
    /// The subagent that asks; empty for the main thread.
    pub(super) thread: String,
    /// The call that waits for the answer.
    call: Option<String>,
    /// Whether the call is known by its input, or only by its tool.
    by_input: bool,
    pub(super) tool: Option<String>,
    input: Option<String>,
    source: Question,
    /// When the first of its signals started.
    asked: Stamp,
    /// When we learnt of it.
    pub(super) opened: BootTime,
    pub(super) message: Option<String>,
    /// What the call would work on: never written to disk.
    #[serde(skip)]
    pub(super) detail: Option<String>,
    pub(super) seen: bool,
    /// Whether its one alert is still to be decided.
    pub(super) alert: bool,
}

impl OpenQuestion {
    fn is_of_tool(&self, tool: &Option<String>) -> bool {
        self.tool.is_none() || self.tool == *tool
    }

    /// Whether both know their input, and it is not the same.
    fn differs(&self, input: &Option<String>) -> bool {
        self.input.is_some() && input.is_some() && self.input != *input
    }
}

impl Session {
    /// Rule 8: a question was asked. Several signals for one question are one entry.
    ///
    /// Returns whether the signal meant anything at all.
    pub(super) fn ask(&mut self, source: Question, event: &Event, moment: Moment) -> bool {
        if self.is_known_otherwise(source) {
            return false;
        }
        let thread = event.thread.clone().unwrap_or_default();
        let Some((call, by_input)) = self.call_of(source, event, &thread, moment.stamp) else {
            return true;
        };
        let any = source == Question::Unified && event.call.id.is_none();
        if by_input && event.call.id.is_none() {
            // Whoever took that call only for its tool was wrong.
            let wrong = |question: &&mut OpenQuestion| {
                question.call == call && !question.by_input && question.differs(&event.call.input)
            };
            self.questions.iter_mut().filter(wrong).for_each(|question| question.call = None);
        }
        let same = self.questions.iter_mut().find(|question| {
            question.thread == thread
                && match (&call, &question.call) {
                    _ if any => true,
                    (Some(new), Some(known)) => new == known,
                    _ => question.is_of_tool(&event.call.tool) && !question.differs(&event.call.input),
                }
        });
        if let Some(question) = same {
            question.call = question.call.take().filter(|_| any).or(call).or(question.call.take());
            question.by_input |= by_input;
            question.tool = question.tool.take().or_else(|| event.call.tool.clone());
            if moment.stamp.is_before(question.asked) {
                question.asked = moment.stamp;
            }
            if let Said::Value(message) = &event.message {
                question.message = Some(message.clone());
            }
            return true;
        }
        if self.is_obsolete(&thread, moment.stamp) || self.questions.len() == QUESTIONS {
            return true;
        }
        self.questions.push(OpenQuestion {
            thread,
            call,
            by_input,
            tool: event.call.tool.clone(),
            input: event.call.input.clone(),
            source,
            asked: moment.stamp,
            opened: moment.now.boot,
            message: event.message.value().cloned(),
            detail: event.call.detail.clone(),
            seen: false,
            alert: !moment.stale,
        });
        true
    }

    /// Whether a signal only says again what others say better: a notice opens nothing beside an open question, nor in
    /// a session that has ever sent the requests that it is about.
    fn is_known_otherwise(&mut self, source: Question) -> bool {
        let requested = match source {
            Question::Request => {
                self.requests = true;
                return false;
            }
            Question::Elicitation => {
                self.elicitations = true;
                return false;
            }
            Question::Tool | Question::Unified => return false,
            Question::PermissionNotice => self.requests,
            Question::ElicitationNotice => self.elicitations,
            Question::Notice => false,
        };
        requested || !self.questions.is_empty()
    }

    /// Whether all that was asked by then has been closed since, or its thread has gone on: the question came behind
    /// its own end.
    fn is_obsolete(&self, thread: &str, stamp: Stamp) -> bool {
        let cleared = |cleared: Option<Stamp>| cleared.is_some_and(|cleared| stamp.is_before(cleared));
        let departed = !thread.is_empty() && !self.subagents.contains(thread) && cleared(self.departed);
        let thread = self.threads.get(thread);
        let gone_on =
            |call: &PastCall| call.ended.is_some() && call.began.is_some_and(|began| began > stamp.at + GONE_ON);
        cleared(self.cleared)
            || departed
            || thread.is_some_and(|thread| cleared(thread.cleared) || thread.calls.iter().any(gone_on))
    }

    /// The call that a question belongs to, and whether its input says so: its own id, else that of its thread's
    /// unfinished call of the same tool and input, else of the latest one of that tool; where no tool is named, of any.
    ///
    /// The outer `None` means that the call has ended meanwhile, or was answered, and the question with it.
    fn call_of(&self, source: Question, event: &Event, thread: &str, stamp: Stamp) -> Option<(Option<String>, bool)> {
        let thread = self.threads.get(thread);
        if let Some(id) = &event.call.id {
            let is_over = thread.and_then(|thread| thread.call(id)).is_some_and(|call| call.is_over(stamp));
            return (!is_over).then(|| (Some(id.clone()), true));
        }
        let (false, Some(thread)) = (source == Question::Tool, thread) else { return Some((None, false)) };
        let tool = &event.call.tool;
        let same_input = |call: &&PastCall| event.call.input.is_some() && call.input == event.call.input;
        let is_owned =
            |call: &&PastCall| self.questions.iter().any(|question| question.call.as_ref() == Some(&call.id));
        let of_tool = || thread.calls.iter().filter(|call| tool.is_none() || call.tool == *tool);
        let by_then = |call: &&PastCall| call.began.is_none_or(|began| began <= stamp.at + GONE_ON);
        let open = || of_tool().filter(|call| thread.is_waiting(call)).filter(by_then);
        let by_input = open().find(|call| same_input(call) && !is_owned(call)).or_else(|| open().find(same_input));
        let ended =
            |call: &PastCall| same_input(&call) && by_then(&call) && call.ended.is_some_and(|ended| stamp.at <= ended);
        if by_input.is_none() && of_tool().any(ended) {
            return None;
        }
        // Two requests that name different inputs are two questions, and have two calls.
        let is_anothers = |call: &&PastCall| {
            let of_call = |question: &&OpenQuestion| question.call.as_ref() == Some(&call.id);
            self.questions
                .iter()
                .filter(of_call)
                .any(|owner| owner.source == source && owner.differs(&event.call.input))
        };
        let latest =
            || open().rev().find(|call| !is_owned(call)).or_else(|| open().rev().find(|call| !is_anothers(call)));
        match by_input.or_else(latest) {
            Some(call) if call.is_over(stamp) => None,
            call => Some((call.map(|call| call.id.clone()), by_input.is_some())),
        }
    }

    /// Rule 8, the other order: a call begins whose question came first.
    pub(super) fn link_question(&mut self, call: &event::Call, thread: &str, at: BootTime) {
        let Some(id) = &call.id else { return };
        if self.questions.iter().any(|question| question.call.as_ref() == Some(id)) {
            return;
        }
        let Some(of) = self.threads.get(thread) else { return };
        let past = of.call(id);
        let ended = past.and_then(|call| call.ended);
        let alive = past.is_none_or(|call| of.is_waiting(call));
        let waiting = |question: &&mut OpenQuestion| {
            question.source != Question::Tool
                && question.thread == thread
                && question.is_of_tool(&call.tool)
                && at <= question.asked.at + GONE_ON
                && ended.is_none_or(|ended| question.asked.at <= ended)
        };
        let same_input = |question: &OpenQuestion| question.input.is_some() && question.input == call.input;
        let mut candidates: Vec<_> = self.questions.iter_mut().filter(waiting).collect();
        let position = candidates
            .iter()
            .position(|question| !question.by_input && same_input(question))
            .or_else(|| candidates.iter().position(|question| question.call.is_none()).filter(|_| alive));
        if let Some(position) = position {
            let question = &mut candidates[position];
            question.by_input = same_input(question);
            question.call = Some(id.clone());
        }
    }

    /// Rule 8: what an event closes, late or not.
    pub(super) fn close_questions(&mut self, event: &Event, began: Option<BootTime>, thread: &str, stamp: Stamp) {
        match event.kind {
            Kind::PostToolUse => self.close_by_call(&event.call, began, thread, stamp),
            Kind::BatchEnd | Kind::Stop | Kind::PromptSubmit { .. } => self.close_thread(thread, stamp),
            // It ends the turn as a stop does; where it does not, the grace tells.
            Kind::Error { recoverable } if recoverable != Some(true) => self.close_thread(thread, stamp),
            Kind::Interrupt if thread.is_empty() => self.close_all_questions(stamp),
            Kind::Interrupt | Kind::SessionEnd { .. } => self.close_thread(thread, stamp),
            // Rule 11: it waits at its prompt, so its question was dismissed.
            Kind::Reminder => self.close_thread(thread, stamp),
            _ => {}
        }
    }

    /// Rule 8: a call has ended: its own question is closed, and those behind which its thread has gone on. Without an
    /// id, all of its thread's that were asked by then.
    fn close_by_call(&mut self, call: &event::Call, began: Option<BootTime>, thread: &str, stamp: Stamp) {
        let Some(id) = &call.id else {
            self.close_thread(thread, stamp);
            return;
        };
        // A call that had ended before the question was asked was only a guess.
        let wrong = |question: &&mut OpenQuestion| {
            question.call.as_ref() == Some(id) && !question.by_input && stamp.is_before(question.asked)
        };
        self.questions.iter_mut().filter(wrong).for_each(|question| question.call = None);
        let same_input = |question: &OpenQuestion| question.input.is_some() && question.input == call.input;
        let exact = self.questions.iter().any(|question| {
            question.thread == thread && question.call.is_none() && question.tool == call.tool && same_input(question)
        });
        self.questions.retain(|question| {
            let own = match &question.call {
                Some(known) => known == id,
                None if stamp.is_before(question.asked) => false,
                None if exact => question.tool == call.tool && same_input(question),
                // Of a call that was never seen to begin: it may well be the one that was asked about.
                None if question.tool.is_none() => began.is_none(),
                None => question.tool == call.tool,
            };
            question.thread != thread || !own
        });
        self.go_on(began, thread);
    }

    /// Rule 8: a call begins whose end or answer came first.
    pub(super) fn close_behind(&mut self, call: &event::Call, thread: &str) {
        let past = call.id.as_ref().and_then(|id| self.threads.get(thread)?.call(id));
        let Some(past) = past.cloned() else { return };
        self.questions.retain(|question| question.call.as_ref() != Some(&past.id) || !past.is_over(question.asked));
        self.go_on(past.ended.and(past.began), thread);
    }

    /// Rule 8: a call that began then has ended, so its thread has gone on behind every older question.
    pub(super) fn go_on(&mut self, began: Option<BootTime>, thread: &str) {
        let gone_on = |asked: Stamp| began.is_some_and(|began| began > asked.at + GONE_ON);
        self.questions.retain(|question| question.thread != thread || !gone_on(question.asked));
    }

    /// Rule 8: a prompt, the turn's or the batch's end closes what its thread had asked by then.
    pub(super) fn close_thread(&mut self, thread: &str, stamp: Stamp) {
        self.questions.retain(|question| question.thread != thread || stamp.is_before(question.asked));
        if let Some(thread) = self.thread_mut(thread) {
            thread.cleared = Some(stamp.or_later(thread.cleared));
        }
    }

    /// Rule 8: an answer closes its own question; one without a call id, all of its thread's.
    pub(super) fn answer(&mut self, event: &Event, stamp: Stamp) {
        let thread = event.thread.clone().unwrap_or_default();
        let Some(id) = &event.call.id else {
            self.close_thread(&thread, stamp);
            return;
        };
        self.questions.retain(|question| question.call.as_ref() != Some(id) || stamp.is_before(question.asked));
        if let Some(thread) = self.thread_mut(&thread) {
            thread.answer(&event.call, stamp);
        }
    }

    /// Rule 7 meets rule 8: a full list names the subagents that live; what others had asked by then is nobody's.
    pub(super) fn close_departed(&mut self, stamp: Stamp) {
        self.departed = Some(stamp.or_later(self.departed));
        let subagents = &self.subagents;
        self.questions.retain(|question| {
            question.thread.is_empty() || subagents.contains(&question.thread) || stamp.is_before(question.asked)
        });
    }

    /// Every thread's questions that were asked by then: the user interrupted, or the session is over.
    pub(super) fn close_all_questions(&mut self, stamp: Stamp) {
        self.questions.retain(|question| stamp.is_before(question.asked));
        self.cleared = Some(stamp.or_later(self.cleared));
    }
}
