// SPDX-License-Identifier: GPL-3.0-or-later
//! Captures of an agent that has a plugin of ours inside it: they are played through the real plugin, by a host that
//! stands in for the agent and prints what the plugin hands to `vigilctl`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// One event that the plugin handed over.
#[derive(Clone, Debug)]
pub struct Handed {
    /// While which line of the capture; later than the last one for what waited.
    pub line: usize,
    /// When, in milliseconds from the capture's start.
    pub at: u64,
    /// The event's name.
    pub event: String,
    /// What `vigilctl` was given.
    pub payload: Value,
}

/// Runs a host with those words, relative to the sources, and reads what the plugin handed over.
pub fn play(interpreter: &str, words: &[&str]) -> Vec<Handed> {
    let output = Command::new(interpreter)
        .args(words)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{interpreter} is needed, and does not start: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{words:?}: {said}");
    let lines = String::from_utf8(output.stdout).expect("it prints UTF-8");
    lines.lines().map(|line| handed(&serde_json::from_str(line).expect("a line is JSON"))).collect()
}

fn handed(line: &Value) -> Handed {
    Handed {
        line: usize::try_from(line["line"].as_u64().expect("a number")).unwrap(),
        at: line["at"].as_u64().expect("a number"),
        event: line["event"].as_str().expect("a text").to_string(),
        payload: line["payload"].clone(),
    }
}

/// The same by line.
pub fn by_line(handed: Vec<Handed>) -> BTreeMap<usize, Vec<Handed>> {
    let mut lines: BTreeMap<usize, Vec<Handed>> = BTreeMap::new();
    for one in handed {
        lines.entry(one.line).or_default().push(one);
    }
    lines
}
