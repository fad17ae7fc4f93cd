// SPDX-License-Identifier: GPL-3.0-or-later
//! Which sessions of an agent run now: its processes, by the names of the catalogue, that have a terminal.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::agent::Agent;
use crate::{origin, proc};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Running {
    pub pid: u32,
    /// The terminal's name under `/dev`.
    pub tty: String,
}

/// All of the user's own, by their numbers.
pub(super) fn of(agent: &Agent<'_>) -> Vec<Running> {
    let user = rustix::process::geteuid().as_raw();
    let is_own = |pid: &u32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|found| found.uid() == user);
    let mut running: Vec<Running> = proc::all()
        .filter(is_own)
        .filter_map(|pid| {
            let (link, _) = proc::link(pid)?;
            let tty = origin::tty_name(link.tty)?;
            agent.has_process(&link.comm).then_some(Running { pid, tty })
        })
        .collect();
    running.sort_by_key(|process| process.pid);
    running
}
