// SPDX-License-Identifier: GPL-3.0-or-later
//! Which live process wrote a log that does not say so: a guess by folder and time.

use std::time::Duration;

use super::journal::Candidate;
use crate::event::{Event, Kind};

/// A log begins so much before its process is old, at most: start times are counted in hundredths.
const SLACK: Duration = Duration::from_secs(1);

/// The youngest process that works where the log says and was there when the event happened. A log may be taken up
/// again by a later process: that shows in what is written, not in when it began.
pub(super) fn find(event: &Event, candidates: &[Candidate], works_there: impl Fn(&Candidate) -> bool) -> Option<usize> {
    let begins = matches!(event.kind, Kind::SessionStart { .. });
    let was_there = |candidate: &Candidate| event.at.is_none_or(|at| candidate.started <= at + SLACK);
    let there = || candidates.iter().enumerate().filter(|(_, candidate)| works_there(candidate));
    let youngest = there().filter(|(_, candidate)| was_there(candidate)).max_by_key(|(_, one)| one.started);
    youngest.or_else(|| there().filter(|_| !begins).max_by_key(|(_, one)| one.started)).map(|(index, _)| index)
}
