// SPDX-License-Identifier: GPL-3.0-or-later

use super::*;

const PROGRAM: &str = "/usr/bin/vigilctl";

fn wanted() -> Wanted {
    Wanted {
        agent: "claude",
        required: vec!["Start", "Stop"],
        allowed: vec!["Start", "Stop", "Task"],
        timeout: 5,
        name: None,
        syntax: Syntax::Strict,
    }
}

fn installed(text: &str) -> String {
    install(Some(text), &wanted(), PROGRAM).unwrap()
}

fn seen(text: &str) -> Survey {
    survey(text, &wanted(), &|program| program == PROGRAM).unwrap()
}

fn ours() -> String {
    format!("{{\"type\":\"command\",\"command\":\"{}\",\"timeout\":5}}", command::write(PROGRAM, "claude"))
}

#[test]
fn one_line_stays_one_line() {
    let after = installed(r#"{"a":1}"#);
    let ours = ours();
    let expected = format!(r#"{{"a":1,"hooks":{{"Start":[{{"hooks":[{ours}]}}],"Stop":[{{"hooks":[{ours}]}}]}}}}"#);
    assert_eq!(after, expected);
    assert_eq!(uninstall(&after, &wanted()).unwrap(), Left::Text(r#"{"a":1}"#.into()));
}

#[test]
fn neighbours_in_our_group_stay() {
    let text = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"a"}},{}]}}]}}}}"#, ours());
    let left = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}"#;
    assert_eq!(uninstall(&text, &wanted()).unwrap(), Left::Text(left.into()));
}

#[test]
fn a_group_that_says_more_stays() {
    let text = format!(r#"{{"hooks":{{"Stop":[{{"matcher":"Bash","hooks":[{}]}}]}}}}"#, ours());
    let left = r#"{"hooks":{"Stop":[{"matcher":"Bash","hooks":[]}]}}"#;
    assert_eq!(uninstall(&text, &wanted()).unwrap(), Left::Text(left.into()));
}

#[test]
fn an_entry_for_some_tools_is_not_one_for_all() {
    let text = format!(r#"{{"hooks":{{"Stop":[{{"matcher":"Bash","hooks":[{}]}}]}}}}"#, ours());
    assert_eq!(seen(&text).missing, ["Start", "Stop"]);
    assert_eq!(seen(&installed(&text)).missing, [] as [&str; 0]);
}

#[test]
fn an_entry_in_a_group_of_the_users_counts() {
    let text = format!(
        r#"{{"hooks":{{"Start":[{{"matcher":"*","hooks":[{0},{{"type":"command","command":"a"}}]}}],"Stop":[{{"hooks":[{0}]}}]}}}}"#,
        ours()
    );
    assert_eq!(seen(&text).fault, None);
    assert_eq!(installed(&text), text);
}

#[test]
fn a_moved_program_is_changed_in_place() {
    let old = installed("{}")
        .replace("/usr/bin", "/opt/it's/bin")
        .replace("'/opt/it's/bin/vigilctl'", r"'/opt/it'\\''s/bin/vigilctl'");
    assert_eq!(seen(&old).fault, Some(Fault::Gone("/opt/it's/bin/vigilctl".into())));
    assert_eq!(installed(&old), installed("{}"));
}

#[test]
fn an_older_form_is_changed_in_place() {
    let old =
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "vigilctl hook claude", "timeout": 9}]}]}}"#;
    assert_eq!(seen(old).fault, Some(Fault::OldForm));
    let new = installed(old);
    assert!(new.contains("|| :\", \"timeout\": 9}"), "{new}");
    assert_eq!(seen(&new).fault, None);
}

#[test]
fn an_entry_that_is_not_waited_for_is_written_anew() {
    for change in [r#""async":true"#, r#""once":true"#, r#""if":"Bash""#, r#""args":[]"#] {
        let text = installed("{\"a\":1}").replace("\"timeout\":5", change);
        assert_eq!(seen(&text).fault, Some(Fault::Altered), "{change}");
        assert_eq!(installed(&text), installed("{\"a\":1}"), "{change}");
    }
    let sound = installed("{\"a\":1}").replace("\"timeout\":5", "\"timeout\":5,\"async\":false");
    assert_eq!(seen(&sound).fault, None);
}

#[test]
fn what_the_agent_does_not_know_goes() {
    let text = installed("{}").replace("\"Stop\"", "\"Tomorrow\"");
    assert_eq!(seen(&text).fault, Some(Fault::UnknownEvent("Tomorrow".into())));
    let after = installed(&text);
    assert!(!after.contains("Tomorrow"));
    assert_eq!(seen(&after).missing, [] as [&str; 0]);
}

