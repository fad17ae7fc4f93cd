// SPDX-License-Identifier: GPL-3.0-or-later
//! All agents with the unified vocabulary: the status after each event.

use gtk::glib::prelude::*;
use vigil::agent::CATALOGUE;
use vigil::status::{Attention, Status};

use crate::session::{Session, empty};

/// What a row shows: status, attention, subagents and background tasks.
type Shown = Option<(Status, Attention, u32, u32)>;

/// A day in the life of a session: event, more of its payload, and what the row shows then.
fn day(
    notification_counts: bool,
    records_answers: bool,
    clears_on_end: bool,
) -> Vec<(&'static str, &'static str, Shown)> {
    use Attention::{Finished, NeedsInput, None as Seen};
    let shown = |status, attention| Some((status, attention, 0, 0));
    let running = shown(Status::Running, Seen);
    let asking = shown(Status::NeedsInput, NeedsInput);
    let failed = shown(Status::Failed, Attention::Failed);
    let finished = shown(Status::Idle, Finished);
    vec![
        ("session-start", r#""waiting":true"#, shown(Status::Idle, Seen)),
        ("session-start", "", running),
        ("prompt-submit", "", running),
        ("pre-tool-use", r#""tool_name":"Bash","tool_use_id":"1""#, running),
        ("post-tool-use", r#""tool_name":"Bash","tool_use_id":"1""#, running),
        ("notification", r#""message":"Look""#, if notification_counts { asking } else { running }),
        ("prompt-submit", "", running),
        ("approval-request", r#""message":"May I?""#, asking),
        ("approval-response", "", if records_answers { asking } else { running }),
        ("prompt-submit", "", running),
        ("error", r#""recoverable":true,"message":"again""#, running),
        ("error", r#""recoverable":false,"message":"no""#, failed),
        ("stop", "", failed),
        ("prompt-submit", "", running),
        ("interrupt", "", shown(Status::Idle, Seen)),
        ("pre-tool-use", r#""tool_name":"Bash","tool_use_id":"2""#, shown(Status::Idle, Seen)),
        ("prompt-submit", "", running),
        ("llm-complete", "", finished),
        ("stop", "", finished),
        ("subagent-update", r#""subagent_count":2,"background_count":1"#, Some((Status::Idle, Finished, 2, 1))),
        ("subagent-update", r#""subagent_count":0"#, Some((Status::Idle, Finished, 0, 1))),
        ("background-start", r#""task_id":"7""#, Some((Status::Idle, Finished, 0, 2))),
        ("background-stop", r#""task_id":"7""#, Some((Status::Idle, Finished, 0, 1))),
        ("subagent-start", r#""agent_id":"x""#, Some((Status::Idle, Finished, 1, 1))),
        ("stop", r#""agent_id":"x""#, Some((Status::Idle, Finished, 1, 1))),
        ("subagent-stop", r#""agent_id":"x""#, Some((Status::Idle, Finished, 0, 1))),
        ("progress", r#""value":0.5,"label":"half""#, Some((Status::Idle, Finished, 0, 1))),
        ("log", r#""message":"said""#, Some((Status::Idle, Finished, 0, 1))),
        ("never-heard-of", "", Some((Status::Idle, Finished, 0, 1))),
        ("prompt-submit", r#""automatic":true"#, Some((Status::Running, Finished, 0, 1))),
        ("stop", r#""status":"Running""#, Some((Status::Running, Seen, 0, 1))),
        ("session-end", "", if clears_on_end { None } else { shown(Status::Idle, Seen) }),
    ]
}

#[test]
fn the_status_after_each_event() {
    let session = Session::start();
    let listed = CATALOGUE
        .iter()
        .map(|agent| (agent.id, agent.notification_counts, agent.records_unified_answers, agent.clears_on_end));
    for (agent, notification_counts, records_answers, clears_on_end) in listed.chain([("home-made", true, false, true)])
    {
        let workspace = format!("of-{agent}");
        for (number, (event, more, expected)) in
            day(notification_counts, records_answers, clears_on_end).into_iter().enumerate()
        {
            let comma = if more.is_empty() { "" } else { "," };
            let payload = format!(r#"{{"session_id":"s-{agent}","workspace_id":"{workspace}"{comma}{more}}}"#);
            session.hook(agent, event, &payload);
            let rows = session.rows(&workspace);
            let shown: Shown = rows.first().map(|row| (row.status, row.attention, row.subagents, row.background));
            assert_eq!(shown, expected, "{agent}, {number}: {event} {more}");
            assert!(rows.len() <= 1, "{agent}: {rows:#?}");
        }
    }
}

#[test]
fn a_notification_that_does_not_count_changes_nothing() {
    let session = Session::start();
    for agent in CATALOGUE.iter().filter(|agent| !agent.notification_counts) {
        let workspace = format!("of-{}", agent.id);
        let payload = format!(r#"{{"session_id":"s","workspace_id":"{workspace}","message":"Look"}}"#);
        session.hook(agent.id, "notification", &payload);
        assert!(session.rows(&workspace).is_empty(), "{}: it makes no row", agent.id);
        session.hook(agent.id, "prompt-submit", &payload.replace("Look", "Go"));
        let before = session.row(&workspace);
        session.hook(agent.id, "notification", &payload);
        assert_eq!(session.row(&workspace), before, "{}", agent.id);
    }
}

#[test]
fn hermes_keeps_its_row() {
    let session = Session::start();
    let payload = r#"{"session_id":"s","workspace_id":"demo"}"#;
    for event in ["session-start", "prompt-submit", "llm-complete", "session-end"] {
        session.hook("hermes", event, payload);
    }
    let row = session.row("demo");
    assert_eq!(row.status, Status::Idle);
    session.must("Dismiss", &(row.id,).to_variant());
    assert!(session.rows("demo").is_empty());
}

#[test]
fn two_claude_sessions_share_a_row() {
    let session = Session::start();
    let hook = |id: &str, event: &str, more: &str| {
        let comma = if more.is_empty() { "" } else { "," };
        session.hook("claude", event, &format!(r#"{{"session_id":"{id}","workspace_id":"demo"{comma}{more}}}"#));
        session.row("demo")
    };
    hook("a", "prompt-submit", "");
    let row = hook("b", "prompt-submit", "");
    assert_eq!((row.status, row.sessions.len()), (Status::Running, 2));
    let row = hook("b", "stop", r#""message":"b is done""#);
    assert_eq!((row.status, row.message.as_deref()), (Status::Idle, Some("b is done")), "the latest shows");
    let row = hook("a", "approval-request", r#""message":"Deploy?""#);
    assert_eq!((row.status, row.priority), (Status::NeedsInput, 10));

    let row = hook("b", "prompt-submit", "");
    assert_eq!((row.status, row.message.as_deref()), (Status::NeedsInput, Some("Deploy?")), "the question stays");
    session.must("Acknowledge", &(row.id,).to_variant());
    let row = hook("b", "stop", r#""message":"b is done again""#);
    assert_eq!((row.status, row.message.as_deref()), (Status::NeedsInput, Some("Deploy?")), "also when it was seen");
    assert_eq!((row.questions, row.priority), (1, 10));

    assert_eq!(hook("a", "approval-response", "").questions, 0);
    assert_eq!(hook("a", "pre-tool-use", r#""tool_name":"Bash""#).status, Status::Running);
    let row = hook("a", "session-end", "");
    assert_eq!((row.status, row.sessions.len()), (Status::Idle, 1));
}

#[test]
fn each_pane_of_the_others_has_its_row() {
    let session = Session::start();
    for surface in ["left", "right"] {
        let payload = format!(r#"{{"session_id":"{surface}","workspace_id":"demo","surface_id":"{surface}"}}"#);
        session.hook("codex", "prompt-submit", &payload);
    }
    assert_eq!(session.rows("demo").len(), 2);
    session.must("SetStatus", &("demo", "codex-left", "Idle", empty()).to_variant());
    let idle: Vec<Option<String>> =
        session.rows("demo").into_iter().filter(|row| row.status == Status::Idle).map(|row| row.surface).collect();
    assert_eq!(idle, [Some("left".to_string())]);
}
