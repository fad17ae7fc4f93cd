// SPDX-License-Identifier: GPL-3.0-or-later
//! What the outside sees of a row. Nothing is decided here; every text is cleaned here.

use super::Roster;
use super::row::Row;
use super::session::{Life, Session, Turn};
use crate::agent;
use crate::snapshot::{RowView, SessionView, Snapshot};
use crate::status::{self, Attention};
use crate::text;

impl Row {
    /// The row as it is shown; with `details`, also what a tool works on.
    pub(super) fn view(&self, details: bool) -> RowView {
        let face = self.face();
        let (status, attention, counts) = (face.shown, self.attention(), face.counts());
        RowView {
            id: self.id(),
            agent: self.agent.clone(),
            name: self.name(),
            status,
            label: status.label().to_string(),
            icon: status::indicator(status, attention, counts).to_string(),
            subagents: counts.subagents,
            background: counts.background,
            hidden: self.is_hidden(),
            nested: self.is_nested(),
            watched: self.sessions.iter().any(Session::is_watched),
            attention,
            message: face.shown_message().map(|message| text::one_line(&message)).filter(|text| !text.is_empty()),
            tool: face.tool.as_deref().map(text::one_line).filter(|text| !text.is_empty()),
            questions: count(face.questions.len()),
            surface: face.surface.clone(),
            pid: face.pid,
            host: face.host.clone(),
            since: face.since.wall.to_rfc3339(),
            priority: self.priority.unwrap_or_else(|| status::priority(status, counts)),
            sessions: self.sessions.iter().map(Session::view).collect(),
            detail: face.detail.as_deref().filter(|_| details).map(text::one_line),
            question: face.question().filter(|_| details),
            cwd: face.cwd.clone().filter(|_| details),
        }
    }

    /// What to call it: as a script says, else by the agent's name.
    pub(super) fn name(&self) -> String {
        self.display_name.clone().unwrap_or_else(|| text::one_line(agent::find(&self.agent).name))
    }
}

impl Session {
    fn view(&self) -> SessionView {
        let counts = self.counts();
        SessionView {
            id: self.id.clone(),
            status: self.shown,
            attention: self.attention(),
            subagents: counts.subagents,
            background: counts.background,
            questions: count(self.questions.len()),
            surface: self.surface.clone(),
            pid: self.pid,
        }
    }

    /// What the agent said or asked: the oldest open question first. A permission says only for which tool.
    fn shown_message(&self) -> Option<String> {
        match self.questions.first() {
            Some(question) => {
                question.message.clone().or_else(|| question.tool.as_ref().map(|tool| format!("Permission for {tool}")))
            }
            None => self.message.clone(),
        }
    }

    /// The oldest open question, whole.
    fn question(&self) -> Option<String> {
        let question = self.questions.first()?;
        let whole = question.detail.as_ref().or(question.message.as_ref())?;
        Some(text::lines(whole)).filter(|text| !text.is_empty())
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Roster {
    /// A row and the id of its workspace; with `details`, also what a tool works on.
    pub fn row_view(&self, id: &str, details: bool) -> Option<(String, RowView)> {
        let row = self.rows.get(&Row::number_of(id)?)?;
        Some((row.workspace.clone(), row.view(details)))
    }

    /// Everything, at that serial.
    pub fn snapshot(&self, serial: u64, details: bool) -> Snapshot {
        let workspaces = self.workspaces.values().map(|workspace| {
            let mut rows: Vec<RowView> =
                workspace.rows.iter().filter_map(|number| self.rows.get(number)).map(|row| row.view(details)).collect();
            rows.sort_by(crate::snapshot::row_order);
            let mut view = self.view_of(workspace);
            view.rows = Some(rows);
            view
        });
        Snapshot { serial, workspaces: workspaces.collect(), ..Snapshot::empty() }
    }

    /// The row that wants the user most: the strongest attention, the oldest first. Behind one that wants the user too,
    /// the one that comes after it, round and round.
    pub fn next_attention(&self, after: Option<&str>) -> Option<String> {
        let mut wanting: Vec<&Row> = self.rows.values().filter(|row| row.attention() != Attention::None).collect();
        let oldest = |row: &Row| {
            let strongest = row.attention();
            let sessions = row.sessions.iter().filter(|session| session.attention() == strongest);
            sessions.map(|session| session.since.boot).min()
        };
        wanting.sort_by_key(|row| (std::cmp::Reverse(row.attention()), oldest(row), row.number));
        let position = wanting.iter().position(|row| after.is_some_and(|after| row.id() == after));
        let next = position.map_or(0, |position| (position + 1) % wanting.len());
        wanting.get(next).map(|row| row.id())
    }
}

/// Whether a session's state may stand in a roster at all; see [`super::invariants`].
pub(super) fn is_sound(session: &Session) -> Result<(), &'static str> {
    if session.turn_open && session.turn != Turn::Running {
        return Err("an open turn is Running");
    }
    if session.interrupted && session.turn == Turn::Running && session.questions.is_empty() {
        return Err("an interrupted session does not run");
    }
    if session.finish.is_some() && session.turn_open {
        return Err("a finish waits only while no turn is open");
    }
    if session.unseen.failed && session.turn != Turn::Failed {
        return Err("an unseen failure is a failure");
    }
    if session.failure_alert && session.turn != Turn::Failed {
        return Err("an alert about a failure needs one");
    }
    if session.grace.is_some() && session.turn == Turn::Failed {
        return Err("a grace ends in a failure");
    }
    if matches!(session.life, Life::Dead { .. })
        && (session.counts() != status::Counts::default() || session.turn != Turn::Failed)
    {
        return Err("a dead session has failed and runs nothing");
    }
    if session.shown != session.status() {
        return Err("what is shown is the status");
    }
    Ok(())
}
