// SPDX-License-Identifier: GPL-3.0-or-later
//! Hooks in TOML settings that hold one table an entry: `[[hooks.hooks]]`, or `[[hooks]]`.
//!
//! Ours are appended as the last tables of the file, each behind an empty line, and are known by their command alone,
//! wherever they sit by now. A text without a line end at its end gets none, which is how a removal knows it again.
//! `toml_edit` reads, and says where things are; what is written are edits of the text, since its own writer knows only
//! one kind of line end. Everything here is text in, text out.

use std::ops::Range;

use toml_edit::{Document, Item, Table};

use super::Version;
use super::command::{self, Ours};
use super::json::{BYTE_ORDER_MARK, Edit, Flaw, apply};
use super::part::{Entry, Events, Format, Left, Survey};

/// Such a file, as a [`Format`].
#[derive(Debug)]
pub struct Tables {
    /// The agent's id.
    pub agent: &'static str,
    /// The keys that lead to the list of tables.
    pub path: &'static [&'static str],
    /// The key of an entry that says its event.
    pub event: &'static str,
    /// The key of an entry that says after how long the agent gives up on us, and that time in its own unit.
    pub timeout: (&'static str, u32),
    /// The events whose entry says `background = true`: the agent does not wait, and takes no answer.
    pub beside: &'static [&'static str],
    /// Keys with which an entry is called only sometimes, or may do harm.
    pub altering: &'static [&'static str],
    /// The events of that version.
    pub wanted: fn(Option<Version>) -> Events,
}

/// One table of ours.
struct Own {
    entry: Entry,
    /// The value of its command.
    command: Range<usize>,
    /// Its lines: its own, and those of each table below it.
    lines: Vec<Range<usize>>,
}

impl Format for Tables {
    fn survey(
        &self,
        text: Option<&str>,
        version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        let found = self.tables(text.unwrap_or_default())?;
        Ok((self.wanted)(version).survey(&found.iter().map(|own| &own.entry).collect::<Vec<_>>(), runs))
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        let wanted = (self.wanted)(version);
        let mended = self.mend(text.unwrap_or_default(), &wanted, program)?;
        let found = self.tables(&mended)?;
        let has = |event: &str| found.iter().any(|own| own.entry.event == event);
        let missing = wanted.required.iter().copied().filter(|event| !has(event));
        let tables: Vec<String> = missing.map(|event| self.table(event, program)).collect();
        if tables.is_empty() {
            return Ok(mended);
        }
        let (before, after) = match mended.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&mended) {
            "" if text.is_none() => ("", "\n"),
            "" => ("", ""),
            body if body.ends_with('\n') => ("\n", "\n"),
            _ => ("\n\n", ""),
        };
        let newline = if mended.find('\n').is_some_and(|at| mended[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        let added = format!("{before}{}{after}", tables.join("\n\n")).replace('\n', newline);
        let result = format!("{mended}{added}");
        // A table that was made by dotted keys, for one, takes no more.
        match parse(&result) {
            Ok(_) => Ok(result),
            Err(_) => {
                Err(Flaw::new(&mended, self.place(&mended), format!("nothing can be added to `{}`", self.name())))
            }
        }
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        let left = remove(text, &self.tables(text)?);
        Ok(if left.is_empty() && text.ends_with('\n') { Left::Nothing } else { Left::Text(left) })
    }

    fn snippet(&self, version: Option<Version>, program: &str) -> String {
        let wanted = (self.wanted)(version);
        let tables = wanted.required.iter().map(|event| self.table(event, program));
        tables.collect::<Vec<_>>().join("\n\n")
    }

    fn emptied(&self) -> &'static str {
        ""
    }
}

impl Tables {
    /// The list's name, as its tables' heads have it.
    fn name(&self) -> String {
        self.path.join(".")
    }

    /// An entry of ours as text, without its last line end.
    fn table(&self, event: &str, program: &str) -> String {
        let Self { agent, event: event_key, timeout: (timeout, time), beside, .. } = self;
        let command = quote(&command::write_event(program, agent, event));
        let background = if beside.contains(&event) { "\nbackground = true" } else { "" };
        format!(
            "[[{}]]\nname = \"vigil-{event}\"\n{event_key} = \"{event}\"\ncommand = {command}\n{timeout} = {time}{background}",
            self.name()
        )
    }

    /// Brings the entries that are there up to date, each in its place; those that the agent would not have, second
    /// ones, and those that do not work, go.
    fn mend(&self, text: &str, wanted: &Events, program: &str) -> Result<String, Flaw> {
        let found = self.tables(text)?;
        let entries: Vec<&Entry> = found.iter().map(|own| &own.entry).collect();
        let stays: Vec<bool> = (0..entries.len()).map(|at| wanted.keeps(&entries[..=at])).collect();
        if stays.contains(&false) {
            let mut stays = stays.into_iter();
            let go: Vec<Own> = found.into_iter().filter(|_| stays.next() == Some(false)).collect();
            return self.mend(&remove(text, &go), wanted, program);
        }
        let current = Ours { program: program.to_string(), guarded: true };
        let old = found.iter().filter(|own| own.entry.ours != current);
        let edits = old.map(|own| Edit {
            at: own.command.clone(),
            text: quote(&command::write_event(program, self.agent, &own.entry.event)),
        });
        Ok(apply(text, edits.collect()))
    }

