// SPDX-License-Identifier: GPL-3.0-or-later
//! `vigilctl replay`: a recorded sequence of events, played into the running application at its own pace.
//!
//! The whole file is read before anything is sent, so that a broken line changes nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bus::{Activation, NOT_RUNNING, PATIENCE, explain, talk};
use super::{line, seen};
use crate::protocol::Origin;
use crate::{agent, forward};

/// The longest recording that is read, in bytes.
const SIZE: u64 = 256 << 20;

/// One line, as it is written.
#[derive(Deserialize)]
struct Line<'a> {
    t_ms: f64,
    event: String,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    agent: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// One event, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    line: usize,
    at: Duration,
    agent: String,
    event: String,
    payload: String,
    cwd: Option<String>,
    env: BTreeMap<String, String>,
}

/// Plays a file, `-` for standard input.
pub(super) fn run(file: &Path, speed: f64, agent: Option<&str>) -> anyhow::Result<()> {
    let name = file.display();
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(SIZE).read_to_string(&mut text)
    } else {
        File::open(file).and_then(|file| file.take(SIZE).read_to_string(&mut text))
    };
    read.with_context(|| format!("{name} cannot be read"))?;
    let steps = parse(&text, agent).with_context(|| format!("{name} cannot be played"))?;
    play(&steps, speed)
}

/// How many times faster, as a number above zero.
pub(super) fn parse_speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if speed.is_finite() && speed > 0.0 { Ok(speed) } else { Err("not above zero".into()) }
}

/// The steps of a recording, in the order in which they are written. Every line is checked.
fn parse(text: &str, agent: Option<&str>) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let number = index + 1;
        let step = step(number, text, agent).with_context(|| format!("line {number}"))?;
        steps.extend(step);
    }
    Ok(steps)
}

fn step(number: usize, text: &str, agent: Option<&str>) -> anyhow::Result<Option<Step>> {
    let line: Line<'_> = serde_json::from_str(text)?;
    // What the recording's driver did, not the agent.
    if line.event.starts_with('#') {
        return Ok(None);
    }
    let Some(agent) = line.agent.or_else(|| agent.map(ToString::to_string)) else {
        bail!("it names no agent; --agent says which one is meant");
    };
    agent::check_id(&agent)?;
    let at = Duration::try_from_secs_f64(line.t_ms / 1000.0).context("t_ms is not a time")?;
    let payload = forward::reduce(&agent::find(&agent), line.payload.map_or("", RawValue::get).as_bytes())?;
    Ok(Some(Step {
        line: number,
        at,
        agent,
        event: line.event,
        cwd: payload.get("cwd").and_then(Value::as_str).map(ToString::to_string),
        payload: Value::Object(payload).to_string(),
        env: seen::environment(|name| line.env.get(name).cloned()),
    }))
}

fn play(steps: &[Step], speed: f64) -> anyhow::Result<()> {
    talk(async |vigil, deadline| {
        let start = Instant::now();
        let first = steps.first().map_or(Duration::ZERO, |step| step.at);
        let mut refused = 0;
        for step in steps {
            let due = step.at.saturating_sub(first).as_secs_f64() / speed;
            let due = Duration::try_from_secs_f64(due).unwrap_or(Duration::MAX);
            let wait = due.saturating_sub(start.elapsed());
            deadline.move_to(wait.saturating_add(PATIENCE));
            std::thread::sleep(wait);
            // No process of this machine is behind it, and it happens now.
            let origin = Origin { cwd: step.cwd.clone(), env: step.env.clone(), ..seen::machine(seen::boot_time()) };
            let body = (&step.agent, &step.event, &step.payload, seen::block(&origin));
            match vigil.call::<_, ()>("Hook", &body, Activation::Never).await {
                Ok(()) => {}
                Err(error) => {
                    let why = explain(&error);
                    if why == NOT_RUNNING {
                        bail!(why);
                    }
                    line::complain(&format!("line {}: {why}", step.line));
                    refused += 1;
                }
            }
        }
        match refused {
            0 => Ok(()),
            refused => bail!("{refused} of {} events were refused", steps.len()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_line_by_line() {
        let text = r##"
            {"t_ms": 0, "event": "SessionStart", "payload": {"session_id": "s", "cwd": "/w", "secret": 1}}
            {"t_ms": 5, "event": "#driver", "note": "press Esc", "payload": {}}

            {"t_ms": 1500.5, "event": "stop", "agent": "pi", "env": {"TMUX_PANE": "%3", "TOKEN": "x"}}
        "##;
        let steps = parse(text, Some("claude")).expect("a sound recording");
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].line, steps[0].agent.as_str(), steps[0].cwd.as_deref()), (2, "claude", Some("/w")));
        assert_eq!(steps[0].payload, r#"{"cwd":"/w","session_id":"s"}"#);
        assert_eq!((steps[1].agent.as_str(), steps[1].payload.as_str()), ("pi", "{}"));
        assert_eq!(steps[1].at, Duration::from_micros(1_500_500));
        assert_eq!(steps[1].env, BTreeMap::from([("TMUX_PANE".to_string(), "%3".to_string())]));
    }

    #[test]
    fn a_broken_line_is_named() {
        for (bad, agent) in [
            ("{", Some("pi")),
            ("[]", Some("pi")),
            (r#"{"event": "stop"}"#, Some("pi")),
            (r#"{"t_ms": -1, "event": "stop"}"#, Some("pi")),
            (r#"{"t_ms": 0, "event": "stop", "payload": []}"#, Some("pi")),
            (r#"{"t_ms": 0, "event": "stop"}"#, None),
            (r#"{"t_ms": 0, "event": "stop", "agent": "a b"}"#, None),
        ] {
            let text = format!("{{\"t_ms\": 0, \"event\": \"stop\", \"agent\": \"pi\"}}\n{bad}\n");
            let error = parse(&text, agent).expect_err(bad);
            assert!(format!("{error:#}").starts_with("line 2"), "{error:#}");
        }
    }

    #[test]
    fn a_speed_is_above_zero() {
        assert_eq!(parse_speed("2.5"), Ok(2.5));
        for bad in ["0", "-1", "inf", "NaN", "fast"] {
            assert!(parse_speed(bad).is_err(), "{bad}");
        }
    }
}
