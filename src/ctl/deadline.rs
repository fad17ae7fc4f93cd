// SPDX-License-Identifier: GPL-3.0-or-later
//! A promise that the process ends in time, whatever it hangs in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A thread that ends the process when the time is up. It lives as long as the process: a call that hangs in a socket
/// or in a pipe shared with somebody else cannot be told to stop.
pub struct Deadline {
    start: Instant,
    /// Nanoseconds after the start.
    due: Arc<AtomicU64>,
    thread: thread::Thread,
}

impl Deadline {
    /// Ends the process after `limit`, once `expired` has run.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn start(limit: Duration, expired: impl FnOnce() -> i32 + Send + 'static) -> std::io::Result<Self> {
        let start = Instant::now();
        let due = Arc::new(AtomicU64::new(nanos(limit)));
        let watched = Arc::clone(&due);
        let handle = thread::Builder::new().spawn(move || {
            loop {
                let due = Duration::from_nanos(watched.load(Ordering::Acquire));
                let left = due.saturating_sub(start.elapsed());
                if left.is_zero() {
                    #[expect(clippy::disallowed_methods, reason = "the main thread hangs and cannot return")]
                    std::process::exit(expired());
                }
                thread::park_timeout(left);
            }
        })?;
        Ok(Self { start, due, thread: handle.thread().clone() })
    }

    /// Puts the end at `limit` from now.
    pub fn move_to(&self, limit: Duration) {
        self.due.store(nanos(self.start.elapsed().saturating_add(limit)), Ordering::Release);
        self.thread.unpark();
    }

    /// Lets the process live on.
    pub fn lift(&self) {
        self.due.store(u64::MAX, Ordering::Release);
        self.thread.unpark();
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
