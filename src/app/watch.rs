// SPDX-License-Identifier: GPL-3.0-or-later
//! Watches the processes and terminals that the roster names, without polling (rule 10).
//!
//! A process is watched through a pidfd, which becomes readable the moment it dies, zombie or not, and can never mean
//! another process. Terminals are watched by one inotify on `/dev/pts`: the entry of a pty goes when its terminal
//! closes the master, although a program that outlives it still holds the other end. (A watch of the entry itself
//! fires only when that last program lets go; seen on Linux 6.18.) Only removals wake us, never a terminal's output.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::path::Path;
use std::rc::Rc;

use gtk::glib;
use rustix::fs::inotify;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::command::{Gone, Queue};
use super::fd::FdWatch;
use super::proc;
use crate::event::Process;
use crate::roster::Watched;

/// The watches.
#[derive(Debug)]
pub struct Watcher {
    queue: Queue,
    /// `None` for one that was gone before it could be watched, or cannot be: it is not tried again.
    processes: BTreeMap<Process, Option<FdWatch>>,
    ttys: Rc<RefCell<BTreeSet<String>>>,
    /// There while there are terminals to be watched.
    pts: Option<FdWatch>,
}

impl Watcher {
    /// Watches nothing yet; what goes is told to `queue`.
    pub fn new(queue: Queue) -> Self {
        raise_descriptor_limit();
        Self { queue, processes: BTreeMap::new(), ttys: Rc::default(), pts: None }
    }

    /// Watches exactly these.
    pub fn sync(&mut self, wanted: &BTreeSet<Watched>) {
        let processes: BTreeSet<&Process> = wanted.iter().map(|watched| &watched.process).collect();
        self.processes.retain(|process, _| processes.contains(process));
        for process in processes {
            if !self.processes.contains_key(process) {
                let watch = self.watch_process(process);
                self.processes.insert(process.clone(), watch);
            }
        }
        self.sync_ttys(wanted);
    }

    fn watch_process(&self, process: &Process) -> Option<FdWatch> {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw)?;
        let fd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(Errno::SRCH) => {
                self.queue.gone(Gone::Process(process.clone()));
                return None;
            }
            Err(error) => {
                glib::g_warning!("vigil", "Cannot watch process {}: {error}", process.pid);
                return None;
            }
        };
        // The number may have gone to another process before the descriptor was opened.
        if proc::stat(process.pid).is_some_and(|stat| stat.start != process.start) {
            self.queue.gone(Gone::Process(process.clone()));
            return None;
        }
        let (queue, process) = (self.queue.clone(), process.clone());
        Some(FdWatch::new(fd, move |_| {
            queue.gone(Gone::Process(process.clone()));
            glib::ControlFlow::Break
        }))
    }

    /// Consoles (`tty1`) never go; only pseudo terminals are watched.
    fn sync_ttys(&mut self, wanted: &BTreeSet<Watched>) {
        let named: BTreeMap<&str, u32> = wanted
            .iter()
            .filter_map(|watched| {
                Some((watched.tty.as_deref().filter(|tty| tty.starts_with("pts/"))?, watched.process.pid))
            })
            .collect();
        let fresh: Vec<(&str, u32)> = {
            let known = self.ttys.borrow();
            if known.len() == named.len() && named.keys().all(|tty| known.contains(*tty)) {
                return;
            }
            named.iter().filter(|(tty, _)| !known.contains(**tty)).map(|(tty, pid)| (*tty, *pid)).collect()
        };
        self.ttys.replace(named.keys().map(ToString::to_string).collect());
        if named.is_empty() {
            self.pts = None;
        } else if self.pts.is_none() {
            self.pts = self.watch_pts();
        }
        for (tty, pid) in fresh {
            // Gone before it was watched. If the process still has a terminal, it is one of another /dev/pts (a
            // container's), of which nothing can be said.
            if !exists(tty) && proc::stat(pid).is_none_or(|stat| stat.tty == 0) {
                self.queue.gone(Gone::Tty(tty.to_string()));
            }
        }
    }

    /// The one inotify. It goes by the names of the moment: one of its own for each set would lose what is under way.
    fn watch_pts(&self) -> Option<FdWatch> {
        let fd = open_pts().inspect_err(|error| glib::g_warning!("vigil", "Cannot watch terminals: {error}")).ok()?;
        let (queue, ttys) = (self.queue.clone(), self.ttys.clone());
        Some(FdWatch::new(fd, move |fd| {
            for tty in removed(fd, &ttys.borrow()) {
                queue.gone(Gone::Tty(tty));
            }
            glib::ControlFlow::Continue
        }))
    }
}

fn open_pts() -> rustix::io::Result<rustix::fd::OwnedFd> {
    let fd = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    inotify::add_watch(&fd, "/dev/pts", inotify::WatchFlags::DELETE)?;
    Ok(fd)
}

/// Which of these terminals have been removed.
fn removed(fd: &rustix::fd::OwnedFd, ttys: &BTreeSet<String>) -> Vec<String> {
    let mut gone = Vec::new();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(fd, &mut buffer);
    while let Ok(event) = events.next() {
        if event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW) {
            gone.extend(ttys.iter().filter(|tty| !exists(tty)).cloned());
        } else if let Some(name) = event.file_name().and_then(|name| name.to_str().ok()) {
            gone.extend(ttys.get(&format!("pts/{name}")).cloned());
        }
    }
    gone
}

fn exists(tty: &str) -> bool {
    let found = std::fs::symlink_metadata(Path::new("/dev").join(tty));
    !matches!(found, Err(error) if error.kind() == ErrorKind::NotFound)
}

/// Each watched process takes a descriptor, and the usual soft limit is 1024.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        glib::g_debug!("vigil", "Cannot raise the limit of descriptors: {error}");
    }
}