    /// Our tables.
    fn tables(&self, text: &str) -> Result<Vec<Own>, Flaw> {
        let (document, offset) = parse(text)?;
        let shift = |span: Range<usize>| span.start + offset..span.end + offset;
        let (last, above) = self.path.split_last().expect("a path has a last key");
        let mut table = document.as_table();
        let misshapen =
            |item: &Item, what: String| Flaw::new(text, item.span().map_or(offset, |span| shift(span).start), what);
        for key in above {
            match table.get(key) {
                None => return Ok(Vec::new()),
                Some(Item::Table(below)) => table = below,
                Some(other) => return Err(misshapen(other, format!("`{key}` is no table of its own"))),
            }
        }
        let list = match table.get(last) {
            None => return Ok(Vec::new()),
            Some(Item::ArrayOfTables(list)) => list,
            Some(other) => {
                return Err(misshapen(other, format!("`{0}` is not written as tables (`[[{0}]]`)", self.name())));
            }
        };
        Ok(list.iter().filter_map(|table| self.own(text, table, &shift)).collect())
    }

    fn own(&self, text: &str, table: &Table, shift: &dyn Fn(Range<usize>) -> Range<usize>) -> Option<Own> {
        let command = table.get("command")?;
        let (ours, named) = command::read_event(command.as_str()?, self.agent)?;
        let event = table.get(self.event).and_then(Item::as_str).unwrap_or_default().to_string();
        let works = event == named && !self.altering.iter().any(|key| table.contains_key(key));
        let mut lines = Vec::new();
        collect_lines(text, table, shift, &mut lines);
        Some(Own { entry: Entry { event, ours, works }, command: shift(command.span()?), lines })
    }

    /// Where the list, or what it is in, stands in a text; its beginning where it does not.
    fn place(&self, text: &str) -> usize {
        let Ok((document, offset)) = parse(text) else { return 0 };
        let first = self.path.first().and_then(|key| document.as_table().get_key_value(key));
        first.and_then(|(key, _)| key.span()).map_or(0, |span| span.start + offset)
    }
}

/// Whether a text says `false` there.
pub fn is_false(text: &str, path: &[&str]) -> bool {
    let Ok((document, _)) = parse(text) else { return false };
    let value = path.iter().try_fold(document.as_item(), |item, key| item.get(key));
    value.and_then(Item::as_bool) == Some(false)
}

/// Reads a text; the number is that of the bytes before what was read.
fn parse(text: &str) -> Result<(Document<&str>, usize), Flaw> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let offset = text.len() - body.len();
    match Document::parse(body) {
        Ok(document) => Ok((document, offset)),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start) + offset;
            let what = error.message().lines().next().unwrap_or_default().to_string();
            Err(Flaw::new(text, at, if what.is_empty() { "this is no TOML".to_string() } else { what }))
        }
    }
}

/// A text in quotes. What JSON escapes, TOML escapes alike; a program's path has no control characters.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The lines of a table and of each table below it.
fn collect_lines(
    text: &str,
    table: &Table,
    shift: &dyn Fn(Range<usize>) -> Range<usize>,
    lines: &mut Vec<Range<usize>>,
) {
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
    let Some(head) = table.span().map(shift) else { return };
    let values = table.get_values();
    let ends = values.iter().filter_map(|(_, value)| Some(shift(value.span()?).end));
    let start = text[..head.start].rfind('\n').map_or(0, |newline| newline + 1);
    let start = if text[start..].starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { start };
    lines.push(start..line_end(ends.max().unwrap_or(head.start).max(head.start)));
    for (_, item) in table.iter() {
        match item {
            Item::Table(below) if !below.is_dotted() => collect_lines(text, below, shift, lines),
            Item::ArrayOfTables(below) => below.iter().for_each(|below| collect_lines(text, below, shift, lines)),
            _ => {}
        }
    }
}

/// The text without those tables, each with the one empty line before it.
fn remove(text: &str, tables: &[Own]) -> String {
    let mut edits = Vec::new();
    for lines in tables.iter().flat_map(|own| &own.lines) {
        let before = &text[..lines.start];
        let above = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
        let is_empty_line = above.is_empty() || above.ends_with(['\n', BYTE_ORDER_MARK]);
        let start = if is_empty_line { above.len() } else { lines.start };
        edits.push(Edit { at: start..lines.end, text: String::new() });
    }
    let was_last = edits.iter().any(|edit| edit.at.end == text.len());
    let left = apply(text, edits);
    if was_last && !text.ends_with('\n') {
        // Ours was put behind a last line without an end.
        let line = left.strip_suffix("\r\n").or_else(|| left.strip_suffix('\n'));
        return line.map_or(left.clone(), ToString::to_string);
    }
    left
}

#[cfg(test)]
mod tests;
