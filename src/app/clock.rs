// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the clocks. The only place that does: everything else is given a [`Now`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::time::{BootTime, Now, WallTime};

/// What time it is on all clocks.
pub fn now() -> Now {
    // Monotonic first: read the other way round, the difference could be below zero.
    let monotonic = duration(clock_gettime(ClockId::Monotonic));
    let boot = duration(clock_gettime(ClockId::Boottime));
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now {
        boot: BootTime(nanoseconds(boot)),
        wall: WallTime(i64::try_from(wall.as_millis()).unwrap_or(i64::MAX)),
        asleep: boot.saturating_sub(monotonic),
    }
}

fn duration(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_clock_never_runs_back() {
        let before = now();
        let after = now();
        assert!(after.boot >= before.boot);
        assert!(before.wall > WallTime(0));
    }
}
