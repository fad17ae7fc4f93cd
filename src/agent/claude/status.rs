// SPDX-License-Identifier: GPL-3.0-or-later
//! What Claude Code writes of itself beside its hooks: the status file of each process, and in the transcript the
//! record of an interruption (status model, section 6).
//!
//! Both are undocumented; facts are of 2.1.197 and 2.1.332. Anything of another form says nothing.

use serde_json::{Map, Value};

use crate::event::{Event, Kind, Observed};
use crate::text::ID_BYTES;
use crate::time::{Now, WallTime};

/// Larger files are no status files, longer lines no records of an interruption.
pub const MOST_BYTES: usize = 64 << 10;

/// How the record begins that an interruption leaves in the transcript; `... for tool use]` follows, or the bracket.
const INTERRUPTED: &str = "[Request interrupted by user";

/// One reading of a status file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The process that it is of.
    pub pid: u32,
    /// When that started, in clock ticks since boot.
    pub proc_start: Option<u64>,
    /// The session that it shows now.
    pub session: String,
    /// What it does.
    pub observed: Observed,
    /// Since when, in milliseconds of wall time.
    pub updated_ms: i64,
}

/// Reads a status file; `None` for one that does not say what its process does.
pub fn parse(text: &[u8]) -> Option<Report> {
    let file = object(text)?;
    let observed = match file.get("status")?.as_str()? {
        "busy" => Observed::Busy,
        // With a shell in the background it waits at its prompt all the same.
        "idle" | "shell" => Observed::Idle,
        "waiting" => Observed::Waiting,
        _ => return None,
    };
    Some(Report {
        pid: u32::try_from(file.get("pid")?.as_u64()?).ok()?,
        proc_start: file.get("procStart").and_then(number),
        session: session(&file)?,
        observed,
        updated_ms: file.get("statusUpdatedAt").and_then(time).or_else(|| file.get("updatedAt").and_then(time))?,
    })
}

/// A transcript's line that tells of an interruption: of which session, and when in wall time.
pub fn interruption(line: &[u8]) -> Option<(String, i64)> {
    // Nearly no line does, and lines may be long.
    if line.len() > MOST_BYTES || !line.windows(INTERRUPTED.len()).any(|part| part == INTERRUPTED.as_bytes()) {
        return None;
    }
    let record = object(line)?;
    let is_sidechain = record.get("isSidechain").and_then(Value::as_bool) == Some(true);
    if record.get("type")?.as_str()? != "user" || is_sidechain {
        return None;
    }
    let content = record.get("message")?.get("content")?;
    let first = content.as_str().or_else(|| content.get(0)?.get("text")?.as_str())?;
    first.starts_with(INTERRUPTED).then_some(())?;
    Some((session(&record)?, record.get("timestamp").and_then(time)?))
}

/// The event that such a word makes. Its time is translated by the difference of the two clocks now; what claims to
/// come from the future is of now.
pub fn event(session: &str, observed: Observed, wall_ms: i64, now: Now) -> Event {
    let mut event = Event::new("claude", "status-file", Kind::Observed(observed));
    event.session = Some(session.to_string());
    event.at = Some(now.boot_of(WallTime(wall_ms)));
    event
}

fn object(text: &[u8]) -> Option<Map<String, Value>> {
    if text.len() > MOST_BYTES {
        return None;
    }
    serde_json::from_slice(text).ok()
}

fn session(object: &Map<String, Value>) -> Option<String> {
    let id = object.get("sessionId")?.as_str()?;
    (!id.is_empty() && id.len() <= ID_BYTES).then(|| id.to_string())
}

