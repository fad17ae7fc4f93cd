// SPDX-License-Identifier: GPL-3.0-or-later

use proptest::prelude::*;

use super::*;
use crate::integration::part::Fault;

const PROGRAM: &str = "/usr/bin/vigilctl";

const LISTS: Lists = Lists { agent: "pool", timeout: 5, wanted };

fn wanted(version: Option<Version>) -> Events {
    // Versions before 1.0.0 know one event alone.
    let old = version.is_some_and(|version| version < Version([1, 0, 0]));
    let events = if old { vec!["Stop"] } else { vec!["Start", "Stop"] };
    Events { required: events.clone(), allowed: events }
}

fn installed(text: &str) -> String {
    LISTS.install(Some(text), None, PROGRAM).unwrap()
}

fn seen(text: &str) -> Survey {
    LISTS.survey(Some(text), None, &|program| program == PROGRAM).unwrap()
}

fn item(event: &str) -> String {
    LISTS.item(event, 4, PROGRAM)
}

#[test]
fn lists_of_their_own_are_appended() {
    let text = "mcp_servers: {}\n# mine\n";
    let (start, stop) = (item("Start"), item("Stop"));
    assert_eq!(installed(text), format!("{text}hooks:\n  Start:\n{start}\n  Stop:\n{stop}\n"));
    assert_eq!(LISTS.snippet(None, PROGRAM), format!("hooks:\n  Start:\n{start}\n  Stop:\n{stop}"));
    let command = "\"[ -x '/usr/bin/vigilctl' ] && '/usr/bin/vigilctl' hook pool Stop || :\"";
    assert_eq!(
        stop,
        format!("    - name: vigil-Stop\n      matcher: \"*\"\n      command: {command}\n      timeout: 5")
    );
}

#[test]
fn items_go_behind_those_that_are_there() {
    let text = "hooks:\n Stop:\n - command: say done # why\n   matcher: \"*\"\n # between\n stop_hook_max_continuations: 3\ntools: []\n";
    let own = LISTS.item("Stop", 1, PROGRAM);
    let list = LISTS.lists(&["Start"], 1, PROGRAM);
    let expected = text
        .replace("matcher: \"*\"\n", &format!("matcher: \"*\"\n{own}\n"))
        .replace("continuations: 3\n", &format!("continuations: 3\n{list}\n"));
    assert_eq!(installed(text), expected);
}

/// Installs, looks at what is there, installs again, uninstalls, and finds the very bytes again.
#[track_caller]
fn there_and_back(text: &str) {
    let after = installed(text);
    let survey = seen(&after);
    assert_eq!((survey.served, survey.fault, survey.missing.len()), (2, None, 0), "{after}");
    assert_eq!(installed(&after), after, "twice is once");
    assert_eq!(LISTS.uninstall(&after).unwrap(), Left::Text(text.into()), "{after}");
    assert_eq!(LISTS.uninstall(text).unwrap(), Left::Text(text.into()));
}

#[test]
fn every_byte_is_there_again() {
    for body in [
        "",
        "\n",
        "# only a comment",
        "---\n",
        "---\na: 1\n",
        "a: 1",
        "a: 1\n\n\n# the end",
        "  a: 1\n  b:\n  - 1\n  -   2\n",
        "a: &x {b: [1, 2], c: 'd'}\ne: *x\n",
        "text: |\n  hooks:\n    Stop:\n\n  more\n\nz: \"ü\\n\"  # ü\n",
        "text: >-\n  folded",
        "hooks:\n  Stop:\n    - name: mine\n      matcher: '*'\n      command: say done",
        "hooks:\n  Stop:\n  - {name: mine, matcher: \"*\", command: /usr/bin/other hook pool Stop}\n\n  # between\n  Other:\n  - x\nz: 1\n",
        "hooks:\n    Start:\n        -   command: |\n                say a\n                say b\n\n            matcher: \"*\"\n",
        "hooks:\n  stop_hook_max_continuations: 3 # kept\n",
        "hooks:\n  Start:\n    -\n      command: x\n",
        "hooks:\n  Other: []\na: b\n",
    ] {
        for text in [body.to_string(), body.replace('\n', "\r\n"), format!("\u{feff}{body}")] {
            there_and_back(&text);
        }
    }
}

#[test]
fn a_file_that_came_with_it_goes_with_it() {
    let after = LISTS.install(None, None, PROGRAM).unwrap();
    assert!(after.starts_with("hooks:\n  Start:\n    - name: ") && after.ends_with("5\n"), "{after}");
    assert_eq!(LISTS.uninstall(&after).unwrap(), Left::Nothing);
}

#[test]
fn what_is_added_meanwhile_stays() {
    let more = installed("a: 1") + "\n    - command: mine\n      matcher: \"*\"\nb: 2\n";
    let left = "a: 1\nhooks:\n  Stop:\n    - command: mine\n      matcher: \"*\"\nb: 2\n";
    assert_eq!(LISTS.uninstall(&more).unwrap(), Left::Text(left.into()));
}

