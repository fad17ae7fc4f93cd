// SPDX-License-Identifier: GPL-3.0-or-later

use proptest::prelude::*;

use super::*;

fn flaw(text: &str) -> String {
    Document::parse(text, Syntax::Strict).expect_err(text).to_string()
}

#[test]
fn a_flaw_says_where() {
    for (text, says) in [
        ("{\n  // mine\n}", "line 2, column 3: a comment, which JSON does not have"),
        ("{\"a\": 1 /* mine */}", "line 1, column 9: a comment, which JSON does not have"),
        ("{\"ü\": 1,\r\n \"b\": 2,\r\n}", "line 2, column 8: a comma before a closing bracket"),
        ("[1,]", "line 1, column 3: a comma before a closing bracket"),
        ("\u{feff}{a: 1}", "line 1, column 2: `a` where a key in quotes is due"),
        ("{'a': 1}", "line 1, column 2: `'` where a key in quotes is due"),
        ("{\"a\" 1}", "line 1, column 6: `1` where a colon is due"),
        ("{\"a\": 01}", "line 1, column 8: `1` where a comma or a closing bracket is due"),
        ("{\"a\": 1.}", "line 1, column 9: `}` where a digit is due"),
        ("{\"a\": .5}", "line 1, column 7: `.` where a value is due"),
        ("{\"a\": \"\t\"}", "line 1, column 8: a control character in a text"),
        ("{\"a\": \"\\x\"}", "line 1, column 8: an escape that JSON does not have"),
        ("{\"a\": \"", "line 1, column 7: a text that does not end"),
        ("{\"a\": 1", "line 1, column 8: the text ends where a comma or a closing bracket is due"),
        ("{} {}", "line 1, column 4: `{` where the end is due"),
        ("[1}", "line 1, column 3: `}` where a comma or a closing bracket is due"),
        ("{\"a\": True}", "line 1, column 7: `T` where a value is due"),
        ("", "line 1, column 1: the text ends where a value is due"),
    ] {
        assert_eq!(flaw(text), says, "{text:?}");
    }
}

#[test]
fn spellings_are_left_alone() {
    let text = "{\"a\": [1.50, -0, 1E+2, \"\\u00fc\\ud800\"], \"a\": null}";
    let document = Document::parse(text, Syntax::Strict).unwrap();
    let both: Vec<&str> = document.root().all("a").iter().map(Node::source).collect();
    assert_eq!(both, ["[1.50, -0, 1E+2, \"\\u00fc\\ud800\"]", "null"]);
    assert_eq!(document.root().get("a").unwrap().source(), "null", "the last of two counts");
}

