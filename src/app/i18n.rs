// SPDX-License-Identifier: GPL-3.0-or-later
//! Translated strings.
//!
//! Translators see whole sentences with named places, `{name}`; values go in afterwards, in one pass, so that a value
//! that looks like a place (an agent may say anything) is left as it is.

use gettextrs::{bind_textdomain_codeset, bindtextdomain, textdomain};

/// The domain of the catalogues.
pub const DOMAIN: &str = "vigil";

/// Says where the catalogues are. Call it once, before the first string; the user's language itself is taken by GTK
/// when it starts.
pub fn init(locale_dir: &str) {
    let bound = bindtextdomain(DOMAIN, locale_dir)
        .and_then(|_| bind_textdomain_codeset(DOMAIN, "UTF-8"))
        .and_then(|_| textdomain(DOMAIN));
    if let Err(error) = bound {
        gtk::glib::g_warning!("vigil", "No translations: {error}");
    }
}

/// The translation of `msgid`.
pub fn gettext(msgid: &str) -> String {
    gettextrs::gettext(msgid)
}

/// The translation of `msgid`, its places filled in.
pub fn gettext_f(msgid: &str, values: &[(&str, &str)]) -> String {
    fill(&gettextrs::gettext(msgid), values)
}

/// The translation for `count` things; the place `{count}` is the number.
pub fn ngettext_f(singular: &str, plural: &str, count: u32) -> String {
    fill(&gettextrs::ngettext(singular, plural, count), &[("count", &count.to_string())])
}

/// Fills each `{name}` of `text`, once.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, place) = rest.split_at(start);
        filled.push_str(before);
        let value = place[1..].find('}').and_then(|end| {
            let name = &place[1..=end];
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value, end + 2))
        });
        match value {
            Some((value, length)) => {
                filled.push_str(value);
                rest = &place[length..];
            }
            None => {
                filled.push('{');
                rest = &place[1..];
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        assert_eq!(fill("{a} in {b}: {a}", &[("a", "x"), ("b", "y")]), "x in y: x");
        assert_eq!(fill("{a}{b}", &[("a", "{b}"), ("b", "y")]), "{b}y");
    }

    #[test]
    fn what_is_no_place_stays() {
        assert_eq!(fill("{c} { } {a", &[("a", "x")]), "{c} { } {a");
        assert_eq!(fill("", &[]), "");
        assert_eq!(fill("{{a}}", &[("a", "ä")]), "{ä}");
    }

    #[test]
    fn one_and_many() {
        assert_eq!(ngettext_f("{count} row", "{count} rows", 1), "1 row");
        assert_eq!(ngettext_f("{count} row", "{count} rows", 2), "2 rows");
    }
}
