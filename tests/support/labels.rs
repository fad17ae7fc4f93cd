// SPDX-License-Identifier: GPL-3.0-or-later
//! The recorded sessions of real agents, and what a row has to show after each of their lines.
//!
//! A capture holds what the agent's hooks were given and, as `#driver` lines, what its user did at that moment. The
//! labels beside it say what the row had to show after each line, judged by hand from what the user did. What is shown
//! is the label's likeliest truth, or the line stands in one of the two lists of its agent's [`Set`], by name and with
//! what is shown instead: there is one right state a line, and this is where it is said, for whoever plays the captures.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use vigil::snapshot::RowView;

/// One agent's captures.
#[derive(Debug)]
pub struct Set {
    /// Their folder below `tests/agents`.
    pub folder: &'static str,
    /// All of them, as the folder has them.
    pub names: &'static [&'static str],
    /// What happened and nothing that the agent sends tells: capture, line, the line's note, the state shown, and the
    /// true one.
    pub unrevealed: &'static [(&'static str, usize, &'static str, &'static str, &'static str)],
    /// Lines where the labels allow more than one state and the status model decides for another than the first: what is
    /// shown, and the rule that says so.
    pub decided: &'static [(&'static str, usize, &'static str, &'static str)],
}

impl Set {
    /// Where they are.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents")).join(self.folder)
    }

    /// The state that a list has for a line.
    fn listed(&self, capture: &str, number: usize, line: &Value, label: &Value) -> Option<&'static str> {
        let unrevealed = self.unrevealed.iter().find(|entry| entry.0 == capture && entry.1 == number);
        let unrevealed = unrevealed.map(|(_, _, note, state, truth)| {
            assert_eq!(line["note"].as_str().unwrap_or_default(), *note, "{capture}, line {number}");
            assert!(
                allows(label, truth),
                "{capture}, line {number}: {truth} is called true, which {label} does not allow"
            );
            *state
        });
        let decided = self.decided.iter().find(|entry| entry.0 == capture && entry.1 == number).map(|entry| entry.2);
        assert!(unrevealed.is_none() || decided.is_none(), "{capture}, line {number}, stands in both lists");
        unrevealed.or(decided)
    }

    /// The lists must fit the captures.
    fn check(&self, capture: &str, lines: usize) {
        let unrevealed = self.unrevealed.iter().map(|entry| (entry.0, entry.1));
        for (name, number) in unrevealed.chain(self.decided.iter().map(|entry| (entry.0, entry.1))) {
            assert!(self.names.contains(&name), "a list names {name}, which is not there");
            assert!(name != capture || number <= lines, "a list names line {number} of {name}, which is not there");
        }
    }
}

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
    /// The session whose row is meant, where there may be several rows.
    pub row: Option<String>,
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
        let row = label["row"]["session"].as_str().map(ToString::to_string);
        Self { place, row, label: label.clone(), listed }
    }

    /// Says what is wrong with what is shown.
    pub fn judge(&self, shown: &str) -> Result<(), String> {
        let Self { place, label, listed, .. } = self;
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
    /// The variables that it found, where the capture has them.
    pub env: BTreeMap<String, String>,
    /// What has to be shown after it.
    pub shows: Expectation,
    /// What has to be shown so long after it, if nothing else happens.
    pub later: Option<(Duration, Expectation)>,
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
    pub fn load(set: &'static Set, name: &'static str) -> Self {
        let read = |file: String| std::fs::read_to_string(set.path().join(file)).expect("the file is there");
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
            let shows = Expectation::new(place.clone(), label, set.listed(name, number, line, label));
            let later = step(true).map(|step| {
                label = step;
                let after = Duration::from_millis(step["after_ms"].as_u64().expect("a number"));
                (after, Expectation::new(format!("{place}, {after:?} later"), step, None))
            });
            let millis = line["t_ms"].as_u64().expect("a number");
            let (event, note, payload) = (text("event"), text("note"), line["payload"].clone());
            let env = line["env"].as_object().into_iter().flatten();
            let env = env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string()))).collect();
            with_labels.push(Line { millis, event, note, payload, env, shows, later });
        }
        set.check(name, lines.len());
        Self { name, lines: with_labels, labels }
    }

    /// What has to be shown in the end, of each row.
    pub fn end(&self) -> Vec<Expectation> {
        let expectation = |label| Expectation::new(format!("{}, at the end", self.name), label, None);
        match &self.labels["final"] {
            Value::Array(rows) => rows.iter().map(expectation).collect(),
            label => vec![expectation(label)],
        }
    }
}
