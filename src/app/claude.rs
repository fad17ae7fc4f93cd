// SPDX-License-Identifier: GPL-3.0-or-later
//! Watches what Claude Code writes of itself, for what its hooks do not tell: answers, refusals, Esc.
//!
//! Each of its processes keeps a status file in its configuration's folder `sessions`; one inotify watches those
//! folders while the roster watches such a process, and only files of those processes are read. Where a process keeps
//! none (older versions, print mode), the end of its transcript is followed, for the record of an interruption. What a
//! hook claims of folders and files is only a claim: see `files`. Nothing is polled.

mod facts;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtk::{gio, glib};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::clock;
use super::command::Queue;
use super::fd::FdWatch;
use super::files;
use crate::agent::claude::status::{self, Report};
use crate::event::{Observed, Process};
use crate::roster::Watched;

pub use facts::Facts;

/// A file is read when it has been at rest for so long: between two dialogs it says for a moment that the agent works.
const SETTLED: Duration = Duration::from_millis(150);

/// One that never rests is read so long after its first change.
const AT_LAST: Duration = Duration::from_millis(500);

/// A transcript that is followed.
#[derive(Debug)]
struct Tail {
    name: PathBuf,
    tail: Arc<Mutex<files::Tail>>,
    watch: i32,
}

/// One process.
#[derive(Debug)]
struct Agent {
    facts: Facts,
    /// The inotify watch of the folder that holds its status file.
    watch: Option<i32>,
    /// Whether it has a status file, which makes the transcript needless.
    has_status: bool,
    tail: Option<Tail>,
    /// The watch of the folder in which the transcript will be made: after its session's first prompt.
    coming: Option<i32>,
    /// The first and the last change that has not been looked at.
    changed: Option<(Instant, Instant)>,
    /// Whether a task runs that will look.
    looking: bool,
}

impl Agent {
    /// All of its inotify watches.
    fn watches(&self) -> impl Iterator<Item = i32> {
        [self.watch, self.coming, self.tail.as_ref().map(|tail| tail.watch)].into_iter().flatten()
    }
}

/// The files of all processes.
#[derive(Debug)]
pub struct StatusFiles {
    queue: Queue,
    watched: RefCell<BTreeSet<Process>>,
    agents: RefCell<BTreeMap<Process, Agent>>,
    /// There while there are agents.
    inotify: RefCell<Option<FdWatch>>,
    me: Weak<Self>,
}

impl StatusFiles {
    /// Watches nothing yet; what is seen is told to `queue`.
    pub fn new(queue: Queue) -> Rc<Self> {
        Rc::new_cyclic(|me| Self {
            queue,
            watched: RefCell::default(),
            agents: RefCell::default(),
            inotify: RefCell::default(),
            me: me.clone(),
        })
    }

    /// These processes are watched from now on; what is known of others is dropped.
    pub fn sync(&self, wanted: &BTreeSet<Watched>) {
        let processes: BTreeSet<Process> = wanted.iter().map(|watched| watched.process.clone()).collect();
        let gone: Vec<Agent> =
            self.agents.borrow_mut().extract_if(.., |process, _| !processes.contains(process)).map(|it| it.1).collect();
        self.watched.replace(processes);
        if self.agents.borrow().is_empty() {
            self.inotify.take();
        } else {
            gone.iter().flat_map(Agent::watches).for_each(|watch| self.unwatch(Some(watch)));
        }
    }

    /// Takes what a hook has told. Its files are looked at too: what they say may be newer than the hook, and may have
    /// come before it.
    pub fn learn(&self, facts: Facts) {
        let process = facts.process.clone();
        if !self.watched.borrow().contains(&process) {
            return;
        }
        let mut agents = self.agents.borrow_mut();
        let mut left = Vec::new();
        match agents.get_mut(&process) {
            Some(known) => {
                let same = known.facts.session == facts.session && known.facts.folder == facts.folder;
                let kept = known.facts.transcript.take().filter(|_| same);
                if known.facts.folder != facts.folder {
                    left = known.watches().collect();
                    (known.watch, known.tail, known.coming, known.has_status) = (None, None, None, false);
                }
                known.facts = Facts { transcript: facts.transcript.or(kept), ..facts };
            }
            None => {
                let agent = Agent {
                    facts,
                    watch: None,
                    has_status: false,
                    tail: None,
                    coming: None,
                    changed: None,
                    looking: false,
                };
                agents.insert(process.clone(), agent);
            }
        }
        drop(agents);
        left.into_iter().for_each(|watch| self.unwatch(Some(watch)));
        self.touch(&process);
    }

