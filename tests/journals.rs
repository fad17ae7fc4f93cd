// SPDX-License-Identifier: GPL-3.0-or-later
//! What agents' journals tell, with a real process and files as Mistral Vibe writes them.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use vigil::snapshot::RowView;
use vigil::status::{Attention, Status};

#[path = "support/session.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod session;

#[path = "support/claude.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod claude;

use session::Session;

/// What "at once" means on a machine that has other things to do.
const AT_ONCE: Duration = Duration::from_secs(2);

/// By then whatever was written has been looked at.
const LOOKED: Duration = Duration::from_millis(500);

const RUNS: (Status, Attention, u32) = (Status::Running, Attention::None, 0);
const ASKS: (Status, Attention, u32) = (Status::NeedsInput, Attention::NeedsInput, 1);
const RESTS: (Status, Attention, u32) = (Status::Idle, Attention::None, 0);
const FINISHED: (Status, Attention, u32) = (Status::Idle, Attention::Finished, 0);
const FAILED: (Status, Attention, u32) = (Status::Failed, Attention::Failed, 0);

/// A process of the agent, and what it writes.
struct Vibe {
    process: claude::Claude,
    home: PathBuf,
    sequence: i64,
    turn: i64,
}

impl Vibe {
    fn start(session: &Session) -> Self {
        Self::start_in(session, session.home().join(".vibe"))
    }

    /// One that writes there.
    fn start_in(session: &Session, home: PathBuf) -> Self {
        let variables = [("VIGIL_WORKSPACE_ID", "demo")];
        let process = claude::Claude::start_as("vibe-rs", session, session.home(), &variables);
        let vibe = Self { process, home, sequence: 0, turn: 0 };
        fs::create_dir_all(vibe.active()).unwrap();
        vibe
    }

    fn active(&self) -> PathBuf {
        self.home.join("logs/session/active")
    }

    fn journal(&self, session: &str) -> PathBuf {
        self.home.join(format!("logs/session/unified/{session}/journal"))
    }

    fn lease(&self, session: &str) -> PathBuf {
        self.active().join(format!("{session}.lock.json"))
    }

    fn opens(&self, session: &str) {
        fs::create_dir_all(self.journal(session)).unwrap();
        let lease = json!({ "lease_version": 1, "session_id": session, "process_id": self.process.pid(),
                            "acquired_at": vigil::time::WallTime(wall()).to_rfc3339() });
        fs::write(self.lease(session), lease.to_string()).unwrap();
    }

    fn closes(&self, session: &str) {
        fs::remove_file(self.lease(session)).unwrap();
    }

    /// A record, as a line.
    fn record(&mut self, kind: &str, payload: Value) -> String {
        self.sequence += 1;
        let record = json!({ "payload": payload, "previous_record_sha256": "0", "record_sha256": "0",
                             "recovery_journal_record_version": 1, "sequence": self.sequence, "type": kind });
        format!("{record}\n")
    }

    fn state(&mut self, session: &str, status: &str, turn: &str) -> String {
        let at = wall();
        let parent = session.starts_with("child-").then_some("s");
        let state = json!({
            "activeCallbacks": [],
            "latestTurn": { "id": format!("turn-{}", self.turn), "status": turn, "startedAt": at, "completedAt": at },
            "session": { "id": session, "parentSessionId": parent, "rootSessionId": parent.unwrap_or(session),
                         "preview": "mend it", "title": null, "updatedAt": at,
                         "status": { "type": status, "message": "Invalid API key" } },
        });
        self.record("projection_delta", json!({ "delta": [{ "op": "set_envelope", "state": state }], "watermark": 1 }))
    }

    fn asked(&mut self, id: &str) -> String {
        let routing = json!({ "createdAt": wall(), "title": "Approve file_system.bash",
                              "detail": { "kind": "approval", "effect": { "toolName": "file_system.bash" } } });
        let payload = json!({ "callback_id": format!("approval-{id}"), "kind": "approval", "routing": routing });
        self.record("callback_registered", payload)
    }

    fn answered(&mut self, id: &str) -> String {
        self.record("callback_resolved", json!({ "callback_id": format!("approval-{id}"), "state": "resolved" }))
    }

    fn process(&mut self, status: &str) -> String {
        let process = json!({ "process_id": "process-1", "status": status });
        self.record("process_state_changed", json!({ "process": process }))
    }

    fn begins(&mut self) -> String {
        self.turn += 1;
        self.state("s", "running", "in_progress")
    }

