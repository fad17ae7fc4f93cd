// SPDX-License-Identifier: GPL-3.0-or-later
//! Which fields of a payload are read at all, and how they are cut.
//!
//! The hook program runs this over an agent's payload while it lives inside the agent, and the application runs it
//! again over whatever comes in over the bus, so that nothing else can reach a translator.

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
    /// Not forwarded: a hash of the value goes to the top of the payload as [`HASH_KEY`].
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
