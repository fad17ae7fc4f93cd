// SPDX-License-Identifier: GPL-3.0-or-later
//! What must hold after every step, for tests.

use std::collections::BTreeSet;

use super::lookup::ROWS;
use super::{Roster, view};
use crate::status::{Attention, Status};

impl Roster {
    /// Panics when something does not hold that always must. Called after every step of every test.
    ///
    /// # Panics
    ///
    /// With the sentence that does not hold.
    pub fn verify_invariants(&self) {
        assert!(self.rows.len() <= ROWS, "there are not too many rows");
        let mut sessions = 0;
        for (number, row) in &self.rows {
            assert_eq!(*number, row.number, "a row stands under its number");
            assert!(!row.sessions.is_empty(), "a row has a session");
            assert_eq!(self.keys.get(&(row.workspace.clone(), row.key.clone())), Some(number), "a row has its key");
            let workspace = self.workspace_ids.get(&row.workspace).and_then(|id| self.workspaces.get(id));
            assert!(workspace.is_some_and(|workspace| workspace.rows.contains(number)), "a row has its workspace");
            let ids: BTreeSet<&str> = row.sessions.iter().map(|session| session.id.as_str()).collect();
            assert_eq!(ids.len(), row.sessions.len(), "a row has each session once");
            for session in &row.sessions {
                if let Err(broken) = view::is_sound(session) {
                    panic!("{broken}: {session:#?}");
                }
                if !session.id.is_empty() {
                    let key = (row.agent.clone(), session.id.clone());
                    assert_eq!(self.sessions.get(&key), Some(number), "a session is found by its id");
                }
            }
            sessions += row.sessions.len();
            let open =
                row.sessions.iter().any(|session| !session.questions.is_empty() && !session.nested && !session.hidden);
            assert!(!open || row.face().shown == Status::NeedsInput, "an open question is never lost behind another");
            assert_eq!(row.tallied, row.summary(), "the totals know the row");
            assert_eq!(
                row.deadline,
                self.deadlines.iter().find(|(_, owner)| owner == number).map(|(deadline, _)| *deadline),
                "a row's deadline is waited for"
            );
        }
        assert!(self.sessions.len() <= sessions, "no session is indexed that is gone");
        assert_eq!(self.keys.len(), self.rows.len(), "no key is indexed that is gone");
        assert_eq!(self.workspace_ids.len(), self.workspaces.len(), "workspaces are indexed");
        for workspace in self.workspaces.values() {
            assert!(workspace.rows.iter().all(|row| self.rows.contains_key(row)), "a workspace's rows are there");
        }
        let shown = || self.rows.values().filter(|row| !row.is_hidden());
        for (status, count) in self.status_counts() {
            assert_eq!(count as usize, shown().filter(|row| row.face().shown == status).count(), "counts by status");
        }
        let wanting = shown().filter(|row| row.attention() != Attention::None).count();
        assert_eq!(self.attention_count() as usize, wanting, "the count of rows that want the user");
        let anchored: usize = self.anchors.values().map(BTreeSet::len).sum();
        assert!(anchored <= 2 * sessions, "nothing is anchored that is gone");
        let rowless = self.workspaces.values().filter(|workspace| workspace.rows.is_empty()).count();
        assert_eq!(self.rowless.len(), rowless, "workspaces without rows are listed");
        let namesakes: usize = self.namesakes.values().map(BTreeSet::len).sum();
        assert_eq!(namesakes, self.workspaces.len(), "each workspace has one name");
    }
}