#[test]
fn what_does_not_work_is_put_right() {
    let right = installed("a: 1\n");
    for (from, to, fault) in [
        ("/usr/bin/vigilctl", "/opt/old/vigilctl", None),
        (
            "command: \"[ -x '/usr/bin/vigilctl' ] && '/usr/bin/vigilctl' hook pool Stop || :\"",
            "command: vigilctl hook pool Stop",
            Some(Fault::OldForm),
        ),
        ("hook pool Stop || :\"", "hook pool Start || :\"", Some(Fault::Altered)),
        ("matcher: \"*\"", "matcher: shell", Some(Fault::Altered)),
        ("matcher: \"*\"", "other: 1", Some(Fault::Altered)),
    ] {
        let text = right.replace(from, to);
        assert_ne!(text, right);
        if let Some(fault) = fault {
            assert_eq!(seen(&text).fault, Some(fault), "{text}");
        }
        assert_eq!(installed(&text), right, "{text}");
    }
    let moved = LISTS.install(Some("a: 1\n"), None, "/opt/vigilctl").unwrap();
    assert_eq!(seen(&moved).fault, Some(Fault::Gone("/opt/vigilctl".into())));
    assert_eq!(installed(&moved), right);
    assert_eq!(installed(&format!("{right}{}\n", item("Stop"))), right, "a second one goes");
    let old = Some(Version([0, 9, 0]));
    assert_eq!(LISTS.survey(Some(&right), old, &|_| true).unwrap().fault, Some(Fault::UnknownEvent("Start".into())));
    let only = LISTS.install(Some("a: 1\n"), old, PROGRAM).unwrap();
    assert_eq!(LISTS.install(Some(&right), old, PROGRAM).unwrap(), only);
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    for (text, says) in [
        ("a: [1\n", "line 2, column 1"),
        ("a: 1\n b: 2\n", "line 2, column "),
        ("\tb: 2\n", "line 1, column "),
        ("- a\n", "line 1, column 1: the settings are not written as keys"),
        ("{a: 1}\n", "the settings are not written as keys of their own lines"),
        ("word\n", "the settings are not written as keys"),
        ("a: 1\nhooks:\n", "line 2, column 1: `hooks` is not written as keys of its own lines"),
        ("hooks: {}\n", "`hooks` is not written as keys of its own lines"),
        ("hooks:\n  Stop: []\n", "line 2, column 3: `Stop` is not written as a list of its own lines"),
        ("hooks:\n  Stop:\n", "`Stop` is not written as a list of its own lines"),
        ("hooks:\n  A:\n  - b\nhooks:\n  A:\n  - c\n", "line 4, column 1: `hooks` is there twice"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document"),
        ("a: 1\n...\n", "line 3, column 1: nothing can be added to this file"),
    ] {
        let flaw = LISTS.install(Some(text), None, PROGRAM).unwrap_err().to_string();
        assert!(flaw.contains(says), "{text}: {flaw}");
    }
    for deep in [format!("a: {}1{}\n", "[".repeat(100_000), "]".repeat(100_000)), "- ".repeat(100_000)] {
        assert!(LISTS.install(Some(&deep), None, PROGRAM).is_err(), "no depth ends the program");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Keys, lists, comments, blanks and hooks of others in any order, with any line ends.
    #[test]
    fn what_was_put_in_leaves_no_trace(
        above in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..4),
        hooks in prop::collection::vec(prop::sample::select(HOOK_PARTS.to_vec()), 0..5),
        below in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..4),
        crlf in any::<bool>(), end in any::<bool>(), mark in any::<bool>(),
    ) {
        let hooks = if hooks.is_empty() { String::new() } else { format!("hooks:\n{}", hooks.join("\n")) };
        let parts: Vec<&str> = above.into_iter().chain([hooks.as_str()]).chain(below).collect();
        let text = parts.join("\n") + if end { "\n" } else { "" };
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let text = if mark { format!("\u{feff}{text}") } else { text };
        if let Ok(after) = LISTS.install(Some(&text), None, PROGRAM) {
            let survey = seen(&after);
            prop_assert_eq!((survey.fault, survey.missing.len()), (None, 0), "{}", after);
            prop_assert_eq!(LISTS.install(Some(&after), None, PROGRAM).unwrap(), after.clone(), "twice is once");
            prop_assert_eq!(LISTS.uninstall(&after).unwrap(), Left::Text(text), "{}", after);
        }
    }
}

const PARTS: &[&str] = &[
    "a: 1",
    "b: [x, y]",
    "# hooks:",
    "",
    "  ",
    "c: |\n  hooks:\n    Stop:\n\n",
    "d:\n- 1\n- 'two' # 2",
    "e: >-\n  x\n\n  y",
];

const HOOK_PARTS: &[&str] = &[
    "  Stop:\n  - command: say done",
    "  Start:\n    - name: x # why\n      command: |\n        a\n\n        b\n      matcher: \"*\"",
    "  # between",
    "",
    "  more: 3",
    "  Other:\n    -   {command: c}\n\n    -\n        command: d",
];
