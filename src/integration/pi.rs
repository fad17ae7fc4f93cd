// SPDX-License-Identifier: GPL-3.0-or-later
//! Pi: our extension in its folder of extensions, and what switches it off.
//!
//! Pi loads every file there at its start and at `/reload`; no settings of the user's are touched. Versions 0.74.2 and
//! 1.6.0 were seen, under which one file does.

use std::path::PathBuf;

use super::dropped::Dropped;
use super::json::{Document, Syntax, is_blank};
use super::part::Part;
use super::{Integration, PLAIN, Surroundings, file};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["pi"],
    folders: &[".local/bin", ".npm-global/bin"],
    parts: &[Part { file: extension, format: &PLUGIN }],
    switched_off,
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "pi";

/// The extension's name for Pi: its file below the agent's folder.
const EXTENSION: &str = "extensions/vigil.js";

/// Our extension.
pub const PLUGIN: Dropped =
    Dropped { name: "the extension", template: include_str!("../../data/integrations/pi/vigil.js") };

/// The agent's folder: `$PI_CODING_AGENT_DIR`, in which `~` is the home, else `~/.pi/agent`.
fn folder(surroundings: &Surroundings) -> Option<PathBuf> {
    let home = surroundings.home.as_ref();
    match surroundings.variable("PI_CODING_AGENT_DIR").map(PathBuf::from) {
        Some(folder) => match folder.strip_prefix("~") {
            Ok(rest) => Some(home?.join(rest)),
            Err(_) => Some(folder),
        },
        None => Some(home?.join(".pi/agent")),
    }
}

/// Where our extension is.
pub fn extension(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(folder(surroundings)?.join(EXTENSION))
}

/// Whether the user has switched our extension off in Pi's settings, as `pi config` does, as a sentence.
pub fn switched_off(surroundings: &Surroundings, _texts: &[Option<String>]) -> Option<String> {
    let settings = folder(surroundings)?.join("settings.json");
    let text = file::read(&settings).ok()??;
    let document = Document::parse(&text, Syntax::Strict).ok().filter(|_| !is_blank(&text))?;
    let own = extension(surroundings)?;
    let names_us = |entry: &String| {
        let path = entry.strip_prefix(['-', '!']).unwrap_or_default();
        path.strip_prefix("./").unwrap_or(path) == EXTENSION || own.as_os_str() == path
    };
    let entries = document.root().get("extensions")?.items();
    let entry = entries.iter().filter_map(|entry| entry.value.string()).find(names_us)?;
    Some(format!("`{entry}` under `extensions` in {} switches it off; remove it", settings.display()))
}
