// SPDX-License-Identifier: GPL-3.0-or-later
//! The guest: what an agent calls at every step, inside the agent.
//!
//! It exits 0 and says nothing, whatever happens; it reads standard input only, for at most [`STDIN`]; it never starts
//! the application, waits for it at most [`DELIVERY`], and forwards nothing but the fields that are read
//! ([`crate::forward`]). What it cannot deliver is dropped.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::process::ExitCode;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::Value;
use zruntime::SharedRuntime;

use super::bus::{self, Activation, Vigil};
use super::deadline::Deadline;
use super::{line, seen, stdin};
use crate::agent;
use crate::forward::Reduction;
use crate::text::ID_BYTES;
use crate::time::BootTime;

/// How long standard input is read.
const STDIN: Duration = Duration::from_secs(2);

/// How long everything may take once standard input is complete: with the program's own start, 300 ms in all.
const DELIVERY: Duration = Duration::from_millis(280);

/// No event has a longer name.
const NAME_BYTES: usize = 256;

/// One call by an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    agent: Option<String>,
    event: String,
    workspace: Option<String>,
    surface: Option<String>,
}

impl Call {
    /// The call that these words are: `hook AGENT [EVENT]`, or `AGENT-hook EVENT` as Séance spells it, whose options
    /// may stand anywhere. `None` for a command of people.
    pub fn parse(words: &[String]) -> Option<Self> {
        let mut call = Self::default();
        let mut words = words.iter();
        let command = call.next_word(&mut words)?;
        if command == "hook" {
            // Asked by a person: no agent does.
            let asks = |word: &String| word == "--help" || word == "-h";
            if words.as_slice().first().is_some_and(asks) {
                return None;
            }
            call.agent = call.next_word(&mut words).cloned();
        } else {
            call.agent = Some(command.strip_suffix("-hook").filter(|agent| !agent.is_empty())?.to_string());
        }
        // Some agents append their payload to the arguments; standard input is where we read it.
        if let Some(event) = call.next_word(&mut words).filter(|event| !event.trim_start().starts_with('{')) {
            call.event.clone_from(event);
        }
        while call.next_word(&mut words).is_some() {}
        Some(call)
    }

    /// The agent's id, empty when there is none.
    fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or_default()
    }

    /// The next word that is no option, taking in the options before it.
    fn next_word<'a>(&mut self, words: &mut std::slice::Iter<'a, String>) -> Option<&'a String> {
        loop {
            let word = words.next()?;
            let Some(option) = word.strip_prefix("--") else { return Some(word) };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let place = match name {
                "workspace" => &mut self.workspace,
                "surface" => &mut self.surface,
                // Séance's own socket: there is none here.
                "socket" => &mut None,
                _ => continue,
            };
            *place = value.map(ToString::to_string).or_else(|| words.next().cloned());
        }
    }
}

/// Delivers one event, if that can be done unnoticed.
#[expect(clippy::disallowed_methods, reason = "a panic cannot return, and must end with 0")]
pub fn run(call: Call) -> ExitCode {
    let at = seen::boot_time();
    // Unwinding would print, aborting would not exit with 0.
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    let mut payload = Reduction::new(&agent::find(call.agent()));
    // Started only where it is needed: a thread is a tenth of the CPU that a small payload takes.
    let mut watched: Option<Deadline> = None;
    let guard = || {
        watched = Deadline::start(STDIN + DELIVERY, || 0).ok();
        watched.is_some()
    };
    let length = stdin::read(STDIN, guard, |piece| payload.push(piece));
    let end = Instant::now() + DELIVERY;
    match (length, &watched) {
        (None, _) => debug(&format!("The payload is larger than {} bytes", stdin::SIZE)),
        (Some(_), Some(deadline)) => {
            deadline.move_to(DELIVERY);
            deliver(&call, payload, at, end);
        }
        // What is computed does not look at a clock.
        (Some(length), None) if length > stdin::CHUNK && Deadline::start(DELIVERY, || 0).is_err() => {}
        (Some(_), None) => deliver(&call, payload, at, end),
    }
    ExitCode::SUCCESS
}

