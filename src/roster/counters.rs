// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 7: counters, by id where ids are known.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::order::Stamp;

/// How many ids one counter keeps; no more are counted.
const IDS: usize = 1024;

/// How many ended ids are remembered, so that a start that comes behind its stop counts nothing.
const ENDED: usize = 64;

/// One counter: ids and when each began, and a number of those that have none. What arrives out of order counts as it
/// would have in order, as far as it has an id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counter {
    ids: BTreeMap<String, Stamp>,
    nameless: u32,
    ended: VecDeque<(String, Stamp)>,
    /// When an absolute count or a full list last replaced what was known.
    settled: Option<Stamp>,
}

impl Counter {
    pub(super) fn count(&self) -> u32 {
        self.count_without(&Self::default())
    }

    /// Those that the other one does not count already.
    pub(super) fn count_without(&self, other: &Self) -> u32 {
        let named = self.ids.keys().filter(|id| !other.contains(id)).count();
        u32::try_from(named).unwrap_or(u32::MAX).saturating_add(self.nameless)
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    /// One began. A duplicate changes nothing, nor does a start that is older than the stop of the same id.
    pub(super) fn start(&mut self, id: Option<&str>, stamp: Stamp) {
        if self.is_settled(stamp) || id.is_some_and(|id| self.ended_after(id, stamp)) {
            return;
        }
        match id {
            None => self.nameless = self.nameless.saturating_add(1),
            Some(id) if self.ids.len() < IDS && !self.contains(id) => {
                self.ids.insert(id.to_string(), stamp);
            }
            Some(_) => {}
        }
    }

    /// One ended. A stop without its start is ignored, and so is one that is older than the start.
    pub(super) fn stop(&mut self, id: Option<&str>, stamp: Stamp) {
        let Some(id) = id else {
            if !self.is_settled(stamp) {
                self.nameless = self.nameless.saturating_sub(1);
            }
            return;
        };
        if self.ids.get(id).is_some_and(|began| !stamp.is_before(*began)) {
            self.ids.remove(id);
        }
        if self.ended_after(id, stamp) {
            return;
        }
        self.ended.retain(|(ended, _)| ended != id);
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((id.to_string(), stamp));
    }

    /// An absolute count replaces what was known by then.
    pub(super) fn set(&mut self, count: u32, stamp: Stamp) {
        if self.settle(stamp) {
            self.nameless = count;
        }
    }

    /// A full list replaces what was known by then.
    pub(super) fn replace<'a>(&mut self, ids: impl Iterator<Item = &'a str>, stamp: Stamp) {
        let known = self.ids.clone();
        let ended: Vec<&str> = self.ended.iter().filter(|(_, at)| stamp.is_before(*at)).map(|(id, _)| &**id).collect();
        let ids: Vec<&str> = ids.take(IDS).filter(|id| !ended.contains(id)).collect();
        if self.settle(stamp) {
            for id in ids {
                self.ids.entry(id.to_string()).or_insert_with(|| known.get(id).copied().unwrap_or(stamp));
            }
        }
    }

    /// Nothing runs any more.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.nameless = 0;
    }

    fn is_settled(&self, stamp: Stamp) -> bool {
        self.settled.is_some_and(|settled| stamp.is_before(settled))
    }

    fn ended_after(&self, id: &str, stamp: Stamp) -> bool {
        self.ended.iter().any(|(ended, at)| ended == id && stamp.is_before(*at))
    }

    /// Forgets what began before. Returns whether nothing younger has been settled already.
    fn settle(&mut self, stamp: Stamp) -> bool {
        let news = !self.is_settled(stamp);
        if news {
            self.settled = Some(stamp);
            self.ids.retain(|_, began| stamp.is_before(*began));
            self.nameless = 0;
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::BootTime;

    fn at(time: u64) -> Stamp {
        Stamp::at(BootTime(time))
    }

    #[test]
    fn ids_count_once() {
        let mut counter = Counter::default();
        counter.start(Some("a"), at(10));
        counter.start(Some("a"), at(10));
        counter.start(Some("b"), at(10));
        assert_eq!(counter.count(), 2);
        counter.stop(Some("a"), at(20));
        counter.stop(Some("a"), at(20));
        counter.stop(Some("never"), at(20));
        assert_eq!(counter.count(), 1);
    }

    #[test]
    fn what_is_behind_its_successor_counts_nothing() {
        let mut counter = Counter::default();
        counter.stop(Some("a"), at(20));
        counter.start(Some("a"), at(10));
        assert_eq!(counter.count(), 0, "a start behind its stop");
        counter.start(Some("a"), at(30));
        counter.stop(Some("a"), at(25));
        assert_eq!(counter.count(), 1, "a stop behind the next start");
        counter.set(3, at(40));
        counter.start(Some("b"), at(35));
        counter.start(None, at(35));
        counter.stop(None, at(35));
        counter.set(9, at(35));
        assert_eq!(counter.count(), 3, "whatever is behind an absolute count");
    }

    #[test]
    fn a_late_list_leaves_what_began_and_ended_since() {
        let mut counter = Counter::default();
        counter.start(Some("young"), at(30));
        counter.stop(Some("ended"), at(30));
        counter.start(Some("old"), at(10));
        counter.replace(["ended", "listed"].into_iter(), at(20));
        assert!(counter.contains("young") && counter.contains("listed"));
        assert_eq!(counter.count(), 2);
    }

    #[test]
    fn a_nameless_stop_never_goes_below_zero() {
        let mut counter = Counter::default();
        counter.stop(None, at(10));
        assert_eq!(counter.count(), 0);
        counter.set(2, at(10));
        counter.stop(None, at(10));
        assert_eq!(counter.count(), 1);
    }
}