/// A number, also one written as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Milliseconds since the epoch, or a date.
fn time(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| Some(WallTime::parse_rfc3339(value.as_str()?)?.0)).filter(|millis| *millis > 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::time::BootTime;

    fn file() -> Value {
        json!({
            "pid": 1234, "sessionId": "s", "cwd": "/srv/shop", "startedAt": 1_796_031_000_000_i64,
            "procStart": "12345678", "version": "2.1.332", "kind": "interactive", "entrypoint": "cli",
            "status": "busy", "updatedAt": 1_796_031_332_900_i64, "statusUpdatedAt": 1_796_031_332_834_i64,
        })
    }

    fn with(key: &str, value: Value) -> Option<Report> {
        let mut file = file();
        if value.is_null() {
            file.as_object_mut().unwrap().remove(key);
        } else {
            file[key] = value;
        }
        parse(file.to_string().as_bytes())
    }

    #[test]
    fn a_real_file_is_read() {
        let report = Report {
            pid: 1234,
            proc_start: Some(12_345_678),
            session: "s".into(),
            observed: Observed::Busy,
            updated_ms: 1_796_031_332_834,
        };
        assert_eq!(parse(file().to_string().as_bytes()), Some(report.clone()));
        assert_eq!(with("procStart", json!(12_345_678)), Some(report.clone()));
        assert_eq!(with("procStart", Value::Null), Some(Report { proc_start: None, ..report.clone() }));
        assert_eq!(with("waitingFor", json!("permission prompt")), Some(report));
    }

    #[test]
    fn every_status() {
        let status = |status| with("status", json!(status)).map(|report| report.observed);
        assert_eq!(status("busy"), Some(Observed::Busy));
        assert_eq!(status("idle"), Some(Observed::Idle));
        assert_eq!(status("shell"), Some(Observed::Idle));
        assert_eq!(status("waiting"), Some(Observed::Waiting));
        assert_eq!(status("brand-new"), None);
        assert_eq!(with("status", json!(7)), None);
        assert_eq!(with("status", Value::Null), None, "an old version in print mode");
    }

    #[test]
    fn times_of_every_spelling() {
        let updated = |value| with("statusUpdatedAt", value).map(|report| report.updated_ms);
        assert_eq!(updated(json!("2026-11-30T10:00:00.250Z")), Some(1_796_032_800_250));
        assert_eq!(updated(Value::Null), Some(1_796_031_332_900), "when the file was written");
        assert_eq!(updated(json!("yesterday")), Some(1_796_031_332_900));
        assert_eq!(updated(json!(-5)), Some(1_796_031_332_900));
        let mut neither = file();
        for key in ["statusUpdatedAt", "updatedAt"] {
            neither.as_object_mut().unwrap().remove(key);
        }
        assert_eq!(parse(neither.to_string().as_bytes()), None);
    }

    #[test]
    fn what_is_no_status_file_says_nothing() {
        for text in ["", "[]", "{", "null", "{\"pid\":1}", &"[".repeat(60_000)] {
            assert_eq!(parse(text.as_bytes()), None);
        }
        assert_eq!(parse(&[0xff, 0xfe, 0]), None);
        assert_eq!(with("pid", json!(-1)), None);
        assert_eq!(with("pid", json!(u64::MAX)), None);
        assert_eq!(with("sessionId", json!("")), None);
        assert_eq!(with("sessionId", json!("s".repeat(ID_BYTES + 1))), None);
        assert_eq!(with("cwd", json!("x".repeat(MOST_BYTES))), None, "too large");
    }

    #[test]
    fn its_time_is_translated_between_the_clocks() {
        let now =
            Now { boot: BootTime::from_millis(50_000), wall: WallTime(1_796_031_332_834), asleep: Duration::ZERO };
        let at = |wall| event("s", Observed::Idle, wall, now).at;
        assert_eq!(at(now.wall.0 - 300), Some(BootTime::from_millis(49_700)));
        assert_eq!(at(now.wall.0 + 60_000), Some(now.boot), "from the future");
        assert_eq!(at(i64::MAX), Some(now.boot));
        assert_eq!(at(1), Some(BootTime(0)), "from before the boot");
        assert_eq!(at(i64::MIN), Some(BootTime(0)));
        assert_eq!(event("s", Observed::Idle, 1, now).kind, Kind::Observed(Observed::Idle));
    }

    #[test]
    fn an_interruption_is_told_by_its_record() {
        let line = |kind: &str, text: &str, more: &str| {
            format!(
                r#"{{"type":"{kind}","sessionId":"s","timestamp":"2026-11-30T10:00:00.250Z",{more}"message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}}}"#
            )
        };
        let told = |kind: &str, text: &str, more: &str| interruption(line(kind, text, more).as_bytes());
        let expected = Some(("s".to_string(), 1_796_032_800_250));
        assert_eq!(told("user", "[Request interrupted by user]", ""), expected);
        assert_eq!(told("user", "[Request interrupted by user for tool use]", r#""isSidechain":false,"#), expected);
        assert_eq!(told("user", "[Request interrupted by user]", r#""isSidechain":true,"#), None, "a subagent's");
        assert_eq!(told("assistant", "[Request interrupted by user]", ""), None);
        assert_eq!(told("user", "why [Request interrupted by user] there?", ""), None, "who speaks of it");
        let plain = r#"{"type":"user","sessionId":"s","timestamp":"2026-11-30T10:00:00.250Z","message":{"content":"[Request interrupted by user]"}}"#;
        assert_eq!(interruption(plain.as_bytes()), expected);
        assert_eq!(interruption(b"[Request interrupted by user]"), None);
        assert_eq!(interruption(&line("user", "[Request interrupted by user]", "").as_bytes()[..90]), None, "cut");
    }
}