/// Sends the event, and leaves at that time at the latest.
#[expect(clippy::disallowed_methods, reason = "the connection would be closed by a thread made for it")]
fn deliver(call: &Call, payload: Reduction, at: BootTime, end: Instant) {
    let prepared = prepare(call, payload);
    let (agent, payload) = match &prepared {
        Ok(prepared) => prepared,
        Err(error) => return debug(error),
    };
    zbus::block_on(async {
        let sending = async {
            let mut connecting = pin!(Vigil::connect());
            // The bus has to answer first: looking around meanwhile costs no time.
            let begun = poll_fn(|context| Poll::Ready(connecting.as_mut().poll(context))).await;
            let origin = seen::surroundings(at);
            let body = (agent.as_str(), call.event.as_str(), payload.as_str(), seen::block(&origin));
            let vigil = match begun {
                Poll::Ready(connected) => connected?,
                Poll::Pending => connecting.await?,
            };
            vigil.call::<_, ()>("Hook", &body, Activation::Never).await
        };
        // The connection's own runtime, so that its timer is there already.
        let outcome = match SharedRuntime::current() {
            Ok(runtime) => runtime.timeout_at(end, sending).await,
            Err(error) => return debug(&error.to_string()),
        };
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug(&bus::explain(&error)),
            Err(_) => debug("Vigil does not answer in time"),
        }
        // Not by returning: with the connection still there, its upkeep would go to a thread of its own.
        std::process::exit(0);
    });
}

/// The agent's id and the payload as they go over the bus.
fn prepare(call: &Call, payload: Reduction) -> Result<(String, String), String> {
    let id = call.agent();
    agent::check_id(id).map_err(|refusal| refusal.message)?;
    if call.event.len() > NAME_BYTES {
        return Err("The event's name is too long".into());
    }
    let mut payload = payload.finish().map_err(|refusal| refusal.message)?;
    for (key, value) in [("workspace_id", &call.workspace), ("surface_id", &call.surface)] {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty() && value.len() <= ID_BYTES) {
            payload.insert(key.to_string(), Value::String(value.clone()));
        }
    }
    Ok((id.to_string(), Value::Object(payload).to_string()))
}

/// Says what went wrong, if that is asked for.
fn debug(message: &str) {
    if std::env::var_os("VIGIL_DEBUG").is_some_and(|value| !value.is_empty()) {
        line::complain(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Option<Call> {
        Call::parse(&words.split_whitespace().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn prepared(call: &Call, payload: &[u8]) -> Result<(String, String), String> {
        let mut reduction = Reduction::new(&agent::find(call.agent()));
        reduction.push(payload);
        prepare(call, reduction)
    }

    fn call(agent: &str, event: &str) -> Call {
        Call { agent: Some(agent.into()), event: event.into(), ..Call::default() }
    }

    #[test]
    fn both_spellings_are_one_call() {
        assert_eq!(parse("hook claude Stop"), Some(call("claude", "Stop")));
        assert_eq!(parse("claude-hook stop"), Some(call("claude", "stop")));
        assert_eq!(parse("home-made-hook stop"), Some(call("home-made", "stop")));
        assert_eq!(parse("hook claude"), Some(call("claude", "")));
        assert_eq!(parse("hook"), Some(Call::default()));
    }

    #[test]
    fn options_may_stand_anywhere() {
        let placed = Call { workspace: Some("7".into()), surface: Some("s".into()), ..call("pi", "stop") };
        assert_eq!(parse("pi-hook stop --workspace 7 --surface s --socket /x"), Some(placed.clone()));
        assert_eq!(parse("--socket /x pi-hook --workspace=7 stop --surface=s more words"), Some(placed.clone()));
        assert_eq!(parse("hook pi --surface s --unknown stop --workspace 7"), Some(placed));
        assert_eq!(parse("pi-hook stop --workspace"), Some(call("pi", "stop")));
    }

    #[test]
    fn a_payload_among_the_arguments_is_ignored() {
        let words = ["hook".to_string(), "codex".into(), " {\"type\":\"turn\"}".into()];
        assert_eq!(Call::parse(&words), Some(call("codex", "")));
    }

    #[test]
    fn commands_of_people_are_not_hooks() {
        for words in ["", "status --json", "-hook", "--help", "hook --help", "hook -h", "ping"] {
            assert_eq!(parse(words), None, "{words}");
        }
    }

    #[test]
    fn an_explicit_place_outranks_the_payloads() {
        let call = Call { workspace: Some("7".into()), surface: Some(String::new()), ..call("pi", "stop") };
        let payload = br#"{"workspace_id":"1","surface_id":"2","secret":"x"}"#;
        assert_eq!(prepared(&call, payload), Ok(("pi".into(), r#"{"surface_id":"2","workspace_id":"7"}"#.into())));
    }

    #[test]
    fn what_nobody_would_take_is_not_sent() {
        assert!(prepared(&Call::default(), b"{}").is_err());
        assert!(prepared(&call("a b", "stop"), b"{}").is_err());
        assert!(prepared(&call("pi", &"x".repeat(NAME_BYTES + 1)), b"{}").is_err());
        assert!(prepared(&call("pi", "stop"), b"[]").is_err());
    }
}
