// SPDX-License-Identifier: GPL-3.0-or-later
//! The menu of an agent's row or of one session of it: what can be done with it, each with `ROW` or `ROW#SESSION` as
//! its target.

use gtk::{gio, glib, prelude::*};

use crate::app::i18n::gettext;
use crate::snapshot::{RowView, SessionView};
use crate::status::Attention;

/// The menu of `row`, which stands in a workspace at `path`.
pub fn menu(row: &RowView, path: Option<&str>) -> gio::Menu {
    let folder = folder(row, path).map(|_| item(&gettext("_Open Folder"), "win.open-folder", &row.id));
    let copy = session(row).map(|session| copy(row, session, &row.id));
    sections([
        seen(row.attention, &row.id).into_iter().collect(),
        folder.into_iter().chain(copy.into_iter().flatten()).collect(),
        vec![dismiss(&row.id)],
    ])
}

/// The menu of one session of `row`.
pub fn session_menu(row: &RowView, session: &SessionView) -> gio::Menu {
    let target = format!("{}#{}", row.id, session.id);
    sections([
        seen(session.attention, &target).into_iter().collect(),
        copy(row, session, &target),
        vec![dismiss(&target)],
    ])
}

/// Where the agent works, on this machine.
pub fn folder(row: &RowView, path: Option<&str>) -> Option<String> {
    row.host.is_none().then(|| row.cwd.as_deref().or(path))?.map(str::to_owned)
}

/// The session that matters: the one that wants the user most, else the one that the row shows.
pub fn session(row: &RowView) -> Option<&SessionView> {
    let strongest = row.sessions.iter().map(|session| session.attention).max()?;
    let is_shown = |session: &&SessionView| session.surface == row.surface && session.pid == row.pid;
    let session = match strongest {
        Attention::None => row.sessions.iter().find(is_shown).or(row.sessions.first()),
        _ => row.sessions.iter().find(|session| session.attention == strongest),
    };
    session.filter(|session| !session.id.is_empty())
}

/// The session of that id.
pub fn session_of(row: &RowView, id: &str) -> Option<SessionView> {
    row.sessions.iter().find(|session| session.id == id).cloned()
}

/// The command line that takes the session up again, for the agents that have one.
pub fn resume_command(row: &RowView, session: &SessionView) -> Option<String> {
    let program = match row.agent.as_str() {
        "claude" => "claude --resume",
        "codex" => "codex resume",
        _ => return None,
    };
    let id = &session.id;
    if id.is_empty() {
        return None;
    }
    // The id is another program's: as a word of a shell it must stay one word.
    let plain = !id.starts_with('-') && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let word = if plain { id.clone() } else { glib::shell_quote(id).to_str()?.to_owned() };
    Some(format!("{program} {word}"))
}

fn seen(attention: Attention, target: &str) -> Option<gio::MenuItem> {
    (attention != Attention::None).then(|| item(&gettext("Mark as _Seen"), "app.acknowledge", target))
}

fn copy(row: &RowView, session: &SessionView, target: &str) -> Vec<gio::MenuItem> {
    let mut items = Vec::new();
    if !session.id.is_empty() {
        items.push(item(&gettext("_Copy Session ID"), "win.copy-session-id", target));
    }
    if resume_command(row, session).is_some() {
        items.push(item(&gettext("Copy _Resume Command"), "win.copy-resume-command", target));
    }
    items
}

fn dismiss(target: &str) -> gio::MenuItem {
    let dismiss = item(&gettext("_Dismiss"), "app.dismiss", target);
    dismiss.set_attribute_value("accel", Some(&"Delete".to_variant()));
    dismiss
}

fn sections(sections: [Vec<gio::MenuItem>; 3]) -> gio::Menu {
    let menu = gio::Menu::new();
    for items in sections.into_iter().filter(|items| !items.is_empty()) {
        let section = gio::Menu::new();
        for item in items {
            section.append_item(&item);
        }
        menu.append_section(None, &section);
    }
    menu
}

fn item(label: &str, action: &str, target: &str) -> gio::MenuItem {
    let item = gio::MenuItem::new(Some(label), None);
    item.set_action_and_target_value(Some(action), Some(&target.to_variant()));
    item
}
