// SPDX-License-Identifier: GPL-3.0-or-later
//! Pi's captures, played through the real extension under node.

use std::collections::BTreeMap;

use vigil::event::Process;
use vigil::protocol::{ChainLink, Origin};

use crate::host::{self, Handed};
use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

const TUI: &str = "tui-prompts-interrupts-errors";

const PI: Set = Set {
    folder: "pi",
    names: &["print-bash", "print-err401", "print-fail", "print-two", TUI],
    unrevealed: UNREVEALED,
    decided: DECIDED,
};

/// An input is not yet a prompt: an extension may take it, or it may wait behind the turn. `before_agent_start` says so.
const DECIDED: &[(&str, usize, &str, &str)] = &[
    (TUI, 23, "idle finished 0 0 0", "rule 1: the user's prompt comes 61 ms later"),
    (TUI, 45, "idle finished 0 0 0", "rule 1: the same, 17 ms later"),
    (TUI, 66, "idle finished 0 0 0", "rule 1: the same, 6 ms later"),
    (TUI, 115, "idle finished 0 0 0", "rule 1: the same, 4 ms later"),
    (TUI, 126, "failed failed 0 0 0", "rule 1: the same, 4 ms later"),
];

/// A key that the user pressed; that the dialog has gone is said some milliseconds later, by the next line.
const UNREVEALED: &[(&str, usize, &str, &str, &str)] = &[
    (TUI, 32, "press Enter (yes)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    (TUI, 54, "press Esc (no)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
];

struct Pi {
    handed: BTreeMap<usize, Vec<Handed>>,
    line: usize,
    process: Process,
}

fn play(capture: &str, generation: &[&str]) -> Vec<Handed> {
    let capture = format!("tests/agents/pi/{capture}.jsonl");
    let words = ["tests/agents/pi/host.mjs", "data/integrations/pi/vigil.js", &capture];
    host::play("node", &[&words, generation].concat())
}

fn pi(capture: &str) -> Pi {
    Pi { handed: host::by_line(play(capture, &[])), line: 0, process: Process { pid: 100, start: 100 } }
}

impl Actor for Pi {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        self.line += 1;
        for handed in self.handed.remove(&self.line).unwrap_or_default() {
            assert_eq!(
                (handed.at, handed.event.as_str()),
                (line.millis, line.event.as_str()),
                "nothing waits in a Pi 1"
            );
            if handed.payload["reason"] == "startup" {
                self.process.pid += 1;
            }
            let Process { pid, start } = self.process;
            let link = |pid, comm: &str| ChainLink { pid, start, comm: comm.into(), tty: (136 << 8) | 3 };
            let origin = Origin { chain: vec![link(pid, "pi"), link(9, "sh")], ..Origin::default() };
            play.hook(line.millis, "pi", &handed.event, &handed.payload, origin);
        }
    }
}

captures! {
    PI, pi;
    print_bash = "print-bash";
    print_error_401 = "print-err401";
    print_failed_command = "print-fail";
    print_two = "print-two";
    tui = TUI;
}

/// What a Pi that does not say when it has settled (seen, 0.74.2) is told to have settled with, and when: line of the
/// capture, milliseconds after it, outcome. The capture is of a newer one; what the older one does not say is left out.
#[test]
fn an_older_one_settles_all_the_same() {
    let settled: Vec<_> = play(TUI, &["old"])
        .into_iter()
        .filter(|handed| handed.event == "agent_settled")
        .map(|handed| (handed.at, handed.payload["outcome"].as_str().unwrap().to_string()))
        .collect();
    let expected = [
        (4_967 + 300, "stop"),
        (14_263 + 300, "stop"),
        (22_961 + 300, "stop"),
        (30_684 + 300, "aborted"),
        (38_375 + 300, "aborted"),
        (42_364 + 300, "stop"),
        // An error, behind which it may have tried again.
        (46_840 + 2_300, "error"),
        // It did, and went on.
        (54_668 + 300, "stop"),
        (73_423 + 300, "stop"),
    ];
    assert_eq!(settled, expected.map(|(at, outcome)| (at, outcome.to_string())));
}

/// A new instance of the extension goes on where the old one was, so that nothing of the old one is taken for newer.
#[test]
fn numbers_rise_across_a_reload() {
    let numbers: Vec<_> = play(TUI, &[]).into_iter().map(|handed| handed.payload["seq"].as_i64().unwrap()).collect();
    assert!(numbers.len() == 52 && numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}
