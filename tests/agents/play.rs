// SPDX-License-Identifier: GPL-3.0-or-later
//! Plays a capture and judges what is shown after each of its lines.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use vigil::agent;
use vigil::event::{Event, Process};
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::policy::AlertKind;
use vigil::protocol::Origin;
use vigil::roster::{Roster, Settings};
use vigil::snapshot::RowView;
use vigil::time::{BootTime, Now, WallTime};

use crate::labels::{Capture, Line, Set, Shown};

/// How an agent's captures reach the roster.
pub trait Actor {
    /// Delivers one line, as the agent, its integration or the kernel would.
    fn deliver(&mut self, line: &Line, play: &mut Play);
}

/// One capture in play.
pub struct Play {
    roster: Roster,
    alerts: Vec<(u64, String)>,
}

impl Play {
    /// The moment so many milliseconds after the capture's start. The machine has been up for a while.
    pub fn now(millis: u64) -> Now {
        let boot = BootTime::from_millis(millis + 1_000_000);
        Now { boot, wall: WallTime(1_700_000_000_000 + i64::try_from(millis).unwrap()), ..Now::default() }
    }

    /// Lets time pass, stopping wherever the roster wants to act.
    fn run_to(&mut self, millis: u64) {
        let end = Self::now(millis);
        while let Some(deadline) = self.roster.next_deadline().filter(|deadline| *deadline <= end.boot) {
            let at = deadline.0 / 1_000_000 - 1_000_000;
            self.roster.tick(Now { boot: deadline, ..Self::now(at) });
            self.collect(at);
        }
    }

    fn collect(&mut self, millis: u64) {
        self.roster.verify_invariants();
        for alert in self.roster.take_due().alerts {
            let kind = match (alert.kind, alert.silent) {
                (AlertKind::Finished, false) => "finished",
                (AlertKind::Finished, true) => "finished-quiet",
                (AlertKind::NeedsInput, _) => "needs-input",
                (AlertKind::Failed, _) => "failed",
            };
            self.alerts.push((millis, kind.to_string()));
        }
    }

    /// A hook of an agent, from its payload on. Without a time of its own it started at the line's.
    pub fn hook(&mut self, millis: u64, agent: &str, name: &str, payload: &Value, origin: Origin) {
        let agent = agent::find(agent);
        let origin = Origin {
            id: origin.id.or_else(|| Some(format!("{millis}-{name}"))),
            at: origin.at.or(Some(Self::now(millis).boot.0)),
            ..origin
        };
        let reduced: Map<String, Value> = forward::reduce(&agent, payload.to_string().as_bytes()).unwrap();
        let event = agent::event(&agent, name, &reduced, &origin, &Here::default(), Found::default()).unwrap();
        self.event(millis, event);
    }

    /// An event that no hook brought.
    pub fn event(&mut self, millis: u64, event: Event) {
        self.roster.apply(event, Self::now(millis));
        self.collect(millis);
    }

    /// A process has ended.
    pub fn process_gone(&mut self, millis: u64, process: &Process) {
        self.roster.process_gone(process, Self::now(millis));
        self.collect(millis);
    }

    /// What is shown in the one row, or in that of a session.
    fn shown(&self, session: Option<&str>) -> String {
        let snapshot = self.roster.snapshot(0, false);
        let rows: Vec<&RowView> =
            snapshot.workspaces.iter().flat_map(|workspace| workspace.rows.iter().flatten()).collect();
        let row = match session {
            Some(id) => rows.into_iter().find(|row| row.sessions.iter().any(|session| session.id == id)),
            None => {
                assert!(rows.len() <= 1, "one pane has one row");
                rows.first().copied()
            }
        };
        Shown::of(row).to_string()
    }
}

/// Plays a capture and judges it.
pub fn check(set: &'static Set, name: &'static str, actor: &mut dyn Actor) {
    let capture = Capture::load(set, name);
    let mut play = Play { roster: Roster::new(Settings::default()), alerts: Vec::new() };
    let mut faults = Vec::new();
    for line in &capture.lines {
        play.run_to(line.millis);
        actor.deliver(line, &mut play);
        faults.extend(line.shows.judge(&play.shown(line.shows.row.as_deref())).err());
        if let Some((after, later)) = &line.later {
            play.run_to(line.millis + u64::try_from(after.as_millis()).unwrap());
            faults.extend(later.judge(&play.shown(later.row.as_deref())).err());
        }
    }
    play.run_to(capture.lines.last().unwrap().millis + 20_000);
    for end in capture.end() {
        faults.extend(end.judge(&play.shown(end.row.as_deref())).err());
    }
    judge_alerts(&capture.labels, &play.alerts, &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every capture of the folder has its test, and its name in the set.
pub fn check_complete(set: &Set, tested: &[&str]) {
    let files: BTreeSet<String> = std::fs::read_dir(set.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(ToString::to_string))
        .collect();
    assert_eq!(files, tested.iter().map(ToString::to_string).collect());
    assert_eq!(tested, set.names);
}

/// One test a capture, and one that there is none without.
macro_rules! captures {
    ($set:ident, $actor:expr; $($test:ident = $capture:expr;)*) => {
        $(#[test] fn $test() { $crate::play::check(&$set, $capture, &mut $actor($capture)); })*
        #[test]
        fn every_capture_is_played() {
            $crate::play::check_complete(&$set, &[$($capture),*]);
        }
    };
}
pub(crate) use captures;

/// The alerts in their order, optional ones left out or not; and none where none may be.
fn judge_alerts(labels: &Value, alerts: &[(u64, String)], faults: &mut Vec<String>) {
    let mut given = alerts.iter().peekable();
    for expected in labels["alerts"].as_array().unwrap() {
        match (expected.as_str(), expected["optional"].as_str()) {
            (Some(kind), _) => match given.next() {
                Some((_, alert)) if alert == kind => {}
                other => faults.push(format!("alert {other:?} instead of {kind}; all: {alerts:?}")),
            },
            (None, Some(kind)) => {
                given.next_if(|(_, alert)| alert == kind);
            }
            _ => unreachable!("a label is a kind, or an optional one"),
        }
    }
    faults.extend(given.map(|alert| format!("an alert too many: {alert:?}; all: {alerts:?}")));
    for forbidden in labels["alerts_forbidden"].as_array().into_iter().flatten() {
        let window = forbidden["from_ms"].as_u64().unwrap()..forbidden["to_ms"].as_u64().unwrap();
        for (millis, kind) in alerts {
            if forbidden["kind"] == **kind && window.contains(millis) {
                faults.push(format!("{kind} at {millis}, forbidden in {window:?}"));
            }
        }
    }
}
