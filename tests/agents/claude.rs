// SPDX-License-Identifier: GPL-3.0-or-later
//! Claude Code's captures.

use std::collections::BTreeMap;

use serde_json::Value;
use vigil::event::Process;
use vigil::protocol::{ChainLink, Origin};

use crate::claude_captures::{CLAUDE, TUI_1, TUI_2, TUI_PLAN, begins, is_print};
use crate::labels::{Capture, Line};
use crate::play::{Actor, Play, captures};

struct Claude {
    print: bool,
    process: Process,
}

fn claude(capture: &str) -> Claude {
    Claude { print: is_print(capture), process: Process { pid: 100, start: 100 } }
}

impl Actor for Claude {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        match (line.event.as_str(), line.note.as_str()) {
            ("#driver", "SIGKILL") => play.process_gone(line.millis, &self.process),
            ("#driver", _) => {}
            _ => {
                if begins(line) {
                    self.process.pid += 1;
                }
                let Process { pid, start } = self.process;
                let link = |pid, comm: &str| ChainLink { pid, start, comm: comm.into(), tty: 0 };
                let entrypoint = if self.print { "sdk-cli" } else { "cli" };
                let env = BTreeMap::from([("CLAUDE_CODE_ENTRYPOINT".to_string(), entrypoint.to_string())]);
                let origin = Origin { chain: vec![link(9, "sh"), link(pid, "claude")], env, ..Origin::default() };
                play.hook(line.millis, "claude", &line.event, &line.payload, origin);
            }
        }
    }
}

captures! {
    CLAUDE, claude;
    print_agent = "print-agent";
    print_ask = "print-ask";
    print_bash = "print-bash";
    print_background = "print-bg";
    print_error_400 = "print-err400";
    print_error_401 = "print-err401";
    print_error_500 = "print-err500";
    print_failed_command = "print-fail";
    print_permission = "print-perm";
    print_read = "print-read";
    tui_interrupts_errors_background_signals = TUI_1;
    tui_permissions_idle_clear_compact = TUI_2;
    tui_plan = TUI_PLAN;
}

/// What is right is called right, and nothing else is: not with a wrong label, nor with a wrong state.
#[test]
fn the_judge_finds_what_is_wrong() {
    let capture = Capture::load(&CLAUDE, "print-bash");
    let running = &capture.lines[1].shows;
    assert_eq!(running.judge("running none 0 0 0"), Ok(()));
    for wrong in ["idle none 0 0 0", "running finished 0 0 0", "running none 1 0 0", "running none 0 1 0", "running"] {
        assert!(running.judge(wrong).is_err(), "{wrong}");
    }
    for (field, value) in [("status", "idle".into()), ("attention", "failed".into()), ("background", Value::from(1))] {
        let mut planted = running.clone();
        planted.label[field] = value;
        assert!(planted.judge("running none 0 0 0").is_err(), "{field}");
    }
    // Where the label leaves it open, the lists decide, and only they.
    let decided = &Capture::load(&CLAUDE, "print-err500").lines[2].shows;
    assert_eq!(decided.judge("running none 0 0 0"), Ok(()));
    assert!(decided.judge("failed failed 0 0 0").is_err());
}
