// SPDX-License-Identifier: GPL-3.0-or-later
//! CodeWhale's captures: hooks of version 0.10.2, run in its terminal interface against a model on the loopback.

use std::collections::BTreeMap;

use serde_json::json;
use vigil::agent;
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::protocol::{ChainLink, ENVIRONMENT, Origin};
use vigil::roster::{Roster, Settings};

use crate::labels::{Line, Set, Shown};
use crate::play::{Actor, Play, captures};

static CODEWHALE: Set = Set {
    folder: "codewhale",
    names: &["approval-approved", "fatal-401", "interrupt", "subagent", "transient-500", "turn-with-tool"],
    // The key is pressed 50 to 110 ms before a hook tells.
    unrevealed: &[("approval-approved", 6, "", "needs-input needs-input 0 0 1", "running none 0 0 0")],
    decided: &[
        ("approval-approved", 9, "idle finished 0 0 0", TURN_END),
        ("subagent", 7, "idle finished 1 0 0", TURN_END),
        ("subagent", 11, "idle finished 0 0 0", TURN_END),
        ("turn-with-tool", 6, "idle finished 0 0 0", TURN_END),
    ],
};

const TURN_END: &str = "section 1: turn_end says that the turn is over, some 30 ms before session_idle says it again";

struct CodeWhale;

fn codewhale(_capture: &str) -> CodeWhale {
    CodeWhale
}

impl Actor for CodeWhale {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        // Else it is what the user did.
        let Some(name) = line.event.strip_prefix("hook:") else { return };
        // Nothing on standard input is an empty payload.
        let payload = if line.payload.is_null() { json!({}) } else { line.payload.clone() };
        let link = |pid, comm: &str| ChainLink { pid, start: 100, comm: comm.into(), tty: 34818 };
        let chain = vec![link(9, "sh"), link(8, "codewhale"), link(7, "bash")];
        let env = line.env.clone().into_iter().filter(|(name, _)| ENVIRONMENT.contains(&name.as_str()));
        let env: BTreeMap<String, String> = env.collect();
        play.hook(line.millis, "codewhale", name, &payload, Origin { chain, env, ..Origin::default() });
    }
}

captures! {
    CODEWHALE, codewhale;
    approval_given = "approval-approved";
    error_401 = "fatal-401";
    interrupt = "interrupt";
    subagent = "subagent";
    error_500 = "transient-500";
    turn_with_tool = "turn-with-tool";
}

/// What is shown after a prompt and those events.
fn shown(events: &[(&str, &str)]) -> String {
    let mut roster = Roster::new(Settings::default());
    let agent = agent::find("codewhale");
    let begin = [("session_start", "{}"), ("message_submit", "{}"), ("session_busy", r#"{"from":"idle"}"#)];
    for (millis, (name, payload)) in (0..).step_by(20).zip(begin.iter().chain(events)) {
        let now = Play::now(millis);
        let env = BTreeMap::from([("CODEWHALE_SESSION_ID".to_string(), "sess_1".to_string())]);
        let origin = Origin { env, at: Some(now.boot.0), ..Origin::default() };
        let reduced = forward::reduce(&agent, payload.as_bytes()).unwrap();
        let event = agent::event(&agent, name, &reduced, &origin, &Here::default(), Found::default()).unwrap();
        roster.apply(event, now);
        roster.verify_invariants();
    }
    let snapshot = roster.snapshot(0, false);
    Shown::of(snapshot.workspaces[0].rows.as_ref().unwrap().first()).to_string()
}

/// The hooks of a turn's end run beside each other: whichever comes first, the same is shown.
#[test]
fn the_end_of_a_turn_is_the_same_in_any_order() {
    let idle = |status: &'static str| ("session_idle", status);
    let error = ("session_error", r#"{"status":"failed","error":"401"}"#);
    let ends: &[(&str, &[(&str, &str)])] = &[
        (
            "idle finished 0 0 0",
            &[idle(r#"{"last_turn_status":"completed"}"#), ("turn_end", r#"{"status":"completed"}"#)],
        ),
        ("idle none 0 0 0", &[idle("{}"), ("turn_end", r#"{"status":"interrupted"}"#)]),
        (
            "failed failed 0 0 0",
            &[idle(r#"{"last_turn_status":"failed"}"#), ("turn_end", r#"{"status":"failed"}"#), error],
        ),
        // A compaction by hand, or a shell command of the user's.
        (
            "idle none 0 0 0",
            &[
                idle(r#"{"last_turn_status":"completed"}"#),
                ("turn_end", r#"{"status":"completed","model_backed":false}"#),
            ],
        ),
    ];
    for (expected, events) in ends {
        for start in 0..events.len() {
            let mut turned = events.to_vec();
            turned.rotate_left(start);
            assert_eq!(shown(&turned), *expected, "{turned:?}");
            turned.reverse();
            assert_eq!(shown(&turned), *expected, "{turned:?}");
        }
    }
}

/// A question in the middle of a turn, and one between two passes of a goal.
#[test]
fn an_answer_sets_it_running_again() {
    let waits = |from: &'static str| ("waiting_for_user", from);
    let answer = ("session_busy", r#"{"from":"waiting","to":"in_progress"}"#);
    let question = waits(r#"{"from":"in_progress","to":"waiting","reason":"user_input"}"#);
    assert_eq!(shown(&[question]), "needs-input needs-input 0 0 1");
    assert_eq!(shown(&[question, answer]), "running none 0 0 0");
    let between = [
        ("turn_end", r#"{"status":"completed"}"#),
        waits(r#"{"from":"in_progress","to":"waiting","reason":"goal_continuation"}"#),
    ];
    assert_eq!(shown(&between), "needs-input needs-input 0 0 1");
    assert_eq!(shown(&[between[0], between[1], answer]), "running finished 0 0 0");
    // Esc on the dialog ends the turn.
    assert_eq!(shown(&[question, ("session_idle", r#"{"from":"waiting","to":"idle"}"#)]), "idle none 0 0 0");
}
