// SPDX-License-Identifier: GPL-3.0-or-later
//! From what is dirty to what is said: whole rows and workspaces, and only those that look different.

use std::collections::HashMap;

use super::{Dirty, Roster};
use crate::snapshot::{Change, ThingKind};

/// What changed, for a reader that has seen everything before: workspaces that came or changed, rows, what is gone.
pub fn changes(roster: &Roster, dirty: &Dirty, details: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    // New workspaces first, in the order in which they came to be: their rows have a place then.
    let mut workspaces: Vec<(u64, &String)> =
        dirty.workspaces.iter().filter_map(|id| Some((*roster.workspace_ids.get(id)?, id))).collect();
    workspaces.sort_unstable();
    changes.extend(workspaces.iter().filter_map(|(_, id)| Some(Change::workspace(roster.workspace_view(id)?))));
    for id in &dirty.rows {
        changes.push(match roster.row_view(id, details) {
            Some((workspace, row)) => Change::row(workspace, row),
            None => Change::removed(ThingKind::Row, id.clone()),
        });
    }
    let gone = dirty.workspaces.iter().filter(|id| !roster.workspace_ids.contains_key(*id));
    changes.extend(gone.map(|id| Change::removed(ThingKind::Workspace, id.clone())));
    changes
}

/// Publishes what has changed, under serial numbers.
#[derive(Debug, Default)]
pub struct Publisher {
    serial: u64,
    /// What readers were told last, by kind and id.
    told: HashMap<(ThingKind, String), Change>,
}

impl Publisher {
    /// Nothing published yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The serial of the latest publication.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The next publication: its serial and what readers do not know yet; `None` when nothing looks different.
    pub fn publish(&mut self, roster: &Roster, dirty: &Dirty) -> Option<(u64, Vec<Change>)> {
        let changes: Vec<Change> =
            changes(roster, dirty, false).into_iter().filter(|change| self.is_news(change)).collect();
        if changes.is_empty() {
            return None;
        }
        self.serial += 1;
        Some((self.serial, changes))
    }

    fn is_news(&mut self, change: &Change) -> bool {
        let key = match change {
            Change::Row(row) => (ThingKind::Row, row.row.id.clone()),
            Change::Workspace(workspace) => (ThingKind::Workspace, workspace.workspace.id.clone()),
            Change::Removed(removed) => {
                let kind = removed.kind.unwrap_or(ThingKind::Row);
                return self.told.remove(&(kind, removed.id.clone())).is_some();
            }
        };
        self.told.insert(key, change.clone()).as_ref() != Some(change)
    }
}
