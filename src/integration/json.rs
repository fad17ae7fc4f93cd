// SPDX-License-Identifier: GPL-3.0-or-later
//! A JSON text read as spans, so that it can be edited without being written anew.
//!
//! The reader is as strict as JavaScript's `JSON.parse`, which the agents read with: what it accepts they accept, and a
//! comment, a comma too many, a number like `01` or `1.` is a flaw with its line and column. A byte order mark before
//! the text is passed over. It keeps no stack of calls, so that no depth of nesting can end the program, and it decodes
//! nothing: numbers and texts stay as they are spelled, half a surrogate pair included, and a key that is there twice
//! is there twice. For agents that take comments ([`Syntax::Commented`]) those count as blanks, and are kept wherever
//! something is put in or taken out around them.
//!
//! (Of the crates, `jsonc-parser` comes nearest. Its tree accepts comments whatever it is told, writes objects of one
//! line anew, and does not give back what it has taken in: an inserted and removed member leaves another text.)

mod comments;
mod edit;

pub use edit::{Edit, Emptied, Fresh, append, apply, fresh_text, is_blank, remove, replace};

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1.
    pub line: usize,
    /// The character in its line, from 1.
    pub column: usize,
    /// What stands there.
    pub what: String,
}

impl Flaw {
    /// A flaw at that byte of the text.
    pub fn new(text: &str, at: usize, what: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// What stands before some files of other systems.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// What an agent reads with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON and nothing else.
    Strict,
    /// JSON with `// …` and `/* … */` where blanks may be.
    Commented,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    Text,
    /// A number, `true`, `false` or `null`.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Kind,
    start: usize,
    end: usize,
    /// The entry after this one and all that is in it.
    next: usize,
}

/// A text that is JSON.
#[derive(Debug)]
pub struct Document<'t> {
    original: &'t str,
    /// With blanks in the place of comments.
    text: Cow<'t, str>,
    /// Where there are comments, without the line end that ends one.
    comments: Vec<Range<usize>>,
    /// Where those end that their line does not end.
    blocks: Vec<usize>,
    /// Each node before those in it; an object's are keys and values in turn.
    entries: Vec<Entry>,
}

/// A value, or a key, of a document.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    document: &'d Document<'d>,
    at: usize,
}

/// One place in an object or an array.
#[derive(Clone, Copy, Debug)]
pub struct Item<'d> {
    /// The key, in an object.
    pub key: Option<Node<'d>>,
    /// The value.
    pub value: Node<'d>,
}

impl Item<'_> {
    /// From the beginning of the key to the end of the value.
    pub fn span(&self) -> Range<usize> {
        self.key.unwrap_or(self.value).span().start..self.value.span().end
    }
}

impl<'t> Document<'t> {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// The first flaw of a text that is not JSON.
    pub fn parse(text: &'t str, syntax: Syntax) -> Result<Self, Flaw> {
        let comments = if syntax == Syntax::Commented { comments::find(text)? } else { Vec::new() };
        let blocks = comments.iter().filter(|at| text[at.start..].starts_with("/*")).map(|at| at.end).collect();
        let (original, text) = (text, comments::without(text, &comments));
        let bytes = text.as_bytes();
        let entries = Reader { original, text: &text, bytes, at: 0, entries: Vec::new(), open: Vec::new() }.read()?;
        Ok(Self { original, text, comments, blocks, entries })
    }

    /// The text, with blanks in the place of comments: each byte is where it was.
    fn text(&self) -> &str {
        &self.text
    }

    /// The comments that lie in a part of the text.
    fn comments_in(&self, part: &Range<usize>) -> impl Iterator<Item = &Range<usize>> {
        self.comments.iter().filter(move |comment| part.start <= comment.start && comment.end <= part.end)
    }

    /// The value that is the text.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, at: 0 }
    }

    /// Every object and array, outer before inner.
    fn containers(&self) -> impl Iterator<Item = Node<'_>> {
        let holds = |kind| matches!(kind, Kind::Object | Kind::Array);
        let all = self.entries.iter().enumerate();
        all.filter(move |(_, entry)| holds(entry.kind)).map(|(at, _)| Node { document: self, at })
    }
}

impl<'d> Node<'d> {
    fn entry(&self) -> &'d Entry {
        &self.document.entries[self.at]
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.entry().kind
    }

    /// Where it stands, brackets and quotes included.
    pub fn span(&self) -> Range<usize> {
        self.entry().start..self.entry().end
    }

    /// How it is spelled.
    pub fn source(&self) -> &'d str {
        &self.document.text[self.span()]
    }

    /// What it says, if it is a text that means Unicode.
    pub fn string(&self) -> Option<String> {
        (self.kind() == Kind::Text).then(|| serde_json::from_str(self.source()).ok()).flatten()
    }

    /// What is in it, in order; nothing for what holds nothing.
    pub fn items(&self) -> Vec<Item<'d>> {
        let (document, entry) = (self.document, self.entry());
        let mut items = Vec::new();
        let mut at = self.at + 1;
        while at < entry.next {
            let first = Node { document, at };
            at = first.entry().next;
            let item = if entry.kind == Kind::Object {
                let value = Node { document, at };
                at = value.entry().next;
                Item { key: Some(first), value }
            } else {
                Item { key: None, value: first }
            };
            items.push(item);
        }
        items
    }

    /// The value of a key; of one that is there twice the last, which is the one that counts.
    pub fn get(&self, key: &str) -> Option<Node<'d>> {
        self.all(key).pop()
    }

    /// Every value of a key.
    pub fn all(&self, key: &str) -> Vec<Node<'d>> {
        if self.kind() != Kind::Object {
            return Vec::new();
        }
        let named = |item: &Item<'d>| item.key.and_then(|key| key.string()).is_some_and(|name| name == key);
        self.items().iter().filter(|item| named(item)).map(|item| item.value).collect()
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        self.source() == "true"
    }

    /// A flaw at its beginning.
    pub fn flaw(&self, what: impl Into<String>) -> Flaw {
        Flaw::new(self.document.original, self.span().start, what)
    }
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

