// SPDX-License-Identifier: GPL-3.0-or-later
//! Where a process of Claude Code writes, as its hooks tell.

use std::path::{Path, PathBuf};

use gtk::glib;
use serde_json::{Map, Value};

use crate::agent::claude::status::{self, Report};
use crate::app::files;
use crate::event::{Event, Process};
use crate::protocol::Origin;

/// What a hook says of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub(super) process: Process,
    /// The folder of its configuration.
    pub(super) folder: PathBuf,
    pub(super) session: String,
    /// Below the folder's `projects`.
    pub(super) transcript: Option<PathBuf>,
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
    /// The status file of that very process, if it says anything.
    pub(super) fn read_status(&self) -> Option<Report> {
        let name = format!("sessions/{}.json", self.process.pid);
        let file = files::open_file(&self.folder, Path::new(&name))?;
        let report = status::parse(&files::read_small(&file, status::MOST_BYTES)?)?;
        let same = report.pid == self.process.pid && report.proc_start.is_none_or(|start| start == self.process.start);
        same.then_some(report)
    }
}
