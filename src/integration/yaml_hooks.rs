// SPDX-License-Identifier: GPL-3.0-or-later
//! Hooks in YAML settings that hold one list an event: `hooks: {Stop: [{name, matcher, command, timeout}, …]}`.
//!
//! Ours is one item an event, appended to its list as lines of its own, and is known by its command alone. A list, and
//! the whole of `hooks`, that came with ours goes with it. Only block style is edited: a list in brackets is refused.
//! `saphyr-parser` reads, and says where things are; what is written are edits of the text. Everything here is text in,
//! text out.

use std::ops::Range;

use saphyr_parser::{Event, Parser};

use super::Version;
use super::command::{self, Ours};
use super::json::{BYTE_ORDER_MARK, Edit, Flaw, apply};
use super::part::{Entry, Events, Format, Left, Survey};

/// No settings are nested deeper.
const DEPTH: usize = 100;

/// Such a file, as a [`Format`].
#[derive(Debug)]
pub struct Lists {
    /// The agent's id.
    pub agent: &'static str,
    /// After how long the agent gives up on us, in its own unit.
    pub timeout: u32,
    /// The events of that version.
    pub wanted: fn(Option<Version>) -> Events,
}

/// The key of all lists.
const HOOKS: &str = "hooks";

/// A value, or a key.
#[derive(Debug)]
struct Node {
    start: usize,
    /// Behind its last character that is no blank; a comment may be before that, on the same line.
    end: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(String),
    /// Whether it is in block style, and its items.
    Sequence(bool, Vec<Node>),
    /// Whether it is in block style, and its keys and values in turn.
    Mapping(bool, Vec<Node>),
    Alias,
}

impl Node {
    fn text(&self) -> Option<&str> {
        if let Kind::Scalar(text) = &self.kind { Some(text) } else { None }
    }

    /// The keys and values of a mapping.
    fn members(&self) -> impl Iterator<Item = (&Self, &Self)> {
        let members = if let Kind::Mapping(_, members) = &self.kind { members.as_slice() } else { &[] };
        members.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))
    }

    fn get(&self, key: &str) -> Option<&Self> {
        self.members().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }
}

/// One item of ours.
struct Item {
    entry: Entry,
    /// Its lines.
    lines: Range<usize>,
    /// The column of its dash.
    indent: usize,
}

/// One event's list.
struct List {
    event: String,
    /// The line of its key.
    key: Range<usize>,
    /// How many items it has, ours among them.
    count: usize,
    ours: Vec<Item>,
    /// The column of its dashes.
    indent: usize,
    /// Where the line after it begins.
    end: usize,
}

/// What `hooks` holds.
struct Hooks {
    /// The line of its key.
    key: Range<usize>,
    lists: Vec<List>,
    /// Whether there is anything but lists.
    more: bool,
    /// The column of its keys.
    indent: usize,
    /// Where the line after it begins.
    end: usize,
}

impl Format for Lists {
    fn survey(
        &self,
        text: Option<&str>,
        version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        let hooks = self.hooks(text.unwrap_or_default())?;
        let entries = hooks.iter().flat_map(|hooks| &hooks.lists).flat_map(|list| &list.ours).map(|item| &item.entry);
        Ok((self.wanted)(version).survey(&entries.collect::<Vec<_>>(), runs))
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        let wanted = (self.wanted)(version);
        let mended = self.mend(text.unwrap_or_default(), &wanted, program)?;
        let result = self.complete(&mended, text.is_none(), &wanted, program)?;
        match self.survey(Some(&result), version, &|_| true) {
            Ok(survey) if survey.missing.is_empty() && survey.fault.is_none() => Ok(result),
            // The end of a document was marked, for one.
            _ => Err(Flaw::new(&mended, mended.len(), "nothing can be added to this file")),
        }
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        let left = self.remove(text, &|_| true)?;
        Ok(if left.is_empty() && text.ends_with('\n') { Left::Nothing } else { Left::Text(left) })
    }

    fn snippet(&self, version: Option<Version>, program: &str) -> String {
        let wanted = (self.wanted)(version);
        self.block(&wanted.required, 0, program)
    }

    fn emptied(&self) -> &'static str {
        ""
    }
}

impl Lists {
    /// An item of ours as text, without its last line end.
    fn item(&self, event: &str, indent: usize, program: &str) -> String {
        // What JSON escapes, YAML escapes alike.
        let command = serde_json::Value::from(command::write_event(program, self.agent, event));
        let (dash, time) = (" ".repeat(indent), self.timeout);
        format!(
            "{dash}- name: vigil-{event}\n{dash}  matcher: \"*\"\n{dash}  command: {command}\n{dash}  timeout: {time}"
        )
    }

    /// Lists of their own, whose keys stand in that column.
    fn lists(&self, events: &[&str], indent: usize, program: &str) -> String {
        let list = |event: &&str| format!("{}{event}:\n{}", " ".repeat(indent), self.item(event, indent + 2, program));
        events.iter().map(list).collect::<Vec<_>>().join("\n")
    }

