// SPDX-License-Identifier: GPL-3.0-or-later
//! Section 4: which workspace, which surface, which row.

use serde_json::json;
use vigil::roster::Outcome;

use crate::scene::{Scene, Sender, of, process, with};

#[test]
fn an_event_that_names_nothing_changes_nothing() {
    let mut scene = Scene::new();
    for name in ["stop", "prompt-submit", "notification"] {
        assert_eq!(scene.send_from(&Sender::default().cwd("/home/u"), "codex", name, json!({})), Outcome::Homeless);
    }
    assert_eq!(
        scene.send("claude", "Stop", json!({ "cwd": "/home/u" })),
        Outcome::Homeless,
        "native, without a session"
    );
    assert!(scene.workspaces().is_empty());
}

#[test]
fn events_that_name_the_same_workspace_and_nothing_more_meet_in_one_row() {
    for agent in ["claude", "codex", "home-made"] {
        let mut scene = Scene::new();
        for (name, expected) in [("prompt-submit", "running"), ("stop", "idle"), ("notification", "idle")] {
            let name = if name == "notification" { "stop" } else { name };
            scene.millis += 10;
            scene.send(agent, name, json!({ "workspace_id": "demo" }));
            assert_eq!(scene.shown().0, expected, "{agent}");
        }
        assert_eq!(scene.workspaces()[0].id, "demo");
        assert_eq!(scene.row().sessions[0].id, "");
    }
}

#[test]
fn a_nameless_event_speaks_for_the_latest_of_its_workspace() {
    let mut scene = Scene::new();
    scene.send("codex", "prompt-submit", json!({ "session_id": "s", "workspace_id": "demo", "surface_id": "p" }));
    scene.send("codex", "stop", json!({ "workspace_id": "demo" }));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    scene.send("codex", "prompt-submit", json!({ "surface_id": "p" }));
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn each_pane_has_a_row_of_its_own_and_claude_one_a_workspace() {
    for (agent, rows) in [("codex", 2), ("claude", 1)] {
        let mut scene = Scene::new();
        for pane in ["a", "b"] {
            scene.send(agent, "prompt-submit", json!({ "session_id": pane, "workspace_id": "w", "surface_id": pane }));
        }
        assert_eq!(scene.rows().len(), rows, "{agent}");
    }
}

#[test]
fn a_new_session_in_the_same_pane_takes_the_place_of_an_unwatched_one() {
    let mut scene = Scene::new();
    scene.send("codex", "stop", json!({ "session_id": "old", "workspace_id": "w", "surface_id": "p" }));
    scene.send("codex", "prompt-submit", json!({ "session_id": "new", "workspace_id": "w", "surface_id": "p" }));
    assert_eq!(scene.row().sessions[0].id, "new");
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn a_session_that_had_no_id_keeps_its_state_when_it_gets_one() {
    let mut scene = Scene::new();
    scene.send("codex", "approval-request", json!({ "workspace_id": "w", "surface_id": "p" }));
    scene.send("codex", "pre-tool-use", json!({ "session_id": "s", "workspace_id": "w", "surface_id": "p" }));
    assert_eq!(scene.row().sessions[0].id, "s");
    assert_eq!(scene.shown().0, "needs-input");
}

#[test]
fn the_first_folder_decides_once() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", with("s", json!({ "cwd": "/home/u/shop" })));
    scene.send("claude", "PreToolUse", with("s", json!({ "cwd": "/home/u/docs" })));
    let workspaces = scene.workspaces();
    assert_eq!(workspaces.len(), 1);
    assert_eq!((&*workspaces[0].name, workspaces[0].path.as_deref()), ("shop", Some("/home/u/shop")));
}

#[test]
fn an_explicit_id_is_its_own_workspace() {
    let mut scene = Scene::new();
    scene.send("codex", "stop", with("a", json!({ "cwd": "/home/u/shop" })));
    scene.send("codex", "stop", with("b", json!({ "cwd": "/home/u/shop", "workspace_id": "7" })));
    scene.send("codex", "stop", with("c", json!({ "workspace_id": 8 })));
    let titles: Vec<_> = scene.workspaces().into_iter().map(|w| (w.id, w.path.is_some())).collect();
    let expected = [("/home/u/shop", true), ("7", true), ("8", false)];
    assert_eq!(titles, expected.map(|(id, path)| (id.to_string(), path)));
}

#[test]
fn alike_folders_are_told_apart_by_the_shortest_parent() {
    let mut scene = Scene::new();
    for (session, cwd) in [("a", "/home/u/work/shop"), ("b", "/home/u/play/shop"), ("c", "/home/u/docs")] {
        scene.send("codex", "stop", with(session, json!({ "cwd": cwd })));
    }
    let names: Vec<_> = scene.workspaces().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["work/shop", "play/shop", "docs"]);
    scene.send("codex", "session-end", of("b"));
    let names: Vec<_> = scene.workspaces().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["shop", "docs"]);
}

