// SPDX-License-Identifier: GPL-3.0-or-later
//! What scripts say outright, without events: Séance's metadata calls.

use super::Roster;
use super::order::Stamp;
use super::row::Row;
use super::session::{Life, Session, Turn};
use crate::agent::{self, CATALOGUE};
use crate::event::{self, Event, Place, Said};
use crate::protocol::{ErrorName, Refusal};
use crate::snapshot::LogLevel;
use crate::status::Status;
use crate::text::{self, ID_BYTES};
use crate::time::Now;

/// How many rows of one workspace `SetStatus` may make.
const KEYS: usize = 16;

/// Options of `SetStatus`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusOptions {
    /// Order among the neighbours, instead of the status's own.
    pub priority: Option<i32>,
    /// What to call the row.
    pub display_name: Option<String>,
    /// What the row says.
    pub message: Option<String>,
}

impl Roster {
    /// `SetStatus`: a label acts as its event; any other text becomes the row's message, Idle, without attention.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`] for an empty or overlong workspace or key, and for a key too many.
    pub fn set_status(
        &mut self,
        workspace: &str,
        key: &str,
        value: &str,
        options: StatusOptions,
        now: Now,
    ) -> Result<(), Refusal> {
        check("workspace", workspace)?;
        check("key", key)?;
        let number = match self.keyed(workspace, key) {
            Some(number) => number,
            None => self.make_scripted_row(workspace, key, now)?,
        };
        let Some(row) = self.rows.get_mut(&number) else { return Ok(()) };
        row.priority = options.priority.or(row.priority);
        if let Some(name) = options.display_name.as_deref().map(text::one_line).filter(|name| !name.is_empty()) {
            row.display_name = Some(name);
        }
        let index = row.face_index();
        let session = &mut row.sessions[index];
        // A script that speaks of a session that has ended speaks of what it knows to be there.
        if matches!(session.life, Life::Dead { .. }) {
            session.process = None;
        }
        let rested = session.rests();
        session.life = Life::Alive;
        if rested {
            self.announce_start(number);
        }
        let message = options.message.as_deref().map(text::one_line);
        if let Some(status) = Status::from_label(value) {
            self.say_of(number, index, event::kind_of_label(status), message, now);
        } else {
            let message = message.unwrap_or_else(|| text::one_line(value));
            if let Some(session) = self.rows.get_mut(&number).and_then(|row| row.sessions.get_mut(index)) {
                session.note(message, now);
                self.updates += 1;
                session.updated = self.updates;
            }
            self.settle(number, now);
        }
        Ok(())
    }

    /// Applies an event that a script means, to that very session.
    fn say_of(&mut self, number: u64, index: usize, kind: event::Kind, message: Option<String>, now: Now) {
        let Some(agent) = self.rows.get(&number).map(|row| row.agent.clone()) else { return };
        let mut event = Event::new(agent.clone(), "", kind);
        event.message = Said::from(message);
        let moment = self.moment(&event, now);
        self.apply_to_session(&agent::find(&agent), (number, index), event, moment);
    }

    /// `ClearStatus`: the row goes.
    ///
    /// # Errors
    ///
    /// [`ErrorName::UnknownRow`].
    pub fn clear_status(&mut self, workspace: &str, key: &str, now: Now) -> Result<(), Refusal> {
        let number = self.known(workspace, key)?;
        self.dismiss(&format!("r{number}"), now)
    }

    /// `SetSubagentCounts`.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`] for a negative count, [`ErrorName::UnknownRow`].
    pub fn set_counts(
        &mut self,
        workspace: &str,
        key: &str,
        subagents: i32,
        background: i32,
        now: Now,
    ) -> Result<(), Refusal> {
        let count = |count: i32| {
            u32::try_from(count)
                .map_err(|_| Refusal::new(ErrorName::InvalidArgument, format!("A count of {count} is below zero")))
        };
        let (subagents, background) = (count(subagents)?, count(background)?);
        let number = self.known(workspace, key)?;
        let kind = event::Kind::SubagentUpdate { subagents: Some(subagents), background: Some(background) };
        if let Some(index) = self.rows.get(&number).map(Row::face_index) {
            self.say_of(number, index, kind, None, now);
        }
        Ok(())
    }

    /// `SetProgress`: below 0 clears.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`].
    pub fn set_progress(&mut self, workspace: &str, value: f64, label: &str, now: Now) -> Result<(), Refusal> {
        check("workspace", workspace)?;
        self.put_progress(workspace, None, event::progress_value(value)?, label, now);
        Ok(())
    }

    /// `AppendLog`: the workspace's latest line; an empty one takes it away.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`].
    pub fn append_log(&mut self, workspace: &str, level: &str, message: &str, now: Now) -> Result<(), Refusal> {
        check("workspace", workspace)?;
        let level = LogLevel::parse(level)
            .ok_or_else(|| Refusal::new(ErrorName::InvalidArgument, "The level is none of info, warning and error"))?;
        self.put_log(workspace, None, level, message, now);
        Ok(())
    }

    /// The row that a key names: its exact key, else the agent's latest row in the workspace.
    fn keyed(&self, workspace: &str, key: &str) -> Option<u64> {
        let exact = self.keys.get(&(workspace.to_string(), key.to_string())).copied();
        let of_agent = |row: &&Row| row.agent == key && !row.is_nested() && !row.is_hidden();
        exact.or_else(|| {
            let rows = self.rows_of(workspace).filter_map(|number| self.rows.get(&number));
            rows.filter(of_agent).max_by_key(|row| row.face().updated).map(|row| row.number)
        })
    }

    fn known(&self, workspace: &str, key: &str) -> Result<u64, Refusal> {
        self.keyed(workspace, key)
            .ok_or_else(|| Refusal::new(ErrorName::UnknownRow, "That workspace has no row of that key"))
    }

    fn make_scripted_row(&mut self, workspace: &str, key: &str, now: Now) -> Result<u64, Refusal> {
        let rows = self.rows_of(workspace).filter_map(|number| self.rows.get(&number));
        let scripted = rows.filter(|row| row.scripted).count();
        if scripted >= KEYS {
            let message = format!("A workspace has at most {KEYS} keys of scripts");
            return Err(Refusal::new(ErrorName::InvalidArgument, message));
        }
        let (agent, surface) = CATALOGUE
            .iter()
            .find_map(|agent| Some((agent.id, key.strip_prefix(agent.id)?.strip_prefix('-')?)))
            .map_or((key, None), |(agent, surface)| (agent, Some(surface.to_string())));
        self.make_workspace(workspace, None, now);
        let number = self.make_row(agent, workspace, key, now);
        let place = Place { surface, ..Place::default() };
        if let Some(row) = self.rows.get_mut(&number) {
            row.scripted = true;
            row.sessions.push(Session::new(String::new(), &place, now));
        }
        self.announce_start(number);
        Ok(number)
    }
}

impl Session {
    /// A text of a script's own: Idle, and nothing to see.
    fn note(&mut self, message: String, now: Now) {
        self.last_event = now.boot;
        self.close_all_questions(Stamp::at(now.boot));
        self.grace = None;
        self.turn = Turn::Idle;
        self.turn_open = false;
        self.interrupted = false;
        self.see();
        self.tool = None;
        self.detail = None;
        self.message = Some(message);
    }
}

fn check(what: &str, id: &str) -> Result<(), Refusal> {
    if id.trim().is_empty() || id.len() > ID_BYTES {
        let message = format!("The {what} is empty or longer than {ID_BYTES} bytes");
        return Err(Refusal::new(ErrorName::InvalidArgument, message));
    }
    Ok(())
}
