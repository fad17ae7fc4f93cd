// SPDX-License-Identifier: GPL-3.0-or-later
//! Keeps texts of unknown direction from moving the text around them.
//!
//! A label finds its direction from its first letter. That is right for one text alone; a text with no letter, and a
//! text among others, needs an isolate.

const FIRST_STRONG_ISOLATE: char = '\u{2068}';
const LEFT_TO_RIGHT_ISOLATE: char = '\u{2066}';
const POP_ISOLATE: char = '\u{2069}';

/// A text among others.
pub fn isolate(text: &str) -> String {
    format!("{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}")
}

/// A text that is alone in its label.
pub fn alone(text: &str) -> String {
    if text.is_empty() || text.contains(char::is_alphabetic) { text.to_owned() } else { isolate(text) }
}

/// A technical text without letters, such as ":3000".
pub fn left_to_right(text: &str) -> String {
    format!("{LEFT_TO_RIGHT_ISOLATE}{text}{POP_ISOLATE}")
}
