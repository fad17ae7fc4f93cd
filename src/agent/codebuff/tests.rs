// SPDX-License-Identifier: GPL-3.0-or-later
//! What is written is made up here, by the layout that the public source shows: no session could be recorded.

use super::*;
use crate::event::Process;

const CHAT: &str = "projects/demo/chats/2026-11-30T09-00-00.000Z";

/// So long after the chat's beginning.
fn now(seconds: u64) -> Now {
    let wall = WallTime::parse_rfc3339("2026-11-30T09:00:00Z").unwrap();
    Now {
        boot: BootTime::from_millis(1_000_000 + seconds * 1000),
        wall: WallTime(wall.0 + i64::try_from(seconds).unwrap() * 1000),
        ..Now::default()
    }
}

fn log(chats: &mut Chats, seconds: u64, level: &str, message: &str) -> Vec<Kind> {
    let time = now(seconds).wall.to_rfc3339();
    let line = format!(
        r#"{{"level":"{level}","timestamp":"{time}","data":{{"error":{{"message":"network"}}}},"msg":"{message}"}}"#
    );
    kinds(chats.take(&Path::new(CHAT).join(LOG), Input::Line(line.as_bytes()), now(seconds)))
}

fn save(chats: &mut Chats, seconds: u64, messages: &str) -> Vec<Kind> {
    kinds(chats.take(&Path::new(CHAT).join(MESSAGES), Input::Whole(messages.as_bytes()), now(seconds)))
}

fn kinds(events: Vec<Event>) -> Vec<Kind> {
    assert!(events.iter().all(|event| event.session.as_deref() == Some("demo/2026-11-30T09-00-00.000Z")));
    events.into_iter().map(|event| event.kind).collect()
}

