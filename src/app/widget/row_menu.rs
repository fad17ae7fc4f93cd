// SPDX-License-Identifier: GPL-3.0-or-later
//! The menu of an agent's row: what can be done with it, each with the row's id as its target.

use gtk::{gio, glib, prelude::*};

use crate::app::i18n::gettext;
use crate::snapshot::{RowView, SessionView};
use crate::status::Attention;

/// The menu of `row`, which stands in a workspace at `path`.
pub fn menu(row: &RowView, path: Option<&str>) -> gio::Menu {
    let seen = gio::Menu::new();
    if row.attention != Attention::None {
        seen.append_item(&item(&gettext("Mark as _Seen"), "app.acknowledge", row));
    }
    let copy = gio::Menu::new();
    if folder(row, path).is_some() {
        copy.append_item(&item(&gettext("_Open Folder"), "win.open-folder", row));
    }
    if session(row).is_some() {
        copy.append_item(&item(&gettext("_Copy Session ID"), "win.copy-session-id", row));
    }
    if resume_command(row).is_some() {
        copy.append_item(&item(&gettext("Copy _Resume Command"), "win.copy-resume-command", row));
    }
    let dismiss = item(&gettext("_Dismiss"), "app.dismiss", row);
    dismiss.set_attribute_value("accel", Some(&"Delete".to_variant()));
    let end = gio::Menu::new();
    end.append_item(&dismiss);

    let menu = gio::Menu::new();
    for section in [seen, copy, end] {
        if section.n_items() > 0 {
            menu.append_section(None, &section);
        }
    }
    menu
}

/// Where the agent works, on this machine.
pub fn folder(row: &RowView, path: Option<&str>) -> Option<String> {
    row.host.is_none().then(|| row.cwd.as_deref().or(path))?.map(str::to_owned)
}

/// The session that matters: the one that wants the user most, else the first.
pub fn session(row: &RowView) -> Option<&SessionView> {
    let strongest = row.sessions.iter().map(|session| session.attention).max()?;
    row.sessions.iter().find(|session| session.attention == strongest).filter(|session| !session.id.is_empty())
}

/// The command line that takes the session up again, for the agents that have one.
pub fn resume_command(row: &RowView) -> Option<String> {
    let program = match row.agent.as_str() {
        "claude" => "claude --resume",
        "codex" => "codex resume",
        _ => return None,
    };
    let id = &session(row)?.id;
    // The id is another program's: as a word of a shell it must stay one word.
    let plain = !id.starts_with('-') && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let word = if plain { id.clone() } else { glib::shell_quote(id).to_str()?.to_owned() };
    Some(format!("{program} {word}"))
}

fn item(label: &str, action: &str, row: &RowView) -> gio::MenuItem {
    let item = gio::MenuItem::new(Some(label), None);
    item.set_action_and_target_value(Some(action), Some(&row.id.to_variant()));
    item
}
