// SPDX-License-Identifier: GPL-3.0-or-later

use proptest::prelude::*;

use super::*;
use crate::integration::part::Fault;

const PROGRAM: &str = "/usr/bin/vigilctl";

const HOOKS: Tables = Tables {
    agent: "codewhale",
    path: &["hooks", "hooks"],
    event: "event",
    timeout: ("timeout_secs", 5),
    beside: &["start"],
    altering: &["condition"],
    wanted,
};

const FLAT: Tables = Tables { path: &["hooks"], event: "type", timeout: ("timeout", 5), beside: &[], ..HOOKS };

fn wanted(version: Option<Version>) -> Events {
    let required = if version.is_some() { vec!["start", "stop", "later"] } else { vec!["start", "stop"] };
    // Versions before 1.0.0 do not know the third.
    let old = version.is_some_and(|version| version < Version([1, 0, 0]));
    let known = |events: Vec<&'static str>| events.into_iter().filter(|event| !old || *event != "later").collect();
    Events { required: known(required), allowed: known(vec!["start", "stop", "later"]) }
}

fn installed(text: &str) -> String {
    HOOKS.install(Some(text), None, PROGRAM).unwrap()
}

fn seen(text: &str) -> Survey {
    HOOKS.survey(Some(text), None, &|program| program == PROGRAM).unwrap()
}

fn entry(event: &str, more: &str) -> String {
    let command = quote(&command::write_event(PROGRAM, "codewhale", event));
    format!(
        "[[hooks.hooks]]\nname = \"vigil-{event}\"\nevent = \"{event}\"\ncommand = {command}\ntimeout_secs = 5{more}"
    )
}

#[test]
fn entries_are_appended_as_the_last_tables() {
    let text = "model = \"x\" # mine\n\n[hooks]\nenabled = true\n\n[providers.a]\nkey = 'k'\n";
    let (start, stop) = (entry("start", "\nbackground = true"), entry("stop", ""));
    assert_eq!(installed(text), format!("{text}\n{start}\n\n{stop}\n"));
    assert_eq!(HOOKS.snippet(None, PROGRAM), format!("{start}\n\n{stop}"));
}

/// Installs, looks at what is there, installs again, uninstalls, and finds the very bytes again; in both shapes.
#[track_caller]
fn there_and_back(text: &str) {
    let formats = [&HOOKS, &FLAT]
        .into_iter()
        .filter_map(|format| Some((format, format.install(Some(text), None, PROGRAM).ok()?)));
    let formats: Vec<_> = formats.collect();
    // A file that has tables of the one shape takes none of the other.
    let has_hooks = !text.contains("\"\"\"") && text.contains("[hooks");
    assert_eq!(formats.len(), if has_hooks { 1 } else { 2 }, "{text}");
    for (format, after) in formats {
        let survey = format.survey(Some(&after), None, &|program| program == PROGRAM).unwrap();
        assert_eq!((survey.served, survey.fault, survey.missing.len()), (2, None, 0), "{after}");
        assert!(after.starts_with(text), "{after}");
        assert_eq!(format.install(Some(&after), None, PROGRAM).unwrap(), after, "twice is once");
        assert_eq!(format.uninstall(&after).unwrap(), Left::Text(text.into()), "{after}");
        assert_eq!(format.uninstall(text).unwrap(), Left::Text(text.into()));
    }
}

#[test]
fn every_byte_is_there_again() {
    for body in [
        "",
        "\n",
        "\n\n",
        "  ",
        "# only a comment",
        "a = 1",
        "a = 1\n",
        "a = 1\n\n\n",
        "a = 1 # why\n# at the end",
        "\ta = [\n\t  1, # one\n\t]\n\n[b]\n  c = '''\nx\n\n'''",
        "s = \"\"\"\n[[hooks.hooks]]\ncommand = 'vigilctl hook codewhale stop'\n\"\"\"\n",
        "[hooks]\nenabled = true\n",
        "[hooks]\n",
        "[a]\nb = { c = [1, 2], d = 1979-05-27T07:32:00Z }\n[hooks.other]\nx = 1e5\n",
        "[[hooks.hooks]]\nevent = \"stop\"\ncommand = \"say done\"\n[hooks.hooks.condition]\ntype = \"always\"\n",
        "[[hooks]]\nname = \"mine\"\ntype = \"stop\"\ncommand = \"/usr/bin/other hook codewhale stop\"\n",
    ] {
        for text in [body.to_string(), body.replace('\n', "\r\n"), format!("\u{feff}{body}")] {
            there_and_back(&text);
        }
    }
}

