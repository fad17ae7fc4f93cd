// SPDX-License-Identifier: GPL-3.0-or-later
//! What the Poolside Agent CLI writes of a session: its trajectory, below `~/.local/state/poolside`.
//!
//! Nothing here is seen, for the program could not be had: names and fields are those that three independent readers
//! agree on. The trajectory tells of errors, which no hook does, and of all else where no hooks are installed. Two
//! things are guessed, by rules that stand here with their times:
//!
//! - A question: a tool call that has neither approval nor result after [`ASKING`]. An approval is written only once it
//!   is given. A tool that has ended without any is one that needs none, and is not taken for a question again.
//! - Finished: the last thing written is a whole answer, no call is open, and nothing follows for [`QUIET`]. The hook
//!   tells at once; its stop and this one are one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agent::journal::{Candidate, Input, Owner, Reader, Shape, Source};
use crate::agent::writer;
use crate::event::{Call, Event, Kind, Question};
use crate::text::{ID_BYTES, one_line, short_id};
use crate::time::{BootTime, Now, WallTime};

/// Where and by whom.
pub const SOURCE: Source = Source {
    agents: &["pool"],
    processes: &["pool"],
    top: |variable| {
        let state = variable("XDG_STATE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        Some(state.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".local/state")))?.join("poolside"))
    },
    reader: || Box::<Trajectories>::default(),
};

/// A call that waits so long may wait for its user.
const ASKING: Duration = Duration::from_secs(10);

/// A long call of the model may write nothing meanwhile.
const QUIET: Duration = Duration::from_secs(20);

/// So many trajectories are looked at, and so many calls and tools of one kept in mind.
const MOST: usize = 16;
const CALLS: usize = 64;

const FOLDER: &str = "trajectories";

#[derive(Debug)]
struct OpenCall {
    call: Call,
    began: BootTime,
    approved: bool,
    asked: bool,
}

#[derive(Debug, Default)]
struct Session {
    began: BootTime,
    folders: Vec<PathBuf>,
    /// The calls without a result, oldest first.
    open: VecDeque<OpenCall>,
    /// Tools that have ended without an approval.
    free: BTreeSet<String>,
    running: bool,
    failed: bool,
    /// Whether the last thing written is a whole answer.
    answered: bool,
    /// When something was written last.
    written: BootTime,
}

/// The trajectories of one folder, by their sessions.
#[derive(Debug, Default)]
struct Trajectories(BTreeMap<String, Session>);

impl Reader for Trajectories {
    fn shape(&self, path: &Path) -> Option<Shape> {
        if path == Path::new(FOLDER) { Some(Shape::Folder(MOST)) } else { session_of(path).map(|_| Shape::Lines) }
    }

    fn take(&mut self, path: &Path, input: Input<'_>, now: Now) -> Vec<Event> {
        let Some(id) = session_of(path) else { return Vec::new() };
        match input {
            Input::Line(line) => self.0.entry(id.to_string()).or_default().record(id, line, now),
            Input::CaughtUp => self.0.get_mut(id).map(|session| session.now(id, now)).unwrap_or_default(),
            Input::Gone | Input::Left => {
                self.0.remove(id);
                Vec::new()
            }
            Input::Whole(_) => Vec::new(),
        }
    }

    fn deadline(&self) -> Option<BootTime> {
        self.0.values().flat_map(|session| session.quiet().into_iter().chain(session.asking())).min()
    }

    fn due(&mut self, now: Now) -> Vec<Event> {
        self.0.iter_mut().flat_map(|(id, session)| session.due(id, now)).collect()
    }

    fn owner(&self, event: &mut Event, candidates: &[Candidate]) -> Owner {
        let session = event.session.as_ref().and_then(|id| self.0.get(id));
        let works_there = |candidate: &Candidate| {
            let folders = session.map(|session| session.folders.as_slice()).unwrap_or_default();
            candidate.cwd.as_ref().is_some_and(|cwd| folders.contains(cwd))
        };
        writer::find(event, candidates, works_there).map_or(Owner::Gone, Owner::Is)
    }
}

impl Session {
    fn record(&mut self, id: &str, line: &[u8], now: Now) -> Vec<Event> {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        let Some(kind) = record["type"].as_str() else { return Vec::new() };
        let body = &record[kind.replace('.', "_").as_str()];
        let at = record["timestamp"].as_str().and_then(WallTime::parse_rfc3339);
        let at = at.map_or(now.boot, |wall| now.boot_of(wall));
        self.written = self.written.max(at);
        self.answered = kind == "assistant_message.end";
        let event = |what: Kind| event(id, kind, what, at);
        match kind {
            "session.start" => {
                let more = body["working_directories"].as_array().into_iter().flatten();
                let folders = std::iter::once(&body["workspace"]).chain(more).filter_map(Value::as_str);
                self.folders = folders.take(MOST).map(PathBuf::from).filter(|path| path.is_absolute()).collect();
                self.began = at;
                vec![event(Kind::SessionStart { waiting: true })]
            }
            "session.input" => {
                self.open.clear();
                (self.running, self.failed) = (true, false);
                vec![event(Kind::PromptSubmit { automatic: false })]
            }
            "tool_call.parsed" => {
                self.begin(body, at).map(|call| Event { call, ..event(Kind::PreToolUse) }).into_iter().collect()
            }
            "tool_call.approval" => {
                let Some(waiting) = self.open.iter().position(|open| !open.approved) else { return Vec::new() };
                // A refused call gets no result.
                let asked = if body["denied"] == true {
                    self.open.remove(waiting).filter(|open| open.asked).map(|open| open.call)
                } else {
                    let open = &mut self.open[waiting];
                    open.approved = true;
                    std::mem::take(&mut open.asked).then(|| open.call.clone())
                };
                asked.map(|call| Event { call, ..event(Kind::Answer) }).into_iter().collect()
            }
            "tool_call.result" => vec![Event { call: self.end(body), ..event(Kind::PostToolUse) }],
            "session.error" => {
                (self.running, self.failed) = (false, true);
                let message = body["error"].as_str().map(one_line).filter(|said| !said.is_empty()).into();
                vec![Event { message, ..event(Kind::Error { recoverable: None }) }]
            }
            "session.exit" => {
                self.running = false;
                vec![event(Kind::Stop)]
            }
            // It goes on behind an error.
            _ if std::mem::take(&mut self.failed) => {
                self.running = true;
                vec![event(Kind::PreToolUse)]
            }
            _ => Vec::new(),
        }
    }

    fn begin(&mut self, body: &Value, at: BootTime) -> Option<Call> {
        if body["validation_error"].as_str().is_some_and(|error| !error.is_empty()) {
            return None;
        }
        (self.running, self.failed) = (true, false);
        let call = Call { detail: body["args"]["cmd"].as_str().map(one_line), ..call(body, "name") };
        if self.open.len() == CALLS {
            self.open.pop_front();
        }
        self.open.push_back(OpenCall { call: call.clone(), began: at, approved: false, asked: false });
        Some(call)
    }

    fn end(&mut self, body: &Value) -> Call {
        let call = call(body, "tool_name");
        if let Some(at) = self.open.iter().position(|open| open.call.id == call.id)
            && let Some(open) = self.open.remove(at)
            && !open.approved
            && self.free.len() < CALLS
        {
            self.free.extend(open.call.tool);
        }
        call
    }

    /// The state now, for whoever has not seen how it came about.
    fn now(&mut self, id: &str, now: Now) -> Vec<Event> {
        self.running &= !self.open.is_empty() || now.boot.since(self.written) < QUIET;
        let start = event(id, "session.start", Kind::SessionStart { waiting: true }, self.began);
        let work = self.running.then(|| event(id, "now", Kind::PromptSubmit { automatic: true }, self.written));
        std::iter::once(start).chain(work).collect()
    }

    /// When silence will have lasted long enough to end the turn.
    fn quiet(&self) -> Option<BootTime> {
        (self.running && self.answered && self.open.is_empty()).then(|| self.written + QUIET)
    }

    /// When the first of its calls will have waited long enough to be a question.
    fn asking(&self) -> Option<BootTime> {
        self.open.iter().filter(|open| self.may_ask(open)).map(|open| open.began + ASKING).min()
    }

    fn may_ask(&self, open: &OpenCall) -> bool {
        self.running
            && !open.approved
            && !open.asked
            && open.call.tool.as_ref().is_none_or(|tool| !self.free.contains(tool))
    }

    fn due(&mut self, id: &str, now: Now) -> Vec<Event> {
        if self.quiet().is_some_and(|quiet| quiet <= now.boot) {
            self.running = false;
            return vec![event(id, "quiet", Kind::Stop, self.written)];
        }
        let due = |open: &&OpenCall| open.began + ASKING <= now.boot;
        let waiting: Vec<Option<String>> =
            self.open.iter().filter(|open| self.may_ask(open)).filter(due).map(|open| open.call.id.clone()).collect();
        let asking = self.open.iter_mut().filter(|open| waiting.contains(&open.call.id));
        let events = asking.map(|open| {
            open.asked = true;
            Event { call: open.call.clone(), ..event(id, "waiting", Kind::Question(Question::Notice), now.boot) }
        });
        events.collect()
    }
}

/// The session of `trajectories/trajectory-AGENT_SESSION.ndjson`; an agent's own name may hold `_`.
fn session_of(path: &Path) -> Option<&str> {
    let name = path.strip_prefix(FOLDER).ok()?.to_str()?;
    let (_, session) = name.strip_prefix("trajectory-")?.strip_suffix(".ndjson")?.rsplit_once('_')?;
    (!session.is_empty() && !session.contains('/') && session.len() <= ID_BYTES).then_some(session)
}

fn call(body: &Value, tool: &str) -> Call {
    let text = |key: &str| body[key].as_str().filter(|text| !text.is_empty()).map(|text| short_id(text.to_string()));
    Call { id: text("id"), tool: text(tool), ..Call::default() }
}

fn event(id: &str, name: &str, kind: Kind, at: BootTime) -> Event {
    let mut event = Event::new("pool", format!("trajectory:{name}"), kind);
    event.session = Some(id.to_string());
    event.at = Some(at);
    event
}

#[cfg(test)]
mod tests;
