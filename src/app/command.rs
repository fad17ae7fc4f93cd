// SPDX-License-Identifier: GPL-3.0-or-later
//! What the outside asks of the service, and the one queue in which it stands.
//!
//! The bus, the actions, the window and the watchers send commands and decide nothing. All of them go through one
//! ordered queue, so that whoever reads after writing sees what it wrote.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::event::{Event, Process};
use crate::forward;
use crate::protocol::{ErrorName, Origin, Refusal};
use crate::roster::StatusOptions;
use crate::{agent, text};

/// Payloads above this are refused. The hook program sends a few kilobytes; a script may send an agent's own JSON.
pub const PAYLOAD_BYTES: usize = 1 << 20;

/// Texts above this are refused; shorter ones are cut where they are shown.
pub const TEXT_BYTES: usize = 64 << 10;

/// So many commands may wait. Beyond it senders are told to slow down, so that a flood costs no memory.
const QUEUE_LENGTH: usize = 4096;

/// One delivery of an agent's event.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The agent's id.
    pub agent: String,
    /// The event's name; empty takes the payload's own.
    pub event: String,
    /// The payload, reduced to the fields that are read.
    pub payload: Map<String, Value>,
    /// What the hook saw of itself.
    pub origin: Origin,
}

/// Something that was watched and has gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// A process has ended.
    Process(Process),
    /// A terminal has vanished: `pts/3`.
    Tty(String),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the members of the interface and their arguments, which its XML describes")]
pub enum Command {
    Hook(Box<Delivery>),
    SetStatus {
        workspace: String,
        key: String,
        value: String,
        options: StatusOptions,
    },
    ClearStatus {
        workspace: String,
        key: String,
    },
    SetSubagentCounts {
        workspace: String,
        key: String,
        subagents: i32,
        background: i32,
    },
    SetProgress {
        workspace: String,
        value: f64,
        label: String,
    },
    AppendLog {
        workspace: String,
        level: String,
        message: String,
    },
    Notify {
        workspace: String,
        title: String,
        body: String,
    },
    GetSnapshot {
        details: bool,
    },
    Acknowledge {
        row: String,
    },
    Dismiss {
        row: String,
    },
    Jump {
        row: String,
    },
    /// The row that wants the user most.
    NextAttention {
        /// The row that is selected now.
        after: Option<String>,
    },
    /// A watched process or terminal has gone.
    Gone(Gone),
    /// What an agent's own files say, and where it runs if that was found.
    Observed(Box<Event>, Option<Box<Origin>>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was done.
    Done,
    /// The snapshot, as JSON.
    Snapshot(String),
    /// A row's id, if there is one.
    Row(Option<String>),
    /// Whether a place was reached, and why not.
    Jumped(bool, String),
}

impl Command {
    /// Delivers an event; reads only what is to be read of its payload.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`] for a bad agent id or an overlong event name,
    /// [`ErrorName::InvalidPayload`] for a payload that is too large or not one JSON object.
    pub fn hook(agent: &str, event: &str, payload: &str, origin: Origin) -> Result<Self, Refusal> {
        agent::check_id(agent)?;
        if event.len() > EVENT_BYTES {
            return Err(Refusal::new(ErrorName::InvalidArgument, "The event's name is too long"));
        }
        if payload.len() > PAYLOAD_BYTES {
            let message = format!("The payload is larger than {PAYLOAD_BYTES} bytes");
            return Err(Refusal::new(ErrorName::InvalidPayload, message));
        }
        let payload = forward::reduce(&agent::find(agent), payload.as_bytes())?;
        Ok(Self::Hook(Box::new(Delivery { agent: agent.to_string(), event: event.to_string(), payload, origin })))
    }

    /// Refuses ids that are empty or too long, and texts that no one would read.
    ///
    /// # Errors
    ///
    /// [`ErrorName::InvalidArgument`], with the argument's name.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::SetStatus { workspace, key, value, options } => {
                check_id("workspace", workspace)?;
                check_id("key", key)?;
                check_text("value", value)?;
                check_text("display-name", options.display_name.as_deref().unwrap_or_default())?;
                check_text("message", options.message.as_deref().unwrap_or_default())
            }
            Self::ClearStatus { workspace, key } | Self::SetSubagentCounts { workspace, key, .. } => {
                check_id("workspace", workspace)?;
                check_id("key", key)
            }
            Self::SetProgress { workspace, label, .. } => {
                check_id("workspace", workspace)?;
                check_text("label", label)
            }
            Self::AppendLog { workspace, level, message } => {
                check_id("workspace", workspace)?;
                check_text("level", level)?;
                check_text("message", message)
            }
            Self::Notify { workspace, title, body } => {
                check_id("workspace", workspace)?;
                check_text("title", title)?;
                check_text("body", body)
            }
            // A session's id may come behind the row's.
            Self::Acknowledge { row } | Self::Dismiss { row } | Self::Jump { row } => check_text("row", row),
            Self::Hook(_)
            | Self::GetSnapshot { .. }
            | Self::NextAttention { .. }
            | Self::Gone(_)
            | Self::Observed(..) => Ok(()),
        }
    }
}

