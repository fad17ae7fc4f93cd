// SPDX-License-Identifier: GPL-3.0-or-later
//! What the window says: a program that reads it over the accessibility bus, and how its rows are understood.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

use crate::labels::Shown;
use crate::session::Session;

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui/rows.py");

const ENDED: &str = "tests/ui/rows.py has ended: it needs /usr/bin/python3 with the packages python3-gi and \
                     gir1.2-atspi-2.0, which ./dev test installs";

const THE_STATUS: &str = "the status";

/// The words of the window, and those of the labels.
const STATUSES: [(&str, &str); 4] =
    [("Running", "running"), ("Idle", "idle"), ("Needs input", "needs-input"), ("Failed", "failed")];

/// The same for what has not been seen yet: the status itself, or something that it does not say.
const UNSEEN: [(&str, &str); 4] = [
    ("not seen yet", THE_STATUS),
    ("finished but not seen yet", "finished"),
    ("failed but not seen yet", "failed"),
    ("asked but not seen yet", "needs-input"),
];

/// A row of the list: a workspace's or an agent's, or the one that stands for several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Row {
    pub role: String,
    /// The sentence that is read out.
    pub name: String,
    /// The texts that are seen.
    pub labels: Vec<String>,
}

/// Anything in a window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Node {
    pub role: String,
    pub name: String,
    pub focused: bool,
}

/// The window, as it is told to somebody who does not see it.
pub struct Screen(Mutex<Reader>);

/// One program for many readings. Dropped, it is killed.
struct Reader {
    command: Command,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Screen {
    /// Opens the window, and waits until its list can be read.
    pub fn open(session: &Session) -> Self {
        let shown = session.action("show", None);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        // The distribution's own, which has the bindings; another one on the PATH may have none.
        let mut command = session.command("/usr/bin/python3");
        command.arg(READER).stdin(Stdio::piped()).stdout(Stdio::piped());
        let screen = Self(Mutex::new(Reader::start(command)));
        session.wait_for("a list to read", || screen.list("").is_some());
        screen
    }

    /// The rows in their order, with the labels of those whose name contains the text; none without a window.
    pub fn list(&self, text: &str) -> Option<Vec<Row>> {
        self.ask(&format!("rows {text}"))
    }

    /// The names of the rows in their order.
    pub fn names(&self) -> Vec<String> {
        let rows = self.list("\u{0}").unwrap_or_default();
        rows.into_iter().map(|row| row.name).collect()
    }

    /// Everything in the windows.
    pub fn nodes(&self) -> Vec<Node> {
        self.ask("nodes")
    }

    fn ask<T: for<'de> Deserialize<'de>>(&self, request: &str) -> T {
        let mut reader = self.0.lock().expect("no test panics with it");
        let answer = reader.ask(request);
        assert!(!answer.is_object(), "the window cannot be read: {answer}");
        serde_json::from_value(answer).expect("it answers in its own words")
    }
}

impl Reader {
    fn start(mut command: Command) -> Self {
        let mut process = command.spawn().expect("/usr/bin/python3 is installed");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut reader = Self { command, process, requests, answers };
        assert_eq!(reader.answer(), Some(serde_json::json!({})), "{ENDED}");
        reader
    }

    /// Asks until there is an answer: the bindings of at-spi 2.46 crash now and then where windows come and go.
    fn ask(&mut self, request: &str) -> Value {
        for _ in 0..5 {
            if writeln!(self.requests, "{request}").is_ok()
                && let Some(answer) = self.answer()
            {
                return answer;
            }
            let fresh = Self::start(std::mem::replace(&mut self.command, Command::new("")));
            *self = fresh;
        }
        panic!("{ENDED}");
    }