#[test]
fn keys_are_read_as_they_are_meant() {
    let document = Document::parse(r#"{"h\u006foks": {"x": 1}, "\ud800": 2}"#, Syntax::Strict).unwrap();
    assert_eq!(document.root().get("hooks").unwrap().source(), r#"{"x": 1}"#);
}

#[test]
fn depth_ends_nothing() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let document = Document::parse(&deep, Syntax::Strict).unwrap();
    assert_eq!(document.root().items().len(), 1);
    let edits = append(&document, document.root(), &[(Some("b"), &Fresh::Number(1))]);
    assert!(apply(&deep, edits).ends_with("]]], \"b\": 1}"));
}

fn appended(text: &str) -> String {
    let document = Document::parse(text, Syntax::Strict).unwrap();
    let value = Fresh::Object(vec![("b".into(), Fresh::Array(vec![Fresh::Number(1), Fresh::Text("\"".into())]))]);
    apply(text, append(&document, document.root(), &[(Some("n"), &value)]))
}

#[test]
fn what_is_put_in_looks_like_its_neighbours() {
    for (text, after) in [
        ("{\"a\":1}", "{\"a\":1,\"n\":{\"b\":[1,\"\\\"\"]}}"),
        ("{\"a\": 1}", "{\"a\": 1, \"n\": {\"b\": [1, \"\\\"\"]}}"),
        ("{ \"a\" : 1 }", "{ \"a\" : 1, \"n\" : {\"b\" : [1, \"\\\"\"]} }"),
        ("{\n\t\"a\":1\n}", "{\n\t\"a\":1,\n\t\"n\":{\n\t\t\"b\":[\n\t\t\t1,\n\t\t\t\"\\\"\"\n\t\t]\n\t}\n}"),
        (
            "{\r\n    \"a\": 1\r\n}\r\n",
            "{\r\n    \"a\": 1,\r\n    \"n\": {\r\n        \"b\": [\r\n            1,\r\n            \"\\\"\"\r\n        ]\r\n    }\r\n}\r\n",
        ),
        ("{\n  \"a\": 1 }", "{\n  \"a\": 1,\n  \"n\": {\n    \"b\": [\n      1,\n      \"\\\"\"\n    ]\n  } }"),
        ("{}", "{ \n  \"n\": {\n    \"b\": [\n      1,\n      \"\\\"\"\n    ]\n  }\n}"),
    ] {
        assert_eq!(appended(text), after, "{text:?}");
    }
}

#[test]
fn a_removal_cuts_only_what_goes() {
    let text = "[ 1 ,2,\n 3 ]";
    let document = Document::parse(text, Syntax::Strict).unwrap();
    let without = |goes: &[usize]| match remove(&document, document.root(), |at| goes.contains(&at)) {
        Emptied::No(edits) => apply(text, edits),
        _ => panic!("something stays"),
    };
    assert_eq!(without(&[0]), "[ 2,\n 3 ]");
    assert_eq!(without(&[1]), "[ 1,\n 3 ]");
    assert_eq!(without(&[2]), "[ 1 ,2 ]");
    assert_eq!(without(&[0, 1]), "[ 3 ]");
    assert_eq!(without(&[1, 2]), "[ 1 ]");
    assert_eq!(without(&[0, 2]), "[ 2 ]");
}

proptest! {
    /// Another reader of the same strictness agrees, but for depth.
    #[test]
    fn it_is_exactly_json(text in r#"[\[\]{}:,"\\u0-9a-f.eE+\- /\ntrlsn]{0,24}"#) {
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        let ours = Document::parse(&text, Syntax::Strict);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
    }

    #[test]
    fn no_text_makes_it_fail(text in any::<String>()) {
        if let Err(flaw) = Document::parse(&text, Syntax::Strict) {
            prop_assert!(flaw.line >= 1 && flaw.column >= 1);
        }
    }

    /// Whatever blanks were between two brackets are there again.
    #[test]
    fn empty_brackets_get_their_blanks_back(blanks in "[ \t\n\r]{0,6}", line in any::<bool>()) {
        let text = if line { format!("{{\"a\": {{{blanks}}}}}") } else { format!("{{{blanks}}}") };
        let document = Document::parse(&text, Syntax::Strict).unwrap();
        let container = if line { document.root().get("a").unwrap() } else { document.root() };
        let full = apply(&text, append(&document, container, &[(Some("n"), &Fresh::Number(1))]));
        let document = Document::parse(&full, Syntax::Strict).unwrap();
        let container = if line { document.root().get("a").unwrap() } else { document.root() };
        let emptied = remove(&document, container, |_| true);
        prop_assert!(matches!(emptied, Emptied::Kept(_)), "{:?}", full);
        prop_assert_eq!(apply(&full, emptied.edits()), text);
    }
}

#[test]
fn comments_count_as_blanks_where_they_may_be() {
    let text = "// first\n{ /* a\n */ \"a\": [1, // one\r\n 2], \"b\": \"// no\\\" /* comment */\" }//";
    let document = Document::parse(text, Syntax::Commented).unwrap();
    assert_eq!(document.root().get("b").unwrap().source(), "\"// no\\\" /* comment */\"");
    assert_eq!(document.root().get("a").unwrap().items().len(), 2);
    for (text, says) in [
        ("{ /* a", "line 1, column 3: a comment that does not end"),
        ("{\"a\": 1,} // a", "line 1, column 8: a comma before a closing bracket"),
        ("// a", "line 1, column 5: the text ends where a value is due"),
        ("{\"ü\": /* ü */ x}", "line 1, column 15: `x` where a value is due"),
    ] {
        assert_eq!(Document::parse(text, Syntax::Commented).expect_err(text).to_string(), says);
    }
}

proptest! {
    /// Without comments both are the same, and with them nothing fails.
    #[test]
    fn comments_are_all_that_is_more(text in r#"[\[\]{}:,"\\u0-9a-f.eE+\- /*\ntrlsn]{0,24}"#) {
        let (strict, commented) = (Document::parse(&text, Syntax::Strict), Document::parse(&text, Syntax::Commented));
        if strict.is_ok() || !text.contains("//") && !text.contains("/*") {
            prop_assert_eq!(strict.is_ok(), commented.is_ok());
        }
    }

    /// What is put in among comments leaves no trace.
    #[test]
    fn comments_get_their_places_back(
        before in "(//[a-z]{0,3}\n|/\\*[a-z\n]{0,3}\\*/|[ \n]){0,3}",
        behind in "(//[a-z]{0,3}\n|/\\*[a-z\n]{0,3}\\*/|[ \n]){0,3}",
        item in any::<bool>(),
    ) {
        let text = format!("{{{before}{}{behind}}}", if item { "\"a\": 1" } else { "" });
        let document = Document::parse(&text, Syntax::Commented).unwrap();
        let full = apply(&text, append(&document, document.root(), &[(Some("n"), &Fresh::Number(1))]));
        let document = Document::parse(&full, Syntax::Commented).unwrap();
        prop_assert_eq!(document.root().items().len(), 1 + usize::from(item), "{:?}", full);
        let edits = remove(&document, document.root(), |at| at == usize::from(item)).edits();
        prop_assert_eq!(apply(&full, edits), text, "{:?}", full);
    }
}
