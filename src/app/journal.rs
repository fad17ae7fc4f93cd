// SPDX-License-Identifier: GPL-3.0-or-later
//! Follows what agents write of themselves, and tells it as events.
//!
//! One task for each folder in which an agent writes: it sleeps until inotify, a hook or the reader's own deadline
//! wakes it, and then looks off the main thread (`tree`). What is found there means what the core says
//! ([`crate::agent::journal`]). Nothing is polled; an agent's folder may come and go, for the one above it is watched
//! for its name; where that is missing too, a hook of the agent has it looked for again.

mod process;
#[cfg(test)]
mod tests;
mod tree;

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use gtk::{gio, glib};
use rustix::fs::inotify::{self, CreateFlags};
use serde_json::{Map, Value};

use super::clock;
use super::command::Queue;
use super::fd::FdWatch;
use crate::agent::journal::{SOURCES, Source, Variable};
use crate::protocol::Origin;
use tree::{Change, Tree};

/// A writer writes several records at a time; so long after the first they are read together.
const GATHERED: Duration = Duration::from_millis(20);

/// So many folders are followed in all. Hooks could name any number.
const TREES: usize = 16;

/// So many changes may wait; then all is looked at instead.
const CHANGES: usize = 4096;

/// All journals that are followed.
#[derive(Debug)]
pub struct Journals {
    queue: Queue,
    followed: RefCell<Vec<Rc<Followed>>>,
}

impl Journals {
    /// Begins to follow those that the environment tells of. Must be called on the main thread.
    pub fn start(queue: Queue) -> Self {
        let journals = Self { queue, followed: RefCell::default() };
        for source in SOURCES {
            journals.follow(source, &|name| std::env::var(name).ok());
        }
        journals
    }

    /// Takes what a hook has told: its agent writes, perhaps elsewhere than thought, perhaps in that very file.
    pub fn learn(&self, agent: &str, payload: &Map<String, Value>, origin: &Origin) {
        let transcript = payload.get("transcript_path").and_then(Value::as_str).map(Path::new);
        for source in SOURCES.iter().filter(|source| source.agents.contains(&agent)) {
            if let Some(followed) = self.follow(source, &|name| origin.env.get(name).cloned()) {
                let told = transcript.and_then(|path| path.strip_prefix(&followed.top).ok());
                followed.told.borrow_mut().extend(told.map(Path::to_path_buf));
                if told.is_some() || followed.tree.borrow().as_ref().is_some_and(|tree| !tree.has_top()) {
                    followed.wake();
                }
            }
        }
    }

    fn follow(&self, source: &'static Source, variable: Variable<'_>) -> Option<Rc<Followed>> {
        let home = || glib::home_dir().into_os_string().into_string().ok();
        let top = (source.top)(&|name| variable(name).or_else(|| if name == "HOME" { home() } else { None }));
        let top = top.filter(|top| top.is_absolute())?;
        let mut followed = self.followed.borrow_mut();
        if let Some(known) = followed.iter().find(|known| std::ptr::eq(known.source, source) && known.top == top) {
            return Some(known.clone());
        }
        if followed.len() >= TREES {
            return None;
        }
        let new = Followed::new(source, top, self.queue.clone()).inspect_err(complain).ok()?;
        followed.push(new.clone());
        Some(new)
    }
}

/// One folder in which an agent writes.
#[derive(Debug)]
struct Followed {
    source: &'static Source,
    top: PathBuf,
    queue: Queue,
    /// Away while it looks.
    tree: RefCell<Option<Tree>>,
    changes: RefCell<Vec<Change>>,
    /// Files that hooks have named.
    told: RefCell<Vec<PathBuf>>,
    looking: Cell<bool>,
    alarm: RefCell<Option<glib::SourceId>>,
    _inotify: FdWatch,
    me: Weak<Self>,
}

impl Followed {
    fn new(source: &'static Source, top: PathBuf, queue: Queue) -> rustix::io::Result<Rc<Self>> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let tree = Tree::new(source, top.clone(), rustix::io::fcntl_dupfd_cloexec(&fd, 0)?);
        let followed = Rc::new_cyclic(|me: &Weak<Self>| Self {
            source,
            top,
            queue,
            tree: RefCell::new(Some(tree)),
            changes: RefCell::default(),
            told: RefCell::default(),
            looking: Cell::default(),
            alarm: RefCell::default(),
            _inotify: FdWatch::new(fd, {
                let me = me.clone();
                move |fd| {
                    if let Some(followed) = me.upgrade() {
                        followed.gather(fd);
                    }
                    glib::ControlFlow::Continue
                }
            }),
            me: me.clone(),
        });
        followed.wake();
        Ok(followed)
    }

    fn gather(&self, fd: &rustix::fd::OwnedFd) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(fd, &mut buffer);
        let mut changes = self.changes.borrow_mut();
        let is_other = |change: &Change| self.tree.borrow().as_ref().is_some_and(|tree| tree.is_other(change));
        while let Ok(event) = events.next() {
            let change = Change::of(&event);
            if changes.last() != Some(&change) && !is_other(&change) {
                changes.push(change);
            }
        }
        if changes.is_empty() {
            return;
        }
        if changes.len() > CHANGES {
            *changes = vec![Change::OVERFLOW];
        }
        drop(changes);
        self.wake();
    }

    fn wake(&self) {
        if !self.looking.replace(true) {
            glib::spawn_future_local(Self::look(self.me.clone()));
        }
    }

    /// Looks as long as something changes. It holds on to nothing while it waits.
    async fn look(me: Weak<Self>) {
        loop {
            glib::timeout_future(GATHERED).await;
            let Some((mut tree, changes, told)) = me.upgrade().and_then(|followed| followed.begin()) else { return };
            let looked = gio::spawn_blocking(move || {
                let events = tree.look(&changes, told, clock::now());
                (tree, events)
            });
            let (Ok((tree, events)), Some(followed)) = (looked.await, me.upgrade()) else { return };
            for (event, origin) in events {
                followed.queue.observed(event, origin);
            }
            followed.rest(tree);
            if followed.changes.borrow().is_empty() && followed.told.borrow().is_empty() {
                followed.looking.set(false);
                return;
            }
        }
    }

    fn begin(&self) -> Option<(Tree, Vec<Change>, Vec<PathBuf>)> {
        Some((self.tree.take()?, self.changes.take(), self.told.take()))
    }

    /// Until something changes, or the reader's deadline.
    fn rest(&self, tree: Tree) {
        if let Some(alarm) = self.alarm.take() {
            alarm.remove();
        }
        if let Some(deadline) = tree.deadline() {
            let (me, alarm) = (self.me.clone(), deadline.since(clock::now().boot));
            self.alarm.replace(Some(glib::timeout_add_local_once(alarm, move || {
                if let Some(followed) = me.upgrade() {
                    // It has rung; its id must not be used again.
                    followed.alarm.take();
                    followed.wake();
                }
            })));
        }
        self.tree.replace(Some(tree));
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm.take() {
            alarm.remove();
        }
    }
}

fn complain(error: &rustix::io::Errno) {
    glib::g_message!("vigil", "Cannot follow an agent's journal: {error}");
}
