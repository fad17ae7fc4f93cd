// SPDX-License-Identifier: GPL-3.0-or-later
//! Putting things into a JSON text, and taking exactly them out again.
//!
//! What is put in follows its neighbours: their line ends, their indentation, their colons, or their single line. What
//! was there is never moved. So that a later removal leaves the very same bytes, with no memory of its own:
//!
//! - Behind others, a comma and the new item are put right behind the last one; a removal cuts from the end of the one
//!   before to the end of the removed one.
//!   A comment in the rest of the last one's line stays in that line: the comma goes before it, the item behind it.
//! - Into brackets that were there and held nothing but (perhaps no) blanks, the new items are put behind those blanks
//!   *and one space*. That space at the end of a line is what tells such brackets from ones that came with their items:
//!   these go when they are empty again, those stay, with their own blanks.
//! - A comment in what is cut stays where it was cut.

use std::ops::Range;

use super::{BYTE_ORDER_MARK, Document, Item, Node};

/// One replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes.
    pub at: Range<usize>,
    /// What comes.
    pub text: String,
}

/// Carries out edits, none of which touches another.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at.start);
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        result.push_str(&text[from..edit.at.start]);
        result.push_str(&edit.text);
        from = edit.at.end;
    }
    result + &text[from..]
}

/// A value that is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// A text.
    Text(String),
    /// A whole number.
    Number(u32),
    /// An array.
    Array(Vec<Fresh>),
    /// An object, in this order.
    Object(Vec<(String, Fresh)>),
}

/// How a text is laid out.
#[derive(Clone, Debug)]
struct Layout<'t> {
    /// The line end; `None` for a single line.
    newline: Option<&'t str>,
    /// One step of indentation.
    step: &'t str,
    colon: &'t str,
    /// What follows a comma in a single line.
    space: &'t str,
}

const USUAL: Layout<'static> = Layout { newline: Some("\n"), step: "  ", colon: ": ", space: " " };

/// A text of its own: two spaces a step, as the agents themselves write.
pub fn fresh_text(value: &Fresh) -> String {
    let mut text = String::new();
    value.write(&mut text, &USUAL, "");
    text
}

impl Fresh {
    fn write(&self, out: &mut String, layout: &Layout<'_>, indent: &str) {
        let (brackets, items): (_, Vec<(Option<&str>, &Self)>) = match self {
            Self::Text(text) => return out.push_str(&quote(text)),
            Self::Number(number) => return out.push_str(&number.to_string()),
            Self::Array(items) => (["[", "]"], items.iter().map(|item| (None, item)).collect()),
            Self::Object(items) => (["{", "}"], items.iter().map(|(key, item)| (Some(key.as_str()), item)).collect()),
        };
        let deeper = format!("{indent}{}", layout.step);
        out.push_str(brackets[0]);
        if !items.is_empty() {
            out.push_str(&layout.line(&deeper));
            write_items(out, &items, layout, &deeper);
            out.push_str(&layout.line(indent));
        }
        out.push_str(brackets[1]);
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn write_items(out: &mut String, items: &[(Option<&str>, &Fresh)], layout: &Layout<'_>, indent: &str) {
    for (at, (key, item)) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
            out.push_str(&layout.between(indent));
        }
        if let Some(key) = key {
            out.push_str(&quote(key));
            out.push_str(layout.colon);
        }
        item.write(out, layout, indent);
    }
}

impl Layout<'_> {
    /// The beginning of a line, if there are lines.
    fn line(&self, indent: &str) -> String {
        self.newline.map(|newline| format!("{newline}{indent}")).unwrap_or_default()
    }

    /// What stands between a comma and the next item.
    fn between(&self, indent: &str) -> String {
        if self.newline.is_some() { self.line(indent) } else { self.space.to_string() }
    }
}

impl<'t> Layout<'t> {
    /// How the document is laid out as a whole.
    fn of(document: &'t Document<'_>) -> Self {
        let text = document.text();
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let colon = document.containers().find_map(|node| colon(text, node)).unwrap_or(USUAL.colon);
        let step = document.containers().find_map(|node| step(text, node)).unwrap_or(USUAL.step);
        let space = if colon.ends_with(' ') { " " } else { "" };
        Self { newline: Some(newline), step, colon, space }
    }
}

