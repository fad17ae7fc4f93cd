// SPDX-License-Identifier: GPL-3.0-or-later
//! What Claude Code's own files tell beside its hooks, with a real process and files as it writes them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gtk::glib::prelude::*;
use serde_json::{Value, json};
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
const LOOKED: Duration = Duration::from_millis(800);

/// An agent with a configuration of its own.
struct Claude {
    process: claude::Claude,
    folder: PathBuf,
}

impl Claude {
    fn start(session: &Session) -> Self {
        let folder = session.home().join("claude-config");
        fs::create_dir_all(folder.join("sessions")).unwrap();
        Self::start_in(session, folder)
    }

    fn start_in(session: &Session, folder: PathBuf) -> Self {
        let variables = [("VIGIL_WORKSPACE_ID", "demo"), ("CLAUDE_CONFIG_DIR", folder.to_str().unwrap())];
        let process = claude::Claude::start(session, session.home(), &variables);
        Self { process, folder }
    }

    fn hook(&mut self, event: &str, more: Value) {
        let mut payload = json!({ "session_id": "s", "hook_event_name": event });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.process.hook(event, &payload.to_string());
    }

    fn asks(&mut self) {
        self.hook("UserPromptSubmit", json!({}));
        self.hook("PreToolUse", json!({ "tool_name": "Bash", "tool_use_id": "a" }));
        self.hook("PermissionRequest", json!({ "tool_name": "Bash" }));
    }

    fn status_file(&self) -> PathBuf {
        self.folder.join(format!("sessions/{}.json", self.process.pid()))
    }

    /// When it started, as the kernel says.
    fn start_time(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.pid())).unwrap();
        stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(19).unwrap().parse().unwrap()
    }

    fn status(&self, status: &str) -> Value {
        json!({
            "pid": self.process.pid(), "sessionId": "s", "cwd": "/srv/shop", "procStart": self.start_time().to_string(),
            "version": "2.1.332", "kind": "interactive", "entrypoint": "cli", "status": status,
            "updatedAt": wall(), "statusUpdatedAt": wall(),
        })
    }

    fn write(&self, status: &str) {
        fs::write(self.status_file(), self.status(status).to_string()).unwrap();
    }
}

fn wall() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn shown(session: &Session) -> (Status, Attention, u32) {
    let row = session.row("demo");
    (row.status, row.attention, row.questions)
}

const ASKS: (Status, Attention, u32) = (Status::NeedsInput, Attention::NeedsInput, 1);
const RUNS: (Status, Attention, u32) = (Status::Running, Attention::None, 0);
const RESTS: (Status, Attention, u32) = (Status::Idle, Attention::None, 0);

#[track_caller]
fn comes(session: &Session, what: (Status, Attention, u32)) {
    session.wait_at_most(AT_ONCE, &format!("{what:?}"), || shown(session) == what);
}

#[track_caller]
fn stays(session: &Session, what: (Status, Attention, u32)) {
    let start = Instant::now();
    while start.elapsed() < LOOKED {
        assert_eq!(shown(session), what);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_answer_a_refusal_and_an_interrupt_are_seen() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.asks();
    assert_eq!(shown(&session), ASKS);
    claude.write("waiting");
    stays(&session, ASKS);
    claude.write("busy");
    comes(&session, RUNS);
    claude.hook("PostToolUse", json!({ "tool_name": "Bash", "tool_use_id": "a" }));
    claude.asks();
    claude.write("idle");
    comes(&session, RESTS);
    claude.hook("UserPromptSubmit", json!({}));
    assert_eq!(shown(&session), RUNS);
    claude.write("shell");
    comes(&session, RESTS);
    let events: Vec<String> = session.state_events().into_iter().map(|(name, _)| name).collect();
    assert!(!events.iter().any(|name| name.contains("finish")), "the user did it: {events:?}");
}

#[test]
fn between_two_dialogs_nothing_is_seen_to_work() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.asks();
    claude.write("waiting");
    std::thread::sleep(LOOKED);
    for _ in 0..3 {
        claude.write("busy");
        std::thread::sleep(Duration::from_millis(30));
        claude.write("waiting");
        std::thread::sleep(Duration::from_millis(30));
    }
    stays(&session, ASKS);
}

