// SPDX-License-Identifier: GPL-3.0-or-later
//! Mistral Vibe's captures: hooks and journal of 3.0.2 in its terminal interface, and hooks of a `-p` run of 2.20.0.
//!
//! Of the journal the captures hold what matters of each record; records as the program writes them are made of that
//! again, and go through the reader. Their times are the wall clock's, the lines' the capture's own: leases have both.

use std::path::PathBuf;

use serde_json::{Value, json};
use vigil::agent;
use vigil::agent::journal::{Input, Reader};
use vigil::agent::vibe::journal::SOURCE;
use vigil::origin::{self, Found, Here};
use vigil::protocol::{ChainLink, Origin};
use vigil::time::{Now, WallTime};

use crate::labels::{Line, Set};
use crate::play::{Actor, Play, captures};

static VIBE: Set = Set {
    folder: "vibe",
    names: &[
        "2.20.0-turn-with-tool",
        "3.0.2-approval-approved",
        "3.0.2-approval-denied",
        "3.0.2-background-process",
        "3.0.2-fatal-401",
        "3.0.2-interrupt",
        "3.0.2-question",
        "3.0.2-turn-with-tool",
    ],
    unrevealed: UNREVEALED,
    decided: DECIDED,
};

/// The key is pressed some 20 to 70 ms before anything is written. The record of a command has no time, and the command
/// may wait in the queue behind a question; the state decides, which is written with it (seen: within 1 ms).
const UNREVEALED: &[(&str, usize, &str, &str, &str)] = &[
    ("3.0.2-approval-approved", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-approval-denied", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-background-process", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-fatal-401", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-interrupt", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-question", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-turn-with-tool", 2, "", "idle none 0 0 0", "running none 0 0 0"),
    ("3.0.2-approval-approved", 6, "", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    ("3.0.2-approval-approved", 7, "", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    ("3.0.2-approval-denied", 6, "", "needs-input needs-input 0 0 1", "running none 0 0 0"),
    ("3.0.2-question", 6, "", "needs-input needs-input 0 0 1", "running none 0 0 0"),
];

const POST_AGENT: &str =
    "section 1: post_agent says that the turn is over, some 70 ms before the journal says it again";

const DECIDED: &[(&str, usize, &str, &str)] = &[
    ("3.0.2-approval-approved", 11, "idle finished 0 0 0", POST_AGENT),
    ("3.0.2-approval-denied", 11, "idle finished 0 0 0", POST_AGENT),
    ("3.0.2-background-process", 11, "idle finished 0 1 0", POST_AGENT),
    ("3.0.2-question", 9, "idle finished 0 0 0", POST_AGENT),
    ("3.0.2-turn-with-tool", 6, "idle finished 0 0 0", POST_AGENT),
];

struct Vibe {
    reader: Box<dyn Reader>,
    /// The wall clock at the capture's start.
    began: i64,
    turn: String,
}

fn vibe(_capture: &str) -> Vibe {
    Vibe { reader: (SOURCE.reader)(), began: 0, turn: String::new() }
}

fn origin() -> Origin {
    let link = |pid, comm: &str| ChainLink { pid, start: 100, comm: comm.into(), tty: 34817 };
    let sh = ChainLink { tty: 0, ..link(102, "sh") };
    Origin { chain: vec![sh, link(101, "vibe-app-server"), link(100, "vibe-rs")], ..Origin::default() }
}

impl Vibe {
    fn read(&mut self, path: &str, input: Input<'_>, line: &Line, play: &mut Play) {
        let wall = WallTime(self.began + i64::try_from(line.millis).unwrap());
        let now = Now { wall, ..Play::now(line.millis) };
        for mut event in self.reader.take(&PathBuf::from(path), input, now) {
            let agent = agent::find("vibe");
            event.place = origin::place(&agent, &origin(), &Here::default(), Found::default(), None, None, None);
            play.event(line.millis, event);
        }
    }

    fn lease(&mut self, held: bool, line: &Line, play: &mut Play) {
        let path = format!("logs/session/active/{}.lock.json", line.payload["session_id"].as_str().unwrap());
        if self.began == 0 {
            let acquired = WallTime::parse_rfc3339(line.payload["acquired_at"].as_str().unwrap()).unwrap();
            self.began = acquired.0 - i64::try_from(line.millis).unwrap();
        }
        let text = line.payload.to_string();
        self.read(&path, if held { Input::Whole(text.as_bytes()) } else { Input::Gone }, line, play);
    }

    /// The record that a line is of.
    fn record(&mut self, kind: &str, payload: &Value) -> Value {
        if kind != "envelope" {
            return json!({ "type": kind, "sequence": payload["seq"], "payload": payload });
        }
        if let Some(turn) = payload["status"]["activeTurnId"].as_str() {
            self.turn = turn.to_string();
        }
        let mut turn = payload["turn"].clone();
        turn["id"] = json!(self.turn);
        let session = json!({ "id": payload["session"], "parentSessionId": payload["parent"],
                              "status": payload["status"] });
        let state = json!({ "activeCallbacks": [], "latestTurn": turn, "session": session });
        let delta = json!({ "delta": [{ "op": "set_envelope", "state": state }], "watermark": 1 });
        json!({ "type": "projection_delta", "sequence": payload["seq"], "payload": delta })
    }
}

impl Actor for Vibe {
    fn deliver(&mut self, line: &Line, play: &mut Play) {
        match line.event.split_once(':') {
            Some(("hook", name)) => play.hook(line.millis, "vibe", name, &line.payload, origin()),
            Some(("journal", "lease_acquired")) => self.lease(true, line, play),
            Some(("journal", "lease_released")) => self.lease(false, line, play),
            Some(("journal", kind)) => {
                let session = line.payload["session"].as_str().unwrap();
                let path = format!("logs/session/unified/{session}/journal/0000000000000001.jsonl");
                let record = self.record(kind, &line.payload).to_string();
                self.read(&path, Input::Line(record.as_bytes()), line, play);
            }
            // What the user did.
            _ => {}
        }
    }
}

captures! {
    VIBE, vibe;
    older_turn_with_tool = "2.20.0-turn-with-tool";
    approval_approved = "3.0.2-approval-approved";
    approval_denied = "3.0.2-approval-denied";
    background_process = "3.0.2-background-process";
    fatal_401 = "3.0.2-fatal-401";
    interrupt = "3.0.2-interrupt";
    question = "3.0.2-question";
    turn_with_tool = "3.0.2-turn-with-tool";
}
