// SPDX-License-Identifier: GPL-3.0-or-later
//! Which session an event speaks for, and which event makes a row (sections 3 and 4).

use std::collections::BTreeSet;

use super::Roster;
use super::memory::name_of;
use super::row::Row;
use super::session::{Life, Moment, Session};
use super::workspace::UNPLACED;
use crate::agent::{Agent, Scope};
use crate::event::{Event, Kind, Process};
use crate::text::ID_BYTES;
use crate::time::{BootTime, Now};

/// How many rows there may be; unwatched Idle ones are dropped first.
pub(super) const ROWS: usize = 20_000;

/// How many sessions one row may have.
const SESSIONS: usize = 256;

/// Where a session is found, apart from its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
    Process(Process),
    Surface(String),
}

impl Roster {
    /// The session that an event speaks for, made if need be: its row's number and its place there. `None` when the
    /// event makes no row.
    pub(super) fn find_or_make(&mut self, agent: &Agent<'_>, event: &Event, moment: Moment) -> Option<(u64, usize)> {
        if let Some(found) = self.find(agent, event) {
            return Some(found);
        }
        let id = event.session.clone().unwrap_or_default();
        let renames = event.kind == Kind::SessionRenamed;
        let makes_row = event.kind.is_status() && event.names_something();
        if id.len() > ID_BYTES || !(renames || makes_row) {
            return None;
        }
        let workspace = self.workspace_of(event).unwrap_or_else(|| UNPLACED.to_string());
        let key = row_key(agent, event);
        let name = name_of(agent.id, &id, &workspace, &key);
        if let Some(ended) = self.ended.at(&name)
            && !(is_beginning(event) && moment.at > ended)
        {
            return None;
        }
        if matches!(event.kind, Kind::SessionEnd { .. }) {
            if event.thread.is_none() {
                self.ended.insert(name, moment.at);
            }
            return None;
        }
        if let Some(old) = self.predecessor(agent, event, &workspace, &key) {
            self.ended.remove(&name);
            return Some(self.succeed(old, id, event, moment));
        }
        if renames {
            return None;
        }
        self.ended.remove(&name);
        let nested = self.is_nested(event);
        let hidden = event.hidden == Some(true);
        let key = if nested || hidden { format!("{key}~{id}") } else { key };
        let mut session = Session::new(id.clone(), &event.place, moment.now);
        session.nested = nested;
        session.hidden = hidden;
        let number = self.row_for(agent, event, &workspace, &key, moment.now);
        // What has no id is one with whatever else of its row has none.
        let same = |session: &Session| session.id.is_empty() && id.is_empty();
        if let Some(index) = self.rows.get(&number).and_then(|row| row.sessions.iter().position(same)) {
            return Some((number, index));
        }
        if self.rows.get(&number).is_some_and(|row| row.sessions.len() >= SESSIONS) {
            self.drop_oldest_session(number);
        }
        let row = self.rows.get_mut(&number)?;
        row.sessions.push(session);
        let index = row.sessions.len() - 1;
        if !id.is_empty() {
            self.sessions.insert((agent.id.to_string(), id), number);
        }
        self.announce_start(number);
        Some((number, index))
    }

    /// Notes that a session has ended, so that late events do not bring it back.
    pub(super) fn remember_end(&mut self, number: u64, index: usize, at: BootTime) {
        let Some(row) = self.rows.get(&number) else { return };
        let Some(session) = row.sessions.get(index) else { return };
        self.ended.insert(name_of(&row.agent, &session.id, &row.workspace, &row.key), at);
    }

    /// A session that is there already.
    fn find(&self, agent: &Agent<'_>, event: &Event) -> Option<(u64, usize)> {
        match &event.session {
            Some(id) => self.by_id(agent, id),
            None => self.by_circumstance(agent, event),
        }
    }

    fn by_id(&self, agent: &Agent<'_>, id: &str) -> Option<(u64, usize)> {
        let number = *self.sessions.get(&(agent.id.to_string(), id.to_string()))?;
        let row = self.rows.get(&number)?;
        Some((number, row.sessions.iter().position(|session| session.id == id)?))
    }