    /// The next line; none once it has ended.
    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("a pipe can be read");
        (!line.is_empty()).then(|| serde_json::from_str(&line).expect("it answers in JSON"))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the window says of the one agent in a workspace, in the words of the labels. Attention and questions are the
/// snapshot's, which has to agree with the window in all else. An error says where the window contradicts itself or
/// the snapshot.
pub fn told(rows: &[Row], workspace: &str, published: &Shown) -> Result<Shown, String> {
    let head = format!("Claude Code in {workspace}: ");
    let header = format!("Workspace {workspace}, ");
    let heads: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].name.starts_with(&head)).collect();
    let headers: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].name.starts_with(&header)).collect();
    let shown = match (heads.as_slice(), headers.as_slice()) {
        ([], []) => Shown::of(None),
        ([agent], [workspace]) if *agent == workspace + 1 => {
            let said = Said::by(&rows[*agent], &head)?;
            if (said.finished, said.unseen) != unseen_words(published) {
                return Err(format!("the window says {:?}, the snapshot {published}", rows[*agent]));
            }
            said.shown(published)
        }
        _ => return Err(format!("the window has other rows of {workspace} than one: {rows:#?}")),
    };
    if shown == *published { Ok(shown) } else { Err(format!("the window says {shown}, the snapshot {published}")) }
}

/// How the attention is said: whether the message begins with "Finished", and what else is "not seen yet". A question
/// and a failure that nobody has seen are the status itself.
fn unseen_words(published: &Shown) -> (bool, Option<&str>) {
    match (published.status.as_str(), published.attention.as_str()) {
        (_, "none") => (false, None),
        ("needs-input", "needs-input") | ("failed", "failed") => (false, Some(THE_STATUS)),
        ("idle", "finished") => (true, None),
        (_, attention) => (false, Some(attention)),
    }
}

/// What an agent's row says.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    status: &'static str,
    unseen: Option<&'static str>,
    subagents: u32,
    background: u32,
    finished: bool,
}

impl Said {
    /// Reads the sentence behind that head, as in "Claude Code in shop: Running, 1 subagent, Bash · ls", and the
    /// labels, which have to say the same.
    fn by(row: &Row, head: &str) -> Result<Self, String> {
        let fault = |what: &str| format!("{what}: {row:?}");
        let sentence = row.name.strip_prefix(head).ok_or_else(|| fault("no such row"))?;
        let mut parts = sentence.split(", ").peekable();
        let (word, status) = STATUSES
            .into_iter()
            .find(|(word, _)| parts.peek() == Some(word))
            .ok_or_else(|| fault("no status is said"))?;
        parts.next();
        let unseen = UNSEEN.into_iter().find(|(words, _)| parts.peek() == Some(words)).map(|(_, attention)| attention);
        if unseen.is_some() {
            parts.next();
        }
        let mut counted = |one: &str, many: &str| {
            let count = |part: &&str| {
                let (number, noun) = part.split_once(' ')?;
                let number: u32 = number.parse().ok().filter(|number| *number > 0)?;
                (noun == if number == 1 { one } else { many }).then_some(number)
            };
            parts.next_if(|part| count(part).is_some()).and_then(|part| count(&part)).unwrap_or(0)
        };
        let subagents = counted("subagent", "subagents");
        let background = counted("background task", "background tasks");
        let finished = parts.next().is_some_and(|part| part == "Finished" || part.starts_with("Finished · "));
        let said = Self { status, unseen, subagents, background, finished };

        if !matches!(row.labels.as_slice(), [name, seen, ..] if name == "Claude Code" && seen == word) {
            return Err(fault("the labels show another name or status"));
        }
        let numbers: Vec<u32> = row.labels.iter().skip(2).filter_map(|label| label.parse().ok()).collect();
        let counts: Vec<u32> = [subagents, background].into_iter().filter(|count| *count > 0).collect();
        if numbers != counts {
            return Err(fault("the labels show other counts"));
        }
        if row.role != "panel" {
            return Err(fault("a row has another role"));
        }
        Ok(said)
    }