/// Names of events are words.
const EVENT_BYTES: usize = 256;

fn check_id(argument: &str, id: &str) -> Result<(), Refusal> {
    if id.is_empty() {
        return Err(Refusal::new(ErrorName::InvalidArgument, format!("The {argument} is empty")));
    }
    if id.len() > text::ID_BYTES {
        let message = format!("The {argument} is longer than {} bytes", text::ID_BYTES);
        return Err(Refusal::new(ErrorName::InvalidArgument, message));
    }
    Ok(())
}

fn check_text(argument: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > TEXT_BYTES {
        let message = format!("The {argument} is longer than {TEXT_BYTES} bytes");
        return Err(Refusal::new(ErrorName::InvalidArgument, message));
    }
    Ok(())
}

/// What is done with a command's outcome.
pub type Reply = Box<dyn FnOnce(Result<Answer, Refusal>)>;

/// A command and where its answer goes.
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// Called once, when it has been carried out or refused.
    pub reply: Reply,
}

/// The writing end of the queue.
#[derive(Clone, Debug)]
pub struct Queue {
    sender: async_channel::Sender<Request>,
    complained: Rc<Cell<bool>>,
}

impl Queue {
    /// A queue and its reading end.
    pub fn new() -> (Self, async_channel::Receiver<Request>) {
        // Unbounded beneath, for what comes from inside must not be lost; what comes from outside is counted.
        let (sender, receiver) = async_channel::unbounded();
        (Self { sender, complained: Rc::default() }, receiver)
    }

    /// Takes a command from outside. It is refused at once when it is malformed or when too many wait.
    pub fn send(&self, command: Command, reply: impl FnOnce(Result<Answer, Refusal>) + 'static) {
        if let Err(refusal) = command.check() {
            return reply(Err(refusal));
        }
        if self.sender.len() >= QUEUE_LENGTH {
            if !self.complained.replace(true) {
                // Others do this, and no warning of ours may be fatal to a test that lets them.
                gtk::glib::g_message!("vigil", "Too many calls at once: some were refused");
            }
            return reply(Err(Refusal::new(ErrorName::NotAvailable, "Too many calls are waiting")));
        }
        self.push(command, Box::new(reply));
    }

    /// Takes a command whose sender waits for no answer; a refusal goes to the log.
    pub fn tell(&self, command: Command) {
        self.send(command, |outcome| {
            if let Err(refusal) = outcome {
                gtk::glib::g_warning!("vigil", "Refused: {refusal}");
            }
        });
    }

    /// Takes what a watcher saw, however many wait.
    pub fn gone(&self, gone: Gone) {
        self.push(Command::Gone(gone), Box::new(|_| {}));
    }

    /// The same, of an agent's own files.
    pub fn observed(&self, event: Event, origin: Option<Origin>) {
        self.push(Command::Observed(Box::new(event), origin.map(Box::new)), Box::new(|_| {}));
    }

    fn push(&self, command: Command, reply: Reply) {
        // The reading end lives as long as the service; after it nobody waits for an answer.
        let _ = self.sender.try_send(Request { command, reply });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(command: Result<Command, Refusal>) -> ErrorName {
        command.and_then(|command| command.check()).unwrap_err().name
    }

    #[test]
    fn bad_arguments_are_named() {
        let origin = Origin::default;
        assert_eq!(refusal(Command::hook("", "stop", "{}", origin())), ErrorName::InvalidArgument);
        assert_eq!(refusal(Command::hook("a b", "stop", "{}", origin())), ErrorName::InvalidArgument);
        assert_eq!(refusal(Command::hook("a", &"e".repeat(300), "{}", origin())), ErrorName::InvalidArgument);
        let large = format!("{{\"message\":\"{}\"}}", "x".repeat(PAYLOAD_BYTES));
        assert_eq!(refusal(Command::hook("a", "stop", &large, origin())), ErrorName::InvalidPayload);
        let clear = |workspace: &str| Command::ClearStatus { workspace: workspace.into(), key: "claude".into() };
        assert_eq!(refusal(Ok(clear(""))), ErrorName::InvalidArgument);
        assert_eq!(refusal(Ok(clear(&"w".repeat(5000)))), ErrorName::InvalidArgument);
        assert!(clear("demo").check().is_ok());
    }

    #[test]
    fn a_flood_is_refused() {
        let (queue, receiver) = Queue::new();
        let refused = Rc::new(Cell::new(0));
        for _ in 0..QUEUE_LENGTH + 3 {
            let refused = refused.clone();
            queue.send(Command::GetSnapshot { details: false }, move |outcome| {
                refused.set(refused.get() + u32::from(outcome.is_err()));
            });
        }
        queue.gone(Gone::Tty("pts/3".into()));
        assert_eq!((refused.get(), receiver.len()), (3, QUEUE_LENGTH + 1));
    }
}
