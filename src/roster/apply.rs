// SPDX-License-Identifier: GPL-3.0-or-later
//! What one event does to its session, in order: facts, counters (rule 7), order (rule 4), questions (rule 8), the turn.

use super::Outcome;
use super::order::Thread;
use super::session::{Moment, Session};
use crate::agent::Agent;
use crate::event::{Event, Kind, Question};
use crate::time::BootTime;

/// How many threads of one session are followed.
const THREADS: usize = 64;

/// How many entries of a task list are counted.
const TASKS: usize = 1024;

impl Session {
    /// Applies one event that is known to belong here. The session's end is not decided here (rule 9).
    pub(super) fn apply(&mut self, agent: &Agent<'_>, event: Event, moment: Moment) -> Outcome {
        let moment = self.number(&event, moment);
        let thread = event.thread.clone().unwrap_or_default();
        let late = event.kind.is_status() && self.is_late(&event, moment);
        self.last_event = moment.now.boot;
        self.learn(&event, late, moment);
        self.count(agent, &event, moment);
        match event.kind {
            Kind::SessionRenamed => return Outcome::Applied,
            Kind::Answer => {
                self.answer(&event, moment.stamp);
                return Outcome::Applied;
            }
            Kind::Observed(observed) => return self.observe(observed, moment),
            Kind::Other => return Outcome::Recorded,
            _ if !event.kind.is_status() => return Outcome::Applied,
            _ => {}
        }
        let began = self.note_call(&event, &thread, moment.at);
        if late {
            self.settle_late(&event, began, &thread, moment);
            return Outcome::Late;
        }
        if thread.is_empty() && self.is_guarded(&event) {
            return Outcome::Guarded;
        }
        // A signal that means nothing here must not stand in the way of one that does.
        if let Kind::Question(source) = event.kind
            && !self.ask(source, &event, moment)
        {
            return Outcome::Recorded;
        }
        if let Some(thread) = self.thread_mut(&thread) {
            thread.advance(&event, moment.stamp);
            thread.turn(&event, moment.stamp);
        }
        self.close_questions(&event, began, &thread, moment.stamp);
        if thread.is_empty() {
            self.lift_guard(&event);
            self.move_turn(&event, moment);
        }
        Outcome::Applied
    }

    /// Rule 4: puts an event's number among those that its source counts now.
    pub(super) fn number(&mut self, event: &Event, moment: Moment) -> Moment {
        let latest = self.threads.get("").and_then(Thread::latest);
        Moment { stamp: moment.stamp.in_epoch(&mut self.epoch, event, latest), ..moment }
    }

    /// Rule 4: whether a status event came late.
    pub(super) fn is_late(&self, event: &Event, moment: Moment) -> bool {
        let thread = self.threads.get(event.thread.as_deref().unwrap_or_default());
        thread.is_some_and(|thread| thread.is_late(event, moment.stamp))
    }

    /// A thread by its id. Where there are too many, one is forgotten whose subagent is not counted, the longest silent
    /// of them; `None` when there is none such.
    pub(super) fn thread_mut(&mut self, id: &str) -> Option<&mut Thread> {
        if !self.threads.contains_key(id) && self.threads.len() >= THREADS {
            let over = self.threads.iter().filter(|(id, _)| !id.is_empty() && !self.subagents.contains(id));
            let silent = |thread: &Thread| thread.latest().or(thread.cleared).map(|stamp| stamp.at);
            let oldest = over.min_by_key(|(_, thread)| silent(thread)).map(|(id, _)| id.clone())?;
            self.threads.remove(&oldest);
        }
        Some(self.threads.entry(id.to_string()).or_default())
    }

    /// Facts that an event brings along: what was unknown is filled in once, what is said anew is written over.
    fn learn(&mut self, event: &Event, late: bool, moment: Moment) {
        let place = &event.place;
        // A resumed session has a new process, and says so at its start.
        let restarted = matches!(event.kind, Kind::SessionStart { .. } | Kind::PromptSubmit { .. })
            && event.thread.is_none()
            && !late
            && place.process.is_some()
            && self.process != place.process;
        if restarted && self.process.is_some() {
            // Rule 10: what the old process ran and asked has gone with it.
            self.clear_counters();
            self.close_all_questions(moment.stamp);
        }
        if restarted || self.process.is_none() && place.process.is_some() {
            self.process.clone_from(&place.process);
            self.tty.clone_from(&place.tty);
            self.pid = place.pid;
            self.tty_lost = None;
            self.surface = place.surface.clone().or(self.surface.take());
            self.host.clone_from(&place.host);
        }
        let fill = |known: &mut Option<String>, new: &Option<String>| {
            if known.is_none() {
                known.clone_from(new);
            }
        };
        fill(&mut self.surface, &place.surface);
        fill(&mut self.host, &place.host);
        fill(&mut self.cwd, &place.cwd);
        self.pid = self.pid.or(place.pid);
        if !late {
            event.title.clone().write(&mut self.title);
            event.model.clone().write(&mut self.model);
            self.hidden = event.hidden.unwrap_or(self.hidden);
        }
    }

