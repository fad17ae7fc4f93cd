// SPDX-License-Identifier: GPL-3.0-or-later
//! Recorded sessions of real agents, played through translation and roster, and judged line by line.
//!
//! A capture holds what the agent's hooks were given and, as `#driver` lines, what its user did at that moment. The
//! labels beside it say what the row had to show after each line, judged by hand from what the user did. Every line is
//! checked: what is shown is the label's likeliest truth, or the line stands in one of the two lists below, by name and
//! with what is shown instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};
use vigil::agent;
use vigil::event::Process;
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::policy::AlertKind;
use vigil::protocol::{ChainLink, Origin};
use vigil::roster::{Roster, Settings};
use vigil::time::{BootTime, Now, WallTime};

/// What the user did and no hook tells: the state shown, and the true one. The status files and the transcript will.
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
];

const TUI_1: &str = "tui-interrupts-errors-background-signals";
const TUI_2: &str = "tui-permissions-idle-clear-compact";

/// Lines where the labels allow more than one state and the status model decides for another than the first: what is
/// shown, and the rule that says so.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shown<'a> {
    status: &'a str,
    attention: &'a str,
    subagents: u32,
    background: u32,
    questions: u32,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, attention, subagents, background, questions } = self;
        write!(f, "{status} {attention} {subagents} {background} {questions}")
    }
}

/// A label's field: one value, or any of several.
fn any_of(step: &Value, field: &str) -> Vec<Value> {
    match &step[field] {
        Value::Array(values) => values.clone(),
        value => vec![value.clone()],
    }
}

fn first(step: &Value) -> String {
    let of = |field: &str| any_of(step, field)[0].clone();
    let text = |field: &str| of(field).as_str().unwrap().to_string();
    format!("{} {} {} {} {}", text("status"), text("attention"), of("subagents"), of("background"), of("questions"))
}

fn allows(step: &Value, shown: &str) -> bool {
    let parts: Vec<&str> = shown.split(' ').collect();
    let fields = ["status", "attention", "subagents", "background", "questions"];
    fields.iter().zip(parts).all(|(field, part)| {
        any_of(step, field).iter().any(|value| value.as_str().map_or(value.to_string() == part, |text| text == part))
    })
}

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

    fn hook(&mut self, millis: u64, name: &str, payload: &Value) {
        if name == "SessionStart" && matches!(payload["source"].as_str(), Some("startup" | "resume")) {
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
        let gone = Shown { status: "gone", attention: "none", subagents: 0, background: 0, questions: 0 };
        let shown = rows.first().map_or(gone, |row| Shown {
            status: row.status.as_str(),
            attention: row.attention.as_str(),
            subagents: row.subagents,
            background: row.background,
            questions: row.questions,
        });
        shown.to_string()
    }
}

/// Plays a capture and judges it. Returns the lines at which something else is shown than the label's first choice.
fn play(capture: &str) -> BTreeSet<usize> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/claude-code");
    let labels: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/labels.json")).unwrap()).unwrap();
    let labels = labels["captures"].as_array().unwrap().iter().find(|labels| labels["capture"] == capture).unwrap();
    let lines = std::fs::read_to_string(format!("{folder}/{capture}.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(labels["lines"], lines.len());

    let mut play = Play {
        roster: Roster::new(Settings::default()),
        here: Here::default(),
        print: capture.starts_with("print-"),
        pid: 100,
        alerts: Vec::new(),
    };
    let mut differing = BTreeSet::new();
    let mut faults = Vec::new();
    let mut step = &Value::Null;
    for (number, line) in (1..).zip(&lines) {
        let millis = line["t_ms"].as_u64().unwrap();
        play.run_to(millis);
        match line["event"].as_str().unwrap() {
            "#driver" if line["note"] == "SIGKILL" => {
                let process = play.process();
                play.roster.process_gone(&process, Play::now(millis));
                play.collect(millis);
            }
            "#driver" => {}
            name => play.hook(millis, name, &line["payload"]),
        }
        let steps = labels["steps"].as_array().unwrap();
        step = steps.iter().find(|step| step["line"] == number && step["after_ms"].is_null()).unwrap_or(step);
        let is_driver = line["event"] == "#driver";
        judge(capture, number, line, is_driver, step, &play.shown(), &mut differing, &mut faults);
        if let Some(later) = steps.iter().find(|step| step["line"] == number && step["after_ms"].is_u64()) {
            play.run_to(millis + later["after_ms"].as_u64().unwrap());
            judge(capture, number, line, is_driver, later, &play.shown(), &mut differing, &mut faults);
            step = later;
        }
    }
    let end = lines.last().unwrap()["t_ms"].as_u64().unwrap();
    play.run_to(end + 20_000);
    if !allows(&labels["final"], &play.shown()) {
        faults.push(format!("at the end: {} instead of {}", play.shown(), labels["final"]));
    }
    judge_alerts(labels, &play.alerts, &mut faults);
    assert!(faults.is_empty(), "{capture}:\n{}", faults.join("\n"));
    differing
}

#[allow(clippy::too_many_arguments)]
fn judge(
    capture: &str,
    number: usize,
    line: &Value,
    is_driver: bool,
    step: &Value,
    shown: &str,
    differing: &mut BTreeSet<usize>,
    faults: &mut Vec<String>,
) {
    let name = format!("line {number} ({} {})", line["event"], line["note"]);
    if !allows(step, shown) {
        faults.push(format!("{name}: {shown} instead of {step}"));
    } else if shown != first(step) {
        differing.insert(number);
        let unrevealed = UNREVEALED.iter().any(|(other, at, note, state, truth)| {
            is_driver
                && *other == capture
                && *at == number
                && line["note"] == *note
                && *state == shown
                && allows(step, truth)
        });
        let decided = DECIDED.iter().any(|(other, at, state, _)| *other == capture && *at == number && *state == shown);
        if !unrevealed && !decided {
            faults.push(format!("{name}: {shown}, likelier {}, stands in neither list", first(step)));
        }
    }
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

/// Plays a capture; the lists name exactly the lines that they have to.
fn check(capture: &str) {
    let differing = play(capture);
    let listed =
        UNREVEALED.iter().map(|entry| (entry.0, entry.1)).chain(DECIDED.iter().map(|entry| (entry.0, entry.1)));
    let listed: BTreeSet<usize> = listed.filter(|(other, _)| *other == capture).map(|(_, line)| line).collect();
    assert_eq!(listed, differing, "a line is listed that shows the truth");
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
}

#[test]
fn every_capture_is_played() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/claude-code");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(ToString::to_string))
        .collect();
    assert_eq!(files, CAPTURES.iter().map(ToString::to_string).collect());
}