    /// Has its files looked at when they have settled.
    fn touch(&self, process: &Process) {
        let mut agents = self.agents.borrow_mut();
        let Some(agent) = agents.get_mut(process) else { return };
        let now = Instant::now();
        agent.changed = Some((agent.changed.map_or(now, |(first, _)| first), now));
        if !std::mem::replace(&mut agent.looking, true) {
            glib::spawn_future_local(Self::look(self.me.clone(), process.clone()));
        }
    }

    /// Looks as long as something changes. It holds on to nothing while it waits.
    async fn look(me: Weak<Self>, process: Process) {
        while let Some(rest) = me.upgrade().and_then(|files| files.rest(&process)) {
            if !rest.is_zero() {
                glib::timeout_future(rest).await;
                continue;
            }
            let Some(facts) = me.upgrade().and_then(|files| files.begin(&process)) else { return };
            let unwatched = me.upgrade().is_some_and(|files| !files.is_watched(&process));
            if unwatched {
                let folder = facts.folder.clone();
                let opened = blocking(move || files::open_folder(&folder, Path::new("sessions"))).await;
                if let (Some(files), Some(fd)) = (me.upgrade(), opened) {
                    // Before it is read: what is written from now on is seen.
                    files.watch_folder(&process, &files::by_descriptor(&fd));
                }
            }
            let asked = facts.clone();
            let report = blocking(move || asked.read_status()).await;
            let Some(files) = me.upgrade() else { return };
            match report {
                Some(report) => files.reported(&facts, report),
                None => files.follow_transcript(&facts).await,
            }
        }
    }

    /// How long to wait before the next look; without one, its task ends.
    fn rest(&self, process: &Process) -> Option<Duration> {
        let mut agents = self.agents.borrow_mut();
        let agent = agents.get_mut(process)?;
        let Some((first, last)) = agent.changed else {
            agent.looking = false;
            return None;
        };
        Some(SETTLED.saturating_sub(last.elapsed()).min(AT_LAST.saturating_sub(first.elapsed())))
    }

    fn begin(&self, process: &Process) -> Option<Facts> {
        let mut agents = self.agents.borrow_mut();
        let agent = agents.get_mut(process)?;
        agent.changed = None;
        Some(agent.facts.clone())
    }

    fn is_watched(&self, process: &Process) -> bool {
        self.agents.borrow().get(process).is_some_and(|agent| agent.watch.is_some())
    }

    fn watch_folder(&self, process: &Process, path: &Path) {
        let flags = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR;
        let watch = self.watch(path, flags);
        match self.agents.borrow_mut().get_mut(process) {
            Some(agent) => agent.watch = watch,
            None => self.unwatch(watch),
        }
    }

    fn reported(&self, facts: &Facts, report: Report) {
        let known = self.agents.borrow_mut().get_mut(&facts.process).map(|agent| {
            agent.has_status = true;
            [agent.tail.take().map(|tail| tail.watch), agent.coming.take()]
        });
        let Some(left) = known else { return };
        left.into_iter().for_each(|watch| self.unwatch(watch));
        // Of another session it will be said when a hook has told of that.
        if report.session == facts.session {
            self.tell(&report.session, report.observed, report.updated_ms);
        }
    }

    /// Without a status file.
    async fn follow_transcript(&self, facts: &Facts) {
        let process = &facts.process;
        let Some(name) = facts.transcript.clone() else { return };
        let (followed, left) = match self.agents.borrow_mut().get_mut(process) {
            Some(agent) if !agent.has_status => {
                let left = agent.tail.take_if(|tail| tail.name != name).map(|tail| tail.watch);
                (agent.tail.as_ref().map(|tail| tail.tail.clone()), left)
            }
            _ => return,
        };
        self.unwatch(left);
        let Some(tail) = followed else { return self.find_transcript(facts, name).await };
        let told = blocking(move || {
            let mut told = None;
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.read(|line| told = status::interruption(line).or(told.take()));
            told
        });
        let told = told.await;
        if let Some((session, at)) = told.filter(|(session, _)| *session == facts.session) {
            self.tell(&session, Observed::Idle, at);
        }
    }

