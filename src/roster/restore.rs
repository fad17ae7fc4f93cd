// SPDX-License-Identifier: GPL-3.0-or-later
//! Rule 13: restart loses nothing and repeats nothing. The roster's whole state out, and in again.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::memory::{Ended, Seen};
use super::row::Row;
use super::workspace::Workspace;
use super::{Roster, Settings};
use crate::event::Process;
use crate::time::Now;

/// The version of [`State`].
const VERSION: u32 = 1;

/// The roster's whole state: everything that a restart must not lose, alerts already given included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    version: u32,
    rows: Vec<Row>,
    workspaces: Vec<Workspace>,
    seen: Seen,
    ended: Ended,
    made: u64,
    updates: u64,
    asleep: Duration,
}

impl Roster {
    /// The whole state; [`Roster::restore`] is its inverse.
    pub fn replicate(&self) -> State {
        State {
            version: VERSION,
            rows: self.rows.values().cloned().collect(),
            workspaces: self.workspaces.values().cloned().collect(),
            seen: self.seen.clone(),
            ended: self.ended.clone(),
            made: self.made,
            updates: self.updates,
            asleep: self.asleep,
        }
    }

    /// A roster that goes on where another one stopped, in the same boot. Sessions whose process has gone meanwhile are
    /// dropped, without an alert.
    pub fn restore(state: State, settings: Settings, now: Now, is_alive: impl Fn(&Process) -> bool) -> Self {
        let mut roster = Self::resume(state, settings, now);
        let gone: Vec<(u64, Vec<String>)> = roster
            .rows
            .iter()
            .map(|(number, row)| {
                let dead = row.sessions.iter().filter(|s| s.process.as_ref().is_some_and(|process| !is_alive(process)));
                (*number, dead.map(|session| session.id.clone()).collect())
            })
            .collect();
        for (number, sessions) in gone {
            for id in sessions {
                let index = roster.rows.get(&number).and_then(|row| row.sessions.iter().position(|s| s.id == id));
                if let Some(index) = index {
                    roster.remove_session(number, index);
                    roster.settle(number, now);
                }
            }
        }
        roster
    }

    /// The state as it was, with all that is derived from it made anew.
    fn resume(state: State, settings: Settings, now: Now) -> Self {
        let mut roster = Self::new(settings);
        roster.seen = state.seen;
        roster.ended = state.ended;
        roster.made = state.made;
        roster.updates = state.updates;
        roster.asleep = state.asleep;
        roster.workspaces = state.workspaces.into_iter().map(|workspace| (workspace.number, workspace)).collect();
        roster.index_workspaces();
        roster.refolder = true;
        let rows: BTreeMap<u64, Row> = state.rows.into_iter().map(|row| (row.number, row)).collect();
        for (number, row) in rows {
            roster.keys.insert((row.workspace.clone(), row.key.clone()), number);
            for session in row.sessions.iter().filter(|session| !session.id.is_empty()) {
                roster.sessions.insert((row.agent.clone(), session.id.clone()), number);
            }
            roster.add_to_workspace(&row.workspace, number);
            roster.rows.insert(number, row);
            roster.settle(number, now);
        }
        roster.dirty.workspaces = roster.workspace_ids.keys().cloned().collect();
        roster.index_rowless();
        roster
    }
}
