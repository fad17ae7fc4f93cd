// SPDX-License-Identifier: GPL-3.0-or-later
//! Hermes Agent's captures, played through the real plugin under python3.

use std::collections::BTreeMap;

use vigil::event::Process;
use vigil::protocol::{ChainLink, Origin};

use crate::host::{self, Handed};
use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

const HERMES: Set = Set {
    folder: "hermes",
    names: &[
        "chat-q-error-401",
        "chat-q-error-500-fatal",
        "chat-q-error-500-retry",
        "chat-q-plain-tool",
        "chat-q-subagent",
        "cli-approval-deny",
        "cli-approval-once",
        "cli-background-process-and-review",
        "cli-error-401-then-exit",
        "cli-interrupt",
        "cli-new-session",
        "oneshot-z",
        "tui-whole-session",
    ],
    unrevealed: &[],
    decided: DECIDED,
};

const DECIDED: &[(&str, usize, &str, &str)] = &[
    ("chat-q-error-401", 6, "idle none 0 0 0", STAYS),
    ("chat-q-error-500-fatal", 10, "idle none 0 0 0", STAYS),
    ("chat-q-error-500-retry", 12, "idle finished 0 0 0", STAYS),
    ("chat-q-plain-tool", 12, "idle finished 0 0 0", STAYS),
    ("chat-q-subagent", 24, "idle finished 0 0 0", STAYS),
    ("cli-background-process-and-review", 13, "running finished 0 0 0", "rule 1: an automatic prompt keeps attention"),
    ("cli-error-401-then-exit", 4, "idle none 0 0 0", STAYS),
    ("cli-new-session", 1, "gone none 0 0 0", "section 3: the end of a session that is not known makes no row"),
    ("tui-whole-session", 33, "idle none 0 0 0", STAYS),
];

const STAYS: &str = "rule 9: an ended session stands, idle, until its process ends";

struct Hermes {
    handed: BTreeMap<usize, Vec<Handed>>,
    line: usize,
    /// That of the process that owns the terminal.
    process: Process,
    /// How many processes have the plugin: the inner ones end first.
    loaded: usize,
}

fn hermes(capture: &str) -> Hermes {
    let capture = format!("tests/agents/hermes/{capture}.jsonl");
    let words = ["-B", "tests/agents/hermes/host.py", "data/integrations/hermes/__init__.py", &capture];
    let handed = host::by_line(host::play("python3", &words));
    Hermes { handed, line: 0, process: Process { pid: 100, start: 100 }, loaded: 0 }
}

impl Actor for Hermes {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        self.line += 1;
        for handed in self.handed.remove(&self.line).unwrap_or_default() {
            let Process { pid, start } = self.process;
            let link = |pid, comm: &str| ChainLink { pid, start, comm: comm.into(), tty: (136 << 8) | 3 };
            let origin = Origin { chain: vec![link(pid, "hermes"), link(9, "sh")], ..Origin::default() };
            play.hook(line.millis, "hermes", &handed.event, &handed.payload, origin);
        }
        match line.event.as_str() {
            "plugin.load" => self.loaded += 1,
            "atexit" if self.loaded > 1 => self.loaded -= 1,
            "atexit" => play.process_gone(line.millis, &self.process),
            _ => {}
        }
    }
}

captures! {
    HERMES, hermes;
    one_query_error_401 = "chat-q-error-401";
    one_query_error_500 = "chat-q-error-500-fatal";
    one_query_error_that_passes = "chat-q-error-500-retry";
    one_query_tool = "chat-q-plain-tool";
    one_query_subagent = "chat-q-subagent";
    approval_denied = "cli-approval-deny";
    approval_once = "cli-approval-once";
    background_process_and_review = "cli-background-process-and-review";
    error_401_then_exit = "cli-error-401-then-exit";
    interrupt = "cli-interrupt";
    new_session = "cli-new-session";
    one_shot = "oneshot-z";
    tui = "tui-whole-session";
}
