// SPDX-License-Identifier: GPL-3.0-or-later

use super::*;

const ENABLED: Listed = Listed { name: "entry", keys: ["plugins", "enabled"], word: "vigil" };

fn install(text: &str) -> String {
    ENABLED.install(Some(text), None, "").unwrap_or_else(|flaw| panic!("{:.200?}: {flaw}", text))
}

/// Puts it in, twice, finds it, takes it out, and finds the very bytes again.
#[track_caller]
fn there_and_back(text: &str) -> String {
    let after = install(text);
    assert_ne!(after, text);
    assert_eq!(install(&after), after, "twice is once");
    assert!(has(&after, ENABLED.keys, ENABLED.word) && !has(text, ENABLED.keys, ENABLED.word), "{after:?}");
    assert_eq!(ENABLED.uninstall(&after), Ok(Left::Text(text.to_string())), "from {after:?}");
    after
}

#[test]
fn a_file_of_our_own_goes() {
    let text = ENABLED.install(None, None, "").unwrap();
    assert_eq!(text, "plugins:\n  enabled:\n    - vigil\n");
    assert_eq!(ENABLED.uninstall(&text), Ok(Left::Nothing));
}

#[test]
fn every_shape_is_given_back() {
    for (text, after) in [
        ("", "\nplugins:\n  enabled:\n    - vigil"),
        ("\n", "\nplugins:\n  enabled:\n    - vigil\n"),
        ("# mine\n", "# mine\nplugins:\n  enabled:\n    - vigil\n"),
        ("---\n", "---\nplugins:\n  enabled:\n    - vigil\n"),
        ("a: 1", "a: 1\nplugins:\n  enabled:\n    - vigil"),
        ("a: 1\n", "a: 1\nplugins:\n  enabled:\n    - vigil\n"),
        ("a: 1\r\nb: ü\r\n", "a: 1\r\nb: ü\r\nplugins:\r\n  enabled:\r\n    - vigil\r\n"),
        ("\u{feff}a: é\n", "\u{feff}a: é\nplugins:\n  enabled:\n    - vigil\n"),
        ("  a: 1\n", "  a: 1\n  plugins:\n    enabled:\n      - vigil\n"),
        ("a: |+\n  x\n\n", "a: |+\n  x\n\nplugins:\n  enabled:\n    - vigil\n"),
        ("{}\n", "{\"plugins\": {\"enabled\": [\"vigil\"]}}\n"),
        ("{a: 1}", "{\"plugins\": {\"enabled\": [\"vigil\"]}, a: 1}"),
        ("plugins:\n", "plugins: { \"enabled\": [\"vigil\"] }\n"),
        ("plugins:  # none\nb: 1\n", "plugins: { \"enabled\": [\"vigil\"] }  # none\nb: 1\n"),
        ("plugins: {}\n", "plugins: {\"enabled\": [\"vigil\"]}\n"),
        ("plugins: { disabled: [x] }\n", "plugins: { \"enabled\": [\"vigil\"], disabled: [x] }\n"),
        (
            "plugins:\n    # why\n    disabled: [x]\n",
            "plugins:\n    # why\n    enabled:\n      - vigil\n    disabled: [x]\n",
        ),
        ("plugins:\n  enabled:\n", "plugins:\n  enabled: [ \"vigil\" ]\n"),
        ("plugins:\n  enabled:  # none\n", "plugins:\n  enabled: [ \"vigil\" ]  # none\n"),
        ("plugins:\n  enabled: []\n", "plugins:\n  enabled: [vigil]\n"),
        ("plugins:\n  enabled: [ ]\n", "plugins:\n  enabled: [vigil ]\n"),
        ("plugins:\n  enabled: [ a , 'b' ] # c\n", "plugins:\n  enabled: [ vigil, a , 'b' ] # c\n"),
        ("plugins:\n  enabled: [\n    a,\n    b,\n  ]\n", "plugins:\n  enabled: [\n    vigil, a,\n    b,\n  ]\n"),
        ("plugins:\n  enabled:\n  - a\n", "plugins:\n  enabled:\n  - vigil\n  - a\n"),
        (
            "plugins:\n  enabled:\n    # first\n    - a # one\n    - \"b\"\nz: 1\n",
            "plugins:\n  enabled:\n    # first\n    - vigil\n    - a # one\n    - \"b\"\nz: 1\n",
        ),
        ("\"plugins\":\r\n  'enabled':\r\n    - a\r\n", "\"plugins\":\r\n  'enabled':\r\n    - vigil\r\n    - a\r\n"),
        ("{plugins: {enabled: [a]}}", "{plugins: {enabled: [vigil, a]}}"),
        ("a: &x [1]\nb: *x\nplugins:\n  enabled: [a]\n", "a: &x [1]\nb: *x\nplugins:\n  enabled: [vigil, a]\n"),
        ("plugins:\n  enabled:\n    - a", "plugins:\n  enabled:\n    - vigil\n    - a"),
    ] {
        assert_eq!(there_and_back(text), after, "{text:?}");
    }
}

