// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks after our entries in the agents' settings: at the start, and whenever such a file changes.
//!
//! Agents write their settings anew from what they read long ago, and so entries can vanish at any time. Nothing is
//! polled and nothing is written here: one inotify watches each file and what leads to it, and what is found goes to
//! the model, whose properties are the signal. No agent's program is started for it, but while somebody looks at the
//! preferences ([`Look`]): what only its version could tell is otherwise left to `vigilctl doctor`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use gtk::gio::prelude::*;
use gtk::{gio, glib};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use super::fd::FdWatch;
use super::model::Integration;
use crate::agent::CATALOGUE;
use crate::integration::{self, Found, INTEGRATIONS, Report, Surroundings, Version, program};

/// A writer is done when nothing has happened for so long.
const SETTLED: Duration = Duration::from_millis(250);

/// Files that never rest are looked at all the same, after so many times that.
const MOST_WAITS: usize = 20;

/// The versions of agents that are known.
type Versions = BTreeMap<String, Version>;

/// What is known of the integrations, kept up to date while this lives.
#[derive(Debug)]
pub struct Integrations {
    keeper: Rc<Keeper>,
    task: glib::JoinHandle<()>,
}

impl Drop for Integrations {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Integrations {
    /// Begins to look after all of them. Must be called on the main thread.
    pub fn start(surroundings: Surroundings) -> Self {
        let list: gio::ListStore = CATALOGUE.iter().map(|known| Integration::new(known.id)).collect();
        for shown in list.iter::<Integration>().flatten() {
            if let Some(known) = integration::find(&shown.agent()) {
                shown.set_files(known.files(&surroundings), surroundings.home.as_deref());
            }
        }
        let (wake, changes) = async_channel::bounded(1);
        let keeper = Rc::new(Keeper { list, surroundings, versions: RefCell::default(), wake });
        let task = glib::spawn_future_local(keeper.clone().keep(changes));
        Self { keeper, task }
    }

    /// One [`Integration`] for each agent of the catalogue.
    pub fn list(&self) -> &gio::ListStore {
        &self.keeper.list
    }

    /// Looks for the agents' programs and their versions, which are known as long as the look lives.
    pub fn look(&self) -> Look {
        Look { task: glib::spawn_future_local(self.keeper.clone().look()), keeper: self.keeper.clone() }
    }
}

/// A look at the agents' programs. Dropped, what it has found is forgotten: agents change their versions by themselves.
#[derive(Debug)]
pub struct Look {
    task: glib::JoinHandle<()>,
    keeper: Rc<Keeper>,
}

impl Drop for Look {
    fn drop(&mut self) {
        self.task.abort();
        self.keeper.forget();
    }
}

#[derive(Debug)]
struct Keeper {
    list: gio::ListStore,
    surroundings: Surroundings,
    versions: RefCell<Versions>,
    wake: async_channel::Sender<()>,
}

impl Keeper {
    async fn keep(self: Rc<Self>, changes: async_channel::Receiver<()>) {
        loop {
            let (look, versions) = (self.surroundings.clone(), self.versions.borrow().clone());
            // The watch comes first: what changes after it is looked at again.
            let looked = gio::spawn_blocking(move || (watch(&look), inspect(&look, &versions)));
            let Ok((watch, reports)) = looked.await else { return };
            let changed = self.wake.clone();
            let _watch = watch
                .inspect_err(|error| glib::g_warning!("vigil", "Cannot watch the agents' settings: {error}"))
                .ok()
                .map(|(fd, wanted)| FdWatch::new(fd, move |fd| follow(fd, &wanted, &changed)));
            for report in &reports {
                if let Some(shown) = self.shown(report.agent) {
                    shown.set_report(report);
                }
            }
            if changes.recv().await.is_err() {
                return;
            }
            for _ in 0..MOST_WAITS {
                if !matches!(glib::future_with_timeout(SETTLED, changes.recv()).await, Ok(Ok(()))) {
                    break;
                }
            }
        }
    }

    fn shown(&self, agent: &str) -> Option<Integration> {
        self.list.iter::<Integration>().flatten().find(|shown| shown.agent() == agent)
    }

    /// First where they are, which is quick, then one version after the other: a program may take its time.
    async fn look(self: Rc<Self>) {
        let surroundings = self.surroundings.clone();
        let search = move || CATALOGUE.iter().map(|known| locate(known.id, &surroundings)).collect();
        let Ok(programs) = gio::spawn_blocking::<Vec<Option<PathBuf>>, _>(search).await else { return };
        let found: Vec<(Integration, Option<PathBuf>)> =
            self.list.iter::<Integration>().flatten().zip(programs).collect();
        for (shown, program) in &found {
            shown.set_found(Some(Found { program: program.clone(), version: None }));
        }
        for (shown, program) in found {
            let Some(program) = program else { continue };
            let asked = program.clone();
            let Ok(version) = gio::spawn_blocking(move || program::version(&asked)).await else { return };
            shown.set_found(Some(Found { program: Some(program), version }));
            if let Some(version) = version {
                self.versions.borrow_mut().insert(shown.agent(), version);
            }
        }
        self.inspect_again();
    }

    fn forget(&self) {
        self.list.iter::<Integration>().flatten().for_each(|shown| shown.set_found(None));
        self.versions.borrow_mut().clear();
        self.inspect_again();
    }

    fn inspect_again(&self) {
        // A full channel wakes it already.
        let _ = self.wake.try_send(());
    }
}

/// Where an agent's program is; one that we cannot be put into goes by its id.
fn locate(agent: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    match integration::find(agent) {
        Some(known) => known.locate(surroundings),
        None => surroundings.find(&[agent], &[]),
    }
}

fn inspect(surroundings: &Surroundings, versions: &Versions) -> Vec<Report> {
    INTEGRATIONS.iter().map(|known| known.inspect(surroundings, versions.get(known.agent).copied())).collect()
}

/// Watches all that may change what the settings are; a folder for its names only, not for what is written in it.
fn watch(surroundings: &Surroundings) -> rustix::io::Result<(OwnedFd, BTreeSet<Vec<u8>>)> {
    use std::os::unix::ffi::OsStrExt;
    let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let mut names = BTreeSet::new();
    let own = INTEGRATIONS.iter().flat_map(|known| known.files(surroundings));
    let files: Vec<PathBuf> =
        own.chain(INTEGRATIONS.iter().flat_map(|known| known.files_beside(surroundings))).collect();
    for place in files.iter().flat_map(|file| integration::file::way(file)) {
        if let (Some(folder), Some(name)) = (place.parent(), place.file_name()) {
            names.insert(name.as_bytes().to_vec());
            let flags = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::ONLYDIR;
            add(&fd, folder, flags)?;
        }
        let flags = WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        if place.is_file() {
            add(&fd, &place, flags)?;
        }
    }
    Ok((fd, names))
}

fn add(fd: &OwnedFd, path: &Path, flags: WatchFlags) -> rustix::io::Result<()> {
    match inotify::add_watch(fd, path, flags | WatchFlags::MASK_ADD) {
        // What has gone meanwhile was there a moment ago: its folder is watched, or tells of it at the next look.
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Wakes the task when one of those names, or a watched file itself, has changed.
fn follow(fd: &OwnedFd, names: &BTreeSet<Vec<u8>>, changed: &async_channel::Sender<()>) -> glib::ControlFlow {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(fd, &mut buffer);
    while let Ok(event) = events.next() {
        if event.file_name().is_none_or(|name| names.contains(name.to_bytes())) {
            // A full channel wakes it already.
            let _ = changed.try_send(());
        }
    }
    glib::ControlFlow::Continue
}