    /// Section 4: an event without a session id speaks for the session last seen from its process, else from its
    /// surface, else (session scope, or no surface) for the one of that agent and workspace that updated last. A
    /// workspace that is named outright is never left; and what an agent started never speaks for it (rule 12).
    fn by_circumstance(&self, agent: &Agent<'_>, event: &Event) -> Option<(u64, usize)> {
        let place = &event.place;
        let workspace = self.workspace_of(event);
        let is_beside = |session: &Session| {
            let above = session.process.as_ref().is_some_and(|process| place.ancestors.contains(process));
            !above && !session.nested && !session.hidden
        };
        let latest = |rows: &mut dyn Iterator<Item = u64>, fits: &dyn Fn(&Session) -> bool| {
            let rows = rows.filter_map(|number| self.rows.get(&number)).filter(|row| {
                row.agent == agent.id && (place.workspace.is_none() || workspace.as_ref() == Some(&row.workspace))
            });
            let sessions = rows.flat_map(|row| row.sessions.iter().enumerate().map(move |session| (row, session)));
            let fitting = sessions.filter(|(_, (_, session))| fits(session));
            fitting.max_by_key(|(_, (_, session))| session.updated).map(|(row, (index, _))| (row.number, index))
        };
        let by_process = || {
            let rows = self.anchored(&Anchor::Process(place.process.clone()?));
            latest(&mut rows.into_iter(), &|session| session.process == place.process)
        };
        let by_surface = || {
            let rows = self.anchored(&Anchor::Surface(place.surface.clone()?));
            latest(&mut rows.into_iter(), &|session| is_beside(session) && session.surface == place.surface)
        };
        let by_workspace = || {
            let workspace =
                workspace.as_deref().filter(|_| agent.scope == Scope::Session || place.surface.is_none())?;
            latest(&mut self.rows_of(workspace), &|session| is_beside(session))
        };
        by_process().or_else(by_surface).or_else(by_workspace)
    }

    /// Rows with that process or surface.
    pub(super) fn anchored(&self, anchor: &Anchor) -> BTreeSet<u64> {
        self.anchors.get(anchor).cloned().unwrap_or_default()
    }

    /// Keeps a row findable by what its sessions are anchored to.
    pub(super) fn anchor(&mut self, row: &mut Row) {
        if row.sessions.iter().any(|session| matches!(session.life, Life::AwaitsSuccessor(_))) {
            self.awaiting.insert(row.number);
        } else {
            self.awaiting.remove(&row.number);
        }
        let anchors = |session: &Session| (session.process.clone(), session.surface.clone());
        let same = |(session, (process, surface)): (&Session, &(Option<Process>, Option<String>))| {
            session.process == *process && session.surface == *surface
        };
        if row.anchors.len() == row.sessions.len() && row.sessions.iter().zip(&row.anchors).all(same) {
            return;
        }
        let split = |(process, surface): (Option<Process>, Option<String>)| {
            process.map(Anchor::Process).into_iter().chain(surface.map(Anchor::Surface))
        };
        for anchor in std::mem::take(&mut row.anchors).into_iter().flat_map(split) {
            if let Some(rows) = self.anchors.get_mut(&anchor) {
                rows.remove(&row.number);
                if rows.is_empty() {
                    self.anchors.remove(&anchor);
                }
            }
        }
        row.anchors = row.sessions.iter().map(anchors).collect();
        for anchor in row.anchors.iter().cloned().flat_map(split) {
            self.anchors.entry(anchor).or_default().insert(row.number);
        }
    }

