// SPDX-License-Identifier: GPL-3.0-or-later
//! The snapshot and the changes as they go over the bus: each key, in its order, absent values null.

use serde_json::{Value, json};
use vigil::roster::changes;

use crate::scene::{Scene, Sender, with};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The keys of an object's text, in the order in which they stand; none of its values holds an object.
fn order<'a>(text: &'a str, known: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> =
        known.iter().map(|key| (text.find(&format!("\"{key}\":")).unwrap_or(usize::MAX), *key)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, key)| key).collect()
}

const ROW: &[&str] = &[
    "id",
    "agent",
    "name",
    "status",
    "label",
    "icon",
    "subagents",
    "background",
    "hidden",
    "nested",
    "watched",
    "attention",
    "message",
    "tool",
    "questions",
    "surface",
    "pid",
    "host",
    "since",
    "priority",
    "sessions",
];

const WORKSPACE: &[&str] = &["id", "name", "path", "branch", "dirty", "attention", "progress", "log", "ports", "rows"];

const SESSION: &[&str] = &["id", "status", "attention", "subagents", "background", "questions", "surface", "pid"];

fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.roster.take_dirty();
    scene.send_from(&Sender::pid(7), "claude", "UserPromptSubmit", with("s", json!({ "cwd": "/home/u/shop" })));
    scene
}

#[test]
fn the_snapshot_has_its_keys_and_null_for_what_is_absent() {
    let scene = scene();
    let text = serde_json::to_string(&scene.roster.snapshot(17, false)).unwrap();
    assert!(text.starts_with(r#"{"version":1,"serial":17,"workspaces":[{"id":"#), "{text}");
    let snapshot: Value = serde_json::from_str(&text).unwrap();
    let workspace = &snapshot["workspaces"][0];
    let row = &workspace["rows"][0];
    for (object, expected) in [(workspace, WORKSPACE), (row, ROW), (&row["sessions"][0], SESSION)] {
        let mut sorted = expected.to_vec();
        sorted.sort_unstable();
        let mut found = keys(object);
        found.sort_unstable();
        assert_eq!(found, sorted);
    }
    for absent in ["branch", "dirty", "progress", "log"] {
        assert_eq!(workspace[absent], Value::Null, "{absent}");
    }
    for absent in ["message", "tool", "surface", "host"] {
        assert_eq!(row[absent], Value::Null, "{absent}");
    }
    assert_eq!((&workspace["ports"], &row["pid"], &row["watched"]), (&json!([]), &json!(7), &json!(true)));
    let row = serde_json::to_string(&scene.rows()[0]).unwrap();
    assert_eq!(order(&row[..row.find("\"sessions\"").unwrap()], &ROW[..20]), &ROW[..20]);
}

#[test]
fn a_change_says_first_of_what_kind_it_is() {
    let mut scene = Scene::new();
    let event = vigil::event::Event {
        session: Some("s".into()),
        ..vigil::event::Event::new("codex", "x", vigil::event::Kind::Stop)
    };
    scene.roster.apply(event, scene.now());
    let dirty = scene.roster.take_dirty();
    let text = serde_json::to_string(&changes(&scene.roster, &dirty, false)).unwrap();
    assert!(text.starts_with(r#"[{"kind":"workspace","id":"unplaced","name":"unplaced","path":null,"#), "{text}");
    assert!(text.contains(r#"},{"kind":"row","workspace":"unplaced","id":"r"#), "{text}");
    assert!(!text.contains(r#""rows""#), "a workspace comes without its rows");
    let id = scene.rows()[0].id.clone();
    scene.roster.dismiss(&id, scene.now()).unwrap();
    let dirty = scene.roster.take_dirty();
    let gone: Value = serde_json::to_value(changes(&scene.roster, &dirty, false)).unwrap();
    assert_eq!(gone[0], json!({ "kind": "row", "id": id, "removed": true }));
    assert_eq!(gone[1], json!({ "kind": "workspace", "id": "unplaced", "removed": true }));
}
