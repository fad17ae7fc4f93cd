// SPDX-License-Identifier: GPL-3.0-or-later
//! Comments of a JSON text, for agents that take them.

use std::borrow::Cow;
use std::ops::Range;

use super::Flaw;

/// Where a text has comments.
pub(super) fn find(text: &str) -> Result<Vec<Range<usize>>, Flaw> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        match &bytes[at..] {
            [b'"', ..] => at = end_of_text(bytes, at + 1),
            [b'/', b'/', ..] => {
                at += text[at..].find(['\n', '\r']).unwrap_or(text.len() - at);
                found.push(start..at);
            }
            [b'/', b'*', ..] => {
                let end = text[at + 2..].find("*/").map(|length| at + 2 + length + 2);
                at = end.ok_or_else(|| Flaw::new(text, start, "a comment that does not end"))?;
                found.push(start..at);
            }
            _ => at += 1,
        }
    }
    Ok(found)
}

/// Behind the quote that ends a text, or the end of everything.
fn end_of_text(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The text with a space for each byte of a comment, but for its line ends.
pub(super) fn without<'t>(text: &'t str, comments: &[Range<usize>]) -> Cow<'t, str> {
    if comments.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for comment in comments {
        masked.push_str(&text[from..comment.start]);
        masked.extend(text[comment.clone()].bytes().map(|byte| match byte {
            b'\n' => '\n',
            b'\r' => '\r',
            _ => ' ',
        }));
        from = comment.end;
    }
    masked.push_str(&text[from..]);
    Cow::Owned(masked)
}