    /// Appends to the journal's file of that number.
    fn writes_to(&self, session: &str, number: u32, text: &str) {
        let path = self.journal(session).join(format!("{number:016}.jsonl"));
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn writes(&self, text: &str) {
        self.writes_to("s", 1, text);
    }
}

fn wall() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn what(row: &RowView) -> (Status, Attention, u32) {
    (row.status, row.attention, row.questions)
}

#[track_caller]
fn comes(session: &Session, expected: (Status, Attention, u32)) {
    let shown = || session.rows("demo").iter().map(what).collect::<Vec<_>>();
    session.wait_at_most(AT_ONCE, &format!("{expected:?}"), || shown() == [expected]);
}

#[track_caller]
fn stays(session: &Session, expected: (Status, Attention, u32)) {
    let start = Instant::now();
    while start.elapsed() < LOOKED {
        assert_eq!(what(&session.row("demo")), expected);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn nothing_comes(session: &Session) {
    std::thread::sleep(LOOKED);
    assert!(session.rows("demo").is_empty(), "{:#?}", session.rows("demo"));
}

#[test]
fn a_whole_session_is_followed_without_a_hook() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    comes(&session, RESTS);
    let line = vibe.begins();
    vibe.writes(&line);
    comes(&session, RUNS);
    assert_eq!(session.row("demo").pid, Some(vibe.process.pid()));
    let line = vibe.asked("call1");
    vibe.writes(&line);
    comes(&session, ASKS);
    assert_eq!(session.row("demo").message.as_deref(), Some("Approve file_system.bash"));
    let line = vibe.answered("call1");
    vibe.writes(&line);
    comes(&session, RUNS);
    let line = vibe.process("running");
    vibe.writes(&line);
    session.wait_at_most(AT_ONCE, "its process", || session.row("demo").background == 1);
    let line = vibe.state("s", "idle", "completed") + &vibe.process("completed");
    vibe.writes(&line);
    comes(&session, FINISHED);
    assert_eq!(session.row("demo").background, 0);
    // The next turn stands in another file.
    let line = vibe.begins();
    vibe.writes_to("s", 6, &line);
    comes(&session, RUNS);
    let line = vibe.state("s", "idle", "interrupted");
    vibe.writes_to("s", 6, &line);
    comes(&session, RESTS);
    let line = vibe.begins() + &vibe.state("s", "failed", "failed");
    vibe.writes_to("s", 6, &line);
    comes(&session, FAILED);
    assert_eq!(session.row("demo").message.as_deref(), Some("Invalid API key"));
    vibe.closes("s");
    session.wait_at_most(AT_ONCE, "its end", || session.rows("demo").is_empty());
}

#[test]
fn a_subagent_is_counted_and_its_question_shown() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    let line = vibe.begins();
    vibe.writes(&line);
    comes(&session, RUNS);
    vibe.opens("child-1");
    let line = vibe.state("child-1", "running", "in_progress");
    vibe.writes_to("child-1", 1, &line);
    session.wait_at_most(AT_ONCE, "its subagent", || session.row("demo").subagents == 1);
    let line = vibe.asked("call7");
    vibe.writes_to("child-1", 1, &line);
    comes(&session, ASKS);
    let line = vibe.state("child-1", "idle", "completed");
    vibe.writes_to("child-1", 1, &line);
    session.wait_at_most(AT_ONCE, "its end", || session.row("demo").subagents == 0);
    comes(&session, RUNS);
}

#[test]
fn of_what_was_there_before_only_the_present_is_told() {
    let session = Session::start();
    let mut vibe = Vibe::start_in(&session, session.home().join("elsewhere"));
    vibe.opens("s");
    let mut past = vibe.begins() + &vibe.state("s", "failed", "failed");
    past += &(vibe.begins() + &vibe.state("s", "idle", "completed"));
    past += &(vibe.begins() + &vibe.asked("call1") + &vibe.answered("call1") + &vibe.asked("call2"));
    vibe.writes(&past);
    fs::rename(&vibe.home, session.home().join(".vibe")).unwrap();
    vibe.home = session.home().join(".vibe");
    comes(&session, ASKS);
    let events: Vec<String> = session.state_events().into_iter().map(|(name, _)| name).collect();
    assert!(!events.iter().any(|name| name.contains("error") || name.contains("idle")), "{events:?}");
    let line = vibe.answered("call2");
    vibe.writes(&line);
    comes(&session, RUNS);
}

#[test]
fn lines_in_pieces_and_lines_that_are_none_do_no_harm() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    comes(&session, RESTS);
    let line = vibe.begins();
    let (one, two) = line.split_at(70);
    vibe.writes(one);
    stays(&session, RESTS);
    vibe.writes(two);
    comes(&session, RUNS);
    let long = format!("{{\"type\":\"projection_delta\",\"x\":\"{}\"}}\n", "x".repeat(1 << 20));
    let deep = format!("{}\"projection_delta\"\n", "[".repeat(60_000));
    for junk in ["\n", "{\n", "\0\0\0\n", "{\"type\":\"projection_delta\"}\n", &long, &deep] {
        vibe.writes(junk);
    }
    stays(&session, RUNS);
    let line = vibe.state("s", "idle", "completed");
    vibe.writes(&line);
    comes(&session, FINISHED);
}

