// SPDX-License-Identifier: GPL-3.0-or-later
//! Owns the roster: carries out commands in their order, lets time pass, and tells the outputs what changed.
//!
//! Everything happens in steps on the main thread. A step changes the roster, then the watchers, the alarm and the
//! outputs follow it; no step runs inside another, for outputs can only send commands.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use gtk::glib;

use super::alarm::Alarm;
use super::claude::{Facts, StatusFiles};
use super::command::{Answer, Command, Delivery, Gone, Queue, Request};
use super::found::Finder;
use super::git::Git;
use super::journal::Journals;
use super::output::{Changed, Output};
use super::settings::Settings;
use super::watch::Watcher;
use super::{clock, proc};
use crate::agent;
use crate::event::{Event, Kind};
use crate::origin::{self, Here};
use crate::protocol::{ErrorName, Origin, Refusal};
use crate::roster::{Dirty, Publisher, Roster};
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Changes go out at once after quiet, then at most so often.
const PUBLISH_EVERY: Duration = Duration::from_millis(16);

/// After so long without a pause, the window gets its turn.
const TURN: Duration = Duration::from_millis(8);

/// The roster and what follows it.
pub struct Service {
    here: Here,
    finder: Finder,
    roster: RefCell<Roster>,
    publisher: RefCell<Publisher>,
    watcher: RefCell<Watcher>,
    status_files: Rc<StatusFiles>,
    journals: Journals,
    outputs: RefCell<Vec<Box<dyn Output>>>,
    git: Git,
    /// Without one (the system is out of descriptors) nothing happens by itself.
    alarm: Option<Alarm>,
    /// What has changed since the last publication, and when that was.
    unpublished: RefCell<Dirty>,
    published: Cell<Option<Instant>>,
    /// Whether a timer runs that will publish.
    publishing: Cell<bool>,
    me: Weak<Self>,
}

impl Service {
    /// Starts to carry out what comes through the queue. Must be called on the main thread.
    pub fn start(settings: &Settings, queue: &Queue, requests: async_channel::Receiver<Request>) -> Rc<Self> {
        let here = proc::here();
        let service = Rc::new_cyclic(|me| Self {
            finder: Finder::new(here.clone()),
            here,
            roster: RefCell::new(Roster::new(settings.roster())),
            publisher: RefCell::new(Publisher::new()),
            watcher: RefCell::new(Watcher::new(queue.clone())),
            status_files: StatusFiles::new(queue.clone()),
            journals: Journals::start(queue.clone()),
            outputs: RefCell::default(),
            git: Self::git(me.clone()),
            alarm: Self::alarm(me.clone()),
            unpublished: RefCell::default(),
            published: Cell::default(),
            publishing: Cell::default(),
            me: me.clone(),
        });
        let me = Rc::downgrade(&service);
        settings.follow(move |settings| {
            if let Some(service) = me.upgrade() {
                service.step(|roster, _| {
                    roster.set_settings(settings.roster());
                    roster.set_shows_hidden(settings.show_hidden());
                });
            }
        });
        glib::spawn_future_local(Self::serve(Rc::downgrade(&service), requests));
        service
    }

    /// Adds a reader.
    pub fn add_output(&self, output: impl Output + 'static) {
        self.outputs.borrow_mut().push(Box::new(output));
    }

    /// Everything, as it is now. All of it is published first: what comes and goes between a snapshot and the next
    /// publication would never be taken back from the reader.
    pub fn snapshot(&self, details: bool) -> Snapshot {
        if *self.unpublished.borrow() != Dirty::default() {
            self.publish();
        }
        self.roster.borrow().snapshot(self.publisher.borrow().serial(), details)
    }

    fn git(me: Weak<Self>) -> Git {
        Git::new(move |workspace, found| {
            if let Some(service) = me.upgrade() {
                service.step(|roster, _| roster.set_git(workspace, found.branch, found.dirty));
            }
        })
    }

