// SPDX-License-Identifier: GPL-3.0-or-later
//! What `/proc` says, now, of processes that an event named.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use crate::origin::Here;
use crate::protocol::ENVIRONMENT;

/// Environments above this are not read: no terminal sets that much.
const ENVIRON_BYTES: u64 = 256 << 10;

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The controlling terminal's device number, 0 for none.
    pub tty: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
}

/// The stat of a process; `None` if there is no such process, or none that we may see.
pub fn stat(pid: u32) -> Option<Stat> {
    let (link, _) = crate::proc::link(pid)?;
    Some(Stat { tty: link.tty, start: link.start })
}

/// The variables of [`ENVIRONMENT`] that a process was started with.
pub fn environment(pid: u32) -> BTreeMap<&'static str, String> {
    let text = read(&format!("/proc/{pid}/environ"), ENVIRON_BYTES).unwrap_or_default();
    let entries = text.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='));
    entries
        .filter_map(|(name, value)| {
            let name = ENVIRONMENT.iter().find(|known| **known == name)?;
            Some((*name, value.to_string()))
        })
        .collect()
}

/// Where this program runs.
pub fn here() -> Here {
    let boot_id = read("/proc/sys/kernel/random/boot_id", 64).unwrap_or_default();
    Here {
        boot_id: String::from_utf8_lossy(&boot_id).trim().to_string(),
        pidns: rustix::fs::stat("/proc/self/ns/pid").map(|stat| stat.st_ino).unwrap_or_default(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    }
}

fn read(path: &str, limit: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path).ok()?.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let own = stat(std::process::id()).unwrap();
        assert!(own.start > 0);
        assert_eq!(stat(std::process::id()), Some(own));
        assert_eq!(stat(u32::MAX), None);
    }

    #[test]
    fn here_is_known() {
        let here = here();
        assert!(!here.boot_id.is_empty() && !here.host.is_empty() && here.pidns > 0);
    }
}
