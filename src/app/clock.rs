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
        asleep: whole_milliseconds(boot.saturating_sub(monotonic)),
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

/// The two clocks are read one after the other, so that their difference grows by microseconds with the load. Only a
/// suspend makes it grow by more.
fn whole_milliseconds(duration: Duration) -> Duration {
    const STEP: u64 = 100;
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX) / STEP * STEP)
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

    #[test]
    fn time_asleep_does_not_grow_while_awake() {
        let asleep = now().asleep;
        assert!((0..1000).all(|_| now().asleep == asleep));
    }
}
