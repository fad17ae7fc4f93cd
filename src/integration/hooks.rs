// SPDX-License-Identifier: GPL-3.0-or-later
//! Hooks in a settings file of Claude Code's shape: `{"hooks": {EVENT: [{"hooks": [HANDLER, …]}, …]}}`.
//!
//! Ours is one handler in a group of its own, appended to each event's list. It is known by its command alone, wherever
//! it sits by now; groups and neighbours of others are never touched. Everything here is text in, text out.

use std::collections::BTreeSet;

use super::command::{self, Ours};
use super::json::{self, Document, Edit, Emptied, Flaw, Fresh, Kind, Node, Syntax};
use super::part::{Fault, Format, Left, Survey};
use super::{Version, file};

/// What an agent's file should hold.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The agent's id, the last word of the command.
    pub agent: &'static str,
    /// The events whose entry it takes to be complete.
    pub required: Vec<&'static str>,
    /// The events that may have an entry; elsewhere one does harm.
    pub allowed: Vec<&'static str>,
    /// After how long the agent gives up on us, in its own unit.
    pub timeout: u32,
    /// What each handler is called, where the agent shows a name.
    pub name: Option<&'static str>,
    /// What the agent reads the file with.
    pub syntax: Syntax,
}

/// Such a file, as a [`Format`].
#[derive(Debug)]
pub struct Hooks {
    /// What the file of that version should hold. Of an unknown one only what every version has is required.
    pub wanted: fn(Option<Version>) -> Wanted,
}

impl Format for Hooks {
    fn survey(
        &self,
        text: Option<&str>,
        version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        survey(text.unwrap_or_default(), &(self.wanted)(version), runs)
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        install(text, &(self.wanted)(version), program)
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        uninstall(text, &(self.wanted)(None))
    }

    fn snippet(&self, version: Option<Version>, program: &str) -> String {
        snippet(&(self.wanted)(version), program)
    }

    fn emptied(&self) -> &'static str {
        file::EMPTY
    }
}

/// An entry of ours.
struct Entry<'d> {
    event: String,
    handler: Node<'d>,
    command: Node<'d>,
    ours: Ours,
    /// It is called for each of its events.
    always: bool,
    /// The agent waits for it.
    waits: bool,
    /// The agent sees it: of a key that is there twice, only the last counts.
    seen: bool,
}

/// A handler's keys with which the agent would not just wait for the command.
const ALTERING: &[&str] = &["async", "asyncRewake", "once"];

/// The lists of all events, and whether the agent sees them.
fn lists<'d>(document: &'d Document<'_>) -> Vec<(String, Node<'d>, bool)> {
    let mut lists = Vec::new();
    let all = document.root().all("hooks");
    for (at, hooks) in all.iter().enumerate() {
        let items = if hooks.kind() == Kind::Object { hooks.items() } else { Vec::new() };
        let named: Vec<(String, Node<'d>)> =
            items.iter().filter_map(|item| Some((item.key?.string()?, item.value))).collect();
        for (place, (event, list)) in named.iter().enumerate() {
            let last = !named[place + 1..].iter().any(|(later, _)| later == event);
            lists.push((event.clone(), *list, last && at + 1 == all.len()));
        }
    }
    lists
}

/// Our entries.
fn entries<'d>(document: &'d Document<'_>, agent: &str) -> Vec<Entry<'d>> {
    let mut entries = Vec::new();
    for (event, list, seen) in lists(document) {
        for group in array(list) {
            let Some(handlers) = group.get("hooks") else { continue };
            for handler in array(handlers) {
                let Some((command, ours)) = ours(handler, agent) else { continue };
                let is_command =
                    handler.get("type").and_then(|kind| kind.string()).is_some_and(|kind| kind == "command");
                let alters = ALTERING.iter().any(|key| handler.get(key).is_some_and(|value| value.is_true()));
                let narrows = ["if", "args"].iter().any(|key| handler.get(key).is_some());
                entries.push(Entry {
                    event: event.clone(),
                    handler,
                    command,
                    ours,
                    always: is_for_all(group),
                    waits: is_command && !alters && !narrows,
                    seen,
                });
            }
        }
    }
    entries
}

fn array<'d>(node: Node<'d>) -> Vec<Node<'d>> {
    if node.kind() == Kind::Array { node.items().iter().map(|item| item.value).collect() } else { Vec::new() }
}

