// SPDX-License-Identifier: GPL-3.0-or-later
//! What the kernel says of a process and of those above it.
//!
//! Reading only; what follows from it is decided in [`crate::origin`].

use std::fs::File;
use std::io::Read;

use crate::protocol::{CHAIN_LENGTH, ChainLink};
use crate::time::BootTime;

/// A process and its parents, nearest first, as far as they can be seen.
pub fn chain(mut pid: u32) -> Vec<ChainLink> {
    let mut chain = Vec::with_capacity(CHAIN_LENGTH);
    while pid != 0 && chain.len() < CHAIN_LENGTH {
        let Some((link, parent)) = link(pid) else { break };
        chain.push(link);
        pid = parent;
    }
    chain
}

/// A process, and its parent's id; `None` if there is no such process, or none that we may see.
pub fn link(pid: u32) -> Option<(ChainLink, u32)> {
    parse(pid, &line(&format!("/proc/{pid}/stat"))?)
}

/// The numbers of all processes.
pub fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When a process started, to a tick.
pub fn began(process: &ChainLink) -> BootTime {
    BootTime::from_millis(process.start.saturating_mul(1000) / rustix::param::clock_ticks_per_second().max(1))
}

/// Whether a process has ended, though its parent may not have taken note of it yet.
pub fn has_ended(pid: u32) -> bool {
    let stat = line(&format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, after)| after.trim_start().starts_with(['Z', 'X']))
}

/// A short file of the kernel's, in one read: at every step of an agent each system call counts.
pub fn line(path: &str) -> Option<String> {
    let mut bytes = [0; 1024];
    let length = File::open(path).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// One line of `/proc/PID/stat`, and the parent it names. The name in parentheses may hold anything, parentheses too.
fn parse(pid: u32, stat: &str) -> Option<(ChainLink, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, comm) = before.split_once('(')?;
    // The first field after the name is the third of the line.
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    // Printed signed, though a device number is not.
    let tty = field(7)?.parse::<i32>().ok()?.cast_unsigned();
    let link = ChainLink { pid, start: field(22)?.parse().ok()?, comm: comm.to_string(), tty };
    Some((link, field(4)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let rest = "S 41 40 40 34819 40 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        for comm in ["claude", "tmux: server", "a) S 1 (b", ")", "", "x y\nz"] {
            let (link, parent) = parse(42, &format!("42 ({comm}) {rest}\n")).expect("a whole line");
            assert_eq!(link, ChainLink { pid: 42, start: 987_654, comm: comm.into(), tty: 34819 });
            assert_eq!(parent, 41);
        }
        assert_eq!(parse(42, "42 (claude) S 41"), None);
        assert_eq!(parse(42, ""), None);
    }

    #[test]
    fn the_chain_starts_with_the_process_itself_and_goes_up() {
        let chain = chain(std::process::id());
        assert_eq!(chain.first().map(|link| link.pid), Some(std::process::id()));
        assert!(chain.windows(2).all(|pair| pair[0].start >= pair[1].start));
    }

    #[test]
    fn a_process_that_is_not_there_is_none() {
        assert_eq!(link(u32::MAX), None);
        assert!(has_ended(u32::MAX) && !has_ended(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (pid, start) = (child.id(), std::time::Instant::now());
        while !has_ended(pid) {
            assert!(start.elapsed().as_secs() < 10);
            std::thread::yield_now();
        }
        assert!(link(pid).is_some(), "not taken note of yet");
        child.wait().unwrap();
        assert_eq!(link(std::process::id()).map(|it| it.0.pid), Some(std::process::id()));
    }
}
