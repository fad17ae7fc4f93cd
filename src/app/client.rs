// SPDX-License-Identifier: GPL-3.0-or-later
//! Whose session it is, where an agent's server runs the hooks of many terminals.
//!
//! The server's terminal, environment and parents are those of whoever started it. The session's own process is one of
//! the agent's on a terminal, in the session's folder, that is no server and is not apart from it. Of several it is the
//! one that had just begun when the session did; nothing tells more (seen, Codex 0.171.0, whose session begins with its
//! terminal's process, about a second after it). Reading only, and it may block.

use std::fs;
use std::time::Duration;

use super::{clock, proc};
use crate::agent::{Agent, Server};
use crate::event::Process;
use crate::origin::{self, Served};
use crate::time::BootTime;

/// A session begins within so long of its terminal's process; later it may be any one's.
const FRESH: Duration = Duration::from_secs(5);

/// Whether a process serves others' sessions, if it is still there.
pub fn is_server(server: &Server, process: &Process) -> Option<bool> {
    let same = || proc::stat(process.pid).is_some_and(|stat| stat.start == process.start);
    let arguments = proc::arguments(process.pid);
    same().then(|| arguments.iter().any(|argument| argument == server.word))
}

/// The process on a terminal that a session of that folder belongs to, for a hook that started then.
pub fn find(agent: &Agent<'_>, server: &Server, session: &str, cwd: &str, at: Option<BootTime>) -> Option<Process> {
    let mut found: Vec<(BootTime, Process)> = crate::proc::all()
        .filter_map(|pid| {
            let stat = proc::stat(pid).filter(|stat| agent.has_process(&stat.comm))?;
            origin::tty_name(stat.tty)?;
            let in_folder = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.as_os_str() == cwd);
            let arguments = proc::arguments(pid);
            let is_client = !arguments.iter().skip(1).any(|argument| server.leaves_out(argument));
            (in_folder && is_client).then_some((crate::proc::began(&stat), Process { pid, start: stat.start }))
        })
        .filter(|(began, _)| at.is_none_or(|at| *began <= at))
        .collect();
    found.sort();
    choose(&found, began(session))
}

/// The one, or of several the one that was fresh then.
fn choose(found: &[(BootTime, Process)], session: Option<BootTime>) -> Option<Process> {
    if let [(_, only)] = found {
        return Some(only.clone());
    }
    let session = session?;
    let is_fresh = |began: BootTime| began <= session && session.since(began) <= FRESH;
    let mut fresh = found.iter().filter(|(began, _)| is_fresh(*began));
    match (fresh.next(), fresh.next()) {
        (Some((_, process)), None) => Some(process.clone()),
        _ => None,
    }
}

/// When a session began, by an id that says so: a UUID of version 7 begins with the milliseconds since the epoch.
fn began(id: &str) -> Option<BootTime> {
    let (high, low) = (id.get(..8)?, id.get(9..13)?);
    let is_seventh = id.len() == 36 && id.get(14..15) == Some("7");
    let millis = is_seventh.then(|| i64::from_str_radix(&format!("{high}{low}"), 16).ok())??;
    let now = clock::now();
    let ago = u64::try_from(now.wall.0.checked_sub(millis)?).ok()?;
    Some(BootTime(now.boot.0.checked_sub(ago.checked_mul(1_000_000)?)?))
}

/// What the hooks of that process would see, if it ran them.
pub fn seen_by(process: &Process) -> Option<Served> {
    let chain = crate::proc::chain(process.pid);
    let env = proc::environment(process.pid).into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    (chain.first()?.start == process.start).then_some(Served { chain, env })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64, pid: u32) -> (BootTime, Process) {
        (BootTime::from_millis(millis), Process { pid, start: millis / 10 })
    }

    #[test]
    fn of_several_it_is_the_one_that_was_fresh_then() {
        let session = |millis| Some(BootTime::from_millis(millis));
        let pid = |found: &[_], session| choose(found, session).map(|process| process.pid);
        let two = [at(100_000, 1), at(200_000, 2)];
        assert_eq!(pid(&two, session(101_000)), Some(1));
        assert_eq!(pid(&two, session(201_000)), Some(2));
        assert_eq!(pid(&two, session(290_000)), None, "either has begun another session since");
        assert_eq!(pid(&two, session(50_000)), None, "either goes on with an older session");
        assert_eq!(pid(&two, None), None);
        let close = [at(100_000, 1), at(102_000, 2)];
        assert_eq!(pid(&close, session(103_000)), None, "both waited for the server to start");
        assert_eq!(pid(&two[..1], session(50_000)), Some(1));
        assert_eq!(pid(&two[..1], None), Some(1));
        assert_eq!(pid(&[], session(101_000)), None);
    }

    #[test]
    fn an_id_says_when_it_was_made() {
        let now = clock::now();
        let millis = u64::try_from(now.wall.0).unwrap() - 5_000;
        let hex = format!("{millis:012x}");
        let id = format!("{}-{}-7b92-8f8a-a5c74a358980", &hex[..8], &hex[8..]);
        let ago = now.boot.since(began(&id).unwrap());
        assert!(ago > Duration::from_secs(4) && ago < Duration::from_secs(6), "{ago:?}");
        for bad in ["", "x", "01a22e73-742d-4b92-8f8a-a5c74a358980", "ü1a22e73-742d-7b92-8f8a-a5c74a358980"] {
            assert_eq!(began(bad), None, "{bad}");
        }
        assert_eq!(began("ffffffff-ffff-7b92-8f8a-a5c74a358980"), None, "in the future");
    }

    #[test]
    fn a_process_is_seen_as_its_hooks_would() {
        let pid = std::process::id();
        let own = Process { pid, start: proc::stat(pid).unwrap().start };
        let seen = seen_by(&own).unwrap();
        assert!(seen.chain[0].pid == pid && seen.chain.len() > 1);
        assert!(seen_by(&Process { start: own.start + 1, ..own }).is_none());
    }
}
