// SPDX-License-Identifier: GPL-3.0-or-later
//! A real process named `claude`, which runs its hooks as its children, as the agent does.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::session::Session;

/// A shell, in truth. Dropped, it is killed.
pub struct Claude {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    payload: PathBuf,
}

impl Claude {
    /// Starts one in that folder, with those variables.
    pub fn start(session: &Session, folder: &Path, environment: &[(&str, &str)]) -> Self {
        Self::start_as("claude", session, folder, environment)
    }

    /// The same, under another agent's name.
    pub fn start_as(name: &str, session: &Session, folder: &Path, environment: &[(&str, &str)]) -> Self {
        let mut command = session.command(session.program(name, "/bin/sh"));
        command.current_dir(folder).envs(environment.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a shell starts");
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let payload = session.home().join(format!("payload-{}", process.id()));
        let mut claude = Self { process, orders, answers, payload };
        // The agent catches it, and has a last hook to run.
        claude.order("trap : TERM");
        claude
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// One of its hooks, from start to end.
    pub fn hook(&mut self, event: &str, payload: &str) {
        self.hook_of("claude", event, payload);
    }

    /// The same, of another agent.
    pub fn hook_of(&mut self, agent: &str, event: &str, payload: &str) {
        std::fs::write(&self.payload, payload).expect("the folder is ours");
        let (program, payload) = (env!("CARGO_BIN_EXE_vigilctl"), self.payload.display().to_string());
        self.order(&format!("{program} hook {agent} {event} <{payload}"));
    }

    /// `kill -9`; when it returns, the process is a zombie or gone.
    pub fn kill(&mut self) {
        self.process.kill().expect("it lives");
    }

    /// `kill -15`, which it survives.
    pub fn terminate(&self) {
        let pid = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw).expect("a process's number");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it lives");
    }

    /// Lets it end by itself, and waits for that.
    pub fn end(mut self) {
        self.orders.take();
        let status = self.process.wait().expect("it can be waited for");
        assert!(status.success(), "{status}");
    }

    fn order(&mut self, line: &str) {
        let orders = self.orders.as_mut().expect("they are closed only at the end");
        writeln!(orders, "{line}; echo done").expect("it reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        assert_eq!(answer, "done\n", "{line}");
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