#[test]
fn it_goes_from_wherever_it_stands() {
    for (text, left) in [
        ("plugins:\n  enabled:\n  - a\n  - vigil\n", "plugins:\n  enabled:\n  - a\n"),
        ("plugins:\n  enabled:\n  - a\n  - vigil", "plugins:\n  enabled:\n  - a"),
        ("plugins:\n  enabled: [a, vigil]\n", "plugins:\n  enabled: [a]\n"),
        ("plugins:\n  enabled: [a, vigil, b]\n", "plugins:\n  enabled: [a, b]\n"),
        ("plugins:\n  enabled: [vigil,]\n", "plugins:\n  enabled: []\n"),
        ("plugins:\n  enabled: ['vigil', a, vigil]\n", "plugins:\n  enabled: [a]\n"),
        ("plugins:\n  enabled:\n  - \"vigil\"\n  - a\n", "plugins:\n  enabled:\n  - a\n"),
        // As Hermes writes it anew.
        ("a: 1\nplugins:\n  enabled:\n  - vigil\nz: 1\n", "a: 1\nz: 1\n"),
        ("plugins:\n  disabled: []\n  enabled:\n  - vigil\n", "plugins:\n  disabled: []\n"),
        // A comment stays, and so does what it stands in.
        ("plugins:\n  # mine\n  enabled:\n  - vigil\nz: 1\n", "plugins:\n  # mine\nz: 1\n"),
        ("plugins:\n  enabled:\n  # mine\n  - vigil\n", "plugins:\n  enabled:\n  # mine\n"),
    ] {
        assert_eq!(ENABLED.uninstall(text), Ok(Left::Text(left.to_string())), "{text:?}");
        assert!(!has(left, ENABLED.keys, ENABLED.word));
    }
    for text in ["", "a: 1\n", "plugins:\n  enabled: [a]\n", "plugins: x\n"] {
        let left = ENABLED.uninstall(text);
        assert!(left == Ok(Left::Text(text.to_string())) || text == "plugins: x\n", "{text:?}: {left:?}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (text, place, what) in [
        ("a:\n\t- b\n", (2, 2), "tabs disallowed within this context (block indentation)"),
        ("a: [1\n", (2, 1), "while parsing a flow sequence, expected ',' or ']'"),
        ("- a\n", (1, 1), "the settings are no mapping"),
        ("word\n", (1, 1), "the settings are no mapping"),
        ("a: 1\n---\nb: 1\n", (2, 1), "a second document"),
        ("plugins: [a]\n", (1, 10), "`plugins` is no mapping"),
        ("plugins:\n  enabled: yes\n", (2, 12), "`enabled` is no list"),
        ("plugins:\n  enabled: ~\n", (2, 12), "`enabled` is no list"),
        ("plugins:\n  enabled: {a: 1}\n", (2, 12), "`enabled` is no list"),
        ("x: &x [a]\nplugins:\n  enabled: *x\n", (3, 12), "`enabled` is an alias, which is not followed"),
        ("plugins:\n  enabled: &x [a]\ny: *x\n", (2, 12), "an anchor: what refers to it would change, too"),
        ("plugins: &x\n  enabled: [a]\ny: *x\n", (1, 10), "an anchor: what refers to it would change, too"),
        ("plugins:\n  enabled: !!seq [a]\n", (2, 12), "a tag, which is not understood"),
        ("plugins:\n  enabled: [a]\n  enabled: [b]\n", (3, 3), "`enabled` is there twice"),
        ("x: &x {a: 1}\nplugins:\n  <<: *x\n", (3, 3), "what `<<` brings along is not followed"),
        ("a: |\n  text", (2, 3), "a text without the end of its line, behind which nothing fits"),
        ("a: 1\n...\n", (1, 1), "the settings cannot be changed without changing what else they say"),
    ] {
        let flaw = ENABLED.install(Some(text), None, "").expect_err(text);
        assert_eq!((flaw.line, flaw.column, flaw.what.as_str()), (place.0, place.1, what), "{text:?}");
    }
}

#[test]
fn what_is_large_or_deep_is_read_without_harm() {
    let large = format!("a:\n{}plugins:\n  enabled:\n    - a\n", "  - word # ü\n".repeat(5_000));
    there_and_back(&large);
    let deep = format!("a: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let _ = ENABLED.install(Some(&deep), None, "");
}
