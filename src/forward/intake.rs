// SPDX-License-Identifier: GPL-3.0-or-later
//! A payload as it comes in, piece by piece: made text, and its long strings cut while they pass.
//!
//! Nearly all of a large payload is one string of which no more than its beginning is read, so that no more than that
//! is kept. This judges nothing: what is malformed is kept for the parser to refuse, also behind a cut.

use std::hash::{DefaultHasher, Hasher};

use super::decode;
use crate::text::ID_BYTES;

/// So much of a string is kept as it is written. No field's limit is above [`ID_BYTES`], and a byte of text takes at
/// most six as it is written: behind this nothing is read, and what is left is too long for an id all the same.
const KEPT: usize = 6 * (ID_BYTES + 4);

/// Takes a payload in.
#[derive(Default)]
pub struct Intake {
    /// What is kept.
    text: String,
    /// The beginning of a character whose rest has not come.
    split: Vec<u8>,
    /// How many objects and arrays are open.
    depth: usize,
    place: Place,
    /// Where the last string begins in `text`.
    string: usize,
    /// Whether the rest of that string is left out.
    cutting: bool,
    /// The last string of the outermost object, where it lies in `text`: its value's key, once a colon has come.
    key: (usize, usize),
    /// The key of the outermost object whose value is hashed.
    hashed: Option<&'static str>,
    /// The hash of that value as far as it has come. Not keyed at random: two hook processes have to agree.
    hash: Option<DefaultHasher>,
    fingerprint: Option<String>,
}

/// Where in the text the next byte is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    /// In a string.
    Plain,
    /// Behind a backslash.
    Escape,
    /// Before so many hexadecimal digits.
    Digits(u8),
}

/// Why looking through a string came to a halt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// Behind the string.
    Closed,
    /// At the end of what there is.
    End,
    /// Before a byte that may not be there.
    Malformed,
}

impl Intake {
    /// One that hashes the value under that key of the outermost object.
    pub fn new(hashed: Option<&'static str>) -> Self {
        Self { hashed, ..Self::default() }
    }

