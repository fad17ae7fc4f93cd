// SPDX-License-Identifier: GPL-3.0-or-later
//! One session of an agent: its turn, its threads, what is open and what the user has not seen.
//!
//! Everything here speaks of one session alone. Which session an event belongs to, and what becomes of its row, is
//! decided elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Outcome;
use super::counters::Counter;
use super::order::Thread;
use super::questions::OpenQuestion;
use crate::agent::Agent;
use crate::event::{Event, Kind, Place, Process, Question, Said};
use crate::status::{Counts, Status};
use crate::time::{BootTime, Now};

/// How many threads of one session are followed.
const THREADS: usize = 256;

/// How many entries of a task list are counted.
const TASKS: usize = 1024;

/// When an event happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// When its hook started.
    pub(super) at: BootTime,
    /// The present.
    pub(super) now: Now,
    /// Whether it is too old for an alert (rule 13).
    pub(super) stale: bool,
    /// How long an error that may pass has to pass (rule 5).
    pub(super) grace: Duration,
}

/// The main turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Turn {
    /// It is being worked on.
    Running,
    /// It is over.
    Idle,
    /// It ended in an error.
    Failed,
}

/// Rule 5: an error that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grace {
    /// When the error's hook started.
    pub(super) at: BootTime,
    /// When it has lasted too long.
    pub(super) deadline: BootTime,
}

/// A turn's end whose alert is still to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finish {
    /// When we learnt of the turn's end, or of its last subagent's.
    pub(super) since: BootTime,
    /// Too old for an alert (rule 13).
    pub(super) stale: bool,
}

/// What is unseen, apart from questions, which know it of themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unseen {
    pub(super) finished: bool,
    pub(super) failed: bool,
}

/// Why a session that has ended still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Life {
    /// It lives.
    Alive,
    /// Rule 9: its end announced a successor.
    AwaitsSuccessor,
    /// Rule 9: it ended, and its agent does not clear on end.
    Ended,
    /// Rule 10: its process died; it stands until then, or until it is seen.
    Dead(BootTime),
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) life: Life,
    pub(super) hidden: bool,
    pub(super) nested: bool,
    pub(super) surface: Option<String>,
    pub(super) process: Option<Process>,
    pub(super) tty: Option<String>,
    /// Rule 10: its terminal has gone; its process has until then to say good-bye.
    pub(super) tty_lost: Option<BootTime>,
    pub(super) pid: Option<u32>,
    pub(super) host: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) title: Option<String>,
    pub(super) model: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) detail: Option<String>,

    pub(super) turn: Turn,
    /// Rule 1: from a Running event to the next stop, interrupt or failure.
    pub(super) turn_open: bool,
    /// Rule 1: a stop that closed no open turn, whose prompt may still arrive behind it.
    pub(super) unmatched_stop: Option<BootTime>,
    /// Rule 3.
    pub(super) interrupted: bool,
    pub(super) grace: Option<Grace>,
    pub(super) unseen: Unseen,
    pub(super) finish: Option<Finish>,
    /// Rule 14: a silent alert went out, and background work has run ever since.
    pub(super) quiet_given: bool,
    /// Rule 5: a failure whose one alert is still to be decided.
    pub(super) failure_alert: bool,

    pub(super) threads: BTreeMap<String, Thread>,
    pub(super) questions: Vec<OpenQuestion>,
    /// Rule 8: it has sent permission requests, so notices about them are nothing new.
    pub(super) requests: bool,
    pub(super) subagents: Counter,
    pub(super) background: Counter,
    /// Rule 7: it sends full lists of what runs, so the next one will tell.
    lists: bool,
    pub(super) tasks: BTreeMap<String, bool>,

    /// The status it shows, and since when.
    pub(super) shown: Status,
    pub(super) since: Now,
    /// Counts up with each status event in the whole roster: the larger, the later.
    pub(super) updated: u64,
    pub(super) last_event: BootTime,
}