    /// Rule 4: the call that an event begins or ends. Returns when the call that ended had begun.
    fn note_call(&mut self, event: &Event, thread: &str, at: BootTime) -> Option<BootTime> {
        match event.kind {
            Kind::PreToolUse | Kind::Question(Question::Tool) => {
                self.thread_mut(thread)?.begin(&event.call, at);
                self.link_question(&event.call, thread, at);
                self.close_behind(&event.call, thread);
                None
            }
            Kind::PostToolUse => self.thread_mut(thread)?.end(&event.call, at),
            _ => None,
        }
    }

    /// Rule 4: a late event settles its own call, question or counter, and nothing else.
    fn settle_late(&mut self, event: &Event, began: Option<BootTime>, thread: &str, moment: Moment) {
        if let Kind::Question(source) = event.kind {
            self.ask(source, event, moment);
        }
        if let Some(thread) = self.thread_mut(thread) {
            thread.turn(event, moment.stamp);
        }
        self.close_questions(event, began, thread, moment.stamp);
        if thread.is_empty() && matches!(event.kind, Kind::PromptSubmit { .. }) {
            self.match_stop(moment);
        }
    }

    /// Rule 7: counters follow their events whatever their order.
    fn count(&mut self, agent: &Agent<'_>, event: &Event, moment: Moment) {
        let before = self.subagents.count();
        let stamp = moment.stamp;
        match &event.kind {
            Kind::SubagentUpdate { subagents, background } => {
                subagents.map(|count| self.subagents.set(count, stamp));
                background.map(|count| self.background.set(count, stamp));
            }
            Kind::SubagentStart => self.subagents.start(event.thread.as_deref(), stamp),
            Kind::SubagentStop => {
                self.subagents.stop(event.thread.as_deref(), stamp);
                // Rule 8: with the subagent its questions go.
                if let Some(thread) = &event.thread {
                    self.close_thread(thread, stamp);
                }
            }
            Kind::BackgroundStart(id) => self.background.start(id.as_deref(), stamp),
            Kind::BackgroundStop(id) => self.background.stop(id.as_deref(), stamp),
            Kind::Task { id, done } if self.tasks.len() < TASKS || self.tasks.contains_key(id) => {
                *self.tasks.entry(id.clone()).or_default() |= done;
            }
            Kind::Stop | Kind::Interrupt if event.thread.is_none() => self.count_at_turn_end(agent, event, moment),
            _ => {}
        }
        if let Some(id) = &event.began {
            self.background.start(Some(id), stamp);
        }
        if self.counts().background == 0 {
            self.quiet_given = false;
        }
        // Rule 14: a finished alert waits for the later of the turn's end and its last subagent's.
        if before > 0
            && self.subagents.count() == 0
            && let Some(finish) = &mut self.finish
        {
            finish.since = moment.now.boot;
        }
    }

    /// Rule 7: what a turn's end says of the counters.
    fn count_at_turn_end(&mut self, agent: &Agent<'_>, event: &Event, moment: Moment) {
        match &event.tasks {
            Some(tasks) => {
                self.lists = true;
                let of_kind =
                    |subagent| tasks.iter().filter(move |task| task.subagent == subagent).map(|task| task.id.as_str());
                self.subagents.replace(of_kind(true), moment.stamp);
                self.background.replace(of_kind(false), moment.stamp);
                self.close_departed(moment.stamp);
            }
            // An interrupt brings no list; where lists are sent the next one will tell.
            None if event.kind == Kind::Interrupt && self.lists => {}
            None if agent.subagents_end_with_turn => {
                self.subagents.replace(std::iter::empty(), moment.stamp);
                self.close_departed(moment.stamp);
            }
            None => {}
        }
    }

    /// Rules 7 and 9: nothing runs any more.
    pub(super) fn clear_counters(&mut self) {
        self.subagents.clear();
        self.background.clear();
        self.tasks.clear();
        self.quiet_given = false;
    }
}
