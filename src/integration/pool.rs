// SPDX-License-Identifier: GPL-3.0-or-later
//! The Poolside Agent CLI: which file it reads, and which events it takes.
//!
//! By its documentation of 1.0.16; the program could not be run. All six of its hooks are installed. It goes on where
//! a hook fails, and takes what a hook prints for an answer: ours prints nothing.

use std::path::PathBuf;

use super::part::{Events, Part};
use super::yaml_hooks::Lists;
use super::{Integration, PLAIN, Surroundings, Version};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["pool"],
    folders: &[".local/bin"],
    parts: &[Part { file, format: &HOOKS }],
    switched_off,
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "pool";

/// After how many seconds it gives up on us. A hook takes milliseconds, and at most 2.3 seconds.
const TIMEOUT: u32 = 5;

const EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"];

/// Its settings.
pub const HOOKS: Lists = Lists { agent: ID, timeout: TIMEOUT, wanted };

/// The user's settings.
pub fn file(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.home.as_ref()?.join(".config/poolside/settings.yaml"))
}

/// What its file should hold. Which version took the hooks first is not written down.
pub fn wanted(_version: Option<Version>) -> Events {
    Events { required: EVENTS.to_vec(), allowed: EVENTS.to_vec() }
}

/// Nothing is known that keeps its hooks from running.
pub fn switched_off(_surroundings: &Surroundings, _settings: &[Option<String>]) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name has its row in the translator: nothing is installed that would change nothing by mistake.
    #[test]
    fn what_is_installed_is_translated() {
        let payload = serde_json::from_str(r#"{"session_id":"s"}"#).unwrap();
        let (agent, here) = (crate::agent::find(ID), crate::origin::Here::default());
        for name in EVENTS {
            let origin = crate::protocol::Origin::default();
            let found = crate::origin::Found::default();
            let event = crate::agent::event(&agent, name, &payload, &origin, &here, found).unwrap();
            assert_eq!(event.session.as_deref(), Some("s"), "{name}");
        }
    }
}