/// What stands between the last key and its value, in an object.
fn colon<'t>(text: &'t str, node: Node<'_>) -> Option<&'t str> {
    let item = node.items().pop()?;
    let colon = &text[item.key?.span().end..item.value.span().start];
    (!colon.contains('\n')).then_some(colon)
}

/// How much deeper the first line in a node is than its own.
fn step<'t>(text: &'t str, node: Node<'_>) -> Option<&'t str> {
    let first = node.items().first()?.span().start;
    let lead = &text[node.span().start + 1..first];
    let inner = &lead[lead.rfind('\n')? + 1..];
    inner.strip_prefix(indent(text, node.span().start)).filter(|step| !step.is_empty())
}

/// The indentation of the line in which that byte stands.
fn indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line..].strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text[line..]);
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    &line[..end]
}

/// The blanks before a byte.
fn blanks_before(text: &str, at: usize) -> &str {
    let start = text[..at].trim_end_matches([' ', '\t', '\n', '\r']).len();
    &text[start..at]
}

/// Puts items behind all others of a container. In an object each has its key.
pub fn append(document: &Document<'_>, container: Node<'_>, items: &[(Option<&str>, &Fresh)]) -> Vec<Edit> {
    let text = document.text();
    let mut layout = Layout::of(document);
    if let Some(colon) = colon(text, container) {
        layout.colon = colon;
    }
    let there = container.items();
    let mut out = String::new();
    if let Some(last) = there.last() {
        let lead = blanks_before(text, last.span().start);
        let deep = match lead.rfind('\n') {
            Some(newline) => &lead[newline + 1..],
            None => {
                layout.newline = None;
                // Of a single item's blanks some belong to the bracket, but who writes them writes them everywhere.
                if there.len() > 1 || !lead.is_empty() {
                    layout.space = lead;
                }
                ""
            }
        };
        out.push_str(&layout.between(deep));
        write_items(&mut out, items, &layout, deep);
        let end = last.span().end;
        let comment = layout.newline.and_then(|_| end_of_comments(document, end));
        return match comment {
            Some(behind) => vec![put(end, ","), put(behind, out)],
            None => vec![put(end, format!(",{out}"))],
        };
    }
    let span = container.span();
    let blanks = &text[span.start + 1..span.end - 1];
    let outer = indent(text, span.start);
    if !blanks.contains('\n') && in_one_line(text, container) {
        layout.newline = None;
    }
    let deep = format!("{outer}{}", layout.step);
    out.push(' ');
    out.push_str(&layout.line(&deep));
    write_items(&mut out, items, &layout, &deep);
    out.push_str(&layout.line(outer));
    vec![put(span.end - 1, out)]
}

fn put(at: usize, text: impl Into<String>) -> Edit {
    Edit { at: at..at, text: text.into() }
}

/// Where the comments end that fill the rest of a line, from that byte on, if there are any.
fn end_of_comments(document: &Document<'_>, at: usize) -> Option<usize> {
    let length = document.text()[at..].find(['\n', '\r'])?;
    let rest = at..at + length;
    let only = document.text()[rest.clone()].trim_matches([' ', '\t']).is_empty();
    let last = document.comments_in(&rest).last()?;
    only.then_some(last.end)
}

/// Cuts a part of the text, but for its comments; behind one that its line ends, that end stays, too.
fn cut(document: &Document<'_>, part: Range<usize>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut from = part.start;
    for comment in document.comments_in(&part) {
        edits.push(Edit { at: from..comment.start, text: String::new() });
        from = behind(document, comment).min(part.end);
    }
    edits.push(Edit { at: from..part.end, text: String::new() });
    edits
}

/// Where what belongs to a comment ends: of a block that is its end, of a line the indentation of the next one.
fn behind(document: &Document<'_>, comment: &Range<usize>) -> usize {
    let rest = &document.text()[comment.end..];
    if document.blocks.contains(&comment.end) {
        return comment.end;
    }
    let line = rest.find('\n').map_or(0, |newline| newline + 1);
    comment.end + line + (rest[line..].len() - rest[line..].trim_start_matches([' ', '\t']).len())
}