fn ours<'d>(handler: Node<'d>, agent: &str) -> Option<(Node<'d>, Ours)> {
    let node = handler.get("command")?;
    Some((node, command::read(&node.string()?, agent)?))
}

/// Whether a group is called for each of its events.
fn is_for_all(group: Node<'_>) -> bool {
    let matcher = group.get("matcher").map(|matcher| matcher.string());
    matcher.is_none_or(|matcher| matcher.is_some_and(|matcher| matches!(matcher.as_str(), "" | "*")))
}

/// Looks at a text. `runs` says whether a program is there.
///
/// # Errors
///
/// Where the text is not JSON, or not of the shape that the agent reads.
pub fn survey(text: &str, wanted: &Wanted, runs: &dyn Fn(&str) -> bool) -> Result<Survey, Flaw> {
    if json::is_blank(text) {
        return Ok(Survey { required: wanted.required.len(), missing: wanted.required.clone(), ..Survey::default() });
    }
    let document = Document::parse(text, wanted.syntax)?;
    check_shape(&document, wanted)?;
    let mut entries = entries(&document, wanted.agent);
    entries.retain(|entry| entry.seen);
    let fault = |entry: &Entry<'_>| {
        if !wanted.allowed.contains(&entry.event.as_str()) {
            Some(Fault::UnknownEvent(entry.event.clone()))
        } else if !entry.ours.guarded {
            Some(Fault::OldForm)
        } else if !runs(&entry.ours.program) {
            Some(Fault::Gone(entry.ours.program.clone()))
        } else if !entry.waits {
            Some(Fault::Altered)
        } else {
            None
        }
    };
    let has = |event: &str| entries.iter().any(|entry| entry.event == event && entry.always);
    Ok(Survey {
        served: entries.iter().map(|entry| entry.event.as_str()).collect::<BTreeSet<_>>().len(),
        required: wanted.required.len(),
        missing: wanted.required.iter().copied().filter(|event| !has(event)).collect(),
        fault: entries.iter().find_map(fault),
        programs: entries.iter().map(|entry| entry.ours.program.clone()).collect(),
    })
}

/// What must be an object or a list for the agent to read it, and for us to add to it.
fn check_shape(document: &Document<'_>, wanted: &Wanted) -> Result<(), Flaw> {
    if document.root().kind() != Kind::Object {
        return Err(document.root().flaw("the settings are no object"));
    }
    let Some(hooks) = document.root().get("hooks") else { return Ok(()) };
    if hooks.kind() != Kind::Object {
        return Err(hooks.flaw("`hooks` is no object"));
    }
    let lists = wanted.required.iter().filter_map(|event| Some((event, hooks.get(event)?)));
    match lists.into_iter().find(|(_, list)| list.kind() != Kind::Array) {
        Some((event, list)) => Err(list.flaw(format!("`{event}` is no list"))),
        None => Ok(()),
    }
}

/// The text with an entry for each required event, which runs that program. `None` is a file that is not there.
///
/// # Errors
///
/// Where the text is not JSON, or not of the shape that the agent reads.
pub fn install(text: Option<&str>, wanted: &Wanted, program: &str) -> Result<String, Flaw> {
    let Some(text) = text.filter(|text| !json::is_blank(text)) else {
        // A file that was there and empty keeps its blanks before the text, and gets no line end of ours.
        let fresh = snippet(wanted, program);
        return Ok(text.map_or_else(|| format!("{fresh}\n"), |blanks| format!("{blanks}{fresh}")));
    };
    check_shape(&Document::parse(text, wanted.syntax)?, wanted)?;
    let text = mend(text, wanted, program)?;
    let text = drop_surplus(&text, wanted)?;
    complete(&text, wanted, program)
}

