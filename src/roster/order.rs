// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 4: order. Each thread knows when its latest status event started, and which tool calls it began.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::{self, Event, Kind};
use crate::time::BootTime;

/// A `post-tool-use` without a call id that started within this time of the stop belongs to the turn that ended.
const AFTER_STOP: Duration = Duration::from_secs(2);

/// How many calls of a thread are remembered.
const CALLS: usize = 64;

/// When an event started: by its source's own numbers where both have one, else by the boot clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) at: BootTime,
    seq: Option<i64>,
    /// The process whose numbers these are; those of another one are not compared.
    source: Option<(u32, u64)>,
    /// How often the source has begun to count anew.
    epoch: u32,
}

impl Stamp {
    pub(super) fn of(event: &Event, at: BootTime) -> Self {
        let source = event.place.process.as_ref().map(|process| (process.pid, process.start));
        Self { at, seq: event.seq, source, epoch: 0 }
    }

    /// A time without a number.
    pub(super) fn at(at: BootTime) -> Self {
        Self { at, seq: None, source: None, epoch: 0 }
    }

    /// The same in that epoch, or in the next one: a session's start that is younger than what was before and has a
    /// smaller number shows that its source has begun to count anew.
    pub(super) fn in_epoch(mut self, epoch: &mut u32, event: &Event, latest: Option<Self>) -> Self {
        self.epoch = *epoch;
        let begins = matches!(event.kind, Kind::SessionStart { .. }) && event.thread.is_none();
        if begins && latest.is_some_and(|latest| self.is_before(latest) && latest.at <= self.at) {
            *epoch = epoch.saturating_add(1);
            self.epoch = *epoch;
        }
        self
    }

    pub(super) fn is_before(self, other: Self) -> bool {
        match (self.seq, other.seq) {
            (Some(own), Some(others)) if (self.source, self.epoch) == (other.source, other.epoch) => own < others,
            _ => self.at < other.at,
        }
    }

    /// The later of two; arrival decides between equal ones.
    pub(super) fn or_later(self, other: Option<Self>) -> Self {
        other.filter(|other| self.is_before(*other)).unwrap_or(self)
    }
}

/// A tool call as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastCall {
    pub(super) id: String,
    pub(super) tool: Option<String>,
    pub(super) input: Option<String>,
    /// `None` when only its end or its answer has been seen.
    pub(super) began: Option<BootTime>,
    pub(super) ended: Option<BootTime>,
    /// When the latest question about it was answered (rule 8).
    pub(super) answered: Option<Stamp>,
}

/// The main agent, or one subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thread {
    /// The latest status event.
    latest: Option<Stamp>,
    /// The latest that is no tool use: after an interrupt, tool use would have been ignored (rule 3).
    latest_turn: Option<Stamp>,
    /// The latest that is no tool's end: behind a stop, the end of an older call would have been late.
    latest_work: Option<Stamp>,
    /// The latest tool's end without a call id.
    latest_nameless_end: Option<Stamp>,
    /// When its turn ended, until the next prompt.
    stopped: Option<BootTime>,
    /// The latest prompt, stop or interrupt: no call that began before it waits for an answer any more.
    turned: Option<BootTime>,
    /// When the latest event started that closed all of this thread's questions.
    pub(super) cleared: Option<Stamp>,
    pub(super) calls: VecDeque<PastCall>,
}

impl PastCall {
    /// Whether a question about it that was asked then is over.
    pub(super) fn is_over(&self, asked: Stamp) -> bool {
        self.ended.is_some() || self.answered.is_some_and(|answered| asked.is_before(answered))
    }
}

impl Thread {
    pub(super) fn latest(&self) -> Option<Stamp> {
        self.latest
    }

    /// Rule 4: whether an event came late. What an event would itself have made late, or what the guard would have
    /// ignored behind it, does not count against it.
    pub(super) fn is_late(&self, event: &Event, stamp: Stamp) -> bool {
        let after = |latest: Option<Stamp>| latest.is_some_and(|latest| stamp.is_before(latest));
        match event.kind {
            Kind::Interrupt => after(self.latest_turn),
            Kind::Stop => {
                let nameless = self.latest_nameless_end.filter(|end| end.at.since(stamp.at) >= AFTER_STOP);
                after(self.latest_work) || after(nameless)
            }
            _ => after(self.latest) || self.belongs_to_the_ended_turn(event, stamp.at),
        }
    }