    /// Takes the next piece. Bytes that are not UTF-8, and NUL, read as U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let mut left = bytes;
        if !self.split.is_empty() {
            joined = [std::mem::take(&mut self.split).as_slice(), bytes].concat();
            left = &joined;
        }
        // Checking is many times faster than repairing, and nearly always all that is needed.
        while let Err(error) = str::from_utf8(left).map(|text| self.push_text(text)) {
            let (valid, rest) = left.split_at(error.valid_up_to());
            self.push_text(str::from_utf8(valid).unwrap_or_default());
            let Some(length) = error.error_len() else { return self.split.extend_from_slice(rest) };
            self.push_legible("\u{FFFD}");
            left = &rest[length..];
        }
    }

    /// What was kept, and the hash.
    pub fn finish(mut self) -> (String, Option<String>) {
        if !self.split.is_empty() {
            self.push_legible("\u{FFFD}");
        }
        (self.text, self.fingerprint)
    }

    fn push_text(&mut self, text: &str) {
        // Many bytes are compared at once this way, unlike in a search.
        if text.bytes().fold(u8::MAX, u8::min) != 0 {
            return self.push_legible(text);
        }
        let mut parts = text.split('\0');
        self.push_legible(parts.next().unwrap_or_default());
        for part in parts {
            self.push_legible("\u{FFFD}");
            self.push_legible(part);
        }
    }

    fn push_legible(&mut self, piece: &str) {
        let mut at = 0;
        while at < piece.len() {
            at = if self.place == Place::Between { self.between(piece, at) } else { self.within(piece, at) };
        }
    }

    /// Takes what stands between strings, up to the next one.
    fn between(&mut self, piece: &str, from: usize) -> usize {
        let bytes = piece.as_bytes();
        let (mut at, mut unhashed) = (from, from);
        while at < bytes.len() && self.place == Place::Between {
            match bytes[at] {
                b'"' => {
                    self.string = self.text.len() + at - from;
                    (self.place, self.cutting) = (Place::Plain, false);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.end_value(&bytes[unhashed..at]);
                    }
                }
                b',' if self.depth == 1 => self.end_value(&bytes[unhashed..at]),
                b':' if self.depth == 1 && self.hashed.is_some() => {
                    let (start, end) = self.key;
                    let key = self.text.get(start..end).unwrap_or_default();
                    let is_hashed = self.hashed.is_some_and(|hashed| decode(key, KEPT).0 == hashed);
                    self.hash = is_hashed.then(DefaultHasher::new);
                    unhashed = at + 1;
                }
                byte if byte.is_ascii_whitespace() => {
                    self.hash(&bytes[unhashed..at]);
                    unhashed = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        self.hash(&bytes[unhashed..at]);
        self.text.push_str(&piece[from..at]);
        at
    }

    /// Takes what belongs to the string at hand.
    fn within(&mut self, piece: &str, from: usize) -> usize {
        let mut at = from;
        while at < piece.len() && self.place != Place::Between {
            let room = (self.string + KEPT).saturating_sub(self.text.len());
            self.cutting |= room == 0 && self.place == Place::Plain;
            // An escape is kept whole.
            let to = if self.cutting { piece.len() } else { piece.ceil_char_boundary(at + room.max(1)) };
            let before = self.place;
            let (mut end, halt) = self.look(&piece.as_bytes()[..to], at);
            if halt == Halt::Malformed {
                let bad = piece.ceil_char_boundary(end + 1);
                if self.cutting {
                    self.text.push_str(match self.place {
                        Place::Escape => "\\",
                        Place::Digits(_) => "\\u",
                        Place::Plain | Place::Between => "",
                    });
                    self.text.push_str(&piece[end..bad]);
                }
                (self.place, end) = (Place::Plain, bad);
            }
            if !self.cutting {
                self.text.push_str(&piece[at..end]);
            } else if halt == Halt::Closed {
                self.text.push('"');
            }
            debug_assert!(end > at || self.place != before, "it goes on");
            at = end;
        }
        self.hash(&piece.as_bytes()[from..at]);
        if self.place == Place::Between && self.depth == 1 {
            self.key = (self.string, self.text.len());
        }
        at
    }

    /// Goes on through a string: where it came to a halt, and why.
    fn look(&mut self, bytes: &[u8], from: usize) -> (usize, Halt) {
        let mut at = from;
        loop {
            if self.place == Place::Plain {
                at = special(bytes, at);
                while let Some([b'\\', escaped, ..]) = bytes.get(at..)
                    && ESCAPED_BY_ITSELF[usize::from(*escaped)]
                {
                    at = special(bytes, at + 2);
                }
            }
            let Some(byte) = bytes.get(at) else { return (at, Halt::End) };
            self.place = match (self.place, byte) {
                (Place::Plain, b'"') => {
                    self.place = Place::Between;
                    return (at + 1, Halt::Closed);
                }
                (Place::Plain, b'\\') => Place::Escape,
                (Place::Escape, escaped) if ESCAPED_BY_ITSELF[usize::from(*escaped)] => Place::Plain,
                (Place::Escape, b'u') => Place::Digits(4),
                (Place::Digits(1), digit) if digit.is_ascii_hexdigit() => Place::Plain,
                (Place::Digits(left), digit) if digit.is_ascii_hexdigit() => Place::Digits(left - 1),
                _ => return (at, Halt::Malformed),
            };
            at += 1;
        }
    }

    fn hash(&mut self, bytes: &[u8]) {
        if let Some(hash) = &mut self.hash {
            hash.write(bytes);
        }
    }

    /// Of a key given twice the last counts.
    fn end_value(&mut self, rest: &[u8]) {
        self.hash(rest);
        if let Some(hash) = self.hash.take() {
            self.fingerprint = Some(format!("{:016x}", hash.finish()));
        }
    }
}

/// Whether a backslash before it makes an escape of two bytes. A table: nothing else is asked as often.
const ESCAPED_BY_ITSELF: [bool; 256] = {
    let mut table = [false; 256];
    let mut letters: &[u8] = b"\"\\/bfnrt";
    while let [letter, rest @ ..] = letters {
        table[*letter as usize] = true;
        letters = rest;
    }
    table
};

/// Where from there on the first quote, backslash or control character is, else the end. Eight bytes at a time: the
/// bits of each that is one are set at its top, and none below the first.
fn special(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    let mut at = from;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*word);
        let is = |byte: u8| {
            let other = word ^ (ONES * u64::from(byte));
            other.wrapping_sub(ONES) & !other
        };
        let is_control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (is(b'"') | is(b'\\') | is_control) & TOPS;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}