    fn alarm(me: Weak<Self>) -> Option<Alarm> {
        let ring = move || {
            if let Some(service) = me.upgrade() {
                service.step(Roster::tick);
            }
        };
        Alarm::new(ring).inspect_err(|error| glib::g_critical!("vigil", "There is no timer: {error}")).ok()
    }

    /// Carries out one request after the other. Whoever waits, waits for those before it.
    async fn serve(weak: Weak<Self>, requests: async_channel::Receiver<Request>) {
        let mut began = Instant::now();
        while let Ok(request) = requests.recv().await {
            let Some(service) = weak.upgrade() else { return };
            let outcome = service.carry_out(request.command).await;
            (request.reply)(outcome);
            if began.elapsed() > TURN {
                // A queue that is never empty would keep the main loop from drawing.
                glib::timeout_future(Duration::from_millis(1)).await;
                began = Instant::now();
            } else if requests.is_empty() {
                began = Instant::now();
            }
        }
    }

    async fn carry_out(&self, command: Command) -> Result<Answer, Refusal> {
        match command {
            Command::Hook(delivery) => return self.hook(*delivery).await,
            Command::SetStatus { workspace, key, value, options } => {
                self.step(|roster, now| roster.set_status(&workspace, &key, &value, options, now))?;
            }
            Command::ClearStatus { workspace, key } => {
                self.step(|roster, now| roster.clear_status(&workspace, &key, now))?;
            }
            Command::SetSubagentCounts { workspace, key, subagents, background } => {
                self.step(|roster, now| roster.set_counts(&workspace, &key, subagents, background, now))?;
            }
            Command::SetProgress { workspace, value, label } => {
                self.step(|roster, now| roster.set_progress(&workspace, value, &label, now))?;
            }
            Command::AppendLog { workspace, level, message } => {
                self.step(|roster, now| roster.append_log(&workspace, &level, &message, now))?;
            }
            Command::GetSnapshot { details } => return self.snapshot_json(details),
            Command::Acknowledge { row } => self.step(|roster, now| roster.acknowledge(&row, now))?,
            Command::Dismiss { row } => self.step(|roster, now| roster.dismiss(&row, now))?,
            Command::Notify { .. } => return Err(not_available("Notify")),
            Command::Jump { .. } => return Err(not_available("Jump")),
            Command::NextAttention { after } => {
                return Ok(Answer::Row(self.roster.borrow().next_attention(after.as_deref())));
            }
            Command::Gone(Gone::Process(process)) => self.step(|roster, now| roster.process_gone(&process, now)),
            Command::Gone(Gone::Tty(tty)) => self.step(|roster, now| roster.tty_gone(&tty, now)),
            Command::Observed(event, origin) => self.observed(*event, origin.as_deref()).await,
        }
        Ok(Answer::Done)
    }

    async fn hook(&self, delivery: Delivery) -> Result<Answer, Refusal> {
        let Delivery { agent, event, payload, origin } = delivery;
        let cwd = payload.get("cwd").and_then(serde_json::Value::as_str);
        let found = self.finder.find(cwd, &origin).await;
        let event = agent::event(&agent::find(&agent), &event, &payload, &origin, &self.here, found)?;
        let facts = Facts::of(&event, &payload, &origin);
        self.apply(event);
        if let Some(facts) = facts {
            self.status_files.learn(facts);
        }
        self.journals.learn(&agent, &payload, &origin);
        Ok(Answer::Done)
    }

    async fn observed(&self, mut event: Event, origin: Option<&Origin>) {
        if let Some(origin) = origin {
            let cwd = event.place.cwd.take();
            let found = self.finder.find(cwd.as_deref(), origin).await;
            event.place = origin::place(&agent::find(&event.agent), origin, &self.here, found, None, None, cwd);
        }
        self.apply(event);
    }