#[test]
fn line_ends_stay() {
    let after = installed("a = 1\r\n");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

#[test]
fn a_file_that_came_with_it_goes_with_it() {
    let after = HOOKS.install(None, None, PROGRAM).unwrap();
    assert!(after.starts_with("[[hooks.hooks]]\n") && after.ends_with("5\n"), "{after}");
    assert_eq!(HOOKS.uninstall(&after).unwrap(), Left::Nothing);
}

#[test]
fn what_is_added_meanwhile_stays() {
    let after = installed("a = 1");
    let more = format!("{after}\n\n[b]\nc = 1\n");
    assert_eq!(HOOKS.uninstall(&more).unwrap(), Left::Text("a = 1\n\n[b]\nc = 1\n".into()));
}

#[test]
fn a_program_that_has_moved_is_moved_in_place() {
    let other = HOOKS.install(Some("a = 1\n"), None, "/opt/o'n \"e\\il/vigilctl").unwrap() + "\n[z]\n";
    assert_eq!(seen(&other).fault, Some(Fault::Gone("/opt/o'n \"e\\il/vigilctl".into())));
    assert_eq!(installed(&other), installed("a = 1\n") + "\n[z]\n");
}

#[test]
fn what_an_older_version_does_not_know_goes() {
    let (new, old) = (Some(Version([1, 0, 0])), Some(Version([0, 9, 0])));
    let text = "a = 1\n";
    let three = HOOKS.install(Some(text), new, PROGRAM).unwrap();
    assert!(three.contains("event = \"later\""));
    let survey = HOOKS.survey(Some(&three), old, &|_| true).unwrap();
    assert_eq!(survey.fault, Some(Fault::UnknownEvent("later".into())));
    assert_eq!(HOOKS.install(Some(&three), old, PROGRAM).unwrap(), installed(text));
    // Of an unknown version it is left where it is.
    assert_eq!(HOOKS.install(Some(&three), None, PROGRAM).unwrap(), three);
}

#[test]
fn what_does_not_work_is_put_right() {
    let text = "a = 1\n";
    let right = installed(text);
    let stop = entry("stop", "");
    for wrong in [
        format!("{stop}\ncondition = {{ type = \"mode\", mode = \"plan\" }}"),
        format!("{stop}\n\n[hooks.hooks.condition] # narrow\ntype = \"mode\"\nmode = \"plan\""),
        format!("{stop}\ncondition.type = \"always\""),
        stop.replace("event = \"stop\"", "event = \"start\""),
        stop.replace("event = \"stop\"", "event = 7"),
    ] {
        let text = right.replace(&stop, &wrong);
        let survey = seen(&text);
        assert_eq!(survey.missing, ["stop"], "{text}");
        assert!(survey.fault.is_some(), "{text}");
        assert_eq!(installed(&text), right, "{text}");
        assert_eq!(HOOKS.uninstall(&text).unwrap(), Left::Text("a = 1\n".into()), "{text}");
    }
    let twice = format!("{right}\n{stop}\n");
    assert_eq!(installed(&twice), right);
    let by_hand =
        right.replace(&quote(&command::write_event(PROGRAM, "codewhale", "stop")), "'vigilctl hook codewhale stop'");
    assert_eq!(seen(&by_hand).fault, Some(Fault::OldForm));
    assert_eq!(installed(&by_hand), right);
}

#[test]
fn what_the_agent_would_not_read_is_refused_with_its_place() {
    for (text, says) in [
        ("a = 1\nb = \n", "line 2, column "),
        ("\u{feff}a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        (
            "[hooks]\nhooks = [{ event = \"stop\", command = \"x\" }]\n",
            "line 2, column 9: `hooks.hooks` is not written as",
        ),
        ("hooks = { enabled = true }\n", "line 1, column 9: `hooks` is no table of its own"),
        ("[[hooks]]\nname = \"x\"\n", "`hooks` is no table of its own"),
    ] {
        let flaw = HOOKS.install(Some(text), None, PROGRAM).unwrap_err().to_string();
        assert!(flaw.contains(says), "{text}: {flaw}");
    }
    let deep = format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(HOOKS.install(Some(&deep), None, PROGRAM).is_err(), "no depth ends the program");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Tables, comments, blanks and hooks of others in any order, with any line ends.
    #[test]
    fn what_was_put_in_leaves_no_trace(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a = 1", "# [[hooks.hooks]]", "", "  ", "\t# x", "[b]", "[c.d]", "e = \"\"\"\n\n[[hooks.hooks]]\n\"\"\"",
            "[hooks]", "enabled = true", "[[hooks.hooks]]", "event = \"stop\"", "command = 'say done' # mine",
            "[hooks.hooks.condition]", "f = [\n1, # one\n\n]", "[[g]]", "h = {x = 1}", "",
        ]), 0..12),
        crlf in any::<bool>(), end in any::<bool>(), mark in any::<bool>(),
    ) {
        let text = parts.join("\n") + if end { "\n" } else { "" };
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let text = if mark { format!("\u{feff}{text}") } else { text };
        if let Ok(after) = HOOKS.install(Some(&text), None, PROGRAM) {
            let survey = seen(&after);
            prop_assert_eq!((survey.fault, survey.missing.len()), (None, 0), "{}", after);
            prop_assert_eq!(HOOKS.install(Some(&after), None, PROGRAM).unwrap(), after.clone(), "twice is once");
            prop_assert_eq!(HOOKS.uninstall(&after).unwrap(), Left::Text(text), "{}", after);
        }
    }
}
