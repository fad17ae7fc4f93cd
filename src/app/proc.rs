// SPDX-License-Identifier: GPL-3.0-or-later
//! What `/proc` says, now, of processes that an event named.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use crate::origin::Here;
use crate::protocol::{ChainLink, ENVIRONMENT};

/// Environments above this are not read: no terminal sets that much.
const ENVIRON_BYTES: u64 = 256 << 10;

/// So much of a process's arguments is read.
const ARGUMENT_BYTES: u64 = 16 << 10;

/// A process's arguments, the program's name first, as far as they are text.
pub fn arguments(pid: u32) -> Vec<String> {
    let text = read(&format!("/proc/{pid}/cmdline"), ARGUMENT_BYTES).unwrap_or_default();
    text.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok().map(ToString::to_string)).collect()
}

/// A process as it is now; `None` if there is none, or none that we may see.
pub fn stat(pid: u32) -> Option<ChainLink> {
    crate::proc::link(pid).map(|(link, _)| link)
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
        assert_eq!(stat(std::process::id()).as_ref(), Some(&own));
        assert!(crate::proc::began(&own) <= super::super::clock::now().boot);
        assert!(crate::proc::all().any(|pid| pid == std::process::id()) && !arguments(std::process::id()).is_empty());
        assert_eq!(stat(u32::MAX), None);
    }

    #[test]
    fn here_is_known() {
        let here = here();
        assert!(!here.boot_id.is_empty() && !here.host.is_empty() && here.pidns > 0);
    }
}
