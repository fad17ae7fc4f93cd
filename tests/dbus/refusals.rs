// SPDX-License-Identifier: GPL-3.0-or-later
//! Bad arguments: each is refused by name and in a sentence, and changes nothing.

use std::collections::HashMap;

use gtk::glib::{self, prelude::*};

use crate::session::{Session, empty};

fn options(key: &str, value: glib::Variant) -> HashMap<String, glib::Variant> {
    HashMap::from([(key.to_string(), value)])
}

/// Everything that can be wrong inside well-typed arguments.
fn mistakes() -> Vec<(&'static str, glib::Variant, &'static str)> {
    let hook = |agent: &str, event: &str, payload: &str| (agent, event, payload, empty()).to_variant();
    let set = |workspace: &str, key: &str, options: HashMap<String, glib::Variant>| {
        (workspace, key, "Running", options).to_variant()
    };
    let long = "x".repeat(5000);
    vec![
        ("Hook", hook("", "stop", r#"{"workspace_id":"demo"}"#), "InvalidArgument"),
        ("Hook", hook("a b", "stop", r#"{"workspace_id":"demo"}"#), "InvalidArgument"),
        ("Hook", hook(&long, "stop", r#"{"workspace_id":"demo"}"#), "InvalidArgument"),
        ("Hook", hook("codex", &long, r#"{"workspace_id":"demo"}"#), "InvalidArgument"),
        ("Hook", hook("codex", "stop", "[]"), "InvalidPayload"),
        ("Hook", hook("codex", "stop", r#"{"workspace_id":"demo""#), "InvalidPayload"),
        ("Hook", hook("codex", "stop", r#"{"workspace_id":"demo"} {}"#), "InvalidPayload"),
        ("Hook", hook("codex", "stop", &format!(r#"{{"x":"{}"}}"#, "x".repeat(2 << 20))), "InvalidPayload"),
        ("Hook", hook("codex", "", r#"{"workspace_id":"demo"}"#), "InvalidPayload"),
        ("Hook", hook("codex", "stop", r#"{"workspace_id":"demo","message":5}"#), "InvalidPayload"),
        ("Hook", hook("codex", "subagent-update", r#"{"workspace_id":"demo","subagent_count":-1}"#), "InvalidPayload"),
        ("SetStatus", set("", "build", empty()), "InvalidArgument"),
        ("SetStatus", set("demo", "", empty()), "InvalidArgument"),
        ("SetStatus", set(&long, "build", empty()), "InvalidArgument"),
        ("SetStatus", set("demo", "build", options("priority", "5".to_variant())), "InvalidArgument"),
        ("SetStatus", set("demo", "build", options("display-name", 5_i32.to_variant())), "InvalidArgument"),
        ("SetStatus", set("demo", "build", options("agent", "yes".to_variant())), "InvalidArgument"),
        ("SetStatus", set("demo", "build", options("message", true.to_variant())), "InvalidArgument"),
        ("ClearStatus", ("demo", "nobody").to_variant(), "UnknownRow"),
        ("ClearStatus", ("", "codex").to_variant(), "InvalidArgument"),
        ("SetSubagentCounts", ("demo", "nobody", 1_i32, 1_i32).to_variant(), "UnknownRow"),
        ("SetSubagentCounts", ("known", "codex", -1_i32, 0_i32).to_variant(), "InvalidArgument"),
        ("SetSubagentCounts", ("known", "codex", 0_i32, -1_i32).to_variant(), "InvalidArgument"),
        ("SetProgress", ("demo", f64::NAN, "").to_variant(), "InvalidArgument"),
        ("SetProgress", ("demo", f64::INFINITY, "").to_variant(), "InvalidArgument"),
        ("SetProgress", ("", 0.5_f64, "").to_variant(), "InvalidArgument"),
        ("AppendLog", ("demo", "fatal", "m").to_variant(), "InvalidArgument"),
        ("AppendLog", ("", "info", "m").to_variant(), "InvalidArgument"),
        ("AppendLog", ("demo", "info", "x".repeat(1 << 17)).to_variant(), "InvalidArgument"),
        ("GetSnapshot", (options("details", "yes".to_variant()),).to_variant(), "InvalidArgument"),
        ("Acknowledge", ("r999",).to_variant(), "UnknownRow"),
        ("Acknowledge", ("",).to_variant(), "UnknownRow"),
        ("Dismiss", ("r999#s",).to_variant(), "UnknownRow"),
        ("Jump", ("r1",).to_variant(), "NotAvailable"),
        ("Notify", ("demo", "title", "body").to_variant(), "NotAvailable"),
    ]
}

#[test]
fn each_is_named_and_changes_nothing() {
    let session = Session::start();
    session.hook("codex", "stop", r#"{"workspace_id":"known"}"#);
    let before = session.snapshot();
    for (member, arguments, expected) in mistakes() {
        let what = arguments.to_string().chars().take(80).collect::<String>();
        let failure = session.call(member, &arguments).expect_err(&format!("{member}{what}"));
        assert_eq!(failure.word(), expected, "{member}{what}: {failure:?}");
        assert!(failure.message.len() > 10, "a sentence: {failure:?}");
        assert_eq!(session.snapshot(), before, "{member}{what}");
    }
    assert_eq!(session.changes().len(), 1);
}

#[test]
fn wrong_types_do_not_get_through() {
    let session = Session::start();
    let before = session.snapshot();
    let calls = [
        ("Hook", ("codex", "stop", "{}").to_variant()),
        ("Hook", ("codex", "stop", 5_i32, empty()).to_variant()),
        ("SetStatus", ("w", "k").to_variant()),
        ("SetSubagentCounts", ("w", "k", 1_u32, 1_u32).to_variant()),
        ("SetProgress", ("w", 1_i32, "").to_variant()),
        ("GetSnapshot", ().to_variant()),
        ("Acknowledge", (1_i32,).to_variant()),
    ];
    for (member, arguments) in calls {
        let failure = session.call(member, &arguments).expect_err(member);
        assert_eq!(failure.name, "org.freedesktop.DBus.Error.InvalidArgs", "{member}");
    }
    let failure = session.call("Explode", &().to_variant()).expect_err("there is none");
    assert_eq!(failure.name, "org.freedesktop.DBus.Error.UnknownMethod");
    assert_eq!(session.snapshot(), before);
}

#[test]
fn scripts_make_no_more_than_sixteen_rows_a_workspace() {
    let session = Session::start();
    let set = |key: &str| session.call("SetStatus", &("demo", key, "Running", empty()).to_variant());
    for number in 0..16 {
        set(&format!("job-{number}")).unwrap();
    }
    assert_eq!(set("one-more").unwrap_err().word(), "InvalidArgument");
    set("job-3").unwrap();
    assert_eq!(session.rows("demo").len(), 16);
}

/// What an agent says stands in no log.
#[test]
fn no_payload_is_logged() {
    let session = Session::start();
    let payload = r#"{"workspace_id":"demo","message":"sesame","code":["sesame"],"seq":"sesame"}"#;
    let refused = session.call("Hook", &("codex", "stop", payload, empty()).to_variant());
    assert!(!refused.unwrap_err().message.contains("sesame"));
    session.action("hook", Some(&format!("('codex', 'stop', '{payload}')")));
    session.wait_for("a line in the log", || session.log().contains("Refused"));
    assert!(!session.log().contains("sesame"), "{}", session.log());
}