    /// Rule 4: a tool's end whose call began before the stop is late whatever its own time.
    fn belongs_to_the_ended_turn(&self, event: &Event, at: BootTime) -> bool {
        let (Kind::PostToolUse | Kind::BatchEnd, Some(stopped)) = (&event.kind, self.stopped) else {
            return false;
        };
        match &event.call.id {
            Some(id) => self.call(id).and_then(|call| call.began).is_some_and(|began| began < stopped),
            None => at.since(stopped) < AFTER_STOP,
        }
    }

    /// Takes note of a status event that was not late.
    pub(super) fn advance(&mut self, event: &Event, stamp: Stamp) {
        self.latest = Some(stamp);
        match event.kind {
            Kind::PreToolUse | Kind::Question(event::Question::Tool) => self.latest_work = Some(stamp),
            Kind::PostToolUse | Kind::BatchEnd => match &event.call.id {
                Some(id) if self.call(id).is_some_and(|call| call.began.is_some()) => {}
                Some(_) => self.latest_work = Some(stamp),
                None => self.latest_nameless_end = Some(stamp),
            },
            _ => {
                (self.latest_turn, self.latest_work) = (Some(stamp), Some(stamp));
                self.latest_nameless_end = None;
            }
        }
        match event.kind {
            Kind::Stop => self.stopped = Some(stamp.at),
            Kind::PromptSubmit { .. } => self.stopped = None,
            _ => {}
        }
    }

    /// Takes note of a turn's bound, late or not: an interrupt or a stop from before it is of an older turn.
    pub(super) fn turn(&mut self, event: &Event, stamp: Stamp) {
        if matches!(event.kind, Kind::PromptSubmit { .. } | Kind::Stop | Kind::Interrupt) {
            self.turned = self.turned.max(Some(stamp.at));
            self.latest_turn = Some(stamp.or_later(self.latest_turn));
            self.latest_work = Some(stamp.or_later(self.latest_work));
        }
    }

    /// Whether a question may still wait for that call.
    pub(super) fn is_waiting(&self, call: &PastCall) -> bool {
        call.ended.is_none() && call.began.is_some_and(|began| self.turned.is_none_or(|turned| began >= turned))
    }

    pub(super) fn call(&self, id: &str) -> Option<&PastCall> {
        self.calls.iter().rev().find(|call| call.id == id)
    }

    /// The memory of a call, made if need be; `None` for one without an id, which nothing could find again.
    fn call_mut(&mut self, call: &event::Call) -> Option<&mut PastCall> {
        let id = call.id.as_ref()?;
        let position = self.calls.iter().rposition(|past| past.id == *id).unwrap_or_else(|| {
            if self.calls.len() == CALLS {
                self.calls.pop_front();
            }
            let (tool, input) = (call.tool.clone(), call.input.clone());
            self.calls.push_back(PastCall { id: id.clone(), tool, input, began: None, ended: None, answered: None });
            self.calls.len() - 1
        });
        self.calls.get_mut(position)
    }

    /// Remembers the beginning of a call, once by its id.
    pub(super) fn begin(&mut self, call: &event::Call, at: BootTime) {
        let Some(past) = self.call_mut(call) else { return };
        if past.began.is_none() {
            past.began = Some(at);
            past.tool.clone_from(&call.tool);
            past.input.clone_from(&call.input);
        }
    }

    /// Remembers the end of a call, and says when it began.
    pub(super) fn end(&mut self, call: &event::Call, at: BootTime) -> Option<BootTime> {
        let past = self.call_mut(call)?;
        past.ended.get_or_insert(at);
        past.began
    }

    /// Remembers that a question about a call was answered.
    pub(super) fn answer(&mut self, call: &event::Call, stamp: Stamp) {
        if let Some(past) = self.call_mut(call) {
            past.answered = Some(stamp.or_later(past.answered));
        }
    }
}
