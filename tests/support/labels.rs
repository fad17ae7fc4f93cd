// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded sessions of real agents, and what a row has to show after each of their lines.
//!
//! A capture holds what the agent's hooks were given and, as `#driver` lines, what its user did at that moment. The
//! labels beside it say what the row had to show after each line, judged by hand from what the user did. What is shown
//! is the label's likeliest truth, or the line stands in one of the two lists below, by name and with what is shown
//! instead: there is one right state a line, and this is where it is said, for whoever plays the captures.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use vigil::snapshot::RowView;

/// What the user did and no hook tells: the state shown, and the true one. The agent's status files and transcripts
/// tell it, which captures do not hold: `tests/observed.rs` and the real agent's test show that.
pub const UNREVEALED: &[(&str, usize, &str, &str, &str)] = &[
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

/// Lines where the labels allow more than one state and the status model decides for another than the first: what is
/// shown, and the rule that says so.
pub const DECIDED: &[(&str, usize, &str, &str)] = &[
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

const FIELDS: [&str; 5] = ["status", "attention", "subagents", "background", "questions"];

/// A row in the words of the labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub status: String,
    pub attention: String,
    pub subagents: u32,
    pub background: u32,
    pub questions: u32,
}

impl Shown {
    /// What a row shows; none is a state too.
    pub fn of(row: Option<&RowView>) -> Self {
        let text = |status: &str, attention: &str| (status.to_string(), attention.to_string());
        let (status, attention) =
            row.map_or_else(|| text("gone", "none"), |row| text(row.status.as_str(), row.attention.as_str()));
        let count = |of: fn(&RowView) -> u32| row.map_or(0, of);
        Self {
            status,
            attention,
            subagents: count(|row| row.subagents),
            background: count(|row| row.background),
            questions: count(|row| row.questions),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, attention, subagents, background, questions } = self;
        write!(f, "{status} {attention} {subagents} {background} {questions}")
    }
}

/// A label's field: one value, or any of several.
fn any_of(label: &Value, field: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
    match &label[field] {
        Value::Array(values) => values.iter().map(text).collect(),
        value => vec![text(value)],
    }
}

fn first(label: &Value) -> String {
    FIELDS.map(|field| any_of(label, field).remove(0)).join(" ")
}

/// Whether the label allows that.
fn allows(label: &Value, shown: &str) -> bool {
    let parts: Vec<&str> = shown.split(' ').collect();
    parts.len() == FIELDS.len()
        && FIELDS.iter().zip(parts).all(|(field, part)| any_of(label, field).iter().any(|value| value == part))
}

/// What has to be shown at one moment of a capture.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Where it is, for people.
    pub place: String,
    /// The label that holds then.
    pub label: Value,
    /// The state of one of the lists, which stands in the place of the label's first choice.
    listed: Option<&'static str>,
}

impl Expectation {
    fn new(place: String, label: &Value, listed: Option<&'static str>) -> Self {
        let first = first(label);
        if let Some(state) = listed {
            assert!(allows(label, state), "{place}: {state} is listed, which {label} does not allow");
            assert_ne!(state, first, "{place}: a line is listed that shows the truth");
        }
        Self { place, label: label.clone(), listed }
    }

    /// Says what is wrong with what is shown.
    pub fn judge(&self, shown: &str) -> Result<(), String> {
        let Self { place, label, listed } = self;
        let wanted = listed.map_or_else(|| first(label), ToString::to_string);
        if shown == wanted {
            return Ok(());
        }
        Err(match listed {
            _ if !allows(label, shown) => format!("{place}: {shown} instead of {label}"),
            None => format!("{place}: {shown}, likelier {wanted}, stands in neither list"),
            Some(_) => format!("{place}: {shown}, listed with {wanted}"),
        })
    }
}