    /// All of `hooks`, whose key stands in that column.
    fn block(&self, events: &[&str], indent: usize, program: &str) -> String {
        format!("{}{HOOKS}:\n{}", " ".repeat(indent), self.lists(events, indent + 2, program))
    }

    /// Brings the items that are there up to date, each in its place; those that the agent would not have, second ones,
    /// and those that do not work, go.
    fn mend(&self, text: &str, wanted: &Events, program: &str) -> Result<String, Flaw> {
        let left = self.remove(text, &|entries| !wanted.keeps(entries))?;
        let Some(hooks) = self.hooks(&left)? else { return Ok(left) };
        let current = Ours { program: program.to_string(), guarded: true };
        let old = hooks.lists.iter().flat_map(|list| &list.ours).filter(|item| item.entry.ours != current);
        let edits = old.map(|item| {
            let end = if left[item.lines.clone()].ends_with('\n') { "\n" } else { "" };
            let fresh = self.item(&item.entry.event, item.indent, program) + end;
            Edit { at: item.lines.clone(), text: fresh.replace('\n', newline(&left)) }
        });
        Ok(apply(&left, edits.collect()))
    }

    /// Appends an item for each required event that has none.
    fn complete(&self, text: &str, is_new: bool, wanted: &Events, program: &str) -> Result<String, Flaw> {
        let hooks = self.hooks(text)?;
        let lists = || hooks.iter().flat_map(|hooks| &hooks.lists);
        let missing = wanted.required.iter().copied();
        let missing = missing.filter(|event| !lists().any(|list| list.event == *event && !list.ours.is_empty()));
        let (there, absent): (Vec<&str>, Vec<&str>) =
            missing.partition(|event| lists().any(|list| list.event == *event));
        let mut added: Vec<(usize, String)> = Vec::new();
        for list in lists().filter(|list| there.contains(&list.event.as_str())) {
            added.push((list.end, self.item(&list.event, list.indent, program)));
        }
        match &hooks {
            _ if absent.is_empty() => {}
            Some(hooks) => added.push((hooks.end, self.lists(&absent, hooks.indent, program))),
            None => added.push((text.len(), self.block(&absent, root_indent(text)?, program))),
        }
        let newline = newline(text);
        let edits = added.into_iter().map(|(at, lines)| {
            let lines = match text[..at].strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text[..at]) {
                "" if is_new => lines + "\n",
                "" => lines,
                before if before.ends_with('\n') => lines + "\n",
                // A last line without an end gets one, and ours none: so a removal knows it again.
                _ => format!("\n{lines}"),
            };
            Edit { at: at..at, text: lines.replace('\n', newline) }
        });
        Ok(apply(text, edits.collect()))
    }

    /// The text without those items of ours, and without what came with them. `goes` is asked with all of an event's up
    /// to the one in question.
    fn remove(&self, text: &str, goes: &dyn Fn(&[&Entry]) -> bool) -> Result<String, Flaw> {
        let Some(hooks) = self.hooks(text)? else { return Ok(text.to_string()) };
        let mut lines = Vec::new();
        let mut emptied = 0;
        for list in &hooks.lists {
            let entries: Vec<&Entry> = list.ours.iter().map(|item| &item.entry).collect();
            let going: Vec<_> = (0..entries.len()).filter(|at| goes(&entries[..=*at])).collect();
            lines.extend(going.iter().map(|at| list.ours[*at].lines.clone()));
            if !going.is_empty() && going.len() == list.count {
                lines.push(list.key.clone());
                emptied += 1;
            }
        }
        if emptied > 0 && emptied == hooks.lists.len() && !hooks.more {
            lines.push(hooks.key.clone());
        }
        let was_last = lines.iter().any(|lines| lines.end == text.len());
        let left = apply(text, lines.into_iter().map(|at| Edit { at, text: String::new() }).collect());
        if was_last && !text.ends_with('\n') {
            let line = left.strip_suffix("\r\n").or_else(|| left.strip_suffix('\n'));
            return Ok(line.map_or(left.clone(), ToString::to_string));
        }
        Ok(left)
    }

    /// What `hooks` holds; `None` without one.
    fn hooks(&self, text: &str) -> Result<Option<Hooks>, Flaw> {
        let Some(root) = parse(text)? else { return Ok(None) };
        let mut found = root.members().filter(|(key, _)| key.text() == Some(HOOKS));
        let Some((key, hooks)) = found.next() else { return Ok(None) };
        if let Some((again, _)) = found.next() {
            return Err(Flaw::new(text, again.start, format!("`{HOOKS}` is there twice")));
        }
        let Kind::Mapping(true, members) = &hooks.kind else {
            return Err(Flaw::new(text, key.start, format!("`{HOOKS}` is not written as keys of its own lines")));
        };
        let Some(first) = members.first() else { return Ok(None) };
        let mut lists = Vec::new();
        let mut more = false;
        for (event, list) in hooks.members() {
            match (&list.kind, event.text()) {
                (Kind::Sequence(true, items), Some(name)) => lists.push(self.list(text, event, name, list, items)?),
                _ if event.text().is_some_and(|name| (self.wanted)(None).allowed.contains(&name)) => {
                    let what =
                        format!("`{}` is not written as a list of its own lines", event.text().unwrap_or_default());
                    return Err(Flaw::new(text, event.start, what));
                }
                _ => more = true,
            }
        }
        let (indent, end) = (column(text, first.start), line_end(text, hooks.end));
        Ok(Some(Hooks { key: line(text, key.start), lists, more, indent, end }))
    }

    fn list(&self, text: &str, key: &Node, event: &str, list: &Node, items: &[Node]) -> Result<List, Flaw> {
        let dash = |item: &Node| text[..item.start].trim_end().len().saturating_sub(1);
        let mut ours = Vec::new();
        for item in items {
            let Some((known, named)) =
                item.get("command").and_then(Node::text).and_then(|command| command::read_event(command, self.agent))
            else {
                continue;
            };
            let (start, dash) = (line_start(text, dash(item)), dash(item));
            if !text[dash..].starts_with('-') || !text[start..dash].trim().is_empty() {
                return Err(Flaw::new(text, item.start, "a hook of Vigil's is not written on lines of its own"));
            }
            let always = item.get("matcher").and_then(Node::text).is_some_and(|matcher| matcher == "*");
            let entry = Entry { event: event.to_string(), ours: known, works: always && named == event };
            ours.push(Item { entry, lines: start..line_end(text, item.end), indent: column(text, dash) });
        }
        let indent = items.first().map_or(0, |item| column(text, dash(item)));
        let (event, end) = (event.to_string(), line_end(text, list.end));
        Ok(List { event, key: line(text, key.start), count: items.len(), ours, indent, end })
    }
}