#[test]
fn a_second_entry_goes() {
    let bare = r#"{"hooks":[{"type":"command","command":"vigilctl hook claude"}]}"#;
    let after = installed(&format!(r#"{{"hooks":{{"Stop":[{bare},{bare}],"Start":[{bare}]}}}}"#));
    assert_eq!(after.matches("hook claude").count(), 2, "{after}");
}

#[test]
fn of_a_key_that_is_there_twice_the_last_counts() {
    let text = format!(r#"{{"hooks":{{"Stop":[1,{{"hooks":[{}]}}]}},"hooks":{{}}}}"#, ours());
    assert_eq!(seen(&text).served, 0);
    let after = installed(&text);
    assert_eq!(seen(&after).missing, [] as [&str; 0]);
    assert!(after.starts_with(r#"{"hooks":{"Stop":[1]},"hooks":{ "Start":[{"#), "{after}");
}

#[test]
fn another_shape_is_refused() {
    for (text, says) in [
        ("[]", "line 1, column 1: the settings are no object"),
        ("{\"hooks\": []}", "line 1, column 11: `hooks` is no object"),
        ("{\"hooks\": null}", "line 1, column 11: `hooks` is no object"),
        ("{\"hooks\": {\n\"Stop\": {}}}", "line 2, column 9: `Stop` is no list"),
    ] {
        assert_eq!(install(Some(text), &wanted(), PROGRAM).unwrap_err().to_string(), says);
    }
    let foreign = "{\"hooks\": {\"Stop\": [null, {\"hooks\": 7}, {\"hooks\": [1, {\"command\": 2}]}]}}";
    assert_eq!(seen(&installed(foreign)).missing, [] as [&str; 0]);
}

#[test]
fn a_file_that_came_with_the_entries_goes_with_them() {
    let made = install(None, &wanted(), PROGRAM).unwrap();
    assert_eq!(uninstall(&made, &wanted()).unwrap(), Left::Nothing);
    for blanks in ["", "\n", " \r\n", "\u{feff}"] {
        let after = installed(blanks);
        assert_eq!(uninstall(&after, &wanted()).unwrap(), Left::Text(blanks.into()), "{blanks:?}");
    }
}

/// For an agent that takes comments and shows a name.
fn commented() -> Wanted {
    Wanted { name: Some("vigil"), syntax: Syntax::Commented, ..wanted() }
}

#[test]
fn comments_stay_where_they_are() {
    for text in [
        "{\n  // mine\n  \"a\": 1 // one\n}\n",
        "{\n  \"hooks\": { // theirs\n    \"Stop\": [] /* empty */\n  } // end\n  // last\n}",
        "{\r\n\t\"hooks\": {\r\n\t\t// none yet\r\n\t}\r\n}",
        "/* {\"hooks\": 1} */ {\"u\": \"http://x/*y*/\"} // after",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"} // x\n]} /* g */ ] /* l */} /* h */}",
    ] {
        let after = install(Some(text), &commented(), PROGRAM).unwrap();
        let survey = survey(&after, &commented(), &|_| true).unwrap();
        assert!(survey.missing.is_empty() && survey.fault.is_none(), "{after}");
        assert!(after.contains(r#""name": "vigil""#) || after.contains(r#""name":"vigil""#), "{after}");
        assert_eq!(install(Some(&after), &commented(), PROGRAM).unwrap(), after);
        assert_eq!(uninstall(&after, &commented()).unwrap(), Left::Text(text.into()), "{after}");
    }
}

#[test]
fn nothing_but_comments_is_no_settings() {
    assert!(install(Some("// only this"), &commented(), PROGRAM).is_err());
    assert!(uninstall("// only this", &commented()).is_err());
}

#[test]
fn a_comment_in_what_is_ours_outlives_it() {
    let made = install(Some("{\"a\": 1}"), &commented(), PROGRAM).unwrap();
    for (at, what) in
        [("\"Start\"", "/* why */ "), ("{\"name\"", "// line\n"), ("}], ", "/* b */"), ("\"Stop\"", "// c\n")]
    {
        let at = made.find(at).unwrap_or_else(|| panic!("{at} in {made}"));
        let with = format!("{}{what}{}", &made[..at], &made[at..]);
        let Left::Text(left) = uninstall(&with, &commented()).unwrap() else { panic!("{with}") };
        assert!(left.contains(what.trim()), "{left}");
        assert_eq!(survey(&left, &commented(), &|_| true).unwrap().served, 0, "{left}");
    }
}