#[test]
fn a_file_that_was_there_before_is_read_too() {
    let session = Session::start();
    let folder = session.home().join("claude-config");
    let mut claude = Claude::start_in(&session, folder.clone());
    claude.asks();
    std::thread::sleep(LOOKED);
    fs::create_dir_all(folder.join("sessions")).unwrap();
    claude.write("busy");
    stays(&session, ASKS);
    claude.hook("PreCompact", json!({}));
    comes(&session, RUNS);
    claude.write("idle");
    comes(&session, RESTS);
}

#[test]
fn a_file_that_is_put_in_place_by_a_rename_is_read() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.asks();
    std::thread::sleep(LOOKED);
    let fresh = claude.folder.join("fresh");
    fs::write(&fresh, claude.status("busy").to_string()).unwrap();
    fs::rename(&fresh, claude.status_file()).unwrap();
    comes(&session, RUNS);
}

#[test]
fn what_is_not_this_sessions_status_is_ignored() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.asks();
    let with = |key: &str, value: Value| {
        let mut status = claude.status("busy");
        status[key] = value;
        status.to_string()
    };
    let before = json!(wall() - 3_600_000);
    for (why, text) in [
        ("another session", with("sessionId", json!("other"))),
        ("another process under the same number", with("procStart", json!("5"))),
        ("another process", with("pid", json!(1))),
        ("older than the hooks", with("statusUpdatedAt", before)),
        ("no status", with("status", Value::Null)),
        ("cut short", with("status", json!("busy"))[..60].to_string()),
        ("huge", with("cwd", json!("x".repeat(1 << 20)))),
        ("not JSON", "\0".repeat(5000)),
    ] {
        fs::write(claude.status_file(), text).unwrap();
        stays(&session, ASKS);
        assert!(!why.is_empty());
    }
    let other = claude.folder.join("sessions/1.json");
    fs::write(other, with("pid", json!(1))).unwrap();
    stays(&session, ASKS);
    fs::write(claude.status_file(), with("statusUpdatedAt", json!(wall() + 3_600_000))).unwrap();
    comes(&session, RUNS);
}

#[test]
fn links_and_pipes_are_not_opened() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.asks();
    let real = session.home().join("elsewhere");
    fs::write(&real, claude.status("busy").to_string()).unwrap();
    std::os::unix::fs::symlink(&real, claude.status_file()).unwrap();
    stays(&session, ASKS);
    fs::remove_file(claude.status_file()).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, claude.status_file(), pipe, mode, 0).unwrap();
    stays(&session, ASKS);
    fs::remove_file(claude.status_file()).unwrap();
    claude.write("busy");
    comes(&session, RUNS);
}

#[test]
fn a_folder_that_is_a_link_is_not_followed() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    let elsewhere = session.home().join("elsewhere");
    fs::rename(claude.folder.join("sessions"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, claude.folder.join("sessions")).unwrap();
    claude.asks();
    claude.write("busy");
    stays(&session, ASKS);
}

#[test]
fn after_a_clear_the_new_session_counts() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.hook("UserPromptSubmit", json!({}));
    claude.hook("SessionEnd", json!({ "reason": "clear" }));
    claude.hook("SessionStart", json!({ "session_id": "next", "source": "clear" }));
    claude.hook("UserPromptSubmit", json!({ "session_id": "next" }));
    assert_eq!(shown(&session), RUNS);
    let mut status = claude.status("idle");
    status["sessionId"] = json!("next");
    fs::write(claude.status_file(), status.to_string()).unwrap();
    comes(&session, RESTS);
}

