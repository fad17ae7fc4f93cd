// SPDX-License-Identifier: GPL-3.0-or-later
//! Recorded sessions of real agents, played through translation and roster, and judged line by line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use vigil::agent;
use vigil::event::Process;
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::policy::AlertKind;
use vigil::protocol::{ChainLink, Origin};
use vigil::roster::{Roster, Settings};
use vigil::time::{BootTime, Now, WallTime};

#[path = "support/labels.rs"]
mod labels;

use labels::{Capture, DECIDED, NAMES, Shown, TUI_1, TUI_2, TUI_PLAN, UNREVEALED};

/// One capture in play.
struct Play {
    roster: Roster,
    here: Here,
    print: bool,
    pid: u32,
    alerts: Vec<(u64, String)>,
}

impl Play {
    fn now(millis: u64) -> Now {
        // The machine has been up for a while.
        let boot = BootTime::from_millis(millis + 1_000_000);
        Now { boot, wall: WallTime(1_700_000_000_000 + i64::try_from(millis).unwrap()), ..Now::default() }
    }

    /// Lets time pass, stopping wherever the roster wants to act.
    fn run_to(&mut self, millis: u64) {
        let end = Self::now(millis);
        while let Some(deadline) = self.roster.next_deadline().filter(|deadline| *deadline <= end.boot) {
            let at = deadline.0 / 1_000_000 - 1_000_000;
            self.roster.tick(Now { boot: deadline, ..Self::now(at) });
            self.collect(at);
        }
    }

    fn collect(&mut self, millis: u64) {
        self.roster.verify_invariants();
        for alert in self.roster.take_due().alerts {
            let kind = match (alert.kind, alert.silent) {
                (AlertKind::Finished, false) => "finished",
                (AlertKind::Finished, true) => "finished-quiet",
                (AlertKind::NeedsInput, _) => "needs-input",
                (AlertKind::Failed, _) => "failed",
            };
            self.alerts.push((millis, kind.to_string()));
        }
    }

    fn process(&self) -> Process {
        Process { pid: self.pid, start: u64::from(self.pid) * 100 }
    }

    fn hook(&mut self, millis: u64, name: &str, payload: &Value, begins: bool) {
        if begins {
            self.pid += 1;
        }
        let process = self.process();
        let chain = vec![
            ChainLink { pid: 9, start: 9, comm: "sh".into(), tty: 0 },
            ChainLink { pid: process.pid, start: process.start, comm: "claude".into(), tty: 0 },
        ];
        let entrypoint = if self.print { "sdk-cli" } else { "cli" };
        let origin = Origin {
            id: Some(format!("{millis}-{name}")),
            at: Some(Self::now(millis).boot.0),
            chain,
            env: BTreeMap::from([("CLAUDE_CODE_ENTRYPOINT".to_string(), entrypoint.to_string())]),
            ..Origin::default()
        };
        let agent = agent::find("claude");
        let reduced: Map<String, Value> = forward::reduce(&agent, payload.to_string().as_bytes()).unwrap();
        let event = agent::event(&agent, name, &reduced, &origin, &self.here, Found::default()).unwrap();
        self.roster.apply(event, Self::now(millis));
        self.collect(millis);
    }

    fn shown(&self) -> String {
        let snapshot = self.roster.snapshot(0, false);
        let rows: Vec<_> = snapshot.workspaces.iter().flat_map(|workspace| workspace.rows.iter().flatten()).collect();
        assert!(rows.len() <= 1, "one pane has one row");
        Shown::of(rows.first().copied()).to_string()
    }
}