    fn apply(&self, event: Event) {
        let works = matches!(
            event.kind,
            Kind::PostToolUse
                | Kind::BatchEnd
                | Kind::Stop
                | Kind::Interrupt
                | Kind::Error { .. }
                | Kind::SubagentStop
                | Kind::BackgroundStop(_)
                | Kind::SessionEnd { .. }
        );
        let (_, dirty) = self.change(|roster, now| roster.apply(event, now));
        if works {
            self.touch_work_trees(&dirty);
        }
        self.follow(dirty);
    }

    /// Has the work trees looked at in which something may have been written.
    fn touch_work_trees(&self, dirty: &Dirty) {
        let roster = self.roster.borrow();
        let rows = dirty.rows.iter().filter_map(|row| Some(roster.row_view(row, false)?.0));
        let touched: BTreeSet<String> = rows.chain(dirty.workspaces.iter().cloned()).collect();
        touched.iter().for_each(|workspace| self.git.touch(workspace));
    }

    fn snapshot_json(&self, details: bool) -> Result<Answer, Refusal> {
        serde_json::to_string(&self.snapshot(details)).map(Answer::Snapshot).map_err(|error| {
            glib::g_critical!("vigil", "Cannot write the snapshot: {error}");
            Refusal::new(ErrorName::NotAvailable, "The snapshot cannot be written")
        })
    }

    /// One step: changes the roster, and has everything follow.
    fn step<T>(&self, change: impl FnOnce(&mut Roster, Now) -> T) -> T {
        let (outcome, dirty) = self.change(change);
        self.follow(dirty);
        outcome
    }

    fn change<T>(&self, change: impl FnOnce(&mut Roster, Now) -> T) -> (T, Dirty) {
        let mut roster = self.roster.borrow_mut();
        let outcome = change(&mut roster, clock::now());
        (outcome, roster.take_dirty())
    }

    /// Brings watchers, alarm and outputs up to the roster.
    fn follow(&self, dirty: Dirty) {
        let (due, watched, folders) = {
            let mut roster = self.roster.borrow_mut();
            (roster.take_due(), roster.take_watched(), roster.take_folders())
        };
        if let Some(watched) = watched {
            self.watcher.borrow_mut().sync(&watched);
            self.status_files.sync(&watched);
        }
        if let Some(folders) = folders {
            self.git.sync(&folders);
        }
        if let Some(alarm) = &self.alarm {
            alarm.set(self.roster.borrow().next_deadline());
        }
        let mut unpublished = self.unpublished.borrow_mut();
        unpublished.rows.extend(dirty.rows);
        unpublished.workspaces.extend(dirty.workspaces);
        drop(unpublished);
        self.publish_soon();
        let outputs = self.outputs.borrow();
        for event in &due.state_events {
            outputs.iter().for_each(|output| output.state_event(event));
        }
        for alert in &due.alerts {
            outputs.iter().for_each(|output| output.alert(alert));
        }
    }

    /// Publishes at once, unless it did so a moment ago.
    fn publish_soon(&self) {
        if *self.unpublished.borrow() == Dirty::default() || self.publishing.get() {
            return;
        }
        let rest = self.published.get().map(|at| PUBLISH_EVERY.saturating_sub(at.elapsed())).unwrap_or_default();
        if rest.is_zero() {
            return self.publish();
        }
        self.publishing.set(true);
        let me = self.me.clone();
        glib::timeout_add_local_once(rest, move || {
            if let Some(service) = me.upgrade() {
                service.publishing.set(false);
                service.publish();
            }
        });
    }

    fn publish(&self) {
        self.published.set(Some(Instant::now()));
        let dirty = self.unpublished.take();
        let roster = self.roster.borrow();
        let published = self.publisher.borrow_mut().publish(&roster, &dirty);
        let published = published.as_ref().map(|(serial, changes)| (*serial, changes.as_slice()));
        let changed = Changed { roster: &roster, dirty: &dirty, published };
        self.outputs.borrow().iter().for_each(|output| output.changed(&changed));
    }
}

fn not_available(member: &str) -> Refusal {
    Refusal::new(ErrorName::NotAvailable, format!("{member} is not available yet"))
}
