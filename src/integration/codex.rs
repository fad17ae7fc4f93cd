// SPDX-License-Identifier: GPL-3.0-or-later
//! Codex: which file it reads, which events it takes, what it trusts, and what switches its hooks off.
//!
//! Facts are of version 0.171.0, seen on the real program. Its `hooks.json` has the shape of Claude Code's settings, but
//! any key besides the two that it knows makes it ignore the whole file. Names of events that it does not know do no
//! harm. It runs a hook only while `config.toml` holds the hook's hash under the hook's place in the file: so ours are
//! appended behind all others, whose places must not move, and command and time limit never change by themselves.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, Item, Table};

use super::hooks::{Hooks, Wanted};
use super::json::{Document, Flaw, Kind, Syntax, is_blank};
use super::part::{Format, Left, Part, Survey};
use super::{Integration, PLAIN, Surroundings, Untrusted, Version, command, file};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["codex"],
    folders: &[".local/bin"],
    parts: &[Part { file: hooks_file, format: &HOOKS }],
    switched_off,
    beside: &[settings_file],
    untrusted: Some(untrusted),
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "codex";

/// After how many seconds it gives up on us: the most that it grants to SessionEnd and Interrupt. A hook takes
/// milliseconds, and at most 2.3 seconds.
const TIMEOUT: u64 = 3;

/// The time limit of a hook that states none, in seconds.
const DEFAULT_TIMEOUT: u64 = 600;

/// All that it has hooks for, the ones that every version with hooks is known to take first. When the others came is
/// not written down; the version that was seen has all.
const EVENTS: &[(&str, bool)] = &[
    ("SessionStart", true),
    ("UserPromptSubmit", true),
    ("PreToolUse", true),
    ("PermissionRequest", true),
    ("PostToolUse", true),
    ("Stop", true),
    ("SubagentStart", false),
    ("SubagentStop", false),
    ("Interrupt", false),
    ("PreCompact", false),
    ("PostCompact", false),
    ("SessionEnd", false),
];

/// The version that was seen.
const SEEN: Version = Version([0, 171, 0]);

/// Its hooks file.
pub const HOOKS: Strict = Strict(Hooks { wanted });

/// The keys of the hooks file; any other disables it.
const KEYS: &[&str] = &["description", "hooks"];

/// Hooks in a file that may hold nothing else.
#[derive(Debug)]
pub struct Strict(Hooks);

impl Format for Strict {
    fn survey(
        &self,
        text: Option<&str>,
        version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        check_keys(text)?;
        self.0.survey(text, version, runs)
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        check_keys(text)?;
        self.0.install(text, version, program)
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        self.0.uninstall(text)
    }

    fn snippet(&self, version: Option<Version>, program: &str) -> String {
        self.0.snippet(version, program)
    }

    fn emptied(&self) -> &'static str {
        self.0.emptied()
    }
}

fn check_keys(text: Option<&str>) -> Result<(), Flaw> {
    let Some(text) = text.filter(|text| !is_blank(text)) else { return Ok(()) };
    let document = Document::parse(text, Syntax::Strict)?;
    let root = document.root();
    let members = if root.kind() == Kind::Object { root.items() } else { Vec::new() };
    let strange = members.iter().filter_map(|member| Some((member.key?, member.key?.string()?)));
    match strange.into_iter().find(|(_, name)| !KEYS.contains(&name.as_str())) {
        Some((key, name)) => Err(key.flaw(format!("`{name}` does not belong there"))),
        None => Ok(()),
    }
}

/// `$CODEX_HOME`, else `~/.codex`.
pub fn folder(surroundings: &Surroundings) -> Option<PathBuf> {
    let named = surroundings.variable("CODEX_HOME").map(PathBuf::from);
    let folder = named.or_else(|| Some(surroundings.home.as_ref()?.join(".codex")))?;
    std::path::absolute(folder).ok()
}

/// The user's hooks.
pub fn hooks_file(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(folder(surroundings)?.join("hooks.json"))
}

/// The user's settings, which hold what is trusted.
pub fn settings_file(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(folder(surroundings)?.join("config.toml"))
}

/// What that version's file should hold. Of an unknown version only the core is asked.
pub fn wanted(version: Option<Version>) -> Wanted {
    let whole = version.is_some_and(|version| version >= SEEN);
    let names = |takes: &dyn Fn(bool) -> bool| EVENTS.iter().filter(|event| takes(event.1)).map(|e| e.0).collect();
    Wanted {
        agent: ID,
        required: names(&|core| core || whole),
        allowed: names(&|_| true),
        timeout: u32::try_from(TIMEOUT).unwrap_or(u32::MAX),
        name: None,
        syntax: Syntax::Strict,
    }
}