/// Cuts items from behind the one before them, with its comma; comments between stay where they are.
fn cut_behind(document: &Document<'_>, before: usize, first: usize, end: usize, more: bool) -> Vec<Edit> {
    let Some(last) = document.comments_in(&(before..first)).last() else { return cut(document, before..end) };
    let comma = before + document.text()[before..first].find(',').unwrap_or_default();
    let from = if more { behind(document, last) } else { last.end };
    let mut edits = vec![Edit { at: comma..comma + 1, text: String::new() }];
    edits.extend(cut(document, from..end));
    edits
}

/// Puts a value in the place of another, in its layout.
pub fn replace(document: &Document<'_>, node: Node<'_>, value: &Fresh) -> Edit {
    let mut layout = Layout::of(document);
    if let Some(colon) = colon(document.text(), node) {
        layout.colon = colon;
    }
    if !node.source().contains('\n') {
        layout.newline = None;
    }
    let mut out = String::new();
    value.write(&mut out, &layout, indent(document.text(), node.span().start));
    Edit { at: node.span(), text: out }
}

/// Whether a container stands in the line of what it is in. The whole text does not.
fn in_one_line(text: &str, container: Node<'_>) -> bool {
    if container.at == 0 {
        return false;
    }
    let start = container.span().start;
    let key = text[..start].trim_end_matches([' ', '\t', '\n', '\r', ':']);
    let start = if container.document.entries[container.at - 1].end == key.len() && key.ends_with('"') {
        container.document.entries[container.at - 1].start
    } else {
        start
    };
    !blanks_before(text, start).contains('\n')
}

/// What a removal leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// Some items; these edits remove the others.
    No(Vec<Edit>),
    /// Nothing, and the container came with its items: it may go.
    Made(Vec<Edit>),
    /// Nothing, but the container was there before.
    Kept(Vec<Edit>),
}

impl Emptied {
    /// The edits, if the container stays.
    pub fn edits(self) -> Vec<Edit> {
        match self {
            Self::No(edits) | Self::Made(edits) | Self::Kept(edits) => edits,
        }
    }
}

/// Removes items of a container: those for which `goes` holds, by their place.
pub fn remove(document: &Document<'_>, container: Node<'_>, goes: impl Fn(usize) -> bool) -> Emptied {
    let text = document.text();
    let spans: Vec<Range<usize>> = container.items().iter().map(Item::span).collect();
    let stays: Vec<usize> = (0..spans.len()).filter(|at| !goes(*at)).collect();
    let cut = |at: Range<usize>| cut(document, at);
    let (Some(first), Some(last)) = (spans.first(), stays.last()) else {
        let inside = container.span().start + 1..container.span().end - 1;
        let Some(first) = spans.first() else { return Emptied::Kept(Vec::new()) };
        return match blanks_of_old(&text[inside.start..first.start]) {
            Some(blanks) => Emptied::Kept(cut(inside.start + blanks.len()..inside.end)),
            None => Emptied::Made(cut(inside)),
        };
    };
    let mut edits = Vec::new();
    if stays[0] > 0 {
        edits.extend(cut(first.start..spans[stays[0]].start));
    }
    for pair in stays.windows(2).filter(|pair| pair[1] - pair[0] > 1) {
        let (before, first) = (spans[pair[0]].end, spans[pair[0] + 1].start);
        edits.extend(cut_behind(document, before, first, spans[pair[1] - 1].end, true));
    }
    if last + 1 < spans.len() {
        let (before, first) = (spans[*last].end, spans[last + 1].start);
        edits.extend(cut_behind(document, before, first, spans[spans.len() - 1].end, false));
    }
    Emptied::No(edits)
}

/// The blanks that a container held before anything was put in, by what now stands before its first item.
fn blanks_of_old(lead: &str) -> Option<&str> {
    let line = match lead.rfind('\n') {
        Some(newline) => lead[..newline].strip_suffix('\r').unwrap_or(&lead[..newline]),
        None => lead,
    };
    line.strip_suffix(' ')
}

/// Whether a text holds nothing at all, but for a byte order mark and blanks.
pub fn is_blank(text: &str) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}