impl Session {
    /// A session not seen before. Until its first event says otherwise its turn counts as open (rule 1).
    pub(super) fn new(id: String, place: &Place, now: Now) -> Self {
        Self {
            id,
            life: Life::Alive,
            hidden: false,
            nested: false,
            surface: place.surface.clone(),
            process: place.process.clone(),
            tty: place.tty.clone().filter(|_| place.process.is_some()),
            tty_lost: None,
            pid: place.pid,
            host: place.host.clone(),
            cwd: place.cwd.clone(),
            title: None,
            model: None,
            message: None,
            tool: None,
            detail: None,
            turn: Turn::Running,
            turn_open: true,
            unmatched_stop: None,
            interrupted: false,
            grace: None,
            unseen: Unseen::default(),
            finish: None,
            quiet_given: false,
            failure_alert: false,
            threads: BTreeMap::new(),
            questions: Vec::new(),
            requests: false,
            subagents: Counter::default(),
            background: Counter::default(),
            lists: false,
            tasks: BTreeMap::new(),
            shown: Status::Running,
            since: now,
            updated: 0,
            last_event: now.boot,
        }
    }

    /// The status: Needs input while any question is open, else the main turn's (rule 8).
    pub(super) fn status(&self) -> Status {
        match self.turn {
            _ if !self.questions.is_empty() => Status::NeedsInput,
            Turn::Running => Status::Running,
            Turn::Idle => Status::Idle,
            Turn::Failed => Status::Failed,
        }
    }

    pub(super) fn counts(&self) -> Counts {
        Counts { subagents: self.subagents.count(), background: self.background.count() }
    }

    /// Whether its process is watched.
    pub(super) fn is_watched(&self) -> bool {
        self.process.is_some() && !matches!(self.life, Life::Dead(_))
    }

    /// A thread by its id; `None` only when there are too many of them.
    pub(super) fn thread_mut(&mut self, id: &str) -> Option<&mut Thread> {
        if !self.threads.contains_key(id) && self.threads.len() >= THREADS {
            let idle = self.threads.keys().find(|id| !id.is_empty() && !self.subagents.contains(id)).cloned()?;
            self.threads.remove(&idle);
        }
        Some(self.threads.entry(id.to_string()).or_default())
    }

