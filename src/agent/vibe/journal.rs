// SPDX-License-Identifier: GPL-3.0-or-later
//! What Mistral Vibe writes of its sessions: leases and journals below `~/.vibe/logs/session` (2.23 and later; facts
//! are of 3.0.2). They tell what its hooks do not: prompts, permissions, interruptions, failures, ends.
//!
//! A lease (`active/SESSION.lock.json`) is there while a process has the session open; the journal
//! (`unified/SESSION/journal/NUMBER.jsonl`) has numbered records, few of which carry a time. While an approval is open
//! the state in the journal still says that the turn runs; only the callback's own records tell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agent::journal::{Candidate, Input, Owner, Reader, Shape, Source};
use crate::event::{Call, Event, Kind, Question, Said};
use crate::text::{ID_BYTES, one_line};
use crate::time::{BootTime, Now, WallTime};

/// Where and by whom.
pub const SOURCE: Source = Source {
    agents: &["vibe"],
    processes: &["vibe-app-server", "vibe-rs", "vibe", "Vibe CLI"],
    top: |variable| {
        let own = variable("VIBE_HOME").filter(|home| !home.is_empty());
        own.map(PathBuf::from).or_else(|| Some(PathBuf::from(variable("HOME")?).join(".vibe")))
    },
    reader: || Box::<Vibe>::default(),
};

const ACTIVE: &str = "logs/session/active";
const UNIFIED: &str = "logs/session/unified";

/// A session that it holds for some 50 ms at a time; nobody talks there.
const PSEUDO: &str = "process-output-cleanup";

/// So many callbacks and processes of one session are kept in mind.
const MOST: usize = 256;

/// A process that started so long after a lease was taken has only got the same number: clocks may have been set.
const LATER: Duration = Duration::from_secs(60);

/// The names of the records that matter, as they stand in a line.
const RECORDS: [&str; 4] =
    ["\"projection_delta\"", "\"callback_registered\"", "\"callback_resolved\"", "\"process_state_changed\""];

/// So near a line's ends the record's type is looked for.
const END_BYTES: usize = 128;

#[derive(Debug)]
struct Lease {
    pid: u32,
    acquired: BootTime,
    /// As it was written.
    text: String,
}

/// What is known of a session.
#[derive(Debug, Default)]
struct Session {
    /// The root session, of a subagent's.
    root: Option<String>,
    /// Whether its state has been seen.
    known: bool,
    running: bool,
    turn: Option<String>,
    turn_status: String,
    /// The event of the latest turn's beginning or, if it failed, of that.
    latest: Option<Event>,
    /// The events of open callbacks and of processes that run.
    open: BTreeMap<String, Event>,
    processes: BTreeMap<String, Event>,
}

/// Leases and journals of one folder.
#[derive(Debug, Default)]
struct Vibe {
    leases: BTreeMap<String, Lease>,
    sessions: BTreeMap<String, Session>,
}

impl Reader for Vibe {
    fn shape(&self, path: &Path) -> Option<Shape> {
        match path.to_str()? {
            "logs" | "logs/session" => return Some(Shape::Way(MOST)),
            ACTIVE => return Some(Shape::Folder(MOST)),
            _ => {}
        }
        if lease_of(path).is_some() {
            return Some(Shape::Whole);
        }
        let (_, below) = session_of(path)?;
        match below.to_str()? {
            // A new one follows when the session comes to rest; the one before it tells the state.
            "journal" => Some(Shape::Folder(2)),
            file if file.starts_with("journal/") && file.ends_with(".jsonl") => Some(Shape::Lines),
            _ => None,
        }
    }

    fn wanted(&self) -> Vec<PathBuf> {
        self.leases.keys().map(|session| Path::new(UNIFIED).join(session).join("journal")).collect()
    }

    fn take(&mut self, path: &Path, input: Input<'_>, now: Now) -> Vec<Event> {
        if let Some(session) = lease_of(path) {
            return match input {
                Input::Whole(text) => self.leased(session, text, now),
                Input::Gone => self.released(session, now),
                Input::Line(_) | Input::CaughtUp | Input::Left => Vec::new(),
            };
        }
        let Some((session, _)) = session_of(path).filter(|(session, _)| self.leases.contains_key(*session)) else {
            return Vec::new();
        };
        let state = self.sessions.entry(session.to_string()).or_default();
        match input {
            Input::Line(line) => state.record(session, line, now),
            Input::CaughtUp => state.now(),
            Input::Whole(_) | Input::Gone | Input::Left => Vec::new(),
        }
    }