/// Plays a capture and judges it.
fn check(name: &'static str) {
    let capture = Capture::load(name);
    let mut play = Play {
        roster: Roster::new(Settings::default()),
        here: Here::default(),
        print: capture.is_print(),
        pid: 100,
        alerts: Vec::new(),
    };
    let mut faults = Vec::new();
    for line in &capture.lines {
        play.run_to(line.millis);
        match (line.event.as_str(), line.note.as_str()) {
            ("#driver", "SIGKILL") => {
                let process = play.process();
                play.roster.process_gone(&process, Play::now(line.millis));
                play.collect(line.millis);
            }
            ("#driver", _) => {}
            _ => play.hook(line.millis, &line.event, &line.payload, line.begins()),
        }
        faults.extend(line.shows.judge(&play.shown()).err());
        if let Some((after, later)) = &line.later {
            play.run_to(line.millis + u64::try_from(after.as_millis()).unwrap());
            faults.extend(later.judge(&play.shown()).err());
        }
    }
    play.run_to(capture.lines.last().unwrap().millis + 20_000);
    faults.extend(capture.end().judge(&play.shown()).err());
    judge_alerts(&capture.labels, &play.alerts, &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The alerts in their order, optional ones left out or not; and none where none may be.
fn judge_alerts(labels: &Value, alerts: &[(u64, String)], faults: &mut Vec<String>) {
    let mut given = alerts.iter().peekable();
    for expected in labels["alerts"].as_array().unwrap() {
        match (expected.as_str(), expected["optional"].as_str()) {
            (Some(kind), _) => match given.next() {
                Some((_, alert)) if alert == kind => {}
                other => faults.push(format!("alert {other:?} instead of {kind}; all: {alerts:?}")),
            },
            (None, Some(kind)) => {
                given.next_if(|(_, alert)| alert == kind);
            }
            _ => unreachable!("a label is a kind, or an optional one"),
        }
    }
    faults.extend(given.map(|alert| format!("an alert too many: {alert:?}; all: {alerts:?}")));
    for forbidden in labels["alerts_forbidden"].as_array().into_iter().flatten() {
        let window = forbidden["from_ms"].as_u64().unwrap()..forbidden["to_ms"].as_u64().unwrap();
        for (millis, kind) in alerts {
            if forbidden["kind"] == **kind && window.contains(millis) {
                faults.push(format!("{kind} at {millis}, forbidden in {window:?}"));
            }
        }
    }
}

macro_rules! captures {
    ($($test:ident = $capture:expr;)*) => {
        const CAPTURES: &[&str] = &[$($capture),*];
        $(#[test] fn $test() { check($capture); })*
    };
}

captures! {
    claude_print_agent = "print-agent";
    claude_print_ask = "print-ask";
    claude_print_bash = "print-bash";
    claude_print_background = "print-bg";
    claude_print_error_400 = "print-err400";
    claude_print_error_401 = "print-err401";
    claude_print_error_500 = "print-err500";
    claude_print_failed_command = "print-fail";
    claude_print_permission = "print-perm";
    claude_print_read = "print-read";
    claude_tui_interrupts_errors_background_signals = TUI_1;
    claude_tui_permissions_idle_clear_compact = TUI_2;
    claude_tui_plan = TUI_PLAN;
}

#[test]
fn every_capture_is_played() {
    let files: BTreeSet<String> = std::fs::read_dir(labels::folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(ToString::to_string))
        .collect();
    assert_eq!(files, CAPTURES.iter().map(ToString::to_string).collect());
    assert_eq!(CAPTURES, NAMES);
    let listed = UNREVEALED.iter().map(|entry| entry.0).chain(DECIDED.iter().map(|entry| entry.0));
    assert!(listed.into_iter().all(|name| NAMES.contains(&name)), "a list names a capture that is not there");
}

/// What is right is called right, and nothing else is: not with a wrong label, nor with a wrong state.
#[test]
fn the_judge_finds_what_is_wrong() {
    let capture = Capture::load("print-bash");
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
    let decided = &Capture::load("print-err500").lines[2].shows;
    assert_eq!(decided.judge("running none 0 0 0"), Ok(()));
    assert!(decided.judge("failed failed 0 0 0").is_err());
}
