// SPDX-License-Identifier: GPL-3.0-or-later
//! Keeps branch and dirty mark of each workspace up to date.
//!
//! HEAD is watched and read; `git status` is asked after work in the workspace has settled, and seldom. Each workspace
//! has one task, which sleeps until something wakes it.

mod ask;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::gio::prelude::*;
use gtk::{gio, glib};

use super::project::{self, GitDir};

/// Work has settled when nothing has happened for so long.
const SETTLED: Duration = Duration::from_secs(1);

/// Work that never settles is looked at all the same, and what settles often is looked at no oftener.
const SELDOM: Duration = Duration::from_secs(10);

/// So many workspaces are looked after; each takes a watch of the file system.
const WORKSPACES: usize = 512;

/// What is known of a work tree: the branch, and whether it differs from HEAD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkTree {
    /// The branch, or a short commit.
    pub branch: Option<String>,
    /// Whether it differs from HEAD.
    pub dirty: Option<bool>,
}

type Report = Rc<dyn Fn(&str, WorkTree)>;

/// What wakes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// HEAD may name another branch.
    Head,
    /// Files may have changed.
    Work,
}

/// The tasks, one a workspace.
pub struct Git {
    report: Report,
    tasks: RefCell<BTreeMap<String, Task>>,
}

struct Task {
    folder: String,
    wake: async_channel::Sender<Wake>,
    handle: glib::JoinHandle<()>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl Git {
    /// Looks after nothing yet; what is found goes to `report`, with the workspace's id.
    pub fn new(report: impl Fn(&str, WorkTree) + 'static) -> Self {
        Self { report: Rc::new(report), tasks: RefCell::default() }
    }

    /// Looks after exactly these workspaces: ids and folders.
    pub fn sync(&self, folders: &[(String, String)]) {
        let wanted: BTreeMap<&str, &str> = folders.iter().map(|(id, folder)| (id.as_str(), folder.as_str())).collect();
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|id, task| wanted.get(id.as_str()) == Some(&task.folder.as_str()));
        for (id, folder) in wanted {
            if !tasks.contains_key(id) && tasks.len() < WORKSPACES {
                tasks.insert(id.to_string(), self.begin(id, folder));
            }
        }
    }

    /// Something has been done in that workspace.
    pub fn touch(&self, workspace: &str) {
        if let Some(task) = self.tasks.borrow().get(workspace) {
            // A full channel holds enough to wake it.
            let _ = task.wake.try_send(Wake::Work);
        }
    }

    fn begin(&self, id: &str, folder: &str) -> Task {
        let (wake, woken) = async_channel::bounded(16);
        let keeper = Keeper {
            id: id.to_string(),
            folder: PathBuf::from(folder),
            report: self.report.clone(),
            wake: wake.clone(),
            woken,
            known: WorkTree::default(),
            looked: None,
        };
        Task { folder: folder.to_string(), wake, handle: glib::spawn_future_local(keeper.keep()) }
    }
}

/// What one task works with.
struct Keeper {
    id: String,
    folder: PathBuf,
    report: Report,
    wake: async_channel::Sender<Wake>,
    woken: async_channel::Receiver<Wake>,
    known: WorkTree,
    looked: Option<Instant>,
}

impl Keeper {
    async fn keep(mut self) {
        let mut place = None;
        loop {
            if place.is_none() {
                // A folder may become a work tree while an agent works in it.
                place = self.find().await;
            }
            if let Some((git, _monitor)) = &place {
                self.read_head(git).await;
                let dirty = ask::is_dirty(&self.folder).await;
                self.tell(WorkTree { dirty, ..self.known.clone() });
            }
            self.looked = Some(Instant::now());
            if self.settle(place.as_ref().map(|(git, _)| git)).await.is_none() {
                return;
            }
        }
    }

    async fn find(&self) -> Option<(GitDir, Option<gio::FileMonitor>)> {
        let folder = self.folder.clone();
        let git = gio::spawn_blocking(move || project::git_dir(&folder)).await.ok()??;
        let monitor = self.monitor(&git.own);
        Some((git, monitor))
    }

    /// Watches the work tree's git folder: HEAD for the branch, the index for what is committed by hand.
    fn monitor(&self, folder: &Path) -> Option<gio::FileMonitor> {
        let folder = gio::File::for_path(folder);
        let monitor = folder.monitor_directory(gio::FileMonitorFlags::NONE, gio::Cancellable::NONE);
        let monitor = monitor.inspect_err(|error| glib::g_debug!("vigil", "Cannot watch a HEAD: {error}")).ok()?;
        let wake = self.wake.clone();
        monitor.connect_changed(move |_, file, _, _| {
            let name = file.basename();
            let woken = match name.as_deref().map(Path::as_os_str) {
                Some(name) if name == OsStr::new("HEAD") => Wake::Head,
                Some(name) if name == OsStr::new("index") => Wake::Work,
                _ => return,
            };
            // What does not fit in is of a kind that is waiting already, or HEAD, which is read again in the end.
            let _ = wake.try_send(woken);
        });
        Some(monitor)
    }

    /// Waits until something has been done and has settled. `None` when nobody can wake it any more.
    async fn settle(&mut self, git: Option<&GitDir>) -> Option<()> {
        let mut first = None;
        let mut due: Option<Instant> = None;
        loop {
            let woken = match due {
                None => Some(self.woken.recv().await.ok()?),
                Some(due) => {
                    let rest = due.saturating_duration_since(Instant::now());
                    match glib::future_with_timeout(rest, self.woken.recv()).await {
                        Ok(woken) => Some(woken.ok()?),
                        Err(_) => None,
                    }
                }
            };
            let Some(woken) = woken else { return Some(()) };
            if let (Wake::Head, Some(git)) = (woken, git) {
                self.read_head(git).await;
            }
            let now = Instant::now();
            let latest = *first.get_or_insert(now) + SELDOM;
            let earliest = self.looked.map_or(now, |looked| looked + SELDOM);
            due = Some((now + SETTLED).min(latest).max(earliest));
        }
    }

    async fn read_head(&mut self, git: &GitDir) {
        let head = gio::File::for_path(git.own.join("HEAD"));
        let branch = match head.load_contents_future().await {
            Ok((content, _)) => std::str::from_utf8(&content).ok().and_then(project::head_name),
            Err(_) => None,
        };
        self.tell(WorkTree { branch, ..self.known.clone() });
    }

    fn tell(&mut self, found: WorkTree) {
        if self.known != found {
            self.known = found.clone();
            (self.report)(&self.id, found);
        }
    }
}