#[test]
fn a_workspace_lives_while_it_has_a_row_progress_or_a_log() {
    let mut scene = Scene::new();
    scene.send("codex", "progress", json!({ "workspace_id": "w", "value": 7, "label": "x" }));
    let progress = scene.workspaces()[0].progress.clone().unwrap();
    assert_eq!((progress.value, &*progress.label), (1.0, "x"));
    scene.send("codex", "log", json!({ "workspace_id": "w", "message": "hello", "level": "warning" }));
    scene.send("codex", "progress", json!({ "workspace_id": "w", "value": -1 }));
    assert_eq!(scene.workspaces()[0].progress, None);
    scene.send("codex", "log", json!({ "workspace_id": "w", "message": "" }));
    assert!(scene.workspaces().is_empty());
}

#[test]
fn a_task_list_is_the_progress_of_its_workspace() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    for id in ["1", "2", "3"] {
        scene.send("claude", "TaskCreated", with("s", json!({ "task_id": id })));
    }
    scene.send("claude", "TaskCompleted", with("s", json!({ "task_id": "2" })));
    let progress = scene.workspaces()[0].progress.clone().unwrap();
    assert_eq!(&*progress.label, "1 of 3 tasks");
    assert!((progress.value - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn rows_stand_by_priority_then_name() {
    let mut scene = Scene::new();
    for (agent, name, payload) in [
        ("pi", "stop", json!({})),
        ("codex", "prompt-submit", json!({})),
        ("vibe", "error", json!({ "recoverable": false })),
        ("kilo", "approval-request", json!({})),
        ("aider", "prompt-submit", json!({ "display_name": "Aider" })),
        ("gemini", "stop", json!({})),
    ] {
        let mut payload = with(agent, payload);
        payload["workspace_id"] = json!("w");
        scene.send(agent, name, payload);
    }
    scene.send("gemini", "background-start", with("gemini", json!({ "task_id": "t" })));
    let order: Vec<_> = scene.rows().into_iter().map(|row| (row.agent, row.priority)).collect();
    let expected = [("kilo", 10), ("vibe", 9), ("aider", 5), ("codex", 5), ("pi", 0), ("gemini", -1)];
    assert_eq!(order, expected.map(|(agent, priority)| (agent.to_string(), priority)));
}

#[test]
fn the_next_that_wants_me_is_the_strongest_then_the_oldest() {
    let mut scene = Scene::new();
    for (session, name) in [("a", "stop"), ("b", "approval-request"), ("c", "approval-request")] {
        scene.send("codex", name, of(session));
        scene.wait(1000);
    }
    let next = |scene: &Scene| {
        let id = scene.roster.next_attention(None)?;
        Some((scene.roster.row_view(&id, false)?.1.sessions[0].id.clone(), id))
    };
    for expected in ["b", "c", "a"] {
        let (session, id) = next(&scene).unwrap();
        assert_eq!(session, expected);
        scene.roster.acknowledge(&id, scene.now()).unwrap();
        scene.check();
    }
    assert_eq!(next(&scene), None);
}

#[test]
fn untrusted_text_is_one_line_of_text() {
    let mut scene = Scene::new();
    let nasty = "<b>bold</b>\n\u{202e}evil\u{0}\u{1b}[31m";
    scene.send("codex", "stop", with("s", json!({ "message": nasty, "display_name": nasty, "cwd": "/home/u/a\nb" })));
    let row = scene.row();
    assert_eq!(row.message.as_deref(), Some("<b>bold</b> evil\u{fffd}[31m"));
    assert_eq!(row.name, "<b>bold</b> evil\u{fffd}[31m");
    assert_eq!(scene.workspaces()[0].name, "a b");
}

#[test]
fn a_tools_input_is_for_those_who_ask_for_details() {
    let mut scene = Scene::new();
    let bash = json!({ "tool_name": "Bash", "tool_use_id": "a", "tool_input": { "command": "rm -rf secret" } });
    scene.send("claude", "PreToolUse", with("s", bash.clone()));
    scene.send("claude", "PermissionRequest", with("s", bash));
    let plain = serde_json::to_string(&scene.roster.snapshot(0, false)).unwrap();
    assert!(!plain.contains("secret"), "{plain}");
    assert!(plain.contains("Permission for Bash"));
    let detailed = scene.roster.snapshot(0, true).workspaces[0].rows.clone().unwrap();
    assert_eq!(detailed[0].detail.as_deref(), Some("rm -rf secret"));
    assert_eq!(detailed[0].question.as_deref(), Some("rm -rf secret"));
}

#[test]
fn there_are_never_too_many_sessions_in_a_row() {
    let mut scene = Scene::new();
    let mut roster = std::mem::replace(&mut scene, Scene::new()).roster;
    for number in 0..600 {
        let mut event = vigil::event::Event::new("claude", "x", vigil::event::Kind::Stop);
        event.session = Some(format!("s{number}"));
        event.place.workspace = Some("w".into());
        roster.apply(event, scene.now());
    }
    roster.verify_invariants();
    let rows = roster.snapshot(0, false).workspaces[0].rows.clone().unwrap();
    assert_eq!(rows[0].sessions.len(), 256);
    assert_eq!(rows[0].sessions.last().unwrap().id, "s599");
}

#[test]
fn behind_one_that_wants_me_comes_the_next_round_and_round() {
    let mut scene = Scene::new();
    for (session, name) in [("a", "stop"), ("b", "approval-request"), ("c", "prompt-submit")] {
        scene.send("codex", name, of(session));
        scene.wait(1000);
    }
    let id = |session: &str| scene.rows().into_iter().find(|row| row.sessions[0].id == session).unwrap().id;
    let (a, b, c) = (id("a"), id("b"), id("c"));
    for (after, expected) in [(None, &b), (Some(&b), &a), (Some(&a), &b), (Some(&c), &b)] {
        assert_eq!(scene.roster.next_attention(after.map(String::as_str)).as_ref(), Some(expected));
    }
}

#[test]
fn workspaces_in_one_place_say_which_they_are() {
    let mut scene = Scene::new();
    for (session, workspace) in [("a", None), ("b", Some("7")), ("c", Some("8"))] {
        let place = serde_json::json!({ "cwd": "/home/u/shop", "workspace_id": workspace });
        scene.send("codex", "stop", with(session, place));
    }
    let names: Vec<_> = scene.workspaces().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["shop", "shop (7)", "shop (8)"]);
}

#[test]
fn a_name_of_nothing_visible_is_still_a_name() {
    let mut scene = Scene::new();
    scene.send("codex", "stop", with("s", serde_json::json!({ "workspace_id": "\u{200b}" })));
    assert_eq!(scene.workspaces()[0].name, "\u{fffd}");
}

#[test]
fn the_answered_session_is_the_latest_of_its_row() {
    let mut scene = Scene::new();
    let at = |session: &str| with(session, serde_json::json!({ "workspace_id": "w", "surface_id": session }));
    scene.send("claude", "prompt-submit", at("one"));
    scene.send("claude", "approval-request", at("one"));
    scene.send("claude", "prompt-submit", at("two"));
    scene.send("claude", "stop", at("two"));
    scene.send("claude", "approval-response", at("one"));
    assert_eq!(scene.row().status.as_str(), "running");
}

#[test]
fn what_is_to_be_watched_is_said_when_it_changes() {
    let mut scene = Scene::new();
    let sender = Sender::pid(7);
    scene.send_from(&sender, "codex", "prompt-submit", of("s"));
    let watched = scene.roster.take_watched().unwrap();
    assert_eq!(watched.into_iter().map(|watched| watched.process.pid).collect::<Vec<_>>(), [7]);
    scene.send_from(&sender, "codex", "pre-tool-use", of("s"));
    assert_eq!(scene.roster.take_watched(), None);
    scene.send_from(&sender, "codex", "session-end", of("s"));
    assert_eq!(scene.roster.take_watched().map(|watched| watched.len()), Some(0));
}

#[test]
fn sessions_of_one_server_stand_for_themselves_and_end_with_it() {
    let mut scene = Scene::new();
    let server = Sender { tty: (136 << 8) | 3, ..Sender::pid(7) }.cwd("/home/u/shop");
    for session in ["one", "two"] {
        let prompt = json!({ "vigil": { "session": session, "server": true } });
        scene.send_from(&server, "opencode", "chat.message", prompt);
    }
    assert_eq!(scene.rows().len(), 2);
    assert!(scene.rows().iter().all(|row| row.sessions.len() == 1 && row.sessions[0].surface.is_none()));
    // A session of a terminal takes the place of the one before it.
    let terminal = Sender::pid(8).cwd("/home/u/shop");
    for session in ["three", "four"] {
        scene.send_from(&terminal, "opencode", "chat.message", json!({ "vigil": { "session": session } }));
    }
    assert_eq!(scene.rows().len(), 3);
    let idle = json!({ "vigil": { "session": "one", "server": true }, "properties": { "status": { "type": "idle" } } });
    scene.send_from(&server, "opencode", "session.status", idle);
    let now = scene.now();
    scene.roster.process_gone(&process(7), now);
    scene.check();
    let left: Vec<String> = scene.rows().into_iter().map(|row| row.sessions[0].id.clone()).collect();
    assert_eq!(left, ["two", "four"], "what was idle has gone, what was not has failed");
}

#[test]
fn what_waited_in_a_queue_is_as_old_as_it_says() {
    let mut scene = Scene::new();
    scene.millis = 10_000;
    let at = |age: u64| json!({ "vigil": { "session": "s", "age_ms": age }, "properties": { "status": { "type": "idle" } } });
    scene.send_from(&Sender::pid(7), "opencode", "chat.message", at(0));
    assert_eq!(scene.send_from(&Sender::pid(7), "opencode", "session.status", at(1)), Outcome::Late);
    assert_eq!(scene.send_from(&Sender::pid(7), "opencode", "session.status", at(0)), Outcome::Applied);
}
