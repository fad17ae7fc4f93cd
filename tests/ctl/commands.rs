// SPDX-License-Identifier: GPL-3.0-or-later
//! Commands of people and their scripts, on a private bus.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use zbus::Variant;

use crate::support::{Application, Bus, end, run, spawn, vigilctl};

fn row(status: &str, message: &str) -> Value {
    json!({
        "id": "r1", "agent": "claude", "name": "Claude Code", "status": status, "label": "", "icon": "",
        "subagents": 0, "background": 0, "hidden": false, "nested": false, "watched": true, "attention": "none",
        "message": message, "tool": null, "questions": 0, "surface": null, "pid": null, "host": null, "since": "",
        "priority": 0, "sessions": [],
    })
}

fn snapshot() -> String {
    let workspace = json!({
        "id": "w", "name": "shop", "path": "/home/u/shop", "branch": "main", "dirty": null, "attention": "none",
        "progress": null, "log": null, "ports": [], "rows": [row("running", "at work")],
    });
    json!({"version": 1, "serial": 5, "workspaces": [workspace]}).to_string()
}

fn changed(status: &str, message: &str) -> String {
    let mut row = row(status, message);
    row["kind"] = "row".into();
    row["workspace"] = "w".into();
    json!([row]).to_string()
}

#[test]
fn every_script_command_is_its_call() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    for (words, member, arrives) in [
        (&["set-status", "shop", "build", "Running"][..], "SetStatus", &["shop", "build", "Running"][..]),
        (&["ctl", "set-status", "build", "Running", "--workspace", "7"], "SetStatus", &["7", "build", "Running"]),
        (&["set-status", "build", "Idle"], "SetStatus", &["env", "build", "Idle"]),
        (&["clear-status", "shop", "build"], "ClearStatus", &["shop", "build"]),
        (&["clear-status", "build"], "ClearStatus", &["env", "build"]),
        (&["set-progress", "shop", "0.4", "3 of 7"], "SetProgress", &["shop", "0.4", "3 of 7"]),
        (&["set-progress", "shop", "-1"], "SetProgress", &["shop", "-1", ""]),
        (&["set-progress", "0.5"], "SetProgress", &["env", "0.5", ""]),
        (&["set-progress", "0.5", "half", "--workspace", "7"], "SetProgress", &["7", "0.5", "half"]),
        (&["append-log", "shop", "built", "--level", "warning"], "AppendLog", &["shop", "warning", "built"]),
        (&["ctl", "log", "built", "--workspace", "7"], "AppendLog", &["7", "info", "built"]),
        (&["ack", "r1"], "Acknowledge", &["r1"]),
        (&["dismiss", "r1#s"], "Dismiss", &["r1#s"]),
    ] {
        let outcome = run(bus.vigilctl(words).env("SEANCE_WORKSPACE_ID", "env"), b"");
        assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""), "{words:?}");
        let call = application.next_call();
        assert_eq!((call.member, call.words), (member, arrives.iter().map(ToString::to_string).collect()), "{words:?}");
    }
}

#[test]
fn the_options_of_a_status_arrive() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let words = [
        "set-status",
        "shop",
        "build",
        "Idle",
        "--priority",
        "-3",
        "--display-name",
        "Build",
        "--message",
        "ok",
        "--agent",
    ];
    assert_eq!(run(&mut bus.vigilctl(&words), b"").code, Some(0));
    let options: HashMap<String, Variant<'_>> =
        application.next_call().dict.into_iter().map(|(key, value)| (key, value.into())).collect();
    let wanted: [(&str, Variant<'_>); 4] = [
        ("priority", (-3_i32).into()),
        ("display-name", "Build".into()),
        ("message", "ok".into()),
        ("agent", true.into()),
    ];
    assert_eq!(options, wanted.into_iter().map(|(key, value)| (key.to_string(), value)).collect());
}

#[test]
fn refusals_are_said() {
    let bus = Bus::start();
    let _application = Application::start(&bus, &snapshot());
    run(&mut bus.vigilctl(&["notify", "shop", "Title", "Body"]), b"").assert_error(1, "Notifications come later");
    run(&mut bus.vigilctl(&["ack", "r9"]), b"").assert_error(1, "There is no row r9");
    run(&mut bus.vigilctl(&["jump", "r1"]), b"").assert_error(1, "The terminal is not known");
    run(&mut bus.vigilctl(&["jump", "--next"]), b"").assert_error(1, "No agent wants you");
}

#[test]
fn usage_errors_are_2() {
    for words in [
        &[][..],
        &["frobnicate"],
        &["set-status", "only-key"],
        &["set-status", "a", "b"],
        &["set-status", "a", "b", "c", "d"],
        &["set-status", "a", "b", "--workspace", "w", "c"],
        &["set-progress", "w", "half"],
        &["status", "--format", "xml"],
        &["status", "--json", "--format", "plain"],
        &["jump", "r1", "--next"],
        &["replay", "--speed", "0", "file"],
        &["ack"],
    ] {
        run(&mut vigilctl(words), b"").assert_error(2, "");
    }
}

#[test]
fn every_command_has_help() {
    for command in [
        "hook",
        "set-status",
        "clear-status",
        "set-progress",
        "append-log",
        "notify",
        "status",
        "watch",
        "replay",
        "ack",
        "dismiss",
        "jump",
    ] {
        let outcome = run(&mut vigilctl(&[command, "--help"]), b"");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(outcome.stdout.contains("Usage: vigilctl "), "{command}: {}", outcome.stdout);
    }
}