    fn shown(&self, published: &Shown) -> Shown {
        let Self { status, subagents, background, .. } = *self;
        Shown { status: status.to_string(), subagents, background, ..published.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_captures::CLAUDE;
    use crate::labels::Capture;

    const SENTENCE: &str =
        "Claude Code in shop: Needs input, not seen yet, 1 subagent, 2 background tasks, Bash · ls, 3 subagents";
    const LABELS: &[&str] = &["Claude Code", "Needs input", "12s", "Bash · ls", "1", "2", "ls"];

    fn row(name: &str, labels: &[&str]) -> Row {
        Row { role: "panel".into(), name: name.into(), labels: labels.iter().map(ToString::to_string).collect() }
    }

    fn published(status: &str, attention: &str, subagents: u32, background: u32, questions: u32) -> Shown {
        Shown { status: status.into(), attention: attention.into(), subagents, background, questions }
    }

    /// The window's words on a workspace with that one agent.
    fn window(name: &str, labels: &[&str]) -> Vec<Row> {
        vec![row("Workspace shop, 1 agent", &[]), row(name, labels), row("Workspace docs, 1 agent", &[])]
    }

    #[test]
    fn a_row_is_understood() {
        let asks = published("needs-input", "needs-input", 1, 2, 1);
        assert_eq!(told(&window(SENTENCE, LABELS), "shop", &asks), Ok(asks));
        let done = published("idle", "finished", 0, 0, 0);
        let labels = ["Claude Code", "Idle", "3m", "Finished · Done"];
        assert_eq!(told(&window("Claude Code in shop: Idle, Finished · Done", &labels), "shop", &done), Ok(done));
        let goes_on = published("running", "finished", 0, 1, 0);
        let labels = ["Claude Code", "Running", "3m", "", "1"];
        let sentence = "Claude Code in shop: Running, finished but not seen yet, 1 background task";
        assert_eq!(told(&window(sentence, &labels), "shop", &goes_on), Ok(goes_on));
        let gone = published("gone", "none", 0, 0, 0);
        assert_eq!(told(&[row("Workspace docs, 1 agent", &[])], "shop", &gone), Ok(gone));
    }

    #[test]
    fn a_wrong_word_in_the_window_is_found() {
        let asks = published("needs-input", "needs-input", 1, 2, 1);
        let plant = |from: &str, to: &str| window(&SENTENCE.replace(from, to), LABELS);
        for (from, to) in [
            ("Needs input", "Running"),
            ("Needs input", "Needs inputs"),
            ("1 subagent", "2 subagents"),
            ("1 subagent, ", ""),
            ("2 background tasks", "1 background task"),
            ("2 background tasks, ", ""),
            ("Bash", "Finished"),
            ("not seen yet, ", ""),
            ("not seen yet, ", "finished but not seen yet, "),
            ("in shop", "in docs"),
        ] {
            assert!(told(&plant(from, to), "shop", &asks).is_err(), "{from} → {to}");
        }
        for (at, word) in [(0, "Codex"), (1, "Running"), (4, "2"), (5, "1")] {
            let mut labels = LABELS.to_vec();
            labels[at] = word;
            assert!(told(&window(SENTENCE, &labels), "shop", &asks).is_err(), "{word}");
        }
        let rows = window(SENTENCE, LABELS);
        assert!(told(&rows[1..], "shop", &asks).is_err(), "a row stands below its workspace");
        assert!(told(&rows[..1], "shop", &asks).is_err(), "a workspace has a row");
        assert!(told(&rows, "shop", &published("gone", "none", 0, 0, 0)).is_err(), "a row that has gone is not shown");
        let unseen = published("idle", "finished", 0, 0, 0);
        let goes_on = window("Claude Code in shop: Running", &["Claude Code", "Running", "3m"]);
        assert!(told(&goes_on, "shop", &published("running", "finished", 0, 0, 0)).is_err(), "nor is it forgotten");
        let quiet = window("Claude Code in shop: Idle, Done", &["Claude Code", "Idle", "3m", "Done"]);
        assert!(told(&quiet, "shop", &unseen).is_err(), "what has finished is called so");
    }

    /// Window and snapshot agree, and both are wrong.
    #[test]
    fn a_wrong_label_is_found() {
        let capture = Capture::load(&CLAUDE, "print-bash");
        let mut expected = capture.lines[1].shows.clone();
        let rows = window("Claude Code in shop: Running", &["Claude Code", "Running", "1s"]);
        let shown = told(&rows, "shop", &published("running", "none", 0, 0, 0)).unwrap().to_string();
        assert_eq!(expected.judge(&shown), Ok(()));
        expected.label["status"] = "idle".into();
        assert!(expected.judge(&shown).is_err());
    }
}