/// All of our entries as settings of their own.
pub fn snippet(wanted: &Wanted, program: &str) -> String {
    let lists = wanted.required.iter().map(|event| ((*event).to_string(), list(wanted, program))).collect();
    json::fresh_text(&Fresh::Object(vec![("hooks".into(), Fresh::Object(lists))]))
}

fn handler(wanted: &Wanted, program: &str) -> Fresh {
    let name = wanted.name.map(|name| ("name".into(), Fresh::Text(name.into())));
    let rest = [
        ("type".into(), Fresh::Text("command".into())),
        ("command".into(), Fresh::Text(command::write(program, wanted.agent))),
        ("timeout".into(), Fresh::Number(wanted.timeout)),
    ];
    Fresh::Object(name.into_iter().chain(rest).collect())
}

fn group(wanted: &Wanted, program: &str) -> Fresh {
    Fresh::Object(vec![("hooks".into(), Fresh::Array(vec![handler(wanted, program)]))])
}

fn list(wanted: &Wanted, program: &str) -> Fresh {
    Fresh::Array(vec![group(wanted, program)])
}

/// Brings the entries that are there up to date, each in its place.
fn mend(text: &str, wanted: &Wanted, program: &str) -> Result<String, Flaw> {
    let document = Document::parse(text, wanted.syntax)?;
    let edits = entries(&document, wanted.agent).into_iter().filter_map(|entry| {
        let current = Ours { program: program.to_string(), guarded: true };
        if !entry.waits {
            Some(json::replace(&document, entry.handler, &handler(wanted, program)))
        } else if entry.ours != current {
            let command = Fresh::Text(command::write(program, wanted.agent));
            Some(json::replace(&document, entry.command, &command))
        } else {
            None
        }
    });
    Ok(json::apply(text, edits.collect()))
}

/// Removes entries where the agent would not have them or does not see them, and second ones.
fn drop_surplus(text: &str, wanted: &Wanted) -> Result<String, Flaw> {
    let document = Document::parse(text, wanted.syntax)?;
    let mut served = BTreeSet::new();
    let surplus: BTreeSet<usize> = entries(&document, wanted.agent)
        .iter()
        .filter(|entry| {
            let allowed = wanted.allowed.contains(&entry.event.as_str());
            !allowed || !entry.seen || (entry.always && !served.insert(entry.event.clone()))
        })
        .map(|entry| entry.handler.span().start)
        .collect();
    if surplus.is_empty() {
        return Ok(text.to_string());
    }
    Ok(json::apply(text, strip(&document, &|handler| surplus.contains(&handler.span().start)).edits()))
}

/// Appends an entry for each required event that has none.
fn complete(text: &str, wanted: &Wanted, program: &str) -> Result<String, Flaw> {
    let document = Document::parse(text, wanted.syntax)?;
    let entries = entries(&document, wanted.agent);
    let missing: Vec<&str> = wanted
        .required
        .iter()
        .copied()
        .filter(|event| !entries.iter().any(|entry| entry.event == *event && entry.always))
        .collect();
    let list = list(wanted, program);
    let root = document.root();
    let Some(hooks) = root.get("hooks") else {
        let lists = missing.iter().map(|event| ((*event).to_string(), list.clone())).collect();
        let edit = json::append(&document, root, &[(Some("hooks"), &Fresh::Object(lists))]);
        return Ok(json::apply(text, edit));
    };
    let group = group(wanted, program);
    let (there, absent): (Vec<&str>, Vec<&str>) = missing.iter().partition(|event| hooks.get(event).is_some());
    let mut edits: Vec<Edit> = there
        .iter()
        .filter_map(|event| Some(json::append(&document, hooks.get(event)?, &[(None, &group)])))
        .flatten()
        .collect();
    if !absent.is_empty() {
        let members: Vec<(Option<&str>, &Fresh)> = absent.iter().map(|event| (Some(*event), &list)).collect();
        edits.extend(json::append(&document, hooks, &members));
    }
    Ok(json::apply(text, edits))
}

