// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 7: counters, by id where ids are known.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::time::BootTime;

/// How many ids one counter keeps; more are counted without.
const IDS: usize = 1024;

/// How many ended ids are remembered, so that a start that comes behind its stop counts nothing.
const ENDED: usize = 64;

/// One counter: a set of ids, and a number of those that have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counter {
    ids: BTreeSet<String>,
    nameless: u32,
    ended: VecDeque<(String, BootTime)>,
}

impl Counter {
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX).saturating_add(self.nameless)
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// One began. A duplicate changes nothing, nor does a start that is older than the stop of the same id.
    pub(super) fn start(&mut self, id: Option<&str>, at: BootTime) {
        match id {
            None => self.nameless = self.nameless.saturating_add(1),
            Some(id) if self.ended.iter().any(|(ended, when)| ended == id && at <= *when) => {}
            Some(id) if self.ids.len() < IDS => {
                self.ids.insert(id.to_string());
            }
            Some(_) => {}
        }
    }

    /// One ended. A stop without its start is ignored.
    pub(super) fn stop(&mut self, id: Option<&str>, at: BootTime) {
        let Some(id) = id else {
            self.nameless = self.nameless.saturating_sub(1);
            return;
        };
        self.ids.remove(id);
        self.ended.retain(|(ended, _)| ended != id);
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((id.to_string(), at));
    }

    /// An absolute count replaces what was known.
    pub(super) fn set(&mut self, count: u32) {
        self.ids.clear();
        self.nameless = count;
    }

    /// A full list replaces what was known.
    pub(super) fn replace<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        self.nameless = 0;
        self.ids = ids.take(IDS).map(ToString::to_string).collect();
    }

    pub(super) fn clear(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: BootTime = BootTime(10);

    #[test]
    fn ids_count_once() {
        let mut counter = Counter::default();
        counter.start(Some("a"), T);
        counter.start(Some("a"), T);
        counter.start(Some("b"), T);
        assert_eq!(counter.count(), 2);
        counter.stop(Some("a"), BootTime(20));
        counter.stop(Some("a"), BootTime(20));
        counter.stop(Some("never"), BootTime(20));
        assert_eq!(counter.count(), 1);
    }

    #[test]
    fn a_start_behind_its_stop_counts_nothing() {
        let mut counter = Counter::default();
        counter.stop(Some("a"), BootTime(20));
        counter.start(Some("a"), T);
        assert_eq!(counter.count(), 0);
        counter.start(Some("a"), BootTime(30));
        assert_eq!(counter.count(), 1);
    }

    #[test]
    fn a_nameless_stop_never_goes_below_zero() {
        let mut counter = Counter::default();
        counter.stop(None, T);
        assert_eq!(counter.count(), 0);
        counter.set(2);
        counter.stop(None, T);
        assert_eq!(counter.count(), 1);
    }
}