    async fn find_transcript(&self, facts: &Facts, name: PathBuf) {
        let (top, asked) = (facts.folder.clone(), Path::new("projects").join(&name));
        let awaited = self.agents.borrow().get(&facts.process).is_some_and(|agent| agent.coming.is_some());
        let found = blocking(move || {
            if let Some(file) = files::open_file(&top, &asked) {
                // One that was there is followed from its end: what stands in it was before. One that was waited for is
                // new, and so is all in it.
                let tail = if awaited { files::Tail::new(file) } else { files::Tail::at_end(file, 0)? };
                return Some(Ok(tail));
            }
            asked.ancestors().skip(1).find_map(|folder| files::open_folder(&top, folder)).map(Err)
        });
        let (tail, watch) = match found.await {
            Some(Ok(tail)) => {
                let watch = self.watch(&files::by_descriptor(tail.file()), WatchFlags::MODIFY);
                (Some(tail), watch)
            }
            Some(Err(folder)) => {
                let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
                (None, self.watch(&files::by_descriptor(&folder), flags))
            }
            None => return,
        };
        let Some(watch) = watch else { return };
        let mut agents = self.agents.borrow_mut();
        let Some(agent) = agents.get_mut(&facts.process) else {
            drop(agents);
            return self.unwatch(Some(watch));
        };
        let before = agent.coming.take();
        match tail {
            Some(tail) => agent.tail = Some(Tail { name, tail: Arc::new(Mutex::new(tail)), watch }),
            None => agent.coming = Some(watch),
        }
        drop(agents);
        if before != Some(watch) {
            self.unwatch(before);
            // It may have come, or been written to, before it was watched.
            self.touch(&facts.process);
        }
    }

    fn tell(&self, session: &str, observed: Observed, wall_ms: i64) {
        self.queue.observed(status::event(session, observed, wall_ms, clock::now()), None);
    }

    fn watch(&self, path: &Path, flags: WatchFlags) -> Option<i32> {
        if self.agents.borrow().is_empty() {
            return None;
        }
        let mut inotify = self.inotify.borrow_mut();
        let fd = match &mut *inotify {
            Some(fd) => fd,
            none => none.insert(self.open().inspect_err(complain).ok()?),
        };
        inotify::add_watch(fd.fd(), path, flags).inspect_err(complain).ok()
    }

    fn open(&self) -> rustix::io::Result<FdWatch> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let me = self.me.clone();
        Ok(FdWatch::new(fd, move |fd| {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = inotify::Reader::new(fd, &mut buffer);
            while let (Ok(event), Some(files)) = (events.next(), me.upgrade()) {
                let name = event.file_name().and_then(|name| name.to_str().ok());
                files.changed(event.wd(), event.events(), name);
            }
            glib::ControlFlow::Continue
        }))
    }

    fn changed(&self, watch: i32, what: ReadFlags, name: Option<&str>) {
        let mut touched = Vec::new();
        for (process, agent) in &mut *self.agents.borrow_mut() {
            let own = agent.watch == Some(watch);
            if what.contains(ReadFlags::IGNORED) {
                // It has gone; the next hook looks for another.
                agent.watch = agent.watch.filter(|_| !own);
                agent.coming.take_if(|coming| *coming == watch);
                agent.tail.take_if(|tail| tail.watch == watch);
            } else if what.contains(ReadFlags::QUEUE_OVERFLOW)
                || (own && name.is_some_and(|name| name.strip_suffix(".json") == Some(&process.pid.to_string())))
                || (!own && agent.watches().any(|one| one == watch))
            {
                touched.push(process.clone());
            }
        }
        touched.iter().for_each(|process| self.touch(process));
    }

    /// Ends a watch that nobody uses any more.
    fn unwatch(&self, watch: Option<i32>) {
        let Some(watch) = watch else { return };
        let used = self.agents.borrow().values().any(|agent| agent.watches().any(|one| one == watch));
        if let (false, Some(fd)) = (used, &*self.inotify.borrow()) {
            // One that has gone by itself is none.
            let _ = inotify::remove_watch(fd.fd(), watch);
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    gio::spawn_blocking(work).await.ok().flatten()
}

fn complain(error: &rustix::io::Errno) {
    glib::g_message!("vigil", "Cannot watch an agent's files: {error}");
}
