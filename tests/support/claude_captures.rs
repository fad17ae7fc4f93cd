// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded sessions of Claude Code.

use crate::labels::{Line, Set};

/// All of them.
pub const CLAUDE: Set = Set {
    folder: "claude-code",
    names: &[
        "print-agent",
        "print-ask",
        "print-bash",
        "print-bg",
        "print-err400",
        "print-err401",
        "print-err500",
        "print-fail",
        "print-perm",
        "print-read",
        TUI_1,
        TUI_2,
        TUI_PLAN,
    ],
    unrevealed: UNREVEALED,
    decided: DECIDED,
};

/// What the user did and no hook tells: the state shown, and the true one. The agent's status files and transcripts
/// tell it, which captures do not hold: `tests/observed.rs` and the real agent's test show that.
const UNREVEALED: &[(&str, usize, &str, &str, &str)] = &[
    (TUI_1, 6, "press Enter (approve)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    (TUI_1, 7, "press Esc mid-tool", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_1, 8, "say SCEN:ask", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_1, 12, "press Esc (dismiss question)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_1, 13, "say SCEN:err500", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_1, 26, "press Enter (approve)", "needs-input needs-input 1 0 1", "idle finished 1 0 0"),
    (TUI_2, 7, "press Enter (approve)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    (TUI_2, 15, "press Esc (reject)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_2, 16, "say SCEN:ask", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_2, 21, "press Enter (answer)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    (TUI_2, 27, "press Esc mid-generation", "running none 0 0 0", "idle none 0 0 0"),
    (TUI_2, 28, "say SCEN:slow", "running none 0 0 0", "idle none 0 0 0"),
    (TUI_2, 38, "press 4 (No)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_2, 39, "wait 70 s idle", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_2, 40, "say plain", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_PLAN, 7, "press 2 (No)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_PLAN, 8, "say play plan again", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_PLAN, 12, "press Esc (dismiss plan)", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_PLAN, 13, "say play plan, third", "needs-input needs-input 0 0 1", "idle none 0 0 0"),
    (TUI_PLAN, 17, "press Enter (approve plan)", "needs-input needs-input 0 0 1", "running none 0 0 0"),
];

pub const TUI_1: &str = "tui-interrupts-errors-background-signals";
pub const TUI_2: &str = "tui-permissions-idle-clear-compact";
pub const TUI_PLAN: &str = "tui-plan";

const DECIDED: &[(&str, usize, &str, &str)] = &[
    ("print-bg", 7, "running finished 0 1 0", "rule 7: background work ends with the next full list"),
    ("print-err400", 3, "running none 0 0 0", "rule 5: grace"),
    ("print-err500", 3, "running none 0 0 0", "rule 5: grace"),
    ("print-perm", 4, "running none 0 0 0", "section 6: in print mode nobody is asked"),
    (TUI_1, 15, "running none 0 0 0", "rule 5: grace"),
    (TUI_1, 27, "idle finished 1 0 0", "rule 1: back to the finished of the turn that ended meanwhile"),
    (TUI_1, 28, "idle finished 1 0 0", "rule 1: the same"),
    (TUI_1, 29, "idle finished 0 0 0", "rule 1: the same"),
    (TUI_1, 51, "running finished 0 1 0", "rule 7: background work ends with the next full list"),
];

/// Whether an agent's process begins with that line.
pub fn begins(line: &Line) -> bool {
    line.event == "SessionStart" && matches!(line.payload["source"].as_str(), Some("startup" | "resume"))
}

/// Whether a capture was recorded in print mode, where nobody can answer.
pub fn is_print(name: &str) -> bool {
    name.starts_with("print-")
}
