// SPDX-License-Identifier: GPL-3.0-or-later
//! Codex's captures.

use vigil::event::Process;
use vigil::protocol::{ChainLink, Origin};

use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

const TUI: &str = "tui-daemon-permissions-interrupts-subagent";

const CODEX: Set = Set {
    folder: "codex",
    names: &[
        "exec-agent",
        "exec-ask",
        "exec-bash",
        "exec-bg",
        "exec-err401",
        "exec-err500",
        "exec-fail",
        "exec-patch",
        TUI,
    ],
    unrevealed: UNREVEALED,
    decided: &[],
};

/// What no hook tells: the state shown, and the true one. What becomes of a request to the model's server and of a
/// background terminal stands in the session's rollout file, which captures do not hold.
const UNREVEALED: &[(&str, usize, &str, &str, &str)] = &[
    ("exec-ask", 3, "", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    ("exec-bg", 4, "", "idle finished 0 0 0", "idle finished 0 1 0"),
    ("exec-bg", 5, "", "idle finished 0 0 0", "idle finished 0 1 0"),
    (TUI, 13, "press y (approve)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    (TUI, 21, "press Esc (reject)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI, 34, "say SCEN:agent", "running none 0 0 0", "failed failed 0 0 0"),
];

/// The terminal's own process: a new one with each line that says so.
struct Codex {
    process: Process,
}

fn codex(_capture: &str) -> Codex {
    Codex { process: Process { pid: 100, start: 100 } }
}

impl Actor for Codex {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        match (line.event.as_str(), line.note.as_str()) {
            // Its hooks are run by the daemon, which lives on: what is watched is the terminal's own process.
            ("#driver", "/quit") => {
                play.process_gone(line.millis, &self.process);
                self.process.pid += 1;
            }
            ("#driver", _) => {}
            _ => {
                let Process { pid, start } = self.process;
                let link = |pid, comm: &str| ChainLink { pid, start, comm: comm.into(), tty: (136 << 8) | 3 };
                let origin = Origin { chain: vec![link(pid, "codex"), link(9, "sh")], ..Origin::default() };
                play.hook(line.millis, "codex", &line.event, &line.payload, origin);
            }
        }
    }
}

captures! {
    CODEX, codex;
    exec_agent = "exec-agent";
    exec_ask = "exec-ask";
    exec_bash = "exec-bash";
    exec_background = "exec-bg";
    exec_error_401 = "exec-err401";
    exec_error_500 = "exec-err500";
    exec_failed_command = "exec-fail";
    exec_patch = "exec-patch";
    tui = TUI;
}
