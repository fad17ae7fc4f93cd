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
    at: BootTime,
    seq: Option<i64>,
}

impl Stamp {
    pub(super) fn of(event: &Event, at: BootTime) -> Self {
        Self { at, seq: event.seq }
    }

    fn is_before(self, other: Self) -> bool {
        match (self.seq, other.seq) {
            (Some(own), Some(other)) => own < other,
            _ => self.at < other.at,
        }
    }
}

/// A tool call as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastCall {
    pub(super) id: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) input: Option<String>,
    pub(super) began: BootTime,
    pub(super) ended: Option<BootTime>,
    /// Whether a question without a call id may still take this call's (rule 8): not after the turn's end, or it
    /// would take a dead one.
    pub(super) adoptable: bool,
}

/// The main agent, or one subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thread {
    latest: Option<Stamp>,
    stopped: Option<BootTime>,
    /// When the latest event started that closed all of this thread's questions.
    pub(super) cleared: Option<BootTime>,
    pub(super) calls: VecDeque<PastCall>,
}

impl Thread {
    /// Rule 4: whether an event came late.
    pub(super) fn is_late(&self, event: &Event, at: BootTime) -> bool {
        let stamp = Stamp::of(event, at);
        self.latest.is_some_and(|latest| stamp.is_before(latest)) || self.belongs_to_the_ended_turn(event, at)
    }

    /// Rule 4: a tool's end whose call began before the stop is late whatever its own time.
    fn belongs_to_the_ended_turn(&self, event: &Event, at: BootTime) -> bool {
        let (Kind::PostToolUse | Kind::BatchEnd, Some(stopped)) = (&event.kind, self.stopped) else {
            return false;
        };
        match &event.call.id {
            Some(id) => self.call(id).is_some_and(|call| call.began < stopped),
            None => at.since(stopped) < AFTER_STOP,
        }
    }

    /// Takes note of a status event that was not late.
    pub(super) fn advance(&mut self, event: &Event, at: BootTime) {
        self.latest = Some(Stamp::of(event, at));
        match event.kind {
            Kind::Stop => self.stopped = Some(at),
            Kind::PromptSubmit { .. } => self.stopped = None,
            _ => {}
        }
        if matches!(event.kind, Kind::PromptSubmit { .. } | Kind::Stop | Kind::Interrupt) {
            self.calls.iter_mut().for_each(|call| call.adoptable = false);
        }
    }

    pub(super) fn call(&self, id: &str) -> Option<&PastCall> {
        self.calls.iter().rev().find(|call| call.id.as_deref() == Some(id))
    }

    /// Remembers the beginning of a call, once by its id.
    pub(super) fn begin(&mut self, call: &event::Call, at: BootTime, adoptable: bool) {
        if call.id.as_ref().is_some_and(|id| self.call(id).is_some()) {
            return;
        }
        if self.calls.len() == CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back(PastCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            began: at,
            ended: None,
            adoptable,
        });
    }

    /// Remembers the end of a call, and says when it began. Without an id, the latest open one of that tool ended.
    pub(super) fn end(&mut self, call: &event::Call, at: BootTime) -> Option<BootTime> {
        let ended = self.calls.iter_mut().rev().find(|past| match &call.id {
            Some(id) => past.id.as_ref() == Some(id),
            None => past.ended.is_none() && past.tool == call.tool,
        })?;
        ended.ended.get_or_insert(at);
        Some(ended.began)
    }
}
