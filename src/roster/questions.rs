// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 8: open questions are a set. Each belongs to a thread and is known by its call id.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::order::Thread;
use super::session::{Moment, Session};
use crate::event::{self, Event, Question, Said};
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
    /// When its hook started.
    asked: BootTime,
    /// When we learnt of it.
    pub(super) opened: BootTime,
    pub(super) message: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) seen: bool,
    /// Whether its one alert is still to be decided.
    pub(super) alert: bool,
}

impl Session {
    /// Rule 8: a question was asked. Several signals for one question are one entry.
    ///
    /// Returns whether the signal meant anything at all.
    pub(super) fn ask(&mut self, source: Question, event: &Event, moment: Moment) -> bool {
        let thread = event.thread.clone().unwrap_or_default();
        if source == Question::Request {
            self.requests = true;
        }
        if source == Question::Notice && (self.requests || !self.questions.is_empty()) {
            return false;
        }
        let Some((call, by_input)) = self.call_of(source, event, &thread, moment.at) else {
            return true;
        };
        let same = self.questions.iter_mut().find(|question| {
            question.thread == thread
                && match (&call, &question.call) {
                    (Some(new), Some(known)) => new == known,
                    (None, _) if source == Question::Unified => true,
                    _ => question.tool == event.call.tool,
                }
        });
        if let Some(question) = same {
            question.call = call.or(question.call.take());
            question.by_input |= by_input;
            if let Said::Value(message) = &event.message {
                question.message = Some(message.clone());
            }
            return true;
        }
        if self.is_obsolete(&thread, moment.at) || self.questions.len() == QUESTIONS {
            return true;
        }
        self.questions.push(OpenQuestion {
            thread,
            call,
            by_input,
            tool: event.call.tool.clone(),
            input: event.call.input.clone(),
            source,
            asked: moment.at,
            opened: moment.now.boot,
            message: event.message.value().cloned(),
            detail: event.call.detail.clone(),
            seen: false,
            alert: !moment.stale,
        });
        true
    }

    /// Whether all that was asked by then has been closed since: the question came behind its own end.
    fn is_obsolete(&self, thread: &str, at: BootTime) -> bool {
        self.threads.get(thread).and_then(|thread| thread.cleared).is_some_and(|cleared| at < cleared)
    }

    /// The call that a question belongs to, and whether its input says so: its own id, else that of its thread's
    /// unfinished call of the same tool and input, else of the latest one of that tool.
    ///
    /// The outer `None` means that the call has ended meanwhile, and the question with it.
    fn call_of(&self, source: Question, event: &Event, thread: &str, at: BootTime) -> Option<(Option<String>, bool)> {
        let calls = self.threads.get(thread).map(|thread| &thread.calls);
        if let Some(id) = &event.call.id {
            let ended =
                self.threads.get(thread).and_then(|thread| thread.call(id)).is_some_and(|call| call.ended.is_some());
            return (!ended).then(|| (Some(id.clone()), true));
        }
        let (Question::Request, Some(tool), Some(calls)) = (source, &event.call.tool, calls) else {
            return Some((None, false));
        };
        let same_input = |input: &Option<String>| event.call.input.is_some() && *input == event.call.input;
        let is_owned = |id: &Option<String>| self.questions.iter().any(|question| question.call == *id);
        let of_tool = || calls.iter().filter(|call| call.tool.as_ref() == Some(tool) && call.id.is_some());
        let open = || of_tool().filter(|call| call.ended.is_none() && call.adoptable);
        let by_input = open()
            .find(|call| same_input(&call.input) && !is_owned(&call.id))
            .or_else(|| open().find(|call| same_input(&call.input)));
        if let Some(call) = by_input {
            return Some((call.id.clone(), true));
        }
        let over = |call: &&super::order::PastCall| {
            same_input(&call.input) && call.began <= at && call.ended.is_some_and(|ended| at <= ended)
        };
        if of_tool().any(|call| over(&call)) {
            return None;
        }
        let latest = open().rev().find(|call| !is_owned(&call.id)).or_else(|| open().next_back());
        Some((latest.and_then(|call| call.id.clone()), false))
    }

    /// Rule 8, the other order: a call begins whose question came first.
    pub(super) fn link_question(&mut self, call: &event::Call, thread: &str, at: BootTime) {
        let Some(id) = &call.id else { return };
        if self.questions.iter().any(|question| question.call.as_ref() == Some(id)) {
            return;
        }
        let waiting = |question: &&mut OpenQuestion| {
            question.source == Question::Request
                && question.thread == thread
                && question.tool == call.tool
                && at <= question.asked + GONE_ON
        };
        let same_input = |question: &OpenQuestion| question.input.is_some() && question.input == call.input;
        let mut candidates: Vec<_> = self.questions.iter_mut().filter(waiting).collect();
        let position = candidates
            .iter()
            .position(|question| !question.by_input && same_input(question))
            .or_else(|| candidates.iter().position(|question| question.call.is_none()));
        if let Some(position) = position {
            let question = &mut candidates[position];
            question.by_input = same_input(question);
            question.call = Some(id.clone());
        }
    }

    /// Rule 8: a call has ended: its own question is closed, and those behind which its thread has gone on. Without an
    /// id, all of its thread's that were asked by then.
    pub(super) fn close_by_call(&mut self, call: &event::Call, began: Option<BootTime>, thread: &str, at: BootTime) {
        let Some(id) = &call.id else {
            self.close_thread(thread, at);
            return;
        };
        self.questions.retain(|question| {
            let own = match &question.call {
                Some(known) => known == id,
                None => question.tool.is_some() && question.tool == call.tool && question.asked <= at,
            };
            let gone_on = began.is_some_and(|began| began > question.asked + GONE_ON);
            question.thread != thread || !(own || gone_on)
        });
    }

    /// Rule 8: a prompt, the turn's or the batch's end closes what its thread had asked by then.
    pub(super) fn close_thread(&mut self, thread: &str, at: BootTime) {
        self.questions.retain(|question| question.thread != thread || question.asked > at);
        if let Some(thread) = self.thread_mut(thread) {
            thread.cleared = thread.cleared.max(Some(at));
        }
    }

    /// Rule 8: an answer closes its own question; one without a call id, all of its thread's.
    pub(super) fn answer(&mut self, event: &Event, at: BootTime) {
        let thread = event.thread.clone().unwrap_or_default();
        match &event.call.id {
            Some(id) => self.questions.retain(|question| question.call.as_ref() != Some(id)),
            None => self.close_thread(&thread, at),
        }
    }

    /// Rule 7 meets rule 8: a full list names the subagents that live; the questions of others are nobody's.
    pub(super) fn close_departed(&mut self) {
        let subagents = &self.subagents;
        self.questions.retain(|question| question.thread.is_empty() || subagents.contains(&question.thread));
    }

    /// Every thread's questions: the user interrupted, or the session is over.
    pub(super) fn close_all_questions(&mut self, at: BootTime) {
        self.questions.clear();
        for thread in self.threads.values_mut() {
            let thread: &mut Thread = thread;
            thread.cleared = thread.cleared.max(Some(at));
        }
    }
}
