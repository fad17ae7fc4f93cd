// SPDX-License-Identifier: GPL-3.0-or-later
//! Claude Code: which file it reads, which events it takes, and what switches its hooks off.
//!
//! An event that it does not know opens a dialog at each start, so an entry is made only where its version is known to
//! take it. Versions 2.1.197 and 2.1.332 were seen (the list of names in the program itself has all of ours in both);
//! older ones go by its changelog. Of events that replace or hold up what it does, or flood, none is installed:
//! WorktreeCreate, MessageDisplay, FileChanged and their like.

use std::path::PathBuf;

use super::hooks::{Hooks, Wanted};
use super::json::{Document, Syntax, is_blank};
use super::part::Part;
use super::{Integration, PLAIN, Surroundings, Version};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["claude"],
    folders: &[".local/bin", ".claude/local"],
    parts: &[Part { file, format: &HOOKS }],
    switched_off,
    live: true,
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "claude";

/// After how many seconds it gives up on us. A hook takes milliseconds, and at most 2.3 seconds.
const TIMEOUT: u32 = 5;

/// An event, and the first version that is known to take it.
struct Event {
    name: &'static str,
    since: Version,
    /// Installed where the version is not known, too.
    core: bool,
}

const fn core(name: &'static str, since: [u32; 3]) -> Event {
    Event { name, since: Version(since), core: true }
}

const fn later(name: &'static str, since: [u32; 3]) -> Event {
    Event { name, since: Version(since), core: false }
}

/// The safe core, and the two of the task list, which are no state of the agent but its progress.
const EVENTS: &[Event] = &[
    core("SessionStart", [1, 0, 62]),
    core("UserPromptSubmit", [1, 0, 54]),
    core("PreToolUse", [1, 0, 38]),
    core("PermissionRequest", [2, 0, 45]),
    core("PostToolUse", [1, 0, 38]),
    core("PostToolUseFailure", [2, 1, 33]),
    // In the documentation from 2.1.152 on; when the program learnt it is not written down.
    core("PostToolBatch", [2, 1, 197]),
    core("Notification", [2, 0, 37]),
    core("Stop", [1, 0, 41]),
    core("StopFailure", [2, 1, 78]),
    core("SubagentStart", [2, 0, 43]),
    core("SubagentStop", [1, 0, 41]),
    core("PreCompact", [1, 0, 48]),
    core("PostCompact", [2, 1, 76]),
    core("SessionEnd", [1, 0, 85]),
    core("Elicitation", [2, 1, 76]),
    core("ElicitationResult", [2, 1, 76]),
    later("TaskCreated", [2, 1, 84]),
    later("TaskCompleted", [2, 1, 33]),
];

/// Its settings.
pub const HOOKS: Hooks = Hooks { wanted };

/// The user's settings: in `$CLAUDE_CONFIG_DIR`, else in `~/.claude`.
pub fn file(surroundings: &Surroundings) -> Option<PathBuf> {
    let folder = surroundings.variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    Some(folder.or_else(|| Some(surroundings.home.as_ref()?.join(".claude")))?.join("settings.json"))
}

/// What that version's file should hold. Of an unknown version only the core is asked, and nothing more is put right.
pub fn wanted(version: Option<Version>) -> Wanted {
    let names = |takes: &dyn Fn(&Event) -> bool| EVENTS.iter().filter(|event| takes(event)).map(|e| e.name).collect();
    let known = |event: &Event| version.is_none_or(|version| event.since <= version);
    Wanted {
        agent: ID,
        required: names(&|event| known(event) && (event.core || version.is_some())),
        allowed: names(&known),
        timeout: TIMEOUT,
        name: None,
        syntax: Syntax::Strict,
    }
}

/// What in the user's settings or in those of the administrator keeps hooks from running, as a sentence.
pub fn switched_off(surroundings: &Surroundings, settings: &[Option<String>]) -> Option<String> {
    let is_set = |text: &str, key: &str| {
        !is_blank(text)
            && Document::parse(text, Syntax::Strict)
                .is_ok_and(|settings| settings.root().get(key).is_some_and(|v| v.is_true()))
    };
    if settings.iter().flatten().any(|text| is_set(text, "disableAllHooks")) {
        let place = file(surroundings).map(|file| file.display().to_string()).unwrap_or_default();
        return Some(format!("`disableAllHooks` in {place} switches all hooks off; remove it"));
    }
    let folder = surroundings.root.join("etc/claude-code");
    let mut managed = vec![folder.join("managed-settings.json")];
    managed.extend(super::file::files_in(&folder.join("managed-settings.d"), "json"));
    managed.iter().find_map(|path| {
        let text = super::file::read(path).ok()??;
        let key = ["disableAllHooks", "allowManagedHooksOnly"].into_iter().find(|key| is_set(&text, key))?;
        Some(format!("`{key}` in {} switches your hooks off; ask whoever manages this machine", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(version: [u32; 3]) -> Vec<&'static str> {
        wanted(Some(Version(version))).required
    }

    #[test]
    fn both_known_generations_get_everything() {
        assert_eq!(required([2, 1, 332]).len(), 19);
        assert_eq!(required([2, 1, 197]), required([2, 1, 332]));
    }

    #[test]
    fn an_unknown_version_gets_the_core() {
        let unknown = wanted(None);
        assert_eq!(unknown.required.len(), 17);
        assert!(!unknown.required.contains(&"TaskCreated") && unknown.allowed.contains(&"TaskCreated"));
    }

    #[test]
    fn an_old_version_gets_no_name_that_it_does_not_know() {
        let old = required([2, 0, 76]);
        assert!(old.contains(&"PermissionRequest") && old.contains(&"Stop"));
        assert!(!old.contains(&"StopFailure") && !old.contains(&"PostToolBatch") && !old.contains(&"TaskCompleted"));
    }

    /// Every name has its row in the translator: nothing is installed that would change nothing by mistake.
    #[test]
    fn what_is_installed_is_translated() {
        let payload = serde_json::from_str(r#"{"session_id":"s","task_id":"1"}"#).unwrap();
        let (agent, here) = (crate::agent::find(ID), crate::origin::Here::default());
        for event in EVENTS {
            let origin = crate::protocol::Origin::default();
            let found = crate::origin::Found::default();
            let event = crate::agent::event(&agent, event.name, &payload, &origin, &here, found).unwrap();
            assert_eq!(event.session.as_deref(), Some("s"), "{}", event.name);
        }
    }
}