/// The text without any entry of ours, and without what came with them.
///
/// # Errors
///
/// Where the text is not JSON.
pub fn uninstall(text: &str, wanted: &Wanted) -> Result<Left, Flaw> {
    if json::is_blank(text) {
        return Ok(Left::Text(text.to_string()));
    }
    let document = Document::parse(text, wanted.syntax)?;
    let root = document.root().span();
    let fate = strip(&document, &|handler| ours(handler, wanted.agent).is_some());
    // What is around the settings tells a file that came with them from one that was empty.
    let left = match (&fate, &text[..root.start], &text[root.end..]) {
        (Fate::Goes(_), blanks, "") => Left::Text(blanks.to_string()),
        (Fate::Goes(_), "", "\n") => Left::Nothing,
        _ => Left::Text(json::apply(text, fate.edits())),
    };
    Ok(left)
}

/// What becomes of a part of the text.
enum Fate {
    /// Nothing is left of it, and it came with what has gone. The edits empty it, should it have to stay.
    Goes(Vec<Edit>),
    /// It stays, with these edits.
    Stays(Vec<Edit>),
}

impl Fate {
    fn edits(self) -> Vec<Edit> {
        match self {
            Self::Goes(edits) | Self::Stays(edits) => edits,
        }
    }

    fn goes(&self) -> bool {
        matches!(self, Self::Goes(_))
    }
}

/// Removes handlers, and then whatever came with them and is empty now.
fn strip(document: &Document<'_>, goes: &dyn Fn(Node<'_>) -> bool) -> Fate {
    let members = document.root().items();
    let fates = members.iter().map(|member| {
        let is_hooks = member.key.and_then(|key| key.string()).is_some_and(|key| key == "hooks");
        if is_hooks && member.value.kind() == Kind::Object {
            strip_hooks(document, member.value, goes)
        } else {
            Fate::Stays(Vec::new())
        }
    });
    prune(document, document.root(), fates.collect())
}

fn strip_hooks(document: &Document<'_>, hooks: Node<'_>, goes: &dyn Fn(Node<'_>) -> bool) -> Fate {
    let lists = hooks.items().into_iter().map(|event| {
        let groups = array(event.value).into_iter().map(|group| strip_group(document, group, goes));
        prune(document, event.value, groups.collect())
    });
    prune(document, hooks, lists.collect())
}

/// A group goes with its last handler if it says nothing else: nothing is ever put into one that was there.
fn strip_group(document: &Document<'_>, group: Node<'_>, goes: &dyn Fn(Node<'_>) -> bool) -> Fate {
    let mut edits = Vec::new();
    let mut empty = false;
    for handlers in group.all("hooks") {
        let going: Vec<bool> = array(handlers).into_iter().map(goes).collect();
        if going.contains(&true) {
            empty = !going.contains(&false);
            edits.extend(json::remove(document, handlers, |at| going[at]).edits());
        }
    }
    let keys = group.items().into_iter().filter_map(|member| member.key?.string());
    let bare = is_for_all(group) && keys.into_iter().all(|key| matches!(key.as_str(), "hooks" | "matcher"));
    if empty && bare { Fate::Goes(edits) } else { Fate::Stays(edits) }
}

/// What becomes of a container by what becomes of its items.
fn prune(document: &Document<'_>, container: Node<'_>, fates: Vec<Fate>) -> Fate {
    if !fates.iter().any(Fate::goes) {
        return Fate::Stays(fates.into_iter().flat_map(Fate::edits).collect());
    }
    match json::remove(document, container, |at| fates[at].goes()) {
        Emptied::Made(edits) => Fate::Goes(edits),
        Emptied::Kept(edits) => Fate::Stays(edits),
        Emptied::No(mut edits) => {
            edits.extend(fates.into_iter().filter(|fate| !fate.goes()).flat_map(Fate::edits));
            Fate::Stays(edits)
        }
    }
}

#[cfg(test)]
mod tests;