/// What keeps hooks that are there from running, as a sentence.
pub fn switched_off(surroundings: &Surroundings, texts: &[Option<String>]) -> Option<String> {
    let own = settings_file(surroundings)?;
    let settings = match read(&own) {
        Ok(settings) => settings,
        Err(why) => return Some(why),
    };
    if let Some(off) = feature_off(&settings) {
        return Some(format!("`{off} = false` in {} switches all hooks off; remove it", own.display()));
    }
    if let Some(off) = managed(surroundings) {
        return Some(off);
    }
    let hooks = ours(surroundings, texts.first()?.as_deref().unwrap_or_default());
    let off = hooks.iter().filter(|hook| hook.trust(&settings) == Trust::Off).count();
    if off > 0 {
        return Some(format!("{off} of the hooks are switched off in Codex; its command /hooks switches them on"));
    }
    let untrusted = hooks.iter().filter(|hook| hook.trust(&settings) == Trust::Missing).count();
    (untrusted > 0).then(|| {
        format!(
            "Codex does not run {untrusted} of the {} hooks before you trust them: run `{} install {ID} --trust`, or \
             trust them in Codex with its command /hooks",
            hooks.len(),
            command::PROGRAM
        )
    })
}

/// The entries that it does not run because nobody has trusted them; not those that its user has switched off.
pub fn untrusted(surroundings: &Surroundings, texts: &[Option<String>]) -> Vec<Untrusted> {
    let Some(Ok(settings)) = settings_file(surroundings).map(|file| read(&file)) else { return Vec::new() };
    let hooks = ours(surroundings, texts.first().and_then(Option::as_deref).unwrap_or_default());
    let missing = hooks.into_iter().filter(|hook| hook.trust(&settings) == Trust::Missing);
    missing.map(|hook| Untrusted { key: hook.key, command: hook.command }).collect()
}

fn read(path: &std::path::Path) -> Result<Table, String> {
    // Of a file that cannot be read nothing is known.
    let text = file::read(path).ok().flatten().unwrap_or_default();
    text.trim_start_matches('\u{feff}').parse::<DocumentMut>().map(DocumentMut::into_table).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("{}, line {line}: {}; Codex does not start with it", path.display(), error.message())
    })
}

/// The key by which a settings file switches hooks off.
fn feature_off(settings: &Table) -> Option<&'static str> {
    let features = settings.get("features")?.as_table_like()?;
    let is_off = |key: &str| features.get(key).and_then(Item::as_bool) == Some(false);
    [("hooks", "features.hooks"), ("codex_hooks", "features.codex_hooks")]
        .into_iter()
        .find_map(|(key, name)| is_off(key).then_some(name))
}

/// What an administrator has switched off.
fn managed(surroundings: &Surroundings) -> Option<String> {
    let folder = surroundings.root.join("etc/codex");
    ["requirements.toml", "managed_config.toml"].into_iter().find_map(|name| {
        let path = folder.join(name);
        let settings = read(&path).ok()?;
        let only = settings.get("allow_managed_hooks_only").and_then(Item::as_bool) == Some(true);
        let key = only.then_some("allow_managed_hooks_only").or_else(|| feature_off(&settings))?;
        Some(format!("`{key}` in {} switches your hooks off; ask whoever manages this machine", path.display()))
    })
}

/// Whether it runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// It does.
    Given,
    /// Its user has switched it off.
    Off,
    /// Nobody has trusted it as it is now.
    Missing,
}

/// A hook of ours, as it stands in the file.
struct Hook {
    key: String,
    command: String,
    hash: String,
}

impl Hook {
    fn trust(&self, settings: &Table) -> Trust {
        let state =
            || settings.get("hooks")?.as_table_like()?.get("state")?.as_table_like()?.get(&self.key)?.as_table_like();
        let Some(state) = state() else { return Trust::Missing };
        if state.get("enabled").and_then(Item::as_bool) == Some(false) {
            Trust::Off
        } else if state.get("trusted_hash").and_then(Item::as_str) == Some(&self.hash) {
            Trust::Given
        } else {
            Trust::Missing
        }
    }
}