#[test]
fn without_a_bus_there_is_no_application() {
    for words in [&["status"][..], &["watch"], &["jump"], &["set-status", "w", "k", "Idle"]] {
        run(&mut vigilctl(words), b"").assert_error(1, "Vigil is not running");
    }
}

#[test]
fn the_status_is_printed() {
    let bus = Bus::start();
    let application = Application::start(&bus, &snapshot());
    let outcome = run(&mut bus.vigilctl(&["status"]), b"");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(outcome.stdout, "shop  main\n    Running      Claude Code  at work\n");
    assert!(application.next_call().dict.is_empty());

    let outcome = run(&mut bus.vigilctl(&["status", "--json", "--details"]), b"");
    assert_eq!(outcome.stdout, snapshot() + "\n");
    assert_eq!(Variant::from(application.next_call().dict.remove("details").expect("an option")), Variant::from(true));
}

#[test]
fn watching_prints_each_change_and_ends_with_the_application() {
    let bus = Bus::start();
    for (words, first, second) in [
        (&["watch", "--json"][..], snapshot(), changed("idle", "done")),
        (&["watch"], "shop  main".into(), "shop:   Idle         Claude Code  done".into()),
    ] {
        let mut application = Application::start(&bus, &snapshot());
        let mut child = spawn(bus.vigilctl(words).stdin(Stdio::null()));
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut next = || lines.next().expect("a line").expect("a line");
        assert_eq!(next(), first);
        if words.len() == 1 {
            assert_eq!(next(), "    Running      Claude Code  at work");
        }
        application.emit(5, &changed("failed", "older than the snapshot"));
        application.emit(6, &changed("idle", "done"));
        assert_eq!(next(), second.trim_matches(['[', ']']));
        application.emit(7, r#"[{"kind":"row","id":"r1","removed":true}]"#);
        let removed = next();
        assert!(removed.contains(r#""removed":true"#) || removed == "shop: - Claude Code", "{removed}");
        application.stop();
        let outcome = end(child);
        assert_eq!(outcome.code, Some(1));
        assert!(outcome.stderr.contains("Vigil is not running any more"), "{outcome:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_success() {
    let bus = Bus::start();
    let application = Application::start(&bus, &snapshot());
    let mut child = spawn(bus.vigilctl(&["watch", "--json"]).stdin(Stdio::null()));
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    reader.read_line(&mut String::new()).expect("a line");
    drop(reader);
    application.emit(6, &changed("idle", "done"));
    let outcome = end(child);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_recording_is_played_at_its_pace() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let recording = bus.folder().join("recording.jsonl");
    let lines = [
        json!({"t_ms": 1000, "event": "SessionStart", "payload": {"session_id": "s", "cwd": "/w", "secret": 1}}),
        json!({"t_ms": 1500, "event": "#driver", "note": "press Esc", "payload": {}}),
        json!({"t_ms": 4000, "event": "stop", "agent": "pi", "payload": {}, "env": {"TMUX_PANE": "%3", "TOKEN": "x"}}),
    ];
    std::fs::write(&recording, lines.map(|line| line.to_string()).join("\n")).expect("a file");
    let words = ["replay", recording.to_str().expect("a path"), "--speed", "10", "--agent", "claude"];
    let start = Instant::now();
    let outcome = run(&mut bus.vigilctl(&words), b"");
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""));
    assert!(start.elapsed() > Duration::from_millis(300), "a tenth of three seconds lies between the two");

    let (mut first, mut second) = (application.next_call(), application.next_call());
    assert_eq!(first.words, ["claude", "SessionStart", r#"{"cwd":"/w","session_id":"s"}"#]);
    assert_eq!(second.words, ["pi", "stop", "{}"]);
    assert!(application.is_quiet());
    let mut take = |call: usize, key: &str| {
        let call = if call == 0 { &mut first } else { &mut second };
        call.dict.remove(key).map(Variant::from)
    };
    assert_eq!(take(0, "cwd"), Some("/w".into()));
    assert_eq!(take(1, "cwd"), None);
    assert_ne!(take(0, "id"), take(1, "id"));
    let chain = take(0, "chain").map(|chain| Vec::<(u32, u64, String, u32)>::try_from(chain).expect("a chain"));
    assert_eq!(chain, Some(Vec::new()));
    let env = take(1, "env").map(|env| HashMap::<String, String>::try_from(env).expect("variables"));
    assert_eq!(env, Some(HashMap::from([("TMUX_PANE".to_string(), "%3".to_string())])));
    let at = |variant: Option<Variant<'_>>| u64::try_from(variant.expect("a time")).expect("a time");
    assert!(at(take(1, "at")) - at(take(0, "at")) >= 290_000_000);
}

#[test]
fn a_broken_recording_changes_nothing() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let recording = "{\"t_ms\":0,\"event\":\"stop\",\"agent\":\"pi\"}\n{\"t_ms\":1,\"event\":\n";
    run(&mut bus.vigilctl(&["replay", "-"]), recording.as_bytes()).assert_error(1, "line 2");
    assert!(application.is_quiet());
}

#[test]
fn the_doctor_asks_whether_vigil_answers() {
    let bus = Bus::start();
    let ask = || run(bus.vigilctl(&["doctor"]).env("HOME", bus.folder()), b"");
    let outcome = ask();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert!(outcome.stdout.ends_with("\nVigil: does not run\n"), "{outcome:?}");
    assert!(!bus.has_activated());
    let _application = Application::start(&bus, &snapshot());
    let outcome = ask();
    assert!(outcome.stdout.ends_with("\nVigil: runs, and answers\n"), "{outcome:?}");
}