    /// Rule 9: the session that a new one takes the place of: that of the same process; else one that announced a
    /// successor; else one without an id, which has got one now; else, where a row is a pane, the one that was there,
    /// unless another process is known to be.
    fn predecessor(&self, agent: &Agent<'_>, event: &Event, workspace: &str, key: &str) -> Option<(u64, usize)> {
        if event.session.is_none() || event.hidden == Some(true) {
            return None;
        }
        let place = &event.place;
        let agree = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        let mut best: Option<(u8, u64, u64, usize)> = None;
        let mut rows =
            place.process.clone().map(|process| self.anchored(&Anchor::Process(process))).unwrap_or_default();
        rows.extend(self.keys.get(&(workspace.to_string(), key.to_string())));
        rows.extend(&self.awaiting);
        for number in rows {
            let Some(row) = self.rows.get(&number).filter(|row| row.agent == agent.id) else { continue };
            for (index, session) in row.sessions.iter().enumerate().filter(|(_, session)| !session.hidden) {
                let same_process = !place.served && place.process.is_some() && session.process == place.process;
                let other_process =
                    place.process.is_some() && session.process.is_some() && session.process != place.process;
                let here = row.workspace == workspace;
                let same_pane = agree(&session.surface, &place.surface);
                let rank = if same_process && !matches!(session.life, Life::Dead { .. }) {
                    3
                } else if other_process || !here {
                    continue;
                } else if matches!(session.life, Life::AwaitsSuccessor(_)) && same_pane {
                    2
                } else if session.id.is_empty() && !row.scripted && same_pane && row.key == key {
                    1
                } else if agent.scope == Scope::Surface && row.key == key && place.surface.is_some() {
                    0
                } else {
                    continue;
                };
                let candidate = (rank, session.updated, number, index);
                if best.is_none_or(|best| best < candidate) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|(_, _, number, index)| (number, index))
    }

    /// Rule 9: a new session takes the place of an old one, in the same row. One that had no id only gets its own.
    fn succeed(&mut self, (number, index): (u64, usize), id: String, event: &Event, moment: Moment) -> (u64, usize) {
        self.remember_end(number, index, moment.at);
        let Some(row) = self.rows.get_mut(&number) else { return (number, index) };
        let agent = row.agent.clone();
        let old = &mut row.sessions[index];
        let old_id = std::mem::replace(&mut old.id, id.clone());
        let renamed = old_id.is_empty() || event.kind == Kind::SessionRenamed;
        if !renamed {
            let mut session = Session::new(id.clone(), &event.place, moment.now);
            session.nested = old.nested;
            session.process = session.process.or(old.process.take());
            session.tty = session.tty.or(old.tty.take());
            session.surface = session.surface.or(old.surface.take());
            session.pid = session.pid.or(old.pid);
            session.shown = old.shown;
            session.since = old.since;
            self.announce_end(number, index);
            if let Some(row) = self.rows.get_mut(&number) {
                row.sessions[index] = session;
            }
            self.announce_start(number);
        }
        self.sessions.remove(&(agent.clone(), old_id));
        self.sessions.insert((agent, id), number);
        (number, index)
    }

    /// Rule 12: whether an agent started this one.
    fn is_nested(&self, event: &Event) -> bool {
        event.place.ancestors.iter().any(|ancestor| {
            let rows = self.anchored(&Anchor::Process(ancestor.clone()));
            let mut sessions = rows.iter().filter_map(|number| self.rows.get(number)).flat_map(|row| &row.sessions);
            event.place.process.as_ref() != Some(ancestor)
                && sessions.any(|session| session.is_watched() && session.process.as_ref() == Some(ancestor))
        })
    }

    /// The row of that key in that workspace, made if need be.
    fn row_for(&mut self, agent: &Agent<'_>, event: &Event, workspace: &str, key: &str, now: Now) -> u64 {
        if let Some(number) = self.keys.get(&(workspace.to_string(), key.to_string())) {
            return *number;
        }
        self.make_workspace(workspace, Some(&event.place), now);
        self.make_row(agent.id, workspace, key, now)
    }

    /// Makes a row; where there are too many, room is made first.
    pub(super) fn make_row(&mut self, agent: &str, workspace: &str, key: &str, now: Now) -> u64 {
        if self.rows.len() >= ROWS {
            self.drop_oldest_row(now);
        }
        self.made += 1;
        let number = self.made;
        self.rows.insert(
            number,
            Row {
                number,
                workspace: workspace.to_string(),
                key: key.to_string(),
                agent: agent.to_string(),
                display_name: None,
                priority: None,
                scripted: false,
                sessions: Vec::new(),
                announced: None,
                anchors: Vec::new(),
                deadline: None,
                watched: Vec::new(),
                tallied: None,
                subagent_steps: Vec::new(),
                starts: 0,
            },
        );
        self.keys.insert((workspace.to_string(), key.to_string()), number);
        self.add_to_workspace(workspace, number);
        number
    }

    /// A row whose last session has gone.
    pub(super) fn forget_row(&mut self, row: &Row, now: Now) {
        self.keys.remove(&(row.workspace.clone(), row.key.clone()));
        self.remove_from_workspace(&row.workspace, row.number, now);
    }

    /// At most 20 000 rows: unwatched Idle ones go first, the longest silent of them.
    fn drop_oldest_row(&mut self, now: Now) {
        let rank = |row: &Row| {
            let watched = row.sessions.iter().any(Session::is_watched);
            let idle = row.sessions.iter().all(|session| session.shown == crate::status::Status::Idle);
            let last = row.sessions.iter().map(|session| session.last_event).max();
            (watched, !idle, last, row.number)
        };
        if let Some(number) = self.rows.values().min_by_key(|row| rank(row)).map(|row| row.number) {
            while self.rows.get(&number).is_some_and(|row| !row.sessions.is_empty()) {
                self.remove_session(number, 0);
            }
            self.settle(number, now);
        }
    }

    fn drop_oldest_session(&mut self, number: u64) {
        let Some(row) = self.rows.get(&number) else { return };
        let rank = |session: &Session| (session.is_watched(), !session.questions.is_empty(), session.updated);
        let oldest = row.sessions.iter().enumerate().min_by_key(|(_, session)| rank(session)).map(|(index, _)| index);
        if let Some(index) = oldest {
            self.remove_session(number, index);
        }
    }
}

/// The key of a row: the agent in its workspace, or in one pane of it.
fn row_key(agent: &Agent<'_>, event: &Event) -> String {
    let surface = event.place.surface.as_ref().or(event.session.as_ref());
    match (agent.scope, surface) {
        (Scope::Surface, Some(surface)) => format!("{}-{surface}", agent.id),
        _ => agent.id.to_string(),
    }
}

/// Rule 9: what an ended session may come back with.
pub(super) fn is_beginning(event: &Event) -> bool {
    matches!(event.kind, Kind::SessionStart { .. } | Kind::PromptSubmit { .. }) && event.thread.is_none()
}
