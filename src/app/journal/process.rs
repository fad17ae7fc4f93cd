// SPDX-License-Identifier: GPL-3.0-or-later
//! The processes that write journals, and where they run.

use std::fs;
use std::path::PathBuf;

use crate::agent::journal::Candidate;
use crate::app::proc;
use crate::event::Process;
use crate::origin::comm_matches;
use crate::protocol::Origin;

/// So many are told of.
const CANDIDATES: usize = 256;

/// The processes of those names that live now.
pub fn candidates(names: &[&str]) -> Vec<Candidate> {
    crate::proc::all().filter_map(|pid| candidate(pid, names)).take(CANDIDATES).collect()
}

fn candidate(pid: u32, names: &[&str]) -> Option<Candidate> {
    let (link, _) = crate::proc::link(pid)?;
    let writes = names.iter().any(|name| comm_matches(&link.comm, name)) && !crate::proc::has_ended(pid);
    writes.then_some(())?;
    let (process, started) = (Process { pid, start: link.start }, crate::proc::began(&link));
    Some(Candidate { process, comm: link.comm, cwd: cwd(pid), started })
}

/// Whether it still lives.
pub fn lives(process: &Process) -> bool {
    proc::stat(process.pid).is_some_and(|stat| stat.start == process.start) && !crate::proc::has_ended(process.pid)
}

/// What a hook of that process would see of where it runs.
pub fn origin(pid: u32) -> Origin {
    Origin {
        chain: crate::proc::chain(pid),
        cwd: cwd(pid).and_then(|cwd| cwd.into_os_string().into_string().ok()),
        env: proc::environment(pid).into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        ..Origin::default()
    }
}

fn cwd(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::BootTime;

    #[test]
    fn this_process_is_found_by_its_name() {
        let pid = std::process::id();
        let (link, _) = crate::proc::link(pid).unwrap();
        let found = candidates(&[&link.comm]);
        let own = found.iter().find(|candidate| candidate.process.pid == pid).unwrap();
        assert_eq!(own.cwd, std::env::current_dir().ok());
        assert!(lives(&own.process) && own.started > BootTime::default());
        assert!(!lives(&Process { pid, start: 1 }));
        assert_eq!(candidates(&["no such name"]), []);
        assert_eq!(origin(pid).chain.first().map(|link| link.pid), Some(pid));
    }
}
