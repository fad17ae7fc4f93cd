// SPDX-License-Identifier: GPL-3.0-or-later
//! What is told without being asked.

use std::time::{Duration, Instant};

use gtk::glib::prelude::*;

use crate::session::{Session, empty};

/// Something of everything that changes a snapshot.
fn live(session: &Session, round: u32) {
    let agents = ["claude", "codex", "hermes", "home-made"];
    let events = ["prompt-submit", "pre-tool-use", "approval-request", "stop", "error", "session-end", "notification"];
    for step in 0..40 {
        let mix = (round * 40 + step) as usize * 7;
        let (agent, event) = (agents[mix % agents.len()], events[mix / 3 % events.len()]);
        let workspace = ["one", "two", "three"][mix / 5 % 3];
        let payload =
            format!(r#"{{"session_id":"{agent}-{}","workspace_id":"{workspace}","message":"{mix}"}}"#, mix % 5);
        session.hook(agent, event, &payload);
    }
    session.must("SetStatus", &("two", "build", "Running", empty()).to_variant());
    session.must("SetProgress", &("four", 0.5_f64, "half").to_variant());
    session.must("AppendLog", &("one", "info", format!("round {round}")).to_variant());
    if let Some(row) = session.rows("one").first() {
        session.must("Acknowledge", &(row.id.as_str(),).to_variant());
    }
    if let Some(row) = session.rows("two").first() {
        session.must("Dismiss", &(row.id.as_str(),).to_variant());
    }
    session.must("SetProgress", &("four", -1.0_f64, "").to_variant());
}

#[test]
fn a_snapshot_and_the_changes_after_it_are_the_next_snapshot() {
    let session = Session::start();
    let mut copy = session.snapshot();
    for round in 0..5 {
        live(&session, round);
        let next = session.snapshot();
        let news: Vec<_> = session.changes().into_iter().filter(|(serial, _)| *serial > copy.serial).collect();
        let serials: Vec<u64> = news.iter().map(|(serial, _)| *serial).collect();
        let expected: Vec<u64> = (copy.serial + 1..=next.serial).collect();
        assert_eq!(serials, expected, "each serial once, in order, and told before the snapshot that has it");
        for (serial, changes) in news {
            copy.apply(serial, &changes);
        }
        assert_eq!(copy, next, "round {round}");
    }
    assert!(!copy.workspaces.is_empty());
}

#[test]
fn after_quiet_a_change_is_told_at_once() {
    let session = Session::start();
    session.hook("codex", "prompt-submit", r#"{"workspace_id":"demo"}"#);
    session.wait_for("the first change", || !session.changes().is_empty());
    let before = Instant::now();
    session.hook("codex", "stop", r#"{"workspace_id":"demo"}"#);
    session.wait_for("the second", || session.changes().len() > 1);
    assert!(before.elapsed() < Duration::from_millis(500), "{:?}", before.elapsed());
}

#[test]
fn a_flood_is_told_a_frame_at_a_time() {
    let session = Session::start();
    let start = Instant::now();
    for number in 0..400 {
        session.hook("codex", "prompt-submit", &format!(r#"{{"workspace_id":"demo","message":"{number}"}}"#));
    }
    let frames = start.elapsed().as_millis() / 16 + 2;
    let told = session.changes().len();
    assert!(told as u128 <= frames, "{told} signals in {frames} frames");
    let last = |session: &Session| session.changes().last().map(|(serial, _)| *serial);
    session.wait_for("the last change", || last(&session) == Some(session.snapshot().serial));
}

#[test]
fn state_events_follow_the_status() {
    let session = Session::start();
    let hook = |event: &str, more: &str| {
        session.hook("opencode", event, &format!(r#"{{"session_id":"s","workspace_id":"demo"{more}}}"#));
    };
    hook("session-start", "");
    hook("subagent-start", r#","agent_id":"x""#);
    hook("subagent-stop", r#","agent_id":"x""#);
    hook("approval-request", "");
    hook("approval-response", "");
    hook("stop", "");
    let names = || session.state_events().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    session.wait_for("session.idle", || names().contains(&"session.idle".to_string()));
    hook("error", r#","recoverable":false"#);
    hook("session-end", "");
    session.wait_for("session.end", || names().contains(&"session.end".to_string()));
    let expected = [
        "session.start",
        "session.busy",
        "subagent.start",
        "subagent.stop",
        "session.waiting",
        "session.busy",
        "session.idle",
        "session.error",
        "session.end",
    ];
    assert_eq!(names(), expected);
    for (name, row) in session.state_events() {
        assert_eq!((&row["agent"], &row["workspace"]), (&"opencode".into(), &"demo".into()), "{name}");
    }
}

#[test]
fn an_error_without_a_word_has_its_grace() {
    let session = Session::start();
    let payload = r#"{"session_id":"s","workspace_id":"demo","message":"busy"}"#;
    session.hook("codex", "prompt-submit", payload);
    let start = Instant::now();
    session.hook("codex", "error", payload);
    assert_eq!(session.row("demo").label, "Running");
    let failed = |session: &Session| {
        session.changes().iter().flat_map(|(_, changes)| changes).any(|change| format!("{change:?}").contains("Failed"))
    };
    session.wait_for("the end of the grace", || failed(&session));
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(6) && took < Duration::from_secs(8), "{took:?}");
}
