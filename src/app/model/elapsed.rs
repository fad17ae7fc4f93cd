// SPDX-License-Identifier: GPL-3.0-or-later
//! How long a row has shown its status, in at most four characters.

use std::time::Duration;

use crate::app::i18n::{fill, gettext};
use crate::time::WallTime;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// "12s", "4m", "3h", "2d". A clock that was set back gives "0s".
pub fn elapsed(since: WallTime, now: WallTime) -> String {
    let seconds = seconds(since, now);
    let filled = |msgid: String, count: i64| fill(&msgid, &[("count", &count.to_string())]);
    match seconds {
        // Translators: seconds; at most four characters in all.
        0..MINUTE => filled(gettext("{count}s"), seconds),
        // Translators: minutes; at most four characters in all.
        MINUTE..HOUR => filled(gettext("{count}m"), seconds / MINUTE),
        // Translators: hours; at most four characters in all.
        HOUR..DAY => filled(gettext("{count}h"), seconds / HOUR),
        // Translators: days; at most four characters in all.
        _ => filled(gettext("{count}d"), (seconds / DAY).min(999)),
    }
}

/// When the times of rows that began at `since` are to be set again: at the next whole second if one of them still
/// counts seconds, else in a minute. With no rows, never.
pub fn next_tick(since: impl IntoIterator<Item = WallTime>, now: WallTime) -> Option<Duration> {
    let mut since = since.into_iter().peekable();
    since.peek()?;
    if since.any(|since| seconds(since, now) < MINUTE) {
        // `since` is of whole seconds, so that every text changes at one.
        let millis = 1000 - now.0.rem_euclid(1000);
        Some(Duration::from_millis(millis.unsigned_abs()))
    } else {
        Some(Duration::from_secs(60))
    }
}

fn seconds(since: WallTime, now: WallTime) -> i64 {
    (now.0.saturating_sub(since.0)).max(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> WallTime {
        WallTime(seconds * 1000)
    }

    #[test]
    fn every_unit_and_its_edges() {
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (86_400 * 5000, "999d"),
        ] {
            assert_eq!(elapsed(at(100), at(100 + seconds)), text);
        }
    }

    #[test]
    fn seconds_tick_at_whole_seconds_and_minutes_each_minute() {
        assert_eq!(next_tick([], at(0)), None);
        assert_eq!(next_tick([at(0)], WallTime(12_250)), Some(Duration::from_millis(750)));
        assert_eq!(next_tick([at(0), at(90)], WallTime(100_000)), Some(Duration::from_secs(1)));
        assert_eq!(next_tick([at(0), at(10)], at(70)), Some(Duration::from_secs(60)));
    }
}
