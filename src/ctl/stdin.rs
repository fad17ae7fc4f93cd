// SPDX-License-Identifier: GPL-3.0-or-later
//! Reading what an agent writes to its hook.
//!
//! It is read to its end even when it is not wanted: a hook that goes away early would break its agent's pipe.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A payload above this is not taken.
pub const SIZE: usize = 64 << 20;

const CHUNK: usize = 64 << 10;

/// Hands on everything on standard input, until its end, an error or the given time. A terminal is nothing: somebody
/// tries the command out. Whether that was all of it: `false` when there is more than [`SIZE`].
pub fn read(limit: Duration, mut take: impl FnMut(&[u8])) -> bool {
    if std::io::stdin().is_terminal() {
        return true;
    }
    let end = Instant::now() + limit;
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        match read_some(&mut chunk, end) {
            0 => return total <= SIZE,
            length => {
                total += length;
                if total <= SIZE {
                    take(&chunk[..length]);
                }
            }
        }
    }
}

/// Reads what there is; 0 at the end, on an error and when the time is up.
fn read_some(chunk: &mut [u8], end: Instant) -> usize {
    let stdin = rustix::stdio::stdin();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return 0 };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return 0,
            Err(Errno::INTR) => {}
            // What polling cannot watch is tried all the same.
            Ok(_) | Err(_) => match rustix::io::read(stdin, &mut *chunk) {
                Ok(length) => return length,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return 0,
            },
        }
    }
}