fn turn(prompt: &str, answer: &str) -> String {
    format!(r#"[{{"id":"{prompt}","variant":"user","content":"go"}}{answer}]"#)
}

const OPEN: &str = r#",{"id":"a","variant":"ai","content":"","blocks":[{"type":"text","content":"Running."}]}"#;
const COMPLETE: &str = r#",{"id":"a","variant":"ai","isComplete":true,"blocks":[{"type":"text","content":"Done."}]}"#;
const STOPPED: &str = r#",{"id":"a","variant":"ai","isComplete":true,"blocks":[{"type":"text","content":"Done.\n\n[response interrupted]"}]}"#;
const ASKS: &str =
    r#",{"id":"a","variant":"ai","blocks":[{"type":"tool","toolCallId":"t1","toolName":"ask_user","input":{}}]}"#;

const WORK: Kind = Kind::PromptSubmit { automatic: true };
const PROMPT: Kind = Kind::PromptSubmit { automatic: false };
const START: Kind = Kind::SessionStart { waiting: true };

#[test]
fn a_turn_ends_with_a_complete_answer_and_silence() {
    let mut chats = Chats::default();
    assert_eq!(log(&mut chats, 1, "INFO", "started"), [START], "the chat begins, and nobody works");
    assert_eq!(chats.deadline(), None);
    assert_eq!(log(&mut chats, 30, "INFO", "run"), [WORK]);
    assert_eq!(log(&mut chats, 31, "DEBUG", "tool"), []);
    assert_eq!(save(&mut chats, 32, &turn("u1", OPEN)), [PROMPT], "its own prompt is known now");
    assert_eq!(chats.deadline(), None, "an open answer may take its time");
    assert_eq!(save(&mut chats, 90, &turn("u1", COMPLETE)), []);
    assert_eq!(log(&mut chats, 91, "INFO", "saved"), []);
    assert_eq!(chats.deadline(), Some(now(111).boot));
    let events = chats.due(now(111));
    assert_eq!(events[0].at, Some(now(91).boot), "it was over when it fell silent");
    assert_eq!(kinds(events), [Kind::Stop]);
    assert_eq!(chats.deadline(), None);
    // What is written without a turn is not one that finished.
    assert_eq!(log(&mut chats, 200, "INFO", "telemetry"), [WORK]);
    assert_eq!(kinds(chats.due(now(220))), [Kind::Reminder]);
    assert_eq!(save(&mut chats, 300, &turn("u2", "")), [PROMPT]);
}

#[test]
fn failures_and_interruptions_last_until_there_is_work() {
    let mut chats = Chats::default();
    log(&mut chats, 1, "INFO", "started");
    log(&mut chats, 10, "INFO", "run");
    let error = log(&mut chats, 12, "ERROR", FAILURE);
    assert_eq!(error, [Kind::Error { recoverable: Some(false) }]);
    assert_eq!(log(&mut chats, 13, "INFO", "cleaned up"), []);
    assert_eq!(save(&mut chats, 14, &turn("u1", OPEN)), [], "the first save shows only how it was");
    assert_eq!(save(&mut chats, 15, &turn("u1", OPEN)), [], "nobody completes what has failed");
    assert_eq!(chats.deadline(), None);
    assert_eq!(save(&mut chats, 40, &turn("u2", "")), [PROMPT]);
    assert_eq!(save(&mut chats, 50, &turn("u2", STOPPED)), [Kind::Interrupt]);
    assert_eq!(log(&mut chats, 51, "INFO", "aborted"), []);
    assert_eq!(save(&mut chats, 52, &turn("u2", STOPPED)), []);
    assert_eq!(log(&mut chats, 60, "INFO", "run"), [WORK]);
}

#[test]
fn an_open_call_of_the_asking_tool_is_a_question() {
    let mut chats = Chats::default();
    log(&mut chats, 1, "INFO", "started");
    log(&mut chats, 10, "INFO", "run");
    let question = save(&mut chats, 11, &turn("u1", ASKS));
    assert_eq!(question, [PROMPT, Kind::Question(Question::Notice)]);
    assert_eq!(save(&mut chats, 12, &turn("u1", ASKS)), []);
    assert_eq!(save(&mut chats, 20, &turn("u1", OPEN)), [Kind::Answer]);
}

#[test]
fn of_the_past_only_what_still_goes_on_is_told() {
    let caught_up =
        |chats: &mut Chats, seconds| kinds(chats.take(&Path::new(CHAT).join(LOG), Input::CaughtUp, now(seconds)));
    let mut chats = Chats::default();
    log(&mut chats, 30, "INFO", "run");
    assert_eq!(caught_up(&mut chats, 40), [START, WORK]);
    let mut chats = Chats::default();
    log(&mut chats, 30, "INFO", "run");
    assert_eq!(caught_up(&mut chats, 300), [START]);
    assert_eq!(save(&mut chats, 300, &turn("u1", OPEN)), [], "it was left so long ago");
    assert_eq!(chats.deadline(), None);
    let gone = chats.take(&Path::new(CHAT).join(LOG), Input::Gone, now(301));
    assert_eq!(kinds(gone), [Kind::SessionEnd { successor: false }]);
}

/// Both write into the same folders; the live process tells which it was.
#[test]
fn the_process_tells_whose_chat_it_is() {
    let candidate = |pid, comm: &str, cwd: &str, seconds: i64| Candidate {
        process: Process { pid, start: 1 },
        comm: comm.into(),
        cwd: Some(cwd.into()),
        started: BootTime::from_millis(u64::try_from(1_000_000 + seconds * 1000).unwrap()),
    };
    let all = [
        candidate(1, "codebuff", "/home/user/demo", -50),
        candidate(2, "freebuff", "/home/user/demo", -5),
        candidate(3, "codebuff", "/home/user/other", -1),
        candidate(4, "codebuff", "/home/user/demo", 60),
    ];
    let mut chats = Chats::default();
    let owner = |chats: &Chats, kind, candidates: &[Candidate]| {
        let mut event = event("demo/2026-11-30T09-00-00.000Z", "", kind, now(0).boot);
        (chats.owner(&mut event, candidates), event.agent)
    };
    assert_eq!(owner(&chats, START, &all), (Owner::Is(1), "freebuff".into()), "the youngest that was there");
    assert_eq!(owner(&chats, START, &all[2..]).0, Owner::Gone, "it began before any of them");
    assert_eq!(owner(&chats, WORK, &all[2..]), (Owner::Is(1), "codebuff".into()), "it was taken up again");
    assert_eq!(owner(&chats, WORK, &[]).0, Owner::Gone);
    // Projects of the same name share a folder.
    let state = br#"{"sessionState":{"fileContext":{"cwd":"/srv/demo"}}}"#;
    chats.take(&Path::new(CHAT).join(RUN_STATE), Input::Whole(state), now(1));
    assert_eq!(owner(&chats, START, &all).0, Owner::Gone);
    let elsewhere = [candidate(5, "codebuff", "/srv/demo", -1)];
    assert_eq!(owner(&chats, START, &elsewhere).0, Owner::Is(0));
}

#[test]
fn only_chats_are_looked_at_and_nothing_makes_it_fail() {
    let shape = |path: &str| Chats::default().shape(Path::new(path));
    assert_eq!(shape(&format!("{CHAT}/log.jsonl")), Some(Shape::Lines));
    assert_eq!(shape(&format!("{CHAT}/chat-messages.json")), Some(Shape::Whole));
    assert_eq!(shape("projects/demo/chats/other/log.jsonl"), None);
    assert_eq!(shape("codebuff-metadata.json"), None);
    assert_eq!(shape("credentials.json"), None);
    let mut chats = Chats::default();
    for text in
        ["", "{", "[]", "7", "[7,[]]", r#"{"level":7,"timestamp":"x","msg":[]}"#, r#"[{"variant":"ai","blocks":7}]"#]
    {
        for file in [LOG, MESSAGES, RUN_STATE] {
            chats.take(&Path::new(CHAT).join(file), Input::Line(text.as_bytes()), now(60));
            chats.take(&Path::new(CHAT).join(file), Input::Whole(text.as_bytes()), now(60));
        }
    }
}
