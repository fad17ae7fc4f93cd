// SPDX-License-Identifier: GPL-3.0-or-later
//! What a line shows of one session of a shared row, as plain values.

use super::agent_face::status_label;
use super::{bidi, counting};
use crate::app::i18n::{gettext, gettext_f};
use crate::snapshot::SessionView;
use crate::status::{Attention, Counts, indicator, mark};
use crate::text;

/// So many characters of an id tell one session from another.
const ID_CHARACTERS: usize = 8;

/// What a line shows of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFace {
    /// The pane that it is in, else the beginning of its id.
    pub name: String,
    /// The pane and the id, whole.
    pub tooltip: String,
    /// The status as a word.
    pub status_label: String,
    /// The icon that leads the line.
    pub indicator: String,
    /// The icon of what has not been seen, beside the word where the indicator does not say it.
    pub state_mark: String,
    /// Whether there is one.
    pub state_mark_visible: bool,
    /// The line's style classes.
    pub line_classes: Vec<String>,
    /// All of it in one sentence.
    pub description: String,
}

impl SessionFace {
    /// The faces of all sessions of a row. Two in one place are told apart by their ids.
    pub fn all(sessions: &[SessionView]) -> Vec<Self> {
        let names: Vec<String> = sessions.iter().map(name).collect();
        let is_twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
        let unique = |(session, name): (&SessionView, &String)| {
            let id = short_id(session);
            let name = if is_twice(name) && *name != id && !id.is_empty() {
                // Translators: a terminal pane, and the beginning of a session's id.
                gettext_f("{place} · {id}", &[("place", name), ("id", &id)])
            } else {
                name.clone()
            };
            Self::of(session, name)
        };
        sessions.iter().zip(&names).map(unique).collect()
    }

    fn of(session: &SessionView, name: String) -> Self {
        let counts = Counts { subagents: session.subagents, background: session.background };
        let mark = mark(session.status, session.attention, counts);
        Self {
            tooltip: tooltip(session),
            status_label: status_label(session.status),
            indicator: indicator(session.status, session.attention, counts).to_owned(),
            state_mark: mark.unwrap_or_default().to_owned(),
            state_mark_visible: mark.is_some(),
            line_classes: line_classes(session).into_iter().map(str::to_owned).collect(),
            description: description(session, &name),
            name: bidi::left_to_right(&name),
        }
    }
}

fn line_classes(session: &SessionView) -> Vec<&'static str> {
    // "flat" is the button's own.
    let mut classes = vec!["flat", "session-line", session.status.as_str()];
    classes.extend(match session.attention {
        Attention::None => None,
        Attention::Finished => Some("unseen-finished"),
        Attention::Failed => Some("unseen-failed"),
        Attention::NeedsInput => Some("unseen-needs-input"),
    });
    classes
}

/// "pts/3: Running, finished but not seen yet".
fn description(session: &SessionView, name: &str) -> String {
    // Translators: read out by screen readers; {session} is a terminal pane or an id.
    let head = gettext_f("{session}: {status}", &[("session", name), ("status", &status_label(session.status))]);
    let mut parts = vec![head, counting::unseen_beside(session.status, session.attention)];
    parts.retain(|part| !part.is_empty());
    parts.extend(counting::work(session.subagents, session.background));
    parts.join(&gettext(", "))
}

/// What a user knows the session by.
fn name(session: &SessionView) -> String {
    let surface = session.surface.as_deref().map(text::one_line).filter(|surface| !surface.is_empty());
    let name = surface.map_or_else(|| short_id(session), |surface| place(&surface));
    // Translators: a session of which nothing is known.
    if name.is_empty() { gettext("Session") } else { name }
}

fn short_id(session: &SessionView) -> String {
    text::one_line(&session.id).chars().take(ID_CHARACTERS).collect()
}

/// The pane as its own program names it: "%3" in tmux, "pts/3" with none.
fn place(surface: &str) -> String {
    let last = surface.rsplit([':', '/']).next().unwrap_or_default();
    match surface.split_once(':') {
        Some(("tty" | "zellij", rest)) => rest.to_owned(),
        Some(("tmux", _)) => last.to_owned(),
        Some((program @ ("kitty" | "wezterm" | "konsole"), _)) => format!("{program} {last}"),
        _ => surface.to_owned(),
    }
}

fn tooltip(session: &SessionView) -> String {
    let surface = session.surface.as_deref().map(text::one_line);
    let id = Some(text::one_line(&session.id));
    let parts = surface.into_iter().chain(id).filter(|part| !part.is_empty());
    parts.map(|part| bidi::left_to_right(&part)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_named_as_its_program_names_it() {
        for (surface, name) in [
            ("tmux:/tmp/tmux-1000/default:%3", "%3"),
            ("tty:pts/3", "pts/3"),
            ("zellij:work:4", "work:4"),
            ("kitty:4242:2", "kitty 2"),
            ("wezterm:/run/user/1000/wezterm/gui-sock-77:5", "wezterm 5"),
            ("konsole:org.kde.konsole-9:/Sessions/1", "konsole 1"),
            ("left-pane", "left-pane"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(place(surface), name);
        }
    }
}
