// SPDX-License-Identifier: GPL-3.0-or-later
//! CodeWhale: which file it reads, which events it takes, and what switches its hooks off.
//!
//! A name that it does not know makes it refuse the *whole* file and not start (seen, 0.10.2), so that each event has the
//! version that is known to take it: 0.8.59, 0.8.66, 0.9.0 and 0.10.2 were read in their source, and the state events
//! came with 0.9.13 (its changelog). Of the others, `tool_call_before` and `shell_env` hold up what it does,
//! `tool_call_after`, `on_error` and `mode_change` tell nothing that is shown: none of them is installed.
//!
//! `default_timeout_secs` is never written, for it outranks each hook's own.

use std::path::{Path, PathBuf};

use super::part::{Events, Part};
use super::toml::{self, Tables};
use super::{Integration, PLAIN, Surroundings, Version};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["codewhale", "codew"],
    folders: &[".local/bin", ".cargo/bin"],
    parts: &[Part { file, format: &HOOKS }],
    switched_off,
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "codewhale";

/// After how many seconds it gives up on us. A hook takes milliseconds, and at most 2.3 seconds.
const TIMEOUT: u32 = 5;

/// The first version whose source was read.
const FIRST: Version = Version([0, 8, 59]);

/// The first version with the state events.
const STATES: Version = Version([0, 9, 13]);

/// An event, and the first version that is known to take it.
const EVENTS: &[(&str, Version)] = &[
    ("session_start", FIRST),
    ("session_end", FIRST),
    ("message_submit", FIRST),
    ("turn_end", FIRST),
    ("subagent_spawn", FIRST),
    ("subagent_complete", FIRST),
    ("session_busy", STATES),
    ("waiting_for_user", STATES),
    ("session_idle", STATES),
    ("session_error", STATES),
];

/// Its settings. It takes the answer of a hook of `message_submit` for another prompt, or none at all, unless that hook
/// runs beside it.
pub const HOOKS: Tables = Tables {
    agent: ID,
    path: &["hooks", "hooks"],
    event: "event",
    timeout: ("timeout_secs", TIMEOUT),
    beside: &["message_submit"],
    altering: &["condition"],
    wanted,
};

/// The user's settings: those that a variable names, else `config.toml` in `$CODEWHALE_HOME`, else in `~/.codewhale`.
/// Where only the older `~/.deepseek` has one, that is read, and a new one beside it would hide the user's own.
pub fn file(surroundings: &Surroundings) -> Option<PathBuf> {
    let home = surroundings.home.as_deref();
    let named = |name: &str| surroundings.variable(name).and_then(|path| expand(Path::new(path), home));
    if let Some(path) = named("CODEWHALE_CONFIG_PATH").or_else(|| named("DEEPSEEK_CONFIG_PATH")) {
        return Some(path);
    }
    if let Some(folder) = named("CODEWHALE_HOME") {
        return Some(folder.join("config.toml"));
    }
    let [primary, legacy] = [".codewhale", ".deepseek"].map(|folder| Some(home?.join(folder).join("config.toml")));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    primary.filter(|primary| is_there(primary) || !legacy.as_ref().is_some_and(is_there)).or(legacy)
}

/// A path with `~` for the home, as it reads its variables.
fn expand(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(rest) => Some(home?.join(rest)),
        Err(_) => Some(path.to_path_buf()),
    }
}

/// What that version's file should hold. Of an unknown version only what all have is asked, and nothing more is put
/// right.
pub fn wanted(version: Option<Version>) -> Events {
    let names = |takes: &dyn Fn(Version) -> bool| {
        EVENTS.iter().filter(|(_, since)| takes(*since)).map(|(name, _)| *name).collect()
    };
    Events {
        required: names(&|since| since <= version.unwrap_or(FIRST)),
        allowed: names(&|since| version.is_none_or(|version| since <= version)),
    }
}

/// What in the settings keeps hooks from running, as a sentence.
pub fn switched_off(surroundings: &Surroundings, settings: &[Option<String>]) -> Option<String> {
    let is_off = |text: &String| toml::is_false(text, &["hooks", "enabled"]);
    settings.iter().flatten().any(is_off).then(|| {
        let place = file(surroundings).map(|file| file.display().to_string()).unwrap_or_default();
        format!("`enabled = false` below `[hooks]` in {place} switches all hooks off; remove it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(version: [u32; 3]) -> Vec<&'static str> {
        wanted(Some(Version(version))).required
    }

    #[test]
    fn only_versions_that_know_them_get_the_state_events() {
        assert_eq!(required([0, 10, 2]).len(), 10);
        assert_eq!(required([0, 9, 13]), required([0, 10, 2]));
        assert_eq!(required([0, 9, 12]).len(), 6);
        assert!(!required([0, 9, 12]).contains(&"session_idle"));
        assert_eq!(required([0, 8, 58]), [] as [&str; 0]);
    }

    #[test]
    fn an_unknown_version_gets_what_all_have() {
        let unknown = wanted(None);
        assert_eq!(unknown.required, required([0, 8, 59]));
        assert_eq!(unknown.allowed, required([0, 10, 2]));
    }

    /// Every name has its row in the translator: nothing is installed that would change nothing by mistake.
    #[test]
    fn what_is_installed_is_translated() {
        let payload = serde_json::from_str(r#"{"session_id":"sess_1"}"#).unwrap();
        let (agent, here) = (crate::agent::find(ID), crate::origin::Here::default());
        for (name, _) in EVENTS {
            let origin = crate::protocol::Origin::default();
            let found = crate::origin::Found::default();
            let event = crate::agent::event(&agent, name, &payload, &origin, &here, found).unwrap();
            assert_eq!(event.session.as_deref(), Some("sess_1"), "{name}");
            assert_ne!(event.kind, crate::event::Kind::Other, "{name}");
        }
    }
}