    fn owner(&self, event: &mut Event, candidates: &[Candidate]) -> Owner {
        let lease = event.session.as_ref().and_then(|session| self.leases.get(session));
        let is_of = |lease: &Lease, candidate: &Candidate| {
            lease.pid == candidate.process.pid && candidate.started <= lease.acquired + LATER
        };
        lease
            .and_then(|lease| candidates.iter().position(|candidate| is_of(lease, candidate)))
            .map_or(Owner::Gone, Owner::Is)
    }
}

impl Vibe {
    fn leased(&mut self, session: &str, text: &[u8], now: Now) -> Vec<Event> {
        let Ok(file) = serde_json::from_slice::<Value>(text) else { return Vec::new() };
        let pid = file.get("process_id").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        let (Some(pid), Some(acquired)) = (pid, time(&file, "/acquired_at", now)) else { return Vec::new() };
        let text = file["acquired_at"].to_string();
        let same = self.leases.get(session).is_some_and(|before| before.pid == pid && before.text == text);
        self.leases.insert(session.to_string(), Lease { pid, acquired, text });
        // A subagent is known by its journal.
        if same || session.starts_with("child-") {
            return Vec::new();
        }
        let mut event = event("lease", session, Kind::SessionStart { waiting: true });
        event.at = Some(acquired);
        vec![event]
    }

    fn released(&mut self, session: &str, now: Now) -> Vec<Event> {
        self.leases.remove(session);
        let state = self.sessions.remove(session).unwrap_or_default();
        let mut event = match &state.root {
            Some(root) => child("lease", root, session, Kind::SubagentStop),
            None => event("lease", session, Kind::SessionEnd { successor: false }),
        };
        event.at = Some(now.boot);
        vec![event]
    }
}

impl Session {
    /// The state now, for whoever has not seen how it came about.
    fn now(&self) -> Vec<Event> {
        let begun = self.latest.iter().filter(|_| self.running || self.turn_status == "failed");
        begun.chain(self.open.values()).chain(self.processes.values()).cloned().collect()
    }

    fn record(&mut self, session: &str, line: &[u8], now: Now) -> Vec<Event> {
        if !is_of_interest(line) {
            return Vec::new();
        }
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        let (Some(kind), Some(payload)) = (text(&record, "/type"), record.get("payload")) else { return Vec::new() };
        let mut events = match kind {
            "projection_delta" => {
                let deltas = payload.get("delta").and_then(Value::as_array).into_iter().flatten();
                let states = deltas.filter(|delta| text(delta, "/op") == Some("set_envelope"));
                states
                    .filter_map(|delta| delta.get("state"))
                    .flat_map(|state| self.state(session, state, now))
                    .collect()
            }
            "callback_registered" => self.registered(session, payload, now),
            "callback_resolved" => self.resolved(session, payload, now),
            "process_state_changed" => self.process(session, payload, now),
            _ => Vec::new(),
        };
        // Only the root's own records are compared by number: those of other journals are counted apart.
        if self.root.is_none() {
            let sequence = record.get("sequence").and_then(Value::as_i64);
            events.iter_mut().for_each(|event| event.seq = sequence);
        }
        events
    }

    /// An event of this session: of its root's subagent, if it is one.
    fn event(&self, name: &str, session: &str, kind: Kind, at: Option<BootTime>, now: Now) -> Event {
        let mut event = match &self.root {
            Some(root) => child(name, root, session, kind),
            None => event(name, session, kind),
        };
        event.at = Some(at.unwrap_or(now.boot));
        event
    }

    fn state(&mut self, session: &str, state: &Value, now: Now) -> Vec<Event> {
        let Some(status) = text(state, "/session/status/type") else { return Vec::new() };
        self.known = true;
        if text(state, "/session/parentSessionId").is_some() {
            self.root = text(state, "/session/rootSessionId").or(text(state, "/session/parentSessionId")).map(id);
        }
        let was_running = std::mem::replace(&mut self.running, status == "running");
        if self.root.is_some() {
            if self.running == was_running {
                return Vec::new();
            }
            let kind = if self.running { Kind::SubagentStart } else { Kind::SubagentStop };
            let event = self.event(status, session, kind, time(state, "/session/updatedAt", now), now);
            self.latest = Some(event.clone());
            return vec![event];
        }
        let (turn, turn_status) = (text(state, "/latestTurn/id"), text(state, "/latestTurn/status"));
        let (Some(turn), Some(turn_status)) = (turn, turn_status) else { return Vec::new() };
        let mut events = Vec::new();
        if self.turn.as_deref() != Some(turn) {
            let begun = time(state, "/latestTurn/startedAt", now);
            let mut event = self.event("turn/start", session, Kind::PromptSubmit { automatic: false }, begun, now);
            event.title = said(text(state, "/session/title").or(text(state, "/session/preview")));
            self.turn = Some(id(turn));
            self.turn_status = "in_progress".to_string();
            self.latest = Some(event.clone());
            events.push(event);
        }
        if self.turn_status != turn_status {
            self.turn_status = id(turn_status);
            let kind = match turn_status {
                "completed" => Kind::Stop,
                "interrupted" => Kind::Interrupt,
                "failed" => Kind::Error { recoverable: Some(false) },
                _ => return events,
            };
            self.open.clear();
            let mut event = self.event(turn_status, session, kind, time(state, "/latestTurn/completedAt", now), now);
            event.message = said(text(state, "/session/status/message").or(text(state, "/latestTurn/error/message")));
            if turn_status == "failed" {
                self.latest = Some(event.clone());
            }
            events.push(event);
        }
        events
    }