/// One line of a capture.
#[derive(Clone, Debug)]
pub struct Line {
    /// From the capture's start, in milliseconds.
    pub millis: u64,
    /// The hook's name; `#driver` for what the user did.
    pub event: String,
    /// What the user did.
    pub note: String,
    /// What the hook was given.
    pub payload: Value,
    /// What has to be shown after it.
    pub shows: Expectation,
    /// What has to be shown so long after it, if nothing else happens.
    pub later: Option<(Duration, Expectation)>,
}

impl Line {
    /// Whether an agent's process begins with it.
    pub fn begins(&self) -> bool {
        self.event == "SessionStart" && matches!(self.payload["source"].as_str(), Some("startup" | "resume"))
    }
}

/// A recorded session with its labels.
pub struct Capture {
    pub name: &'static str,
    pub lines: Vec<Line>,
    /// Everything else that the labels say of it.
    pub labels: Value,
}

impl Capture {
    /// Reads it, and checks that the lists above fit it.
    pub fn load(name: &'static str) -> Self {
        let read = |file: String| std::fs::read_to_string(folder().join(file)).expect("the file is there");
        let labels: Value = serde_json::from_str(&read("labels.json".into())).expect("the labels are JSON");
        let captures = labels["captures"].as_array().expect("an array");
        let labels =
            captures.iter().find(|labels| labels["capture"] == name).expect("every capture has labels").clone();
        let lines = read(format!("{name}.jsonl"));
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(labels["lines"], lines.len());

        let steps = labels["steps"].as_array().expect("an array");
        let mut label = &Value::Null;
        let mut with_labels = Vec::new();
        for (number, line) in (1..).zip(&lines) {
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_string();
            let step =
                |later: bool| steps.iter().find(|step| step["line"] == number && step["after_ms"].is_null() != later);
            label = step(false).unwrap_or(label);
            let place = format!("{name}, line {number} ({} {})", line["event"], line["note"]);
            let shows = Expectation::new(place.clone(), label, listed(name, number, line, label));
            let later = step(true).map(|step| {
                label = step;
                let after = Duration::from_millis(step["after_ms"].as_u64().expect("a number"));
                (after, Expectation::new(format!("{place}, {after:?} later"), step, None))
            });
            let millis = line["t_ms"].as_u64().expect("a number");
            let (event, note, payload) = (text("event"), text("note"), line["payload"].clone());
            with_labels.push(Line { millis, event, note, payload, shows, later });
        }
        let last = |list: &str, numbers: Vec<usize>| {
            assert!(numbers.iter().all(|number| *number <= lines.len()), "{list} names a line that {name} has not");
        };
        last("UNREVEALED", UNREVEALED.iter().filter(|entry| entry.0 == name).map(|entry| entry.1).collect());
        last("DECIDED", DECIDED.iter().filter(|entry| entry.0 == name).map(|entry| entry.1).collect());
        Self { name, lines: with_labels, labels }
    }

    /// Whether it was recorded in print mode, where nobody can answer.
    pub fn is_print(&self) -> bool {
        self.name.starts_with("print-")
    }

    /// What has to be shown in the end.
    pub fn end(&self) -> Expectation {
        Expectation::new(format!("{}, at the end", self.name), &self.labels["final"], None)
    }
}

/// The captures, as the folder has them.
pub const NAMES: &[&str] = &[
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
];

/// Where the captures are.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/claude-code"))
}

/// The state that a list has for a line.
fn listed(capture: &str, number: usize, line: &Value, label: &Value) -> Option<&'static str> {
    let unrevealed = UNREVEALED.iter().find(|entry| entry.0 == capture && entry.1 == number);
    let unrevealed = unrevealed.map(|(_, _, note, state, truth)| {
        assert_eq!(
            (&line["event"], &line["note"]),
            (&"#driver".into(), &Value::from(*note)),
            "{capture}, line {number}"
        );
        assert!(allows(label, truth), "{capture}, line {number}: {truth} is called true, which {label} does not allow");
        *state
    });
    let decided = DECIDED.iter().find(|entry| entry.0 == capture && entry.1 == number).map(|entry| entry.2);
    assert!(unrevealed.is_none() || decided.is_none(), "{capture}, line {number}, stands in both lists");
    unrevealed.or(decided)
}