/// The column of the keys of the whole.
fn root_indent(text: &str) -> Result<usize, Flaw> {
    let Some(root) = parse(text)? else { return Ok(0) };
    match &root.kind {
        Kind::Mapping(true, members) => Ok(members.first().map_or(0, |key| column(text, key.start))),
        Kind::Scalar(nothing) if matches!(nothing.as_str(), "" | "~") => Ok(0),
        _ => Err(Flaw::new(text, root.start, "the settings are not written as keys of their own lines")),
    }
}

/// Reads a text; `None` without anything but comments.
fn parse(text: &str) -> Result<Option<Node>, Flaw> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let offset = text.len() - body.len();
    // The reader counts characters.
    let places: Vec<usize> = body.char_indices().map(|(at, _)| at + offset).chain([text.len()]).collect();
    let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
    let trimmed = |end: usize, start: usize| text[..end].trim_end().len().max(start);
    let mut open: Vec<Node> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(body) {
        let (event, span) = event.map_err(|error| Flaw::new(text, place(error.marker().index()), error.info()))?;
        let (start, end) = (place(span.start.index()), place(span.end.index()));
        let block = start == end;
        let node = match event {
            Event::DocumentStart(_) if root.is_some() => return Err(Flaw::new(text, start, "a second document")),
            Event::Scalar(value, ..) => {
                Node { start, end: trimmed(end, start), kind: Kind::Scalar(value.into_owned()) }
            }
            Event::Alias(_) => Node { start, end: trimmed(end, start), kind: Kind::Alias },
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEPTH => {
                return Err(Flaw::new(text, start, "the settings are nested too deep"));
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if block && is_behind_tab(text, start) => {
                return Err(Flaw::new(text, start, "a tab where only spaces may indent"));
            }
            Event::SequenceStart(..) => {
                open.push(Node { start, end: start, kind: Kind::Sequence(block, Vec::new()) });
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Node { start, end: start, kind: Kind::Mapping(block, Vec::new()) });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut closed) = open.pop() else { continue };
                let last = match &closed.kind {
                    Kind::Sequence(true, nodes) | Kind::Mapping(true, nodes) => nodes.last().map(|node| node.end),
                    _ => Some(end),
                };
                closed.end = last.unwrap_or(closed.start);
                closed
            }
            _ => continue,
        };
        match open.last_mut() {
            Some(Node { kind: Kind::Sequence(_, nodes) | Kind::Mapping(_, nodes), .. }) => nodes.push(node),
            _ => root = Some(node),
        }
    }
    Ok(root)
}

fn line_start(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if text[start..].starts_with(BYTE_ORDER_MARK) { start + BYTE_ORDER_MARK.len_utf8() } else { start }
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

fn line(text: &str, at: usize) -> Range<usize> {
    line_start(text, at)..line_end(text, at)
}

/// How many characters stand before that place on its line.
fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Whether a tab indents that place, which the agent's reader refuses and ours does not.
fn is_behind_tab(text: &str, at: usize) -> bool {
    let before = &text[line_start(text, at)..at];
    before.contains('\t') && before.trim_start().is_empty()
}

fn newline(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests;
