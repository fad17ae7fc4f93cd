// SPDX-License-Identifier: GPL-3.0-or-later
//! What Codebuff and Freebuff write of their chats below `~/.config/manicode/projects`: the only thing that tells of them,
//! for they have no hooks.
//!
//! Nothing here is seen: neither program could be had. Layout and texts were read in Codebuff's public source, whose
//! stored versions differ, so that all is read leniently; that Freebuff writes into the same folders is reported. Which
//! of the two wrote is decided by the live process, never by the path.
//!
//! No record says that a turn begins or ends. What is told instead is a guess, by rules that stand here with their times:
//!
//! - Work: a line in the chat's log later than [`STARTUP`] after the chat began, or a last answer that is not complete.
//! - Finished: the last answer is complete, and nothing was written for [`QUIET`]. Without any saved answer the turn
//!   ends as quietly, and nobody is told that it finished.
//! - Interrupted: the last answer says so. Failed: the log says so. Either lasts until something is written later than
//!   [`AFTERMATH`].
//! - A question: a call of the asking tool with which an open answer ends, if and when that is saved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::journal::{Candidate, Input, Owner, Reader, Shape, Source};
use super::writer;
use crate::event::{Event, Kind, Question};
use crate::text::{one_line, short_id};
use crate::time::{BootTime, Now, WallTime};

/// Where and by whom.
pub const SOURCE: Source = Source {
    agents: &["codebuff", "freebuff"],
    processes: &["codebuff", "freebuff"],
    top: |variable| Some(PathBuf::from(variable("HOME")?).join(".config/manicode")),
    reader: || Box::<Chats>::default(),
};

/// A long call of the model writes nothing meanwhile: so long a silence may still be work.
const QUIET: Duration = Duration::from_secs(20);

/// The log of a chat begins before anybody has asked for anything.
const STARTUP: Duration = Duration::from_secs(5);

/// What is written so soon after a failure or an interruption still belongs to it.
const AFTERMATH: Duration = Duration::from_secs(2);

/// So many folders of projects, and so many chats of each, are looked at.
const PROJECTS: usize = 32;
const CHATS: usize = 4;

const LOG: &str = "log.jsonl";
const MESSAGES: &str = "chat-messages.json";
const RUN_STATE: &str = "run-state.json";

/// What the log says when a turn has failed.
const FAILURE: &str = "SDK client.run() failed";

/// What the answer of an interrupted turn ends with.
const INTERRUPTED: &str = "[response interrupted]";

/// The tool that asks the user.
const ASKING: &str = "ask_user";

/// What the last answer is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    /// Not saved yet.
    #[default]
    None,
    /// There is none to the last prompt, or it is not complete.
    Open,
    Complete,
    Interrupted,
}

#[derive(Debug, Default)]
struct Chat {
    /// The working directory, once it is known.
    cwd: Option<PathBuf>,
    /// The session has been told of.
    known: bool,
    running: bool,
    /// When the turn failed or was interrupted.
    over: Option<BootTime>,
    failed: bool,
    /// When something was written last.
    written: BootTime,
    answer: Answer,
    /// Whether an answer was saved in this turn.
    answered: bool,
    /// The id of the last prompt.
    prompt: Option<String>,
    /// The call of the open question.
    question: Option<String>,
}

/// The chats of one folder, by their paths below `projects`.
#[derive(Debug, Default)]
struct Chats(BTreeMap<String, Chat>);

impl Reader for Chats {
    fn shape(&self, path: &Path) -> Option<Shape> {
        let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
        match parts.as_slice() {
            ["projects"] | ["projects", _] => Some(Shape::Way(PROJECTS)),
            ["projects", _, "chats"] => Some(Shape::Way(CHATS)),
            ["projects", _, "chats", chat] => began(chat).map(|_| Shape::Folder(CHATS)),
            ["projects", _, "chats", chat, LOG] => began(chat).map(|_| Shape::Lines),
            ["projects", _, "chats", chat, MESSAGES | RUN_STATE] => began(chat).map(|_| Shape::Whole),
            _ => None,
        }
    }

