// SPDX-License-Identifier: GPL-3.0-or-later
//! The two clocks, as values.
//!
//! Order and waiting go by the machine's boot clock, which counts suspend, never jumps back and is the same for all
//! processes. Wall time is for display only. Nothing in the core reads a clock: [`Now`] comes in as an argument.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point on the boot clock (`CLOCK_BOOTTIME`), in nanoseconds since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootTime(pub u64);

impl BootTime {
    /// The time so many milliseconds after boot.
    pub fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// How long ago `earlier` was; zero if it was not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Sub<Duration> for BootTime {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl std::ops::Add<Duration> for BootTime {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Wall-clock time in milliseconds since the Unix epoch. Never compared, only shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(pub i64);

impl WallTime {
    /// RFC 3339 in UTC, whole seconds: `2026-01-02T03:04:05Z`.
    pub fn to_rfc3339(self) -> String {
        let seconds = self.0.div_euclid(1000);
        jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
    }

    /// The inverse of [`Self::to_rfc3339`]; `None` for anything else.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let timestamp: jiff::Timestamp = text.parse().ok()?;
        Some(Self(timestamp.as_millisecond()))
    }
}

/// What time it is, on both clocks, for one step of the roster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// The boot clock.
    pub boot: BootTime,
    /// The wall clock.
    pub wall: WallTime,
    /// How long the machine has been suspended since boot, in all (boot clock minus monotonic clock). When it grows,
    /// the machine has just woken up.
    pub asleep: Duration,
}

impl Now {
    /// When on the boot clock that wall time was, by the difference of the two clocks now. What claims to come from
    /// the future is of now, what is from before the boot is of the boot.
    pub fn boot_of(self, wall: WallTime) -> BootTime {
        let ago = u64::try_from(self.wall.0.saturating_sub(wall.0)).unwrap_or_default();
        BootTime(self.boot.0.saturating_sub(ago.saturating_mul(1_000_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_reads_what_it_writes() {
        let time = WallTime(1_767_323_045_000);
        assert_eq!(time.to_rfc3339(), "2026-01-02T03:04:05Z");
        assert_eq!(WallTime::parse_rfc3339("2026-01-02T03:04:05Z"), Some(time));
        assert_eq!(WallTime::parse_rfc3339("yesterday"), None);
    }
}
