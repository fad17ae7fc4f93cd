// SPDX-License-Identifier: GPL-3.0-or-later
//! The trajectories are made up here, of the fields that other readers know: no session could be recorded.

use super::*;
use crate::event::Process;

const PATH: &str = "trajectories/trajectory-multi_agent_mode_11111111-2222.ndjson";

/// So long after nine o'clock.
fn now(millis: u64) -> Now {
    let wall = WallTime::parse_rfc3339("2026-11-30T09:00:00Z").unwrap();
    let boot = BootTime::from_millis(1_000_000 + millis);
    Now { boot, wall: WallTime(wall.0 + i64::try_from(millis).unwrap()), ..Now::default() }
}

fn write(all: &mut Trajectories, seconds: u64, kind: &str, body: &str) -> Vec<Event> {
    let (time, key) = (now(seconds * 1000).wall.to_rfc3339(), kind.replace('.', "_"));
    let line = format!(r#"{{"id":"0","step_id":"","timestamp":"{time}","type":"{kind}","{key}":{body}}}"#);
    // Read a moment later.
    all.take(Path::new(PATH), Input::Line(line.as_bytes()), now(seconds * 1000 + 40))
}

fn kinds(events: &[Event]) -> Vec<Kind> {
    assert!(events.iter().all(|event| event.session.as_deref() == Some("11111111-2222")));
    events.iter().map(|event| event.kind.clone()).collect()
}

fn begun() -> Trajectories {
    let mut all = Trajectories::default();
    let start = write(&mut all, 0, "session.start", r#"{"workspace":"/home/user/p","working_directories":["/srv/q"]}"#);
    assert_eq!(kinds(&start), [Kind::SessionStart { waiting: true }]);
    assert_eq!(start[0].at, Some(now(0).boot));
    let input = write(&mut all, 1, "session.input", r#"{"id":"in-1","prompt":"run the tests","mode":"default"}"#);
    assert_eq!(kinds(&input), [Kind::PromptSubmit { automatic: false }]);
    all
}

const PARSED: &str = r#"{"id":"call-1","name":"shell","args":{"cmd":"make test"},"raw_args":"{}"}"#;
const RESULT: &str = r#"{"id":"call-1","tool_name":"shell","is_error":false,"observation":"ok"}"#;

#[test]
fn a_call_that_waits_is_taken_for_a_question_until_it_is_approved() {
    let mut all = begun();
    let call = write(&mut all, 2, "tool_call.parsed", PARSED);
    assert_eq!(kinds(&call), [Kind::PreToolUse]);
    assert_eq!((call[0].call.id.as_deref(), call[0].call.detail.as_deref()), (Some("call-1"), Some("make test")));
    assert_eq!(all.deadline(), Some(now(12_000).boot));
    assert_eq!(kinds(&all.due(now(11_999))), []);
    let question = all.due(now(12_000));
    assert_eq!(kinds(&question), [Kind::Question(Question::Notice)]);
    assert_eq!(question[0].call, call[0].call);
    assert_eq!((all.deadline(), all.due(now(30_000)).len()), (None, 0), "once");
    let answer = write(&mut all, 31, "tool_call.approval", r#"{"denied":false}"#);
    assert_eq!((kinds(&answer), answer[0].call.id.as_deref()), (vec![Kind::Answer], Some("call-1")));
    assert_eq!(all.deadline(), None, "what is approved may take its time");
    assert_eq!(kinds(&write(&mut all, 90, "tool_call.result", RESULT)), [Kind::PostToolUse]);
    // The next one is refused, and gets no result.
    write(&mut all, 91, "tool_call.parsed", PARSED);
    assert_eq!(kinds(&all.due(now(101_000))), [Kind::Question(Question::Notice)]);
    assert_eq!(kinds(&write(&mut all, 102, "tool_call.approval", r#"{"denied":true}"#)), [Kind::Answer]);
    assert_eq!(all.deadline(), None);
}

#[test]
fn a_tool_that_needs_no_approval_is_not_asked_for_again() {
    let mut all = begun();
    write(&mut all, 2, "tool_call.parsed", PARSED);
    write(&mut all, 5, "tool_call.result", RESULT);
    write(&mut all, 6, "tool_call.parsed", PARSED);
    assert_eq!(all.deadline(), None);
}

#[test]
fn a_turn_ends_with_an_answer_and_silence() {
    let mut all = begun();
    assert_eq!(kinds(&write(&mut all, 2, "assistant_message.start", "{}")), []);
    assert_eq!(all.deadline(), None);
    write(&mut all, 3, "assistant_message.end", r#"{"assistant_message":"All pass."}"#);
    assert_eq!(all.deadline(), Some(now(23_000).boot));
    let stop = all.due(now(23_000));
    assert_eq!((kinds(&stop), stop[0].at), (vec![Kind::Stop], Some(now(3000).boot)));
    assert_eq!(all.deadline(), None);
    write(&mut all, 30, "session.input", "{}");
    assert_eq!(kinds(&write(&mut all, 31, "session.exit", r#"{"reason":"exit_tool_called"}"#)), [Kind::Stop]);
}

#[test]
fn an_error_may_be_mended() {
    let mut all = begun();
    let error = write(&mut all, 2, "session.error", r#"{"error":"429 Too Many Requests"}"#);
    assert_eq!(kinds(&error), [Kind::Error { recoverable: None }]);
    assert_eq!(error[0].message.value().map(String::as_str), Some("429 Too Many Requests"));
    assert_eq!(kinds(&write(&mut all, 4, "thought.start", "{}")), [Kind::PreToolUse], "it goes on");
    assert_eq!(kinds(&write(&mut all, 5, "thought.end", "{}")), []);
}

#[test]
fn of_the_past_only_what_still_goes_on_is_told() {
    let mut all = begun();
    let start = Kind::SessionStart { waiting: true };
    let caught_up = |all: &mut Trajectories, millis| kinds(&all.take(Path::new(PATH), Input::CaughtUp, now(millis)));
    assert_eq!(caught_up(&mut all, 5000), [start.clone(), Kind::PromptSubmit { automatic: true }]);
    assert_eq!(caught_up(&mut all, 500_000), [start]);
}

#[test]
fn the_process_that_works_there_wrote_it() {
    let all = begun();
    let candidate = |pid, cwd: &str, millis| Candidate {
        process: Process { pid, start: 1 },
        comm: "pool".into(),
        cwd: Some(cwd.into()),
        started: BootTime::from_millis(millis),
    };
    // The window and, younger, the process behind it that does the work; a later one; one elsewhere.
    let candidates = [
        candidate(1, "/home/user/p", 999_000),
        candidate(2, "/home/user/p", 999_500),
        candidate(3, "/home/user/p", 1_060_000),
        candidate(4, "/home/user", 999_900),
    ];
    let mut start = event("11111111-2222", "", Kind::SessionStart { waiting: true }, now(0).boot);
    assert_eq!(all.owner(&mut start, &candidates), Owner::Is(1));
    assert_eq!(all.owner(&mut start, &candidates[2..]), Owner::Gone);
}

#[test]
fn only_trajectories_are_looked_at_and_nothing_makes_it_fail() {
    let mut all = Trajectories::default();
    assert_eq!(all.shape(Path::new(PATH)), Some(Shape::Lines));
    assert_eq!(all.shape(Path::new("trajectories")), Some(Shape::Folder(MOST)));
    for other in ["credentials.json", "logs/pool-1.log", "trajectories/trajectory-x.ndjson", "trajectories/x_1.ndjson"]
    {
        assert_eq!(all.shape(Path::new(other)), None, "{other}");
    }
    let types = ["session.start", "session.input", "tool_call.parsed", "tool_call.approval", "tool_call.result"];
    for kind in types.into_iter().chain(["session.error", "x"]) {
        for body in ["7", "[]", "null", r#"{"id":7,"name":[],"error":{},"working_directories":7}"#] {
            write(&mut all, 1, kind, body);
        }
    }
    for line in ["", "{", "[]", r#"{"type":7}"#] {
        assert_eq!(all.take(Path::new(PATH), Input::Line(line.as_bytes()), now(0)), []);
    }
}