struct Reader<'t> {
    /// What flaws are told of.
    original: &'t str,
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    entries: Vec<Entry>,
    /// The containers that have not ended.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Vec<Entry>, Flaw> {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len_utf8();
        }
        let mut due = Due::Value;
        loop {
            self.skip_blank();
            due = match (due, self.peek()) {
                (Due::ValueOrEnd, Some(b']')) | (Due::KeyOrEnd, Some(b'}')) => self.close(),
                (Due::Value | Due::ValueOrEnd, _) => self.value()?,
                (Due::Key | Due::KeyOrEnd, Some(b'"')) => {
                    self.string()?;
                    self.skip_blank();
                    if self.peek() != Some(b':') {
                        return Err(self.unexpected("a colon"));
                    }
                    self.at += 1;
                    Due::Value
                }
                (Due::Key | Due::KeyOrEnd, _) => return Err(self.unexpected("a key in quotes")),
                (Due::CommaOrEnd, found) => match (self.open.last().map(|open| self.entries[*open].kind), found) {
                    (None, None) => return Ok(self.entries),
                    (None, Some(_)) => return Err(self.unexpected("the end")),
                    (Some(Kind::Array), Some(b']')) | (Some(Kind::Object), Some(b'}')) => self.close(),
                    (Some(kind), Some(b',')) => self.comma(kind)?,
                    (Some(_), _) => return Err(self.unexpected("a comma or a closing bracket")),
                },
            };
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, wanted: &str) -> Flaw {
        let rest = &self.text[self.at..];
        let what = match rest.chars().next() {
            _ if rest.starts_with("//") || rest.starts_with("/*") => "a comment, which JSON does not have".to_string(),
            None => format!("the text ends where {wanted} is due"),
            Some(found) if found.is_control() => format!("a control character where {wanted} is due"),
            Some(found) => format!("`{found}` where {wanted} is due"),
        };
        Flaw::new(self.original, self.at, what)
    }

    fn comma(&mut self, kind: Kind) -> Result<Due, Flaw> {
        let comma = self.at;
        self.at += 1;
        self.skip_blank();
        match (kind, self.peek()) {
            (_, Some(b']' | b'}')) => Err(Flaw::new(self.original, comma, "a comma before a closing bracket")),
            (Kind::Object, _) => Ok(Due::Key),
            _ => Ok(Due::Value),
        }
    }

    fn close(&mut self) -> Due {
        self.at += 1;
        if let Some(open) = self.open.pop() {
            let next = self.entries.len();
            let entry = &mut self.entries[open];
            (entry.end, entry.next) = (self.at, next);
        }
        Due::CommaOrEnd
    }

    fn value(&mut self) -> Result<Due, Flaw> {
        let (kind, due) = match self.peek() {
            Some(b'{') => (Kind::Object, Due::KeyOrEnd),
            Some(b'[') => (Kind::Array, Due::ValueOrEnd),
            Some(b'"') => {
                self.string()?;
                return Ok(Due::CommaOrEnd);
            }
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                self.number()?;
                self.add(Kind::Other, start);
                return Ok(Due::CommaOrEnd);
            }
            _ => {
                let word = ["true", "false", "null"].into_iter().find(|word| self.text[self.at..].starts_with(word));
                let start = self.at;
                self.at += word.ok_or_else(|| self.unexpected("a value"))?.len();
                self.add(Kind::Other, start);
                return Ok(Due::CommaOrEnd);
            }
        };
        self.open.push(self.entries.len());
        self.at += 1;
        self.add(kind, self.at - 1);
        Ok(due)
    }

    fn add(&mut self, kind: Kind, start: usize) {
        let next = self.entries.len() + 1;
        self.entries.push(Entry { kind, start, end: self.at, next });
    }

    fn string(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let escape = self.bytes.get(self.at + 1..).unwrap_or_default();
                    let digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
                    self.at += match escape {
                        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                        [b'u', code @ ..] if code.len() >= 4 && digits(&code[..4]) => 6,
                        _ => return Err(Flaw::new(self.original, self.at, "an escape that JSON does not have")),
                    };
                }
                Some(0..=0x1f) => return Err(Flaw::new(self.original, self.at, "a control character in a text")),
                Some(_) => self.at += 1,
                None => return Err(Flaw::new(self.original, start, "a text that does not end")),
            }
        }
        self.at += 1;
        self.add(Kind::Text, start);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Flaw> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Flaw> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
