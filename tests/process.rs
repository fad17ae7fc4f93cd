// SPDX-License-Identifier: GPL-3.0-or-later
//! Dead processes and vanished terminals, with real ones (rule 10).

use std::collections::HashMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use gtk::glib::{self, prelude::*};
use vigil::status::{Attention, Status};

#[path = "support/session.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod session;

#[path = "support/claude.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod claude;

use session::Session;

/// What "at once" means on a machine that has other things to do.
const AT_ONCE: Duration = Duration::from_secs(1);

/// A terminal's end may be followed by a good-bye, which is waited for.
const HANG_UP: Duration = Duration::from_secs(4);

/// An agent in a workspace of that name, whose session has the same.
struct Claude {
    process: claude::Claude,
    workspace: &'static str,
}

impl Claude {
    fn start(session: &Session, workspace: &'static str) -> Self {
        let process = claude::Claude::start(session, session.home(), &[("VIGIL_WORKSPACE_ID", workspace)]);
        Self { process, workspace }
    }

    fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// One of its hooks, from start to end.
    fn hook(&mut self, event: &str, more: &str) {
        let comma = if more.is_empty() { "" } else { "," };
        self.process.hook(event, &format!(r#"{{"session_id":"{}"{comma}{more}}}"#, self.workspace));
    }

    fn kill(&mut self) {
        self.process.kill();
    }
}

#[test]
fn an_agents_process_is_known_and_watched() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    let row = session.row("demo");
    assert_eq!((row.watched, row.pid, row.sessions[0].pid), (true, Some(claude.pid()), Some(claude.pid())));
}

#[test]
fn from_running_it_has_failed_unexpectedly() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    claude.hook("subagent-update", r#""subagent_count":2,"background_count":1"#);
    assert_eq!(session.row("demo").subagents, 2);
    claude.kill();
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
    let row = session.row("demo");
    assert_eq!((row.attention, row.message.as_deref()), (Attention::Failed, Some("Ended unexpectedly")));
    assert_eq!((row.subagents, row.background, row.watched), (0, 0, false));
    session.must("Acknowledge", &(row.id.as_str(),).to_variant());
    assert!(session.rows("demo").is_empty(), "once it is seen, it goes");
}

#[test]
fn from_needs_input_it_has_failed_unexpectedly() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    claude.hook("approval-request", r#""message":"Deploy?""#);
    claude.kill();
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
    let row = session.row("demo");
    assert_eq!((row.questions, row.message.as_deref()), (0, Some("Ended unexpectedly")));
}

#[test]
fn from_idle_it_goes() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    claude.hook("stop", "");
    assert_eq!(session.row("demo").attention, Attention::Finished);
    claude.kill();
    session.wait_at_most(AT_ONCE, "the end of the row", || session.rows("demo").is_empty());
    let mut claude = Claude::start(&session, "other");
    claude.hook("session-start", r#""waiting":true"#);
    claude.kill();
    session.wait_at_most(AT_ONCE, "the end of the other", || session.rows("other").is_empty());
}

#[test]
fn from_failed_it_goes_only_when_that_was_seen() {
    let session = Session::start();
    let (mut seen, mut unseen) = (Claude::start(&session, "seen"), Claude::start(&session, "unseen"));
    for claude in [&mut seen, &mut unseen] {
        claude.hook("prompt-submit", "");
        claude.hook("subagent-update", r#""subagent_count":1"#);
        claude.hook("error", r#""recoverable":false,"message":"No credit""#);
    }
    session.must("Acknowledge", &(session.row("seen").id,).to_variant());
    seen.kill();
    session.wait_at_most(AT_ONCE, "the end of the row", || session.rows("seen").is_empty());
    unseen.kill();
    session.wait_at_most(AT_ONCE, "the end of its watch", || !session.row("unseen").watched);
    let row = session.row("unseen");
    assert_eq!((row.status, row.message.as_deref(), row.subagents), (Status::Failed, Some("No credit"), 0));
}

#[test]
fn within_the_grace_of_an_error_it_has_failed() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    claude.hook("error", r#""message":"overloaded""#);
    claude.kill();
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
}

#[test]
fn one_of_two_sessions_of_a_row_dies() {
    let session = Session::start();
    let mut first = Claude::start(&session, "demo");
    first.hook("prompt-submit", "");
    let payload = r#"{"session_id":"other","workspace_id":"demo"}"#;
    session.hook("claude", "prompt-submit", payload);
    session.hook("claude", "stop", payload);
    first.kill();
    session.wait_at_most(AT_ONCE, "the failure", || session.row("demo").attention == Attention::Failed);
    assert_eq!(session.row("demo").sessions.len(), 2);
}

/// An origin with one process in its chain.
fn origin(pid: u32, start: u64, more: &[(&str, glib::Variant)]) -> HashMap<String, glib::Variant> {
    let chain = vec![(pid, start, "claude".to_string(), 0_u32)];
    let more = more.iter().map(|(key, value)| ((*key).to_string(), value.clone()));
    more.chain([("chain".to_string(), chain.to_variant())]).collect()
}

#[test]
fn a_reused_number_is_another_process() {
    let session = Session::start();
    let payload = r#"{"session_id":"s","workspace_id":"demo"}"#;
    let origin = origin(std::process::id(), 1, &[]);
    session.must("Hook", &("claude", "prompt-submit", payload, origin).to_variant());
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
}

#[test]
fn a_process_that_has_long_gone_is_gone_at_once() {
    let session = Session::start();
    let mut gone = session.command("true").spawn().unwrap();
    let pid = gone.id();
    gone.wait().unwrap();
    let payload = r#"{"session_id":"s","workspace_id":"demo"}"#;
    session.must("Hook", &("claude", "prompt-submit", payload, origin(pid, 1, &[])).to_variant());
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
}

#[test]
fn processes_of_elsewhere_are_shown_and_never_watched() {
    let session = Session::start();
    let elsewhere = [("box", ("host", "box".to_variant())), ("container", ("pidns", 7_u64.to_variant()))];
    for (workspace, part) in elsewhere {
        let payload = format!(r#"{{"session_id":"{workspace}","workspace_id":"{workspace}"}}"#);
        let origin = origin(1, 1, &[part]);
        session.must("Hook", &("claude", "prompt-submit", payload, origin).to_variant());
    }
    for (workspace, host) in [("box", Some("box")), ("container", None)] {
        let row = session.row(workspace);
        assert_eq!((row.status, row.watched, row.pid), (Status::Running, false, Some(1)), "{workspace}");
        assert_eq!(row.host.as_deref(), host);
    }
}

/// An agent in a terminal of its own, which it outlives.
fn in_a_terminal(session: &Session, workspace: &str, events: &[&str]) -> Child {
    let hook = env!("CARGO_BIN_EXE_vigilctl");
    let hooks: String = events
        .iter()
        .map(|event| format!("printf %s '{{\"session_id\":\"s\"}}' | {hook} hook claude {event}; "))
        .collect();
    let agent = session.home().join("agent.sh");
    std::fs::write(&agent, format!("trap '' HUP TERM\n{hooks}\nexec 0<&-\nsleep 30\n")).unwrap();
    let line = format!("{} {}", session.program("claude", "/bin/sh").display(), agent.display());
    let mut terminal = session.command("script");
    terminal.args(["-q", "-c", &line, "/dev/null"]).env("VIGIL_WORKSPACE_ID", workspace);
    terminal.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    terminal.spawn().expect("script is installed")
}

/// Closes the terminal, and shows that the agent has outlived it.
fn close(mut terminal: Child, pid: u32) {
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    assert!(is_alive(pid), "the agent outlives its terminal");
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

/// A process that is nobody's child; dropped, it is killed.
struct Orphan(rustix::process::Pid);

impl Orphan {
    fn new(pid: u32) -> Self {
        Self(i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process's number"))
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process(self.0, rustix::process::Signal::KILL);
    }
}

#[test]
fn a_terminal_that_goes_takes_an_idle_row_along() {
    let session = Session::start();
    let terminal = in_a_terminal(&session, "demo", &["prompt-submit", "stop"]);
    session.wait_for("the row, Idle", || session.rows("demo").first().is_some_and(|row| row.status == Status::Idle));
    let row = session.row("demo");
    assert!(row.surface.as_deref().is_some_and(|surface| surface.starts_with("tty:pts/")), "{row:#?}");
    let pid = row.pid.expect("its process is known");
    let _agent = Orphan::new(pid);
    close(terminal, pid);
    session.wait_at_most(HANG_UP, "the end of the row", || session.rows("demo").is_empty());
    assert!(is_alive(pid));
}

#[test]
fn a_terminal_that_goes_fails_a_running_row() {
    let session = Session::start();
    let terminal = in_a_terminal(&session, "demo", &["prompt-submit"]);
    session.wait_for("the row", || session.rows("demo").first().is_some_and(|row| row.status == Status::Running));
    let pid = session.row("demo").pid.expect("its process is known");
    let _agent = Orphan::new(pid);
    close(terminal, pid);
    session.wait_at_most(HANG_UP, "Failed", || session.row("demo").status == Status::Failed);
    assert_eq!(session.row("demo").message.as_deref(), Some("Ended unexpectedly"));
}

/// How often the threads of a process have gone to sleep so far: each wake-up ends in one.
fn sleeps(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
    let of_task = |task: std::path::PathBuf| {
        let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    tasks.flatten().map(|task| of_task(task.path())).sum()
}

#[test]
fn nothing_is_polled() {
    let session = Session::start();
    let mut claude = Claude::start(&session, "demo");
    claude.hook("prompt-submit", "");
    session.snapshot();
    // What the hook stirred up (git, a published change) has settled when a second passes without a wake-up.
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
    session.wait_for("three seconds of silence", || quiet_for(Duration::from_secs(3)));
    claude.kill();
    session.wait_at_most(AT_ONCE, "Failed", || session.row("demo").status == Status::Failed);
}