fn record(text: &str) -> String {
    let now = vigil::time::WallTime(i64::try_from(wall()).unwrap() + 1000).to_rfc3339();
    let content = json!([{ "type": "text", "text": text }]);
    let record = json!({ "type": "user", "sessionId": "s", "timestamp": now, "message": { "content": content } });
    format!("{record}\n")
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn without_a_status_file_the_transcript_tells_of_an_interruption() {
    let session = Session::start();
    let mut claude = Claude::start_in(&session, session.home().join("claude-config"));
    let folder = claude.folder.join("projects/demo");
    fs::create_dir_all(&folder).unwrap();
    let transcript = folder.join("s.jsonl");
    fs::write(&transcript, record("[Request interrupted by user]")).unwrap();
    claude.hook("UserPromptSubmit", json!({ "transcript_path": transcript }));
    stays(&session, RUNS);
    append(&transcript, &record("why was it [Request interrupted by user]?"));
    stays(&session, RUNS);
    append(&transcript, &record("[Request interrupted by user for tool use]"));
    comes(&session, RESTS);
}

#[test]
fn a_transcript_that_comes_after_the_prompt_is_found() {
    let session = Session::start();
    let mut claude = Claude::start_in(&session, session.home().join("claude-config"));
    fs::create_dir_all(&claude.folder).unwrap();
    let folder = claude.folder.join("projects/demo");
    let transcript = folder.join("s.jsonl");
    claude.hook("UserPromptSubmit", json!({ "transcript_path": transcript }));
    stays(&session, RUNS);
    fs::create_dir_all(&folder).unwrap();
    stays(&session, RUNS);
    fs::write(&transcript, "{}\n").unwrap();
    append(&transcript, &record("[Request interrupted by user]"));
    comes(&session, RESTS);
}

#[test]
fn only_transcripts_below_the_agents_own_folder_are_followed() {
    let session = Session::start();
    let mut claude = Claude::start_in(&session, session.home().join("claude-config"));
    let projects = claude.folder.join("projects");
    fs::create_dir_all(&projects).unwrap();
    let outside = session.home().join("s.jsonl");
    fs::write(&outside, "").unwrap();
    std::os::unix::fs::symlink(&outside, projects.join("s.jsonl")).unwrap();
    for path in [outside.clone(), projects.join("../../s.jsonl"), projects.join("s.jsonl")] {
        claude.hook("UserPromptSubmit", json!({ "transcript_path": path }));
        std::thread::sleep(LOOKED);
        append(&outside, &record("[Request interrupted by user]"));
        stays(&session, RUNS);
    }
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
fn at_rest_nothing_wakes_and_the_end_lets_go() {
    let session = Session::start();
    let mut claude = Claude::start(&session);
    claude.hook("UserPromptSubmit", json!({}));
    claude.write("busy");
    let watches = || {
        let open = fs::read_dir(format!("/proc/{}/fdinfo", session.pid())).unwrap().flatten();
        let info = |entry: fs::DirEntry| fs::read_to_string(entry.path()).unwrap_or_default();
        open.map(info).map(|info| info.matches("inotify wd:").count()).sum::<usize>()
    };
    let quiet_for = |span: Duration| {
        let (start, before) = (Instant::now(), sleeps(session.pid()));
        while start.elapsed() < span {
            std::thread::sleep(Duration::from_millis(50));
            if sleeps(session.pid()) != before {
                return false;
            }
        }
        true
    };
    session.wait_at_most(Duration::from_secs(40), "three seconds of silence", || quiet_for(Duration::from_secs(3)));
    let with = watches();
    claude.process.kill();
    session.wait_at_most(AT_ONCE, "its failure", || shown(&session).0 == Status::Failed);
    assert_eq!(watches(), with - 1);
    session.must("Acknowledge", &(session.row("demo").id,).to_variant());
}