    fn take(&mut self, path: &Path, input: Input<'_>, now: Now) -> Vec<Event> {
        let Some((id, file)) = chat_of(path) else { return Vec::new() };
        match input {
            Input::Left => {
                self.0.remove(&id);
                return Vec::new();
            }
            Input::Gone if file == LOG => {
                let known = self.0.remove(&id).is_some_and(|chat| chat.known);
                let end = event(&id, "gone", Kind::SessionEnd { successor: false }, now.boot);
                return if known { vec![end] } else { Vec::new() };
            }
            _ => {}
        }
        let chat = self.0.entry(id.clone()).or_default();
        match (file.as_str(), input) {
            (LOG, Input::Line(line)) => {
                let begins = !std::mem::replace(&mut chat.known, true);
                let begun = begins.then(|| start(&id, now));
                begun.into_iter().chain(chat.log(&id, line, now)).collect()
            }
            // Of the past, only whether it still works is told.
            (LOG, Input::CaughtUp) => chat.now(&id, now),
            (MESSAGES, Input::Whole(text)) => chat.messages(&id, text, now),
            (RUN_STATE, Input::Whole(text)) => {
                chat.cwd = cwd(text).or(chat.cwd.take());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn deadline(&self) -> Option<BootTime> {
        self.0.values().filter_map(Chat::quiet).min()
    }

    fn due(&mut self, now: Now) -> Vec<Event> {
        let quiet = self.0.iter_mut().filter(|(_, chat)| chat.quiet().is_some_and(|quiet| quiet <= now.boot));
        quiet.map(|(id, chat)| chat.end(id)).collect()
    }

    fn owner(&self, event: &mut Event, candidates: &[Candidate]) -> Owner {
        let Some(id) = event.session.clone() else { return Owner::Gone };
        let cwd = self.0.get(&id).and_then(|chat| chat.cwd.as_deref());
        let project = id.split('/').next().unwrap_or_default();
        let works_there = |candidate: &Candidate| {
            candidate.cwd.as_deref().is_some_and(|own| match cwd {
                Some(cwd) => own == cwd,
                None => own.file_name().is_some_and(|name| name == project),
            })
        };
        let Some(index) = writer::find(event, candidates, works_there) else { return Owner::Gone };
        event.agent = if candidates[index].comm == "freebuff" { "freebuff" } else { "codebuff" }.to_string();
        Owner::Is(index)
    }
}

impl Chat {
    /// When silence will have lasted long enough to mean something.
    fn quiet(&self) -> Option<BootTime> {
        (self.running && self.answer != Answer::Open).then(|| self.written + QUIET)
    }

    /// What silence means.
    fn end(&mut self, id: &str) -> Event {
        self.running = false;
        let kind = if self.answered && self.answer == Answer::Complete { Kind::Stop } else { Kind::Reminder };
        event(id, "quiet", kind, self.written)
    }

    /// The state now, for whoever has not seen how it came about.
    fn now(&mut self, id: &str, now: Now) -> Vec<Event> {
        self.known = true;
        self.running &= now.boot.since(self.written) < QUIET;
        let work = self.running.then(|| event(id, "log", Kind::PromptSubmit { automatic: true }, self.written));
        std::iter::once(start(id, now)).chain(work).collect()
    }

    /// Something was written at that time that is a sign of work; `prompted` if it is the user's own prompt.
    fn work(&mut self, id: &str, name: &str, prompted: bool, at: BootTime) -> Vec<Event> {
        self.written = self.written.max(at);
        (self.over, self.failed) = (None, false);
        if std::mem::replace(&mut self.running, true) && !prompted {
            return Vec::new();
        }
        self.answered = false;
        vec![event(id, name, Kind::PromptSubmit { automatic: !prompted }, at)]
    }

    fn log(&mut self, id: &str, line: &[u8], now: Now) -> Vec<Event> {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str);
        let at = text("/timestamp").and_then(WallTime::parse_rfc3339).map_or(now.boot, |wall| now.boot_of(wall));
        if text("/level") == Some("ERROR") && text("/msg").is_some_and(|message| message.contains(FAILURE)) {
            (self.running, self.failed, self.over, self.written) = (false, true, Some(at), at);
            let mut failure = event(id, "error", Kind::Error { recoverable: Some(false) }, at);
            let said = text("/data/error/message").or(text("/data/error")).map(one_line);
            failure.message = said.filter(|said| !said.is_empty()).into();
            return vec![failure];
        }
        let starting = began_at(id, now).is_some_and(|began| at <= began + STARTUP);
        let aftermath = self.over.is_some_and(|over| at <= over + AFTERMATH);
        if starting || aftermath { Vec::new() } else { self.work(id, "log", false, at) }
    }

    fn messages(&mut self, id: &str, text: &[u8], now: Now) -> Vec<Event> {
        let Ok(Value::Array(messages)) = serde_json::from_slice::<Value>(text) else { return Vec::new() };
        let is_users = |message: &&Value| message["variant"] == "user";
        let prompt = messages.iter().rev().find(is_users).and_then(|message| message["id"].as_str());
        let prompt = prompt.map(|id| short_id(id.to_string()));
        let last = messages.last().filter(|message| message["variant"] == "ai");
        let first = self.answer == Answer::None;
        let prompted = prompt.is_some() && self.prompt != prompt;
        self.prompt = prompt;
        let answer = match last {
            None => Answer::Open,
            Some(last) if says_interrupted(last) => Answer::Interrupted,
            Some(last) if last["isComplete"] == true => Answer::Complete,
            Some(_) => Answer::Open,
        };
        let changed = std::mem::replace(&mut self.answer, answer) != answer || prompted;
        if first && !self.running {
            // As it was found: a chat of long ago may have been left with an open answer.
            return Vec::new();
        }
        let mut events = match answer {
            Answer::Open if prompted || !self.failed => self.work(id, "messages", prompted, now.boot),
            Answer::Interrupted if changed && self.running => {
                (self.running, self.over) = (false, Some(now.boot));
                vec![event(id, "interrupted", Kind::Interrupt, now.boot)]
            }
            Answer::Complete if self.running => {
                self.written = now.boot;
                Vec::new()
            }
            _ => Vec::new(),
        };
        // A turn may be saved only when it is over.
        self.answered |= changed && answer == Answer::Complete;
        let question = last.filter(|_| answer == Answer::Open).and_then(asked);
        if self.question != question {
            let call = question.clone().or(self.question.take());
            let kind = if question.is_some() { Kind::Question(Question::Notice) } else { Kind::Answer };
            let mut asking = event(id, "messages", kind, now.boot);
            (asking.call.id, asking.call.tool) = (call, Some(ASKING.to_string()));
            events.push(asking);
            self.question = question;
        }
        events
    }
}

/// The chat that a file belongs to, as the id of its session, and the file's name.
fn chat_of(path: &Path) -> Option<(String, String)> {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let ["projects", project, "chats", chat, file] = parts.as_slice() else { return None };
    Some((format!("{project}/{chat}"), (*file).to_string()))
}

/// When a chat began, by its folder's name: a time whose colons are dashes.
fn began(chat: &str) -> Option<WallTime> {
    let (date, time) = chat.split_once('T')?;
    WallTime::parse_rfc3339(&format!("{date}T{}", time.replacen('-', ":", 2)))
}

fn began_at(id: &str, now: Now) -> Option<BootTime> {
    began(id.rsplit('/').next()?).map(|wall| now.boot_of(wall))
}

fn event(id: &str, name: &str, kind: Kind, at: BootTime) -> Event {
    let mut event = Event::new("codebuff", format!("log:{name}"), kind);
    event.session = Some(id.to_string());
    event.at = Some(at);
    event
}

fn start(id: &str, now: Now) -> Event {
    event(id, "start", Kind::SessionStart { waiting: true }, began_at(id, now).unwrap_or(now.boot))
}

fn says_interrupted(message: &Value) -> bool {
    let says = |text: &Value| text.as_str().is_some_and(|text| text.contains(INTERRUPTED));
    says(&message["content"]) || blocks(message).any(|block| says(&block["content"]))
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["blocks"].as_array().into_iter().flatten()
}

/// The call of a question that nothing follows.
fn asked(message: &Value) -> Option<String> {
    let last = blocks(message).last().filter(|block| block["type"] == "tool" && block["toolName"] == ASKING)?;
    last["output"].is_null().then(|| last["toolCallId"].as_str()).flatten().map(|id| short_id(id.to_string()))
}

/// The working directory in the state of a run, wherever a version keeps it.
fn cwd(text: &[u8]) -> Option<PathBuf> {
    let state: Value = serde_json::from_slice(text).ok()?;
    let places = ["/cwd", "/sessionState/fileContext/cwd", "/sessionState/fileContext/projectRoot"];
    let found = places.iter().find_map(|place| state.pointer(place)?.as_str()).map(PathBuf::from);
    found.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests;