#[test]
fn a_file_that_is_cut_or_replaced_goes_on() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    let line = vibe.begins();
    vibe.writes(&line);
    comes(&session, RUNS);
    let file = vibe.journal("s").join("0000000000000001.jsonl");
    fs::write(&file, "").unwrap();
    std::thread::sleep(LOOKED);
    let line = vibe.asked("call1");
    vibe.writes(&line);
    comes(&session, ASKS);
    let line = vibe.answered("call1");
    let fresh = vibe.home.join("fresh");
    fs::write(&fresh, line).unwrap();
    fs::rename(&fresh, &file).unwrap();
    std::thread::sleep(LOOKED);
    let line = vibe.state("s", "idle", "completed");
    vibe.writes(&line);
    comes(&session, FINISHED);
}

#[test]
fn a_folder_that_vanishes_may_come_back() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    let line = vibe.begins();
    vibe.writes(&line);
    comes(&session, RUNS);
    fs::remove_dir_all(&vibe.home).unwrap();
    session.wait_at_most(AT_ONCE, "its end", || session.rows("demo").is_empty());
    fs::create_dir_all(vibe.active()).unwrap();
    vibe.opens("t");
    comes(&session, RESTS);
}

#[test]
fn a_lease_of_a_dead_process_is_no_session() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.process.kill();
    vibe.opens("s");
    let line = vibe.begins();
    vibe.writes(&line);
    nothing_comes(&session);
    let mut lives = Vibe { turn: 1, ..Vibe::start(&session) };
    for lease in ["", "{", "[]", "null", r#"{"process_id":-1}"#, r#"{"process_id":"x","acquired_at":5}"#] {
        fs::write(lives.lease("s"), lease).unwrap();
    }
    nothing_comes(&session);
    // One of the same number that began later.
    let lease = json!({ "process_id": lives.process.pid(), "acquired_at": "2020-01-01T00:00:00Z" });
    fs::write(lives.lease("s"), lease.to_string()).unwrap();
    nothing_comes(&session);
    lives.opens("s");
    comes(&session, RESTS);
    let line = lives.begins();
    lives.writes(&line);
    comes(&session, RUNS);
}

#[test]
fn links_and_pipes_are_not_opened() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    let elsewhere = session.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let line = vibe.begins();
    fs::write(elsewhere.join("0000000000000001.jsonl"), &line).unwrap();
    vibe.opens("s");
    fs::remove_dir(vibe.journal("s")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, vibe.journal("s")).unwrap();
    comes(&session, RESTS);
    stays(&session, RESTS);
    fs::remove_file(vibe.journal("s")).unwrap();
    fs::create_dir(vibe.journal("s")).unwrap();
    let linked = vibe.journal("s").join("0000000000000001.jsonl");
    std::os::unix::fs::symlink(elsewhere.join("0000000000000001.jsonl"), &linked).unwrap();
    stays(&session, RESTS);
    fs::remove_file(&linked).unwrap();
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &linked, pipe, mode, 0).unwrap();
    stays(&session, RESTS);
    vibe.writes_to("s", 2, &line);
    comes(&session, RUNS);
}

#[test]
fn a_flood_is_read_to_its_end() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    comes(&session, RESTS);
    let mut flood = vibe.begins();
    for number in 0..2000 {
        flood += &vibe.record("core_input", json!({ "input": "x".repeat(400) }));
        flood += &vibe.asked(&format!("call{number}"));
        flood += &vibe.answered(&format!("call{number}"));
    }
    flood += &vibe.asked("last");
    vibe.writes(&flood);
    comes(&session, ASKS);
}

/// How often the threads of a process have gone to sleep so far: each wake-up ends in one.
fn sleeps(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
    let of_task = |task: PathBuf| {
        let status = fs::read_to_string(task.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    tasks.flatten().map(|task| of_task(task.path())).sum()
}

#[test]
fn at_rest_and_beside_other_files_nothing_wakes() {
    let session = Session::start();
    let mut vibe = Vibe::start(&session);
    vibe.opens("s");
    let line = vibe.begins();
    vibe.writes(&line);
    comes(&session, RUNS);
    let log = vibe.home.join("logs/vibe.log");
    fs::write(&log, "").unwrap();
    let quiet_for = |span: Duration| {
        let (start, before) = (Instant::now(), sleeps(session.pid()));
        while start.elapsed() < span {
            std::thread::sleep(Duration::from_millis(50));
            fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(b"busy\n").unwrap();
            if sleeps(session.pid()) != before {
                return false;
            }
        }
        true
    };
    session.wait_at_most(Duration::from_secs(40), "three seconds of silence", || quiet_for(Duration::from_secs(3)));
}