    fn registered(&mut self, session: &str, payload: &Value, now: Now) -> Vec<Event> {
        let Some(callback) = text(payload, "/callback_id") else { return Vec::new() };
        let at = time(payload, "/routing/createdAt", now);
        let mut event = self.event("callback", session, Kind::Question(Question::Request), at, now);
        event.call = Call {
            id: Some(call_of(callback)),
            tool: text(payload, "/routing/detail/effect/toolName").map(id),
            ..Call::default()
        };
        let asked = text(payload, "/routing/detail/request/questions/0/question");
        event.message = said(asked.or(text(payload, "/routing/title")));
        if self.open.len() < MOST {
            self.open.insert(id(callback), event.clone());
        }
        vec![event]
    }

    fn resolved(&mut self, session: &str, payload: &Value, now: Now) -> Vec<Event> {
        let Some(callback) = text(payload, "/callback_id") else { return Vec::new() };
        self.open.remove(&id(callback));
        let mut event = self.event("callback", session, Kind::Answer, None, now);
        event.call.id = Some(call_of(callback));
        vec![event]
    }

    fn process(&mut self, session: &str, payload: &Value, now: Now) -> Vec<Event> {
        let Some(process) = text(payload, "/process/process_id").map(id) else { return Vec::new() };
        let begun = text(payload, "/process/status") == Some("running");
        let known = self.processes.remove(&process).is_some();
        if begun == known {
            return Vec::new();
        }
        let (kind, pointer) = if begun {
            (Kind::BackgroundStart(Some(process.clone())), "/process/started_at")
        } else {
            (Kind::BackgroundStop(Some(process.clone())), "/process/finished_at")
        };
        let mut event = self.event("process", session, kind, time(payload, pointer, now), now);
        // A subagent's process is the session's: the row counts them all.
        event.thread = None;
        if begun && self.processes.len() < MOST {
            self.processes.insert(process, event.clone());
        }
        vec![event]
    }
}

/// Most records are of no interest, and some are long. What they are stands at their end (seen), or would stand at
/// their beginning.
fn is_of_interest(line: &[u8]) -> bool {
    let ends = [&line[..line.len().min(END_BYTES)], &line[line.len().saturating_sub(END_BYTES)..]];
    let names = |end: &[u8]| RECORDS.iter().any(|name| end.windows(name.len()).any(|part| part == name.as_bytes()));
    ends.into_iter().any(names)
}

fn event(name: &str, session: &str, kind: Kind) -> Event {
    let mut event = Event::new("vibe", format!("journal:{name}"), kind);
    event.session = Some(session.to_string());
    event
}

fn child(name: &str, root: &str, session: &str, kind: Kind) -> Event {
    Event { thread: Some(session.to_string()), ..event(name, root, kind) }
}

/// The tool call that a callback is about: `approval-CALL`, `user-input-CALL`.
fn call_of(callback: &str) -> String {
    id(callback.strip_prefix("approval-").or(callback.strip_prefix("user-input-")).unwrap_or(callback))
}

/// The session of `active/SESSION.lock.json`.
fn lease_of(path: &Path) -> Option<&str> {
    let name = path.strip_prefix(ACTIVE).ok()?.to_str()?.strip_suffix(".lock.json")?;
    (!name.contains('/') && name != PSEUDO && name.len() <= ID_BYTES).then_some(name)
}

/// The session of `unified/SESSION/…`, and what is below.
fn session_of(path: &Path) -> Option<(&str, &Path)> {
    let mut parts = path.strip_prefix(UNIFIED).ok()?.components();
    let session = parts.next()?.as_os_str().to_str()?;
    Some((session, parts.as_path()))
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

fn id(text: &str) -> String {
    crate::text::short_id(text.to_string())
}

fn said(text: Option<&str>) -> Said<String> {
    text.map(one_line).filter(|text| !text.is_empty()).into()
}

/// Milliseconds since the epoch, or a date.
fn time(value: &Value, pointer: &str, now: Now) -> Option<BootTime> {
    let value = value.pointer(pointer)?;
    let wall = value.as_i64().map(WallTime).or_else(|| WallTime::parse_rfc3339(value.as_str()?))?;
    Some(now.boot_of(wall))
}
