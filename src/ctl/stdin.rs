// SPDX-License-Identifier: GPL-3.0-or-later
//! Reading what an agent writes to its hook.
//!
//! It is read to its end even when it is not wanted: a hook that goes away early would break its agent's pipe.

use std::io::{IoSliceMut, IsTerminal};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// A payload above this is not taken.
pub const SIZE: usize = 64 << 20;

/// How much is read at a time.
pub const CHUNK: usize = 64 << 10;

/// Hands on everything on standard input, until its end, an error or the given time. A terminal is nothing: somebody
/// tries the command out. Says how much it was; `None` for more than [`SIZE`].
///
/// Reading may hang although polling promised otherwise, when others read from the same pipe. Where the kernel cannot
/// be asked not to wait, `guard` is called first, once: it has to see to it that the process ends, or say that it
/// cannot, and then nothing is read.
pub fn read(limit: Duration, guard: impl FnOnce() -> bool, mut take: impl FnMut(&[u8])) -> Option<usize> {
    if std::io::stdin().is_terminal() {
        return Some(0);
    }
    let mut input = Input { end: Instant::now() + limit, guard: Some(guard), chunk: vec![0; CHUNK] };
    let mut total = 0;
    loop {
        match input.read_some() {
            0 => return (total <= SIZE).then_some(total),
            length => {
                total += length;
                if total <= SIZE {
                    take(&input.chunk[..length]);
                }
            }
        }
    }
}

/// Standard input.
struct Input<G> {
    /// When the time is up.
    end: Instant,
    /// What has to be called before anything may hang, until it has been.
    guard: Option<G>,
    chunk: Vec<u8>,
}

impl<G: FnOnce() -> bool> Input<G> {
    /// Reads what there is; 0 at the end, on an error and when the time is up.
    fn read_some(&mut self) -> usize {
        let stdin = rustix::stdio::stdin();
        let mut is_ready = false;
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let Some(timeout) = Timespec::try_from(left).ok().filter(|_| !left.is_zero()) else { return 0 };
            let read = match (&self.guard, is_ready) {
                (Some(_), _) => {
                    let place = &mut [IoSliceMut::new(&mut self.chunk)];
                    preadv2(stdin, place, u64::MAX, ReadWriteFlags::NOWAIT)
                }
                (None, true) => rustix::io::read(stdin, &mut *self.chunk),
                (None, false) => Err(Errno::AGAIN),
            };
            match (read, is_ready) {
                (Ok(length), _) => return length,
                (Err(Errno::INTR), _) => {}
                (Err(Errno::AGAIN), false) => match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
                    Ok(0) => return 0,
                    Err(Errno::INTR) => {}
                    // What polling cannot watch is tried all the same.
                    Ok(_) | Err(_) => is_ready = true,
                },
                // A file that would have to be fetched is ready and yet not to be had without waiting, and much cannot
                // be read that way at all.
                (Err(error), _) => match self.guard.take().map(|guard| guard()) {
                    Some(true) => {}
                    None if error == Errno::AGAIN => is_ready = false,
                    Some(false) | None => return 0,
                },
            }
        }
    }
}
