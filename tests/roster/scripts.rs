// SPDX-License-Identifier: GPL-3.0-or-later
//! What scripts say outright: Séance's metadata calls.

use serde_json::json;
use vigil::protocol::ErrorName;
use vigil::roster::StatusOptions;

use crate::scene::Scene;

fn set(scene: &mut Scene, key: &str, value: &str, options: StatusOptions) -> Result<(), ErrorName> {
    let result = scene.roster.set_status("demo", key, value, options, scene.now()).map_err(|refusal| refusal.name);
    scene.check();
    result
}

#[test]
fn labels_act_as_their_events() {
    for (label, expected) in [
        ("Running", ("running", "none")),
        ("idle", ("idle", "finished")),
        ("NEEDS INPUT", ("needs-input", "needs-input")),
        ("Failed", ("failed", "failed")),
    ] {
        let mut scene = Scene::new();
        set(&mut scene, "codex", label, StatusOptions::default()).unwrap();
        let row = scene.row();
        assert_eq!((row.status.as_str(), row.attention.as_str()), expected, "{label}");
        assert_eq!((&*row.agent, &*row.name, row.watched), ("codex", "Codex", false));
    }
}

#[test]
fn any_other_text_is_the_message_and_wants_nothing() {
    let mut scene = Scene::new();
    let options = StatusOptions { priority: Some(7), display_name: Some("Builder".into()), message: None };
    set(&mut scene, "builder", "Compiling", options).unwrap();
    let row = scene.row();
    assert_eq!((row.status.as_str(), row.attention.as_str()), ("idle", "none"));
    assert_eq!((row.message.as_deref(), &*row.name, row.priority), (Some("Compiling"), "Builder", 7));
}

#[test]
fn a_key_names_the_exact_row_else_the_agents_latest() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", json!({ "session_id": "a", "workspace_id": "demo", "surface_id": "one" }));
    scene.millis += 10;
    scene.send("codex", "prompt-submit", json!({ "session_id": "b", "workspace_id": "demo", "surface_id": "two" }));
    set(&mut scene, "codex", "Failed", StatusOptions::default()).unwrap();
    set(&mut scene, "codex-one", "Needs input", StatusOptions::default()).unwrap();
    let of = |session: &str| scene.rows().into_iter().find(|row| row.sessions[0].id == session).unwrap();
    assert_eq!((of("a").status.as_str(), of("b").status.as_str()), ("needs-input", "failed"));
    set(&mut scene, "codex-three", "Running", StatusOptions::default()).unwrap();
    let rows = scene.rows();
    assert_eq!(rows.iter().filter(|row| row.agent == "codex").count(), 3);
    assert!(rows.iter().any(|row| row.surface.as_deref() == Some("three")));
}

#[test]
fn a_workspace_has_at_most_sixteen_keys() {
    let mut scene = Scene::new();
    for number in 0..16 {
        set(&mut scene, &format!("key{number}"), "x", StatusOptions::default()).unwrap();
    }
    assert_eq!(set(&mut scene, "one-more", "x", StatusOptions::default()), Err(ErrorName::InvalidArgument));
    set(&mut scene, "key3", "y", StatusOptions::default()).unwrap();
    assert_eq!(scene.rows().len(), 16);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut scene = Scene::new();
    let now = scene.now();
    let long = "x".repeat(5000);
    for (workspace, key) in [("", "codex"), ("demo", ""), ("demo", " "), (&*long, "codex"), ("demo", &*long)] {
        let refused = scene.roster.set_status(workspace, key, "Running", StatusOptions::default(), now).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidArgument);
    }
    for result in [
        scene.roster.clear_status("demo", "codex", now),
        scene.roster.set_counts("demo", "codex", 1, 1, now),
        scene.roster.acknowledge("r1", now),
        scene.roster.acknowledge("", now),
        scene.roster.dismiss("r01#x", now),
    ] {
        assert_eq!(result.unwrap_err().name, ErrorName::UnknownRow);
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = scene.roster.set_progress("demo", value, "", now).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidArgument);
    }
    assert_eq!(scene.roster.append_log("demo", "loud", "x", now).unwrap_err().name, ErrorName::InvalidArgument);
    scene.check();
    assert!(scene.workspaces().is_empty());
}

#[test]
fn counts_are_set_and_negative_ones_refused() {
    let mut scene = Scene::new();
    set(&mut scene, "codex", "Running", StatusOptions::default()).unwrap();
    scene.roster.set_counts("demo", "codex", 2, 1, scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.counts(), (2, 1));
    for (subagents, background) in [(-1, 0), (0, -1)] {
        let refused = scene.roster.set_counts("demo", "codex", subagents, background, scene.now()).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidArgument);
    }
    assert_eq!(scene.counts(), (2, 1));
    scene.roster.clear_status("demo", "codex", scene.now()).unwrap();
    scene.check();
    assert!(scene.workspaces().is_empty());
}

#[test]
fn a_dismissed_row_comes_back_with_its_next_status_event() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", json!({ "session_id": "s" }));
    let id = scene.row().id;
    scene.roster.dismiss(&id, scene.now()).unwrap();
    scene.check();
    assert!(scene.rows().is_empty());
    scene.send("codex", "pre-tool-use", json!({ "session_id": "s" }));
    assert_eq!(scene.shown().0, "running");
    assert_ne!(scene.row().id, id);
}

#[test]
fn one_session_of_a_row_can_be_seen_or_dismissed() {
    let mut scene = Scene::new();
    for session in ["a", "b"] {
        scene.send("claude", "stop", json!({ "session_id": session, "workspace_id": "w", "surface_id": session }));
    }
    let id = scene.row().id;
    scene.roster.acknowledge(&format!("{id}#a"), scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.row().attention.as_str(), "finished");
    scene.roster.acknowledge(&format!("{id}#b"), scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.row().attention.as_str(), "none");
    scene.roster.dismiss(&format!("{id}#a"), scene.now()).unwrap();
    scene.check();
    assert_eq!(scene.row().sessions.len(), 1);
    let refused = scene.roster.acknowledge(&format!("{id}#a"), scene.now()).unwrap_err();
    assert_eq!(refused.name, ErrorName::UnknownRow);
}
