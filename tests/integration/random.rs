// SPDX-License-Identifier: GPL-3.0-or-later
//! Random settings in random layouts: what is put in is all there, and leaves no trace when it is taken out.

use proptest::prelude::*;
use vigil::integration::claude;
use vigil::integration::hooks::{install, survey, uninstall};
use vigil::integration::part::Left;
use vigil::integration::{Version, command};

const PROGRAM: &str = "/opt/a b/vigilctl";

/// A text with holes for blanks, which stand wherever JSON lets them stand.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

fn leaf() -> impl Strategy<Value = Tree> {
    let words = ["null", "true", "1.50", "-0", "1E+5", "\"\"", "\"\\u00fc\\ud800\"", "\"a: {[,\\\"\"", "[]", "{}"];
    prop::sample::select(words.to_vec()).prop_map(|word| Tree::Leaf(word.into()))
}

fn tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let key = prop::sample::select(vec!["a", "b", "hooks", "matcher", "a\\u0062"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Array),
            prop::collection::vec((key.prop_map(String::from), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

fn object(keys: Vec<&'static str>, value: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    let key = prop::sample::select(keys).prop_map(String::from);
    prop::collection::vec((key, value), 0..5).prop_map(Tree::Object)
}

/// Groups as the user may have them, with handlers of which some may be ours.
fn groups(ours: bool) -> impl Strategy<Value = Tree> {
    let mut commands = vec!["say done".to_string(), "/usr/bin/other hook claude".into()];
    if ours {
        let old = command::write("/old/vigilctl", "claude");
        commands.extend([command::write(PROGRAM, "claude"), old, "vigilctl hook claude".into()]);
    }
    let handler = (prop::sample::select(commands), any::<bool>()).prop_map(|(command, slow)| {
        let mut members = vec![
            ("type".to_string(), Tree::Leaf("\"command\"".into())),
            ("command".to_string(), Tree::Leaf(serde_json::Value::from(command).to_string())),
        ];
        if slow {
            members.push(("async".into(), Tree::Leaf("true".into())));
        }
        Tree::Object(members)
    });
    let matcher = prop::option::of(prop::sample::select(vec!["\"\"", "\"*\"", "\"Bash\"", "null"]));
    let group = (matcher, prop::collection::vec(handler, 0..3)).prop_map(|(matcher, handlers)| {
        let matcher = matcher.map(|matcher| ("matcher".to_string(), Tree::Leaf(matcher.into())));
        Tree::Object(matcher.into_iter().chain([("hooks".into(), Tree::Array(handlers))]).collect())
    });
    prop::collection::vec(prop_oneof![4 => group, 1 => leaf()], 0..3).prop_map(Tree::Array)
}

fn settings(ours: bool) -> impl Strategy<Value = Tree> {
    let hooks = object(vec!["Stop", "SessionEnd", "PreToolUse", "Later", "St\\u006fp"], groups(ours));
    let member = prop_oneof![
        2 => (prop::sample::select(vec!["model", "model", "env", "h"]).prop_map(String::from), tree()),
        3 => (Just("hooks".to_string()), hooks),
    ];
    prop::collection::vec(member, 0..4).prop_map(Tree::Object)
}

/// Writes a tree, each hole filled with the next of the blanks.
fn write(tree: &Tree, blanks: &mut impl Iterator<Item = String>, out: &mut String) {
    let mut hole = |out: &mut String| out.push_str(&blanks.next().unwrap_or_default());
    match tree {
        Tree::Leaf(leaf) => out.push_str(leaf),
        Tree::Array(items) => {
            out.push('[');
            hole(out);
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                    out.push_str(&blanks.next().unwrap_or_default());
                }
                write(item, blanks, out);
                out.push_str(&blanks.next().unwrap_or_default());
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            hole(out);
            for (at, (key, item)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                    out.push_str(&blanks.next().unwrap_or_default());
                }
                out.push('"');
                out.push_str(key);
                out.push('"');
                out.push_str(&blanks.next().unwrap_or_default());
                out.push(':');
                out.push_str(&blanks.next().unwrap_or_default());
                write(item, blanks, out);
                out.push_str(&blanks.next().unwrap_or_default());
            }
            out.push('}');
        }
    }
}

fn text(ours: bool) -> impl Strategy<Value = String> {
    let blank =
        prop_oneof![4 => Just(String::new()), 3 => Just(" ".into()), 1 => "[ \t\r\n]{0,5}", 2 => "(\r?\n) {0,4}"];
    let around = prop::collection::vec("[ \n\r\t]{0,2}", 2);
    (settings(ours), prop::collection::vec(blank, 1..40), around, any::<bool>()).prop_map(
        |(tree, blanks, around, mark)| {
            let mut out = if mark { "\u{feff}".to_string() } else { String::new() };
            out.push_str(&around[0]);
            write(&tree, &mut blanks.into_iter().cycle(), &mut out);
            out + &around[1]
        },
    )
}

fn version() -> impl Strategy<Value = Option<Version>> {
    prop::sample::select(vec![None, Some(Version([2, 1, 332])), Some(Version([2, 0, 76]))])
}

fn cases() -> u32 {
    std::env::var("VIGIL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_put_in_leaves_no_trace(text in text(false), version in version()) {
        let wanted = claude::wanted(version);
        let after = install(Some(&text), &wanted, PROGRAM).unwrap();
        let survey = survey(&after, &wanted, &|program| program == PROGRAM).unwrap();
        prop_assert_eq!((survey.fault, survey.missing.len()), (None, 0), "{}", after);
        prop_assert_eq!(install(Some(&after), &wanted, PROGRAM).unwrap(), after.clone(), "twice is once");
        prop_assert_eq!(uninstall(&after, &claude::wanted(None)).unwrap(), Left::Text(text), "{}", after);
    }

    /// Only bytes are added: what was there is there in its order.
    #[test]
    fn nothing_is_moved(text in text(false)) {
        let after = install(Some(&text), &claude::wanted(None), PROGRAM).unwrap();
        let mut rest = after.as_bytes();
        for byte in text.bytes() {
            let at = rest.iter().position(|found| *found == byte);
            prop_assert!(at.is_some(), "{:?}\n{}", text, after);
            rest = &rest[at.unwrap() + 1..];
        }
    }

    #[test]
    fn whatever_is_there_becomes_complete_and_then_goes(text in text(true), version in version()) {
        let wanted = claude::wanted(version);
        let after = install(Some(&text), &wanted, PROGRAM).unwrap();
        let seen = survey(&after, &wanted, &|program| program == PROGRAM).unwrap();
        prop_assert_eq!((seen.fault, seen.missing.len()), (None, 0), "{}", after);
        prop_assert_eq!(install(Some(&after), &wanted, PROGRAM).unwrap(), after.clone(), "twice is once");
        if let Left::Text(left) = uninstall(&after, &claude::wanted(None)).unwrap() {
            let none = survey(&left, &wanted, &|_| true).unwrap();
            prop_assert_eq!(none.served, 0, "{}", left);
            prop_assert!(!left.contains("vigilctl"), "{}", left);
            let others = |text: &str| (text.matches("say done").count(), text.matches("/usr/bin/other").count());
            prop_assert_eq!(others(&left), others(&text));
        }
    }
}
