// SPDX-License-Identifier: GPL-3.0-or-later
//! What is remembered of what has gone: sessions that have ended (rule 9) and events that were applied (rule 13). Both
//! forget the oldest first.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::text;
use crate::time::BootTime;

/// How many ended sessions are remembered.
const ENDED: usize = 4096;

/// Rule 9: when sessions ended, the longest known first. One comes back only with a start or a prompt that began after
/// its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<(String, BootTime)>", into = "VecDeque<(String, BootTime)>")]
pub(super) struct Ended {
    order: VecDeque<String>,
    at: HashMap<String, BootTime>,
}

impl From<VecDeque<(String, BootTime)>> for Ended {
    fn from(ended: VecDeque<(String, BootTime)>) -> Self {
        Self { order: ended.iter().map(|(name, _)| name.clone()).collect(), at: ended.into_iter().collect() }
    }
}

impl From<Ended> for VecDeque<(String, BootTime)> {
    fn from(mut ended: Ended) -> Self {
        let at = |name: String| ended.at.remove(&name).map(|at| (name, at));
        ended.order.into_iter().filter_map(at).collect()
    }
}

impl Ended {
    pub(super) fn at(&self, name: &str) -> Option<BootTime> {
        self.at.get(name).copied()
    }

    /// The session's end; where it is known to have ended later, nothing.
    pub(super) fn insert(&mut self, name: String, at: BootTime) {
        if let Some(known) = self.at.get_mut(&name) {
            *known = at.max(*known);
            return;
        }
        if self.order.len() == ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.at.remove(&oldest);
        }
        self.order.push_back(name.clone());
        self.at.insert(name, at);
    }

    /// It has come back: what it was is told by its own events now.
    pub(super) fn remove(&mut self, name: &str) {
        if self.at.remove(name).is_some() {
            self.order.retain(|known| known != name);
        }
    }
}

/// What names a session among all that ever were: its id, or its row's key where it has none.
pub(super) fn name_of(agent: &str, id: &str, workspace: &str, key: &str) -> String {
    let own = if id.is_empty() { format!("\n{workspace}\n{key}") } else { id.to_string() };
    text::short_id(format!("{agent}\n{own}"))
}

/// How many ids of applied events are remembered.
const SEEN: usize = 16_384;

/// Rule 13: ids of events that were applied, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<String>", into = "VecDeque<String>")]
pub(super) struct Seen {
    order: VecDeque<String>,
    index: HashSet<String>,
}

impl From<VecDeque<String>> for Seen {
    fn from(order: VecDeque<String>) -> Self {
        Self { index: order.iter().cloned().collect(), order }
    }
}

impl From<Seen> for VecDeque<String> {
    fn from(seen: Seen) -> Self {
        seen.order
    }
}

impl Seen {
    /// Whether an event was not applied before; it counts as applied from now on. One without an id always is new.
    pub(super) fn is_new(&mut self, id: Option<&String>) -> bool {
        let Some(id) = id else { return true };
        if !self.index.insert(id.clone()) {
            return false;
        }
        if self.order.len() == SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.index.remove(&oldest);
        }
        self.order.push_back(id.clone());
        true
    }
}