/// Our hooks in a text, each by its place. A text that is not read holds none.
fn ours(surroundings: &Surroundings, text: &str) -> Vec<Hook> {
    let Some(path) = hooks_file(surroundings) else { return Vec::new() };
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let mut found = Vec::new();
    for (event, groups) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (group_at, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (at, handler) in group.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate() {
                let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
                if EVENTS.iter().any(|known| known.0 == event) && command::read(command, ID).is_some() {
                    let event = snake_case(event);
                    let key = format!("{}:{event}:{group_at}:{at}", path.display());
                    let hash = hash(&event, group, handler, command);
                    found.push(Hook { key, command: command.to_string(), hash });
                }
            }
        }
    }
    found
}

/// What it calls an event where it writes down what is trusted.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The hash of a hook as it trusts it: of what the hook does, as JSON without blanks and with its keys in order (seen).
fn hash(event: &str, group: &Value, handler: &Value, command: &str) -> String {
    let limited = matches!(event, "session_end" | "interrupt");
    let timeout = handler.get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT);
    let timeout = if limited { timeout.min(TIMEOUT) } else { timeout };
    let is_async = handler.get("async").and_then(Value::as_bool).unwrap_or_default();
    let mut hook = json!({"async": is_async, "command": command, "timeout": timeout, "type": "command"});
    if let (Some(hook), Some(message)) = (hook.as_object_mut(), handler.get("statusMessage")) {
        hook.insert("statusMessage".into(), message.clone());
    }
    let mut whole = Map::new();
    whole.insert("event_name".into(), event.into());
    whole.insert("hooks".into(), json!([hook]));
    if let Some(matcher) = group.get("matcher").filter(|matcher| matcher.is_string()) {
        whole.insert("matcher".into(), matcher.clone());
    }
    let digest = Sha256::digest(Value::Object(whole).to_string());
    digest.iter().fold("sha256:".to_string(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "[ -x '/usr/bin/vigilctl' ] && '/usr/bin/vigilctl' hook codex || :";

    /// Hashes that the real program told of these very hooks.
    #[test]
    fn the_hash_is_the_programs_own() {
        let handler = json!({"type": "command", "command": COMMAND, "timeout": 3});
        for (event, known) in [
            ("session_end", "sha256:5db19722f6ae708f6dd3214cb8aa45d06bb47a1f82a02e535d7346c334a05199"),
            ("stop", "sha256:89ce34756ed620af9605ec506bf8918e61f205fc37a7ddf026bc56d6f3874af0"),
        ] {
            assert_eq!(hash(event, &json!({}), &handler, COMMAND), known, "{event}");
        }
        let longer = json!({"type": "command", "command": COMMAND, "timeout": 9});
        assert_eq!(
            hash("session_end", &json!({}), &longer, COMMAND),
            hash("session_end", &json!({}), &handler, COMMAND)
        );
        assert_ne!(hash("stop", &json!({}), &longer, COMMAND), hash("stop", &json!({}), &handler, COMMAND));
    }

    #[test]
    fn hooks_are_known_by_their_place() {
        let surroundings = Surroundings { home: Some("/home/u".into()), ..Surroundings::default() };
        let text = format!(
            r#"{{"hooks": {{"Stop": [{{"hooks": [{{"command": "x"}}]}}, {{"hooks": [{{"command": "y"}}, {{"command": "{COMMAND}"}}]}}],
            "SubagentStop": [{{"hooks": [{{"command": "{COMMAND}"}}]}}], "Brand": [{{"hooks": [{{"command": "{COMMAND}"}}]}}]}}}}"#
        );
        let keys: Vec<String> = ours(&surroundings, &text).into_iter().map(|hook| hook.key).collect();
        let file = "/home/u/.codex/hooks.json";
        assert_eq!(keys, [format!("{file}:stop:1:1"), format!("{file}:subagent_stop:0:0")]);
    }

    #[test]
    fn an_older_version_gets_no_name_that_it_may_not_know() {
        assert_eq!(wanted(Some(SEEN)).required.len(), 12);
        assert_eq!(wanted(Some(Version([0, 150, 0]))).required.len(), 6);
        assert_eq!((wanted(None).required.len(), wanted(None).allowed.len()), (6, 12));
    }

    /// Every name has its row in the translator: nothing is installed that would change nothing by mistake.
    #[test]
    fn what_is_installed_is_translated() {
        let payload = serde_json::from_str(r#"{"session_id":"s"}"#).unwrap();
        let (agent, here) = (crate::agent::find(ID), crate::origin::Here::default());
        for (event, _) in EVENTS {
            let (origin, found) = (crate::protocol::Origin::default(), crate::origin::Found::default());
            let event = crate::agent::event(&agent, event, &payload, &origin, &here, found).unwrap();
            assert_eq!(event.session.as_deref(), Some("s"), "{}", event.name);
        }
    }
}