    /// Applies one event that is known to belong here. Its end is not decided here (rule 9).
    pub(super) fn apply(&mut self, agent: &Agent<'_>, event: Event, moment: Moment) -> Outcome {
        self.last_event = moment.now.boot;
        self.learn(&event);
        self.count(agent, &event, moment);
        match event.kind {
            Kind::SessionRenamed => return Outcome::Applied,
            Kind::Answer => {
                self.answer(&event, moment.at);
                return Outcome::Applied;
            }
            Kind::Other => return Outcome::Recorded,
            _ if !event.kind.is_status() => return Outcome::Applied,
            _ => {}
        }
        let thread = event.thread.clone().unwrap_or_default();
        if self.threads.get(&thread).is_some_and(|thread| thread.is_late(&event, moment.at)) {
            self.settle_late(&event, &thread, moment);
            return Outcome::Late;
        }
        let began = self.note_call(&event, &thread, moment.at);
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
            thread.advance(&event, moment.at);
        }
        self.close_questions(&event, began, &thread, moment.at);
        if thread.is_empty() {
            self.lift_guard(&event);
            self.move_turn(agent, &event, moment);
        }
        Outcome::Applied
    }

    /// Facts that an event brings along: what was unknown is filled in once, what is said anew is written over.
    fn learn(&mut self, event: &Event) {
        let place = &event.place;
        // A resumed session has a new process, and says so at its start.
        let restarted = matches!(event.kind, Kind::SessionStart { .. } | Kind::PromptSubmit { .. })
            && place.process.is_some()
            && self.process != place.process;
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
        event.title.clone().write(&mut self.title);
        event.model.clone().write(&mut self.model);
        self.hidden = event.hidden.unwrap_or(self.hidden);
    }

    /// Rule 4: the call that an event begins or ends. Returns when the call that ended had begun.
    fn note_call(&mut self, event: &Event, thread: &str, at: BootTime) -> Option<BootTime> {
        let begins = matches!(event.kind, Kind::PreToolUse | Kind::Question(Question::Tool));
        let guarded = self.interrupted && thread.is_empty();
        if begins {
            self.thread_mut(thread)?.begin(&event.call, at, !guarded);
            self.link_question(&event.call, thread, at);
            None
        } else if event.kind == Kind::PostToolUse {
            self.thread_mut(thread)?.end(&event.call, at)
        } else {
            None
        }
    }

    /// Rule 4: a late event settles its own call, question or counter, and nothing else.
    fn settle_late(&mut self, event: &Event, thread: &str, moment: Moment) {
        let began = self.note_call(event, thread, moment.at);
        match event.kind {
            Kind::Question(source) => {
                self.ask(source, event, moment);
            }
            Kind::PostToolUse => self.close_by_call(&event.call, began, thread, moment.at),
            Kind::BatchEnd | Kind::Stop | Kind::Interrupt => self.close_thread(thread, moment.at),
            Kind::PromptSubmit { .. } => {
                self.close_thread(thread, moment.at);
                if thread.is_empty() {
                    self.match_stop(moment);
                }
            }
            _ => {}
        }
    }

    /// Rule 8: what an event closes.
    fn close_questions(&mut self, event: &Event, began: Option<BootTime>, thread: &str, at: BootTime) {
        match event.kind {
            Kind::PostToolUse => self.close_by_call(&event.call, began, thread, at),
            Kind::BatchEnd | Kind::Stop | Kind::PromptSubmit { .. } => self.close_thread(thread, at),
            Kind::Error { recoverable } if recoverable != Some(true) => self.close_thread(thread, at),
            Kind::Interrupt if thread.is_empty() => self.close_all_questions(at),
            Kind::Interrupt => self.close_thread(thread, at),
            // Rule 11: it waits at its prompt, so its question was dismissed.
            Kind::Reminder => self.close_thread(thread, at),
            Kind::SessionStart { waiting: true } => self.close_all_questions(at),
            _ => {}
        }
    }

    /// Rule 7: counters follow their events whatever their order.
    fn count(&mut self, agent: &Agent<'_>, event: &Event, moment: Moment) {
        let before = self.subagents.count();
        match &event.kind {
            Kind::SubagentUpdate { subagents, background } => {
                subagents.map(|count| self.subagents.set(count));
                background.map(|count| self.background.set(count));
            }
            Kind::SubagentStart => self.subagents.start(event.thread.as_deref(), moment.at),
            Kind::SubagentStop => {
                self.subagents.stop(event.thread.as_deref(), moment.at);
                // Rule 8: with the subagent its questions go.
                if let Some(thread) = &event.thread {
                    self.close_thread(thread, moment.at);
                }
            }
            Kind::BackgroundStart(id) => self.background.start(id.as_deref(), moment.at),
            Kind::BackgroundStop(id) => self.background.stop(id.as_deref(), moment.at),
            Kind::Task { id, done } => {
                if self.tasks.len() < TASKS || self.tasks.contains_key(id) {
                    *self.tasks.entry(id.clone()).or_default() |= done;
                }
            }
            Kind::Stop | Kind::Interrupt if event.thread.is_none() => self.count_at_turn_end(agent, event, moment),
            _ => {}
        }
        if let Some(id) = &event.began {
            self.background.start(Some(id), moment.at);
        }
        if self.background.count() == 0 {
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

    /// Rule 7: what a turn's end says of the counters. A late list is an old one.
    fn count_at_turn_end(&mut self, agent: &Agent<'_>, event: &Event, moment: Moment) {
        let late = self.threads.get("").is_some_and(|thread| thread.is_late(event, moment.at));
        match &event.tasks {
            _ if late => {}
            Some(tasks) => {
                self.lists = true;
                let of_kind =
                    |subagent| tasks.iter().filter(move |task| task.subagent == subagent).map(|task| task.id.as_str());
                self.subagents.replace(of_kind(true));
                self.background.replace(of_kind(false));
                self.close_departed();
            }
            // An interrupt brings no list; where lists are sent the next one will tell.
            None if event.kind == Kind::Interrupt && self.lists => {}
            None if agent.subagents_end_with_turn => {
                self.subagents.clear();
                self.close_departed();
            }
            None => {}
        }
    }

    /// What the event says, for the row; a status event's message replaces the one before.
    pub(super) fn say(&mut self, message: &Said<String>) {
        message.clone().write(&mut self.message);
    }

    /// Rules 7 and 9: nothing runs any more.
    pub(super) fn clear_counters(&mut self) {
        self.subagents.clear();
        self.background.clear();
        self.tasks.clear();
        self.quiet_given = false;
    }
}
