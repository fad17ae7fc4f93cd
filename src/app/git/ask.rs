// SPDX-License-Identifier: GPL-3.0-or-later
//! Asks git whether a work tree is dirty.
//!
//! The repository is not trusted: its configuration can name programs for git to run (a file system monitor, hooks,
//! content filters). The first two are turned off; one that brings filters of its own is not asked at all. Nothing is
//! written, not even the index's cache.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use gtk::gio::prelude::*;
use gtk::{gio, glib};

/// How long git may take. A work tree that large has no mark.
const PATIENCE: Duration = Duration::from_secs(5);

/// Variables by which a caller of ours could point git elsewhere.
const FOREIGN: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_TRACE",
    "GIT_WORK_TREE",
];

/// Whether a work tree differs from HEAD; `None` when git is not there, does not know, or takes too long.
pub async fn is_dirty(folder: &Path) -> Option<bool> {
    glib::future_with_timeout(PATIENCE, ask(folder)).await.ok()?
}

async fn ask(folder: &Path) -> Option<bool> {
    if brings_filters(folder).await? {
        return None;
    }
    let status = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "submodule.recurse=false",
        "status",
        "--porcelain",
        "--untracked-files=normal",
        "--ignore-submodules=all",
        "--no-renames",
    ];
    let mut git = run(folder, &status)?;
    // One line is answer enough; the rest may be long.
    let dirty = !git.read(1).await?.is_empty();
    if dirty { Some(true) } else { git.succeeded().await?.then_some(false) }
}

/// Whether the repository's own configuration names programs for git to run on contents.
async fn brings_filters(folder: &Path) -> Option<bool> {
    let list =
        ["config", "--includes", "--show-scope", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$"];
    let mut git = run(folder, &list)?;
    let mut text = Vec::new();
    loop {
        let part = git.read(4096).await?;
        if part.is_empty() {
            break;
        }
        text.extend_from_slice(&part);
        if text.len() > 1 << 16 {
            return Some(true);
        }
    }
    let own = |line: &[u8]| line.starts_with(b"local\t") || line.starts_with(b"worktree\t");
    Some(text.split(|byte| *byte == b'\n').any(own))
}

/// A running git; dropped, it is killed.
struct Running(gio::Subprocess);

impl Running {
    async fn read(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let pipe = self.0.stdout_pipe()?;
        let bytes = pipe.read_bytes_future(bytes, glib::Priority::DEFAULT).await.ok()?;
        Some(bytes.to_vec())
    }

    async fn succeeded(&mut self) -> Option<bool> {
        self.0.wait_future().await.ok()?;
        Some(self.0.is_successful())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.force_exit();
    }
}

fn run(folder: &Path, arguments: &[&str]) -> Option<Running> {
    let launcher =
        gio::SubprocessLauncher::new(gio::SubprocessFlags::STDOUT_PIPE | gio::SubprocessFlags::STDERR_SILENCE);
    launcher.set_cwd(folder);
    for name in FOREIGN {
        launcher.unsetenv(name);
    }
    for (name, value) in
        [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_PAGER", "cat"), ("LC_ALL", "C")]
    {
        launcher.setenv(name, value, true);
    }
    let mut command = vec![OsStr::new("git"), OsStr::new("--no-optional-locks"), OsStr::new("--no-pager")];
    command.extend(arguments.iter().map(OsStr::new));
    launcher.spawn(&command).ok().map(Running)
}
