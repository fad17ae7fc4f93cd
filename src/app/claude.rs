// SPDX-License-Identifier: GPL-3.0-or-later
//! Watches what Claude Code writes of itself, for what its hooks do not tell: answers, refusals, Esc.
//!
//! Each of its processes keeps a status file in its configuration's folder `sessions`; one inotify watches those
//! folders while the roster watches such a process, and only files of those processes are read. Where a process keeps
//! none (older versions, print mode), the end of its transcript is followed, for the record of an interruption. What a
//! hook claims of folders and files is only a claim: see [`files`]. Nothing is polled.

mod files;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtk::{gio, glib};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use serde_json::{Map, Value};

use super::clock;
use super::command::Queue;
use super::fd::FdWatch;
use crate::agent::claude::status::{self, Report};
use crate::event::{Event, Observed, Process};
use crate::protocol::Origin;
use crate::roster::Watched;

/// A file is read when it has been at rest for so long: between two dialogs it says for a moment that the agent works.
const SETTLED: Duration = Duration::from_millis(150);

/// One that never rests is read so long after its first change.
const AT_LAST: Duration = Duration::from_millis(500);

/// What a hook says of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    process: Process,
    /// The folder of its configuration.
    folder: PathBuf,
    session: String,
    /// Below the folder's `projects`.
    transcript: Option<PathBuf>,
}

impl Facts {
    /// What an event tells, if it is one of Claude Code's and its process may be watched.
    pub fn of(event: &Event, payload: &Map<String, Value>, origin: &Origin) -> Option<Self> {
        if event.agent != "claude" {
            return None;
        }
        let variable = |name: &str| origin.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME").unwrap_or_else(glib::home_dir);
        let folder = variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home().join(".claude"));
        let transcript = payload.get("transcript_path").and_then(Value::as_str);
        let transcript = transcript.and_then(|path| Path::new(path).strip_prefix(folder.join("projects")).ok());
        Some(Self {
            process: event.place.process.clone()?,
            session: event.session.clone()?,
            transcript: transcript.map(Path::to_path_buf),
            folder,
        })
    }
}

/// A transcript that is followed.
#[derive(Debug)]
struct Tail {
    name: PathBuf,
    file: Arc<File>,
    watch: i32,
    /// Up to here it has been read.
    offset: u64,
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
    /// The first and the last change that has not been looked at.
    changed: Option<(Instant, Instant)>,
    /// Whether a task runs that will look.
    looking: bool,
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
            gone.into_iter().flat_map(|agent| [agent.watch, agent.tail.map(|tail| tail.watch)]).for_each(|watch| {
                self.unwatch(watch);
            });
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
                    left = vec![known.watch.take(), known.tail.take().map(|tail| tail.watch)];
                    known.has_status = false;
                }
                known.facts = Facts { transcript: facts.transcript.or(kept), ..facts };
            }
            None => {
                let agent = Agent { facts, watch: None, has_status: false, tail: None, changed: None, looking: false };
                agents.insert(process.clone(), agent);
            }
        }
        drop(agents);
        left.into_iter().for_each(|watch| self.unwatch(watch));
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
            let report = blocking(move || read_status(&asked)).await;
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
            agent.tail.take().map(|tail| tail.watch)
        });
        let Some(tail) = known else { return };
        self.unwatch(tail);
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
                (agent.tail.as_ref().map(|tail| (tail.file.clone(), tail.offset)), left)
            }
            _ => return,
        };
        self.unwatch(left);
        let Some((file, offset)) = followed else {
            let top = facts.folder.join("projects");
            let asked = name.clone();
            let opened = blocking(move || {
                let file = files::open_file(&top, &asked)?;
                // It is followed from its end: what stands in it was before.
                let length = file.metadata().ok()?.len();
                Some((file, length))
            });
            let Some((file, offset)) = opened.await else { return };
            let Some(watch) = self.watch(&files::by_descriptor(&file), WatchFlags::MODIFY) else { return };
            match self.agents.borrow_mut().get_mut(process) {
                Some(agent) => agent.tail = Some(Tail { name, file: Arc::new(file), watch, offset }),
                None => self.unwatch(Some(watch)),
            }
            return;
        };
        let Some((lines, offset)) = blocking(move || files::read_appended(&file, offset)).await else { return };
        if let Some(tail) = self.agents.borrow_mut().get_mut(process).and_then(|agent| agent.tail.as_mut()) {
            tail.offset = offset;
        }
        let told = lines.split(|byte| *byte == b'\n').rev().find_map(status::interruption);
        if let Some((session, at)) = told.filter(|(session, _)| *session == facts.session) {
            self.tell(&session, Observed::Idle, at);
        }
    }

    fn tell(&self, session: &str, observed: Observed, wall_ms: i64) {
        self.queue.observed(status::event(session, observed, wall_ms, clock::now()));
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
                agent.tail.take_if(|tail| tail.watch == watch);
            } else if what.contains(ReadFlags::QUEUE_OVERFLOW)
                || (own && name.is_some_and(|name| name.strip_suffix(".json") == Some(&process.pid.to_string())))
                || agent.tail.as_ref().is_some_and(|tail| tail.watch == watch)
            {
                touched.push(process.clone());
            }
        }
        touched.iter().for_each(|process| self.touch(process));
    }

    /// Ends a watch that nobody uses any more.
    fn unwatch(&self, watch: Option<i32>) {
        let Some(watch) = watch else { return };
        let used =
            |agent: &Agent| agent.watch == Some(watch) || agent.tail.as_ref().is_some_and(|tail| tail.watch == watch);
        if let (false, Some(fd)) = (self.agents.borrow().values().any(used), &*self.inotify.borrow()) {
            // One that has gone by itself is none.
            let _ = inotify::remove_watch(fd.fd(), watch);
        }
    }
}

/// The status file of that very process, if it says anything.
fn read_status(facts: &Facts) -> Option<Report> {
    let name = format!("sessions/{}.json", facts.process.pid);
    let report = status::parse(&files::read_small(&files::open_file(&facts.folder, Path::new(&name))?)?)?;
    let same = report.pid == facts.process.pid && report.proc_start.is_none_or(|start| start == facts.process.start);
    same.then_some(report)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    gio::spawn_blocking(work).await.ok().flatten()
}

fn complain(error: &rustix::io::Errno) {
    glib::g_message!("vigil", "Cannot watch an agent's files: {error}");
}
