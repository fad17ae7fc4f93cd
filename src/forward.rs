// SPDX-License-Identifier: GPL-3.0-or-later
//! Which fields of a payload are read at all, and how they are cut.
//!
//! The hook program runs this over an agent's payload while it lives inside the agent, and the application runs it
//! again over whatever comes in over the bus, so that nothing else can reach a translator.
//!
//! A long string is cut while the payload comes in (`intake`), behind all that is ever read of one. The rest is walked
//! by serde_json, which skips a value without recursion; what no path names is skipped while parsing. Only what a path
//! does name is looked into, and only as far as its limit goes.

mod intake;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use self::intake::Intake;
use crate::agent::Agent;
use crate::protocol::{ErrorName, Refusal};
use crate::text::ID_BYTES;

/// One field that is forwarded: a path into the payload and how its value is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Keys separated by `.`; `[]` steps into an array's items: `background_tasks.[].id`.
    pub path: &'static str,
    /// How the value is treated.
    pub kind: FieldKind,
}

/// How a forwarded value is treated. Numbers, booleans and null pass as they are; arrays and objects at the end of a
/// path are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Text for people: cut at so many bytes, at a character.
    Text(usize),
    /// An id or a path: whole up to 4096 bytes, left out above, never cut.
    Whole,
    /// Not forwarded: a hash of the value goes to the top of the payload as [`HASH_KEY`]. Its path is a single key, and
    /// there is one such field.
    Hash,
}

/// The key under which the hash of a tool's input is forwarded.
pub const HASH_KEY: &str = "vigil_input_hash";

/// Text for people is cut at this many bytes.
pub const TEXT_BYTES: usize = 512;

/// A field whose text is cut.
pub const fn text(path: &'static str) -> Field {
    Field { path, kind: FieldKind::Text(TEXT_BYTES) }
}

/// A field of which only the beginning is read.
pub const fn beginning(path: &'static str, bytes: usize) -> Field {
    Field { path, kind: FieldKind::Text(bytes) }
}

/// A field that is forwarded whole or not at all.
pub const fn whole(path: &'static str) -> Field {
    Field { path, kind: FieldKind::Whole }
}

/// A value of which only a hash is forwarded.
pub const fn hash(path: &'static str) -> Field {
    Field { path, kind: FieldKind::Hash }
}

/// Arrays are cut at this many items.
pub const ARRAY_ITEMS: usize = 64;

/// The step of a path into an array's items.
const ITEMS: &str = "[]";

/// Reduces a payload to the fields that are read for that agent; nothing else is copied, whatever its size or depth.
///
/// Reducing is idempotent, so it does not matter whether a payload comes from the hook program, which has done it, or
/// from a script. Bytes that are not UTF-8, lone surrogates and NUL read as U+FFFD; of a key given twice the last
/// counts; nothing but white space is an empty object.
///
/// # Errors
///
/// [`ErrorName::InvalidPayload`] for anything that is not one complete JSON object.
pub fn reduce(agent: &Agent<'_>, payload: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let mut reduction = Reduction::new(agent);
    reduction.push(payload);
    reduction.finish()
}

/// [`reduce`] for a payload that comes in pieces, of which little more than what is read stays in memory.
pub struct Reduction {
    fields: Vec<Rest>,
    intake: Intake,
}

impl Reduction {
    /// One for a payload of that agent.
    pub fn new(agent: &Agent<'_>) -> Self {
        let mut fields: Vec<Rest> = agent.all_fields().map(|field| (field.path, field.kind)).collect();
        // A payload that was reduced before carries its hash, and no longer the input that it is of.
        fields.push((HASH_KEY, FieldKind::Whole));
        let hashed = fields.iter().find(|(_, kind)| *kind == FieldKind::Hash).map(|(path, _)| *path);
        Self { fields, intake: Intake::new(hashed) }
    }

    /// Takes the next piece, which may end anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.intake.push(bytes);
    }

    /// The fields that are read.
    ///
    /// # Errors
    ///
    /// As [`reduce`] has them.
    pub fn finish(self) -> Result<Map<String, Value>, Refusal> {
        let (text, hash) = self.intake.finish();
        if text.trim_ascii().is_empty() {
            return Ok(Map::new());
        }
        let mut reduced = object(&text, &self.fields).map_err(|error| {
            Refusal::new(ErrorName::InvalidPayload, format!("The payload is not one complete JSON object: {error}"))
        })?;
        if let Some(hash) = hash {
            reduced.entry(HASH_KEY).or_insert(Value::String(hash));
        }
        Ok(reduced)
    }
}

/// What is left of a field's path below the value at hand, and how the field is treated.
type Rest = (&'static str, FieldKind);

/// A key that is looked for, and the last value seen under it, unparsed.
struct Slot<'a> {
    key: &'static str,
    value: Option<&'a str>,
}

