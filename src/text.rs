// SPDX-License-Identifier: GPL-3.0-or-later
//! Untrusted text on its way to a person.
//!
//! Whatever an agent says is shown as text: one line, nothing that steers a terminal or turns the writing direction
//! round, cut at a grapheme.

use std::hash::{DefaultHasher, Hasher};

use unicode_segmentation::UnicodeSegmentation;

/// The longest text that a row keeps, in bytes.
pub const MESSAGE_BYTES: usize = 512;

/// The longest id or path that is kept, in bytes. Longer ones are refused, never cut: half an id names another thing.
pub const ID_BYTES: usize = 4096;

/// The longest id that is remembered as it is, where it is only ever compared.
const SHORT_BYTES: usize = 64;

/// An id for comparing alone: a long one gives way to its hash, so that a thousand of them take little room.
pub fn short_id(id: String) -> String {
    if id.len() <= SHORT_BYTES {
        return id;
    }
    let hash = |half: u8| {
        // Not keyed at random: it outlives a restart.
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(half);
        hasher.write(id.as_bytes());
        hasher.finish()
    };
    format!("#{:016x}{:016x}", hash(0), hash(1))
}

/// One line of plain text: white space runs become one space, control and direction-turning characters go.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MESSAGE_BYTES));
    let mut pending_space = false;
    for character in text.chars() {
        if character.is_whitespace() {
            pending_space = true;
        } else if !is_invisible(character) {
            if pending_space && !line.is_empty() {
                line.push(' ');
            }
            pending_space = false;
            line.push(character);
        }
    }
    cut(&mut line, MESSAGE_BYTES);
    line
}

/// Text of several lines: as [`one_line`], but line breaks stay.
pub fn lines(text: &str) -> String {
    let mut kept: Vec<String> = text.lines().map(one_line).collect();
    while kept.last().is_some_and(String::is_empty) {
        kept.pop();
    }
    kept.join("\n")
}

/// Shortens a text to at most so many bytes, at a grapheme, with an ellipsis in the last place.
pub fn cut(text: &mut String, bytes: usize) {
    if text.len() <= bytes {
        return;
    }
    let room = bytes.saturating_sub('…'.len_utf8());
    let end = text
        .grapheme_indices(true)
        .map(|(start, grapheme)| start + grapheme.len())
        .take_while(|end| *end <= room)
        .last()
        .unwrap_or(0);
    text.truncate(end);
    text.push('…');
}

/// Characters that would act on the reader's screen instead of standing on it.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_of_text() {
        assert_eq!(one_line("  a\n\tb\u{1b}[31m\u{202e}c\0 "), "a b[31mc");
        assert_eq!(one_line("<b>&amp;"), "<b>&amp;");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(lines("one \n\n two\r\n\n"), "one\n\ntwo");
    }

    #[test]
    fn a_cut_never_splits_a_grapheme() {
        let mut text = "👩‍🚀👩‍🚀👩‍🚀".to_string();
        cut(&mut text, 15);
        assert_eq!(text, "👩‍🚀…");
        let mut tiny = "👩‍🚀👩‍🚀".to_string();
        cut(&mut tiny, 5);
        assert_eq!(tiny, "…");
    }
}
