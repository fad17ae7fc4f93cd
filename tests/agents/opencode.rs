// SPDX-License-Identifier: GPL-3.0-or-later
//! The captures of OpenCode and its forks. Each goes through the real plugin, which runs in Node with the capture in
//! the place of the agent (`plugin.mjs`); what it sends is translated and judged.

use std::path::Path;
use std::process::Command;
use std::vec::IntoIter;

use serde_json::Value;
use vigil::event::Process;
use vigil::protocol::{ChainLink, Origin};

use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

/// The agent of one capture, with our plugin in it.
struct Agent {
    /// What the plugin sent for each line.
    sent: IntoIter<Vec<Value>>,
    comm: &'static str,
    process: Process,
}

/// Lets the plugin hear a whole capture.
fn agent(set: &Set, comm: &'static str, capture: &str) -> Agent {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let answer = Command::new("node")
        .arg(root.join("tests/agents/plugin.mjs"))
        .arg(root.join("data/integrations/opencode/vigil.js"))
        .arg(comm)
        .arg(set.path().join(capture).with_extension("jsonl"))
        .arg(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("there is a path"))
        .output()
        .expect("Node is installed");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let sent = String::from_utf8(answer.stdout).expect("it says UTF-8");
    let sent: Vec<Vec<Value>> = sent.lines().map(|line| serde_json::from_str(line).expect("an array")).collect();
    Agent { sent: sent.into_iter(), comm, process: Process { pid: 100, start: 100 } }
}

impl Actor for Agent {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        if line.event == "plugin.load" && line.payload["instance"] == 1 {
            self.process.pid += 1;
        }
        for (number, sent) in self.sent.next().expect("as many as lines").iter().enumerate() {
            let text = |key: &str| sent[key].as_str().expect("a text");
            assert_eq!(text("agent"), if self.comm == "mimo" { "mimocode" } else { self.comm });
            let Process { pid, start } = self.process;
            let chain = vec![ChainLink { pid, start, comm: self.comm.into(), tty: 0 }];
            let id = Some(format!("{}-{number}", line.shows.place));
            let origin = Origin { chain, id, ..Origin::default() };
            play.hook(line.millis, text("agent"), text("name"), &sent["payload"], origin);
        }
    }
}

const QUESTION: &str = "tui-question";
const ASKED_NEXT: &str = "rule 8: the tool begins; what it asks has an event of its own, 3 ms later";

mod of_opencode {
    use super::*;

    const SET: Set = Set {
        folder: "opencode",
        names: &[
            "run-continue-resumed",
            "run-error-401",
            "run-error-500-retry",
            "run-permission-autoreject",
            "run-plain-tool",
            "run-subagent",
            "serve-two-directories",
            "tui-interrupt",
            "tui-network-refused-then-sighup",
            "tui-new-session-and-exit",
            "tui-permission-approve",
            "tui-permission-reject",
            QUESTION,
            "tui-shell-mode",
            "tui-todo-and-background-subagent",
        ],
        unrevealed: &[],
        decided: &[(QUESTION, 14, "running none 0 0 0", ASKED_NEXT)],
    };

    fn opencode(capture: &str) -> Agent {
        agent(&SET, "opencode", capture)
    }

    captures! {
        SET, opencode;
        run_continue_resumed = "run-continue-resumed";
        run_error_401 = "run-error-401";
        run_error_500_retry = "run-error-500-retry";
        run_permission_autoreject = "run-permission-autoreject";
        run_plain_tool = "run-plain-tool";
        run_subagent = "run-subagent";
        serve_two_directories = "serve-two-directories";
        tui_interrupt = "tui-interrupt";
        tui_network_refused_then_sighup = "tui-network-refused-then-sighup";
        tui_new_session_and_exit = "tui-new-session-and-exit";
        tui_permission_approve = "tui-permission-approve";
        tui_permission_reject = "tui-permission-reject";
        tui_question = QUESTION;
        tui_shell_mode = "tui-shell-mode";
        tui_todo_and_background_subagent = "tui-todo-and-background-subagent";
    }
}

mod of_kilo {
    use super::*;

    const SET: Set = Set {
        folder: "kilo",
        names: &[
            "run-error-401",
            "run-plain-tool",
            "run-subagent",
            "tui-background-process",
            "tui-interrupt",
            "tui-offline",
            QUESTION,
            "tui-suggest-then-exit",
        ],
        unrevealed: &[],
        decided: &[(QUESTION, 14, "running none 0 0 0", ASKED_NEXT)],
    };

    fn kilo(capture: &str) -> Agent {
        agent(&SET, "kilo", capture)
    }

    captures! {
        SET, kilo;
        run_error_401 = "run-error-401";
        run_plain_tool = "run-plain-tool";
        run_subagent = "run-subagent";
        tui_background_process = "tui-background-process";
        tui_interrupt = "tui-interrupt";
        tui_offline = "tui-offline";
        tui_question = QUESTION;
        tui_suggest_then_exit = "tui-suggest-then-exit";
    }
}

mod of_mimocode {
    use super::*;

    /// Not recorded: the program could not be had. It is written by hand from the schemas of its events.
    const SET: Set = Set { folder: "mimocode", names: &["derived-subagent"], unrevealed: &[], decided: &[] };

    fn mimocode(capture: &str) -> Agent {
        agent(&SET, "mimo", capture)
    }

    captures! {
        SET, mimocode;
        derived_subagent = "derived-subagent";
    }
}