/// Reads one object, keeping what `fields` name. The values are found first and looked into afterwards, so that the
/// last of several equal keys counts, and a path and a longer one can both be listed.
fn object(text: &str, fields: &[Rest]) -> serde_json::Result<Map<String, Value>> {
    let mut slots: Vec<Slot<'_>> = Vec::with_capacity(fields.len());
    for (path, _) in fields {
        let (key, _) = step(path);
        if key != ITEMS && slots.iter().all(|slot| slot.key != key) {
            slots.push(Slot { key, value: None });
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_map(ObjectVisitor(&mut slots))?;
    deserializer.end()?;
    let mut kept = Map::new();
    for slot in slots {
        if let Some(value) = slot.value.and_then(|text| value(text, &below(fields, slot.key))) {
            kept.insert(slot.key.to_string(), value);
        }
    }
    Ok(kept)
}

/// Reads one complete value, as far as `fields` ask for it. An empty rest means the value itself.
fn value(text: &str, fields: &[Rest]) -> Option<Value> {
    let own = fields.iter().rev().find(|(rest, kind)| rest.is_empty() && *kind != FieldKind::Hash);
    match text.as_bytes().first()? {
        b'{' => {
            let wanted = fields.iter().any(|(rest, _)| !rest.is_empty() && step(rest).0 != ITEMS);
            wanted.then(|| object(text, fields).ok().map(Value::Object))?
        }
        b'[' => {
            let below = below(fields, ITEMS);
            let wanted = !below.is_empty();
            wanted.then(|| items(text).into_iter().filter_map(|item| value(item, &below)).collect())
        }
        // Null says that something is unknown, also where only a part of it is read.
        b'n' => fields.iter().any(|(_, kind)| *kind != FieldKind::Hash).then_some(Value::Null),
        b'"' => match own?.1 {
            FieldKind::Text(limit) => Some(Value::String(decode(text, limit).0)),
            FieldKind::Whole => Some(decode(text, ID_BYTES)).filter(|(_, whole)| *whole).map(|(id, _)| id.into()),
            FieldKind::Hash => None,
        },
        b't' => own.map(|_| Value::Bool(true)),
        b'f' => own.map(|_| Value::Bool(false)),
        _ => own.and_then(|_| number(text)).map(Value::Number),
    }
}

/// The first key of a path, and the rest.
fn step(path: &'static str) -> (&'static str, &'static str) {
    path.split_once('.').unwrap_or((path, ""))
}

/// What the fields ask of the value under that key. A rest that is empty already asks nothing of what lies below.
fn below(fields: &[Rest], key: &str) -> Vec<Rest> {
    let under = fields.iter().filter(|(path, _)| !path.is_empty() && step(path).0 == key);
    under.map(|(path, kind)| (step(path).1, *kind)).collect()
}

/// The first items of an array, unparsed.
fn items(text: &str) -> Vec<&str> {
    serde_json::Deserializer::from_str(text).deserialize_seq(ItemsVisitor).unwrap_or_default()
}

/// A number as it is. The standard library reads floats exactly, so that reading what was written changes nothing;
/// one beyond all range is left out.
fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

/// Reads a JSON string, as far as so many bytes go, and says whether that was the whole of it. The text is known to be
/// well-formed up to its surrogates.
fn decode(text: &str, limit: usize) -> (String, bool) {
    let mut rest = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    let mut decoded = String::with_capacity(rest.len().min(limit));
    while let Some(character) = rest.chars().next() {
        let (character, length) = if character == '\\' { escape(rest) } else { (character, character.len_utf8()) };
        if decoded.len() + character.len_utf8() > limit {
            return (decoded, false);
        }
        decoded.push(character);
        rest = rest.get(length..).unwrap_or_default();
    }
    (decoded, true)
}

/// The character that an escape at the start of the text stands for, and the escape's length.
fn escape(text: &str) -> (char, usize) {
    let character = match text.as_bytes().get(1) {
        Some(b'u') => return unicode_escape(text),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(other) => char::from(*other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (character, 2)
}

fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0).unwrap_or_default();
    let pair = [first, unit(6).unwrap_or_default()];
    let mut decoded = char::decode_utf16(pair);
    match decoded.next() {
        None | Some(Ok('\0') | Err(_)) => (char::REPLACEMENT_CHARACTER, 6),
        Some(Ok(character)) => (character, 6 * character.len_utf16()),
    }
}

/// Fills the slots.
struct ObjectVisitor<'a, 'de>(&'a mut [Slot<'de>]);

impl<'de> Visitor<'de> for ObjectVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(slot) = map.next_key_seed(KeySeed(self.0))? {
            match slot {
                Some(slot) => self.0[slot].value = Some(map.next_value::<&RawValue>()?.get()),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Finds the slot of a key. Keys are read as bytes, for a text may not hold lone surrogates.
struct KeySeed<'a, 'de>(&'a [Slot<'de>]);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|slot| slot.key.as_bytes() == key))
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Vec<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < ARRAY_ITEMS
            && let Some(item) = array.next_element::<&RawValue>()?
        {
            items.push(item.get());
        }
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(items)
    }
}

#[cfg(test)]
mod tests;
