// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks after our entries in the agents' settings: at the start, and whenever such a file changes.
//!
//! Agents write their settings anew from what they read long ago, and so entries can vanish at any time. Nothing is
//! polled and nothing is written here: one inotify watches each file and what leads to it, and what is found goes to
//! the model, whose properties are the signal. No agent's program is started for it; what only its version could tell
//! is left to `vigilctl doctor`.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gtk::gio::prelude::*;
use gtk::{gio, glib};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use super::fd::FdWatch;
use super::model::Integration;
use crate::integration::{self, INTEGRATIONS, Report, Surroundings};

/// A writer is done when nothing has happened for so long.
const SETTLED: Duration = Duration::from_millis(250);

/// Files that never rest are looked at all the same, after so many times that.
const MOST_WAITS: usize = 20;

/// What is known of the integrations, kept up to date while this lives.
#[derive(Debug)]
pub struct Integrations {
    list: gio::ListStore,
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
        let list: gio::ListStore = INTEGRATIONS.iter().map(|known| Integration::new(known.agent)).collect();
        let task = glib::spawn_future_local(keep(list.clone(), surroundings));
        Self { list, task }
    }

    /// One [`Integration`] for each agent that we can be put into.
    pub fn list(&self) -> &gio::ListStore {
        &self.list
    }
}

async fn keep(list: gio::ListStore, surroundings: Surroundings) {
    loop {
        let (changed, changes) = async_channel::bounded(1);
        let look = surroundings.clone();
        // The watch comes first: what changes after it is looked at again.
        let Ok((watch, reports)) = gio::spawn_blocking(move || (watch(&look), inspect(&look))).await else { return };
        let _watch = watch
            .inspect_err(|error| glib::g_warning!("vigil", "Cannot watch the agents' settings: {error}"))
            .ok()
            .map(|(fd, wanted)| FdWatch::new(fd, move |fd| follow(fd, &wanted, &changed)));
        for (shown, report) in list.iter::<Integration>().flatten().zip(&reports) {
            shown.set_report(report);
        }
        // Without a watch nobody wakes us any more.
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

fn inspect(surroundings: &Surroundings) -> Vec<Report> {
    INTEGRATIONS.iter().map(|known| known.inspect(surroundings, None)).collect()
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
