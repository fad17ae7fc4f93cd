// SPDX-License-Identifier: GPL-3.0-or-later
//! A roster with everything that must hold checked after each step.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigil::agent;
use vigil::event::Process;
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::policy::{AlertKind, StateName};
use vigil::protocol::{ChainLink, Origin};
use vigil::roster::{Outcome, Publisher, Roster, Settings, State};
use vigil::snapshot::{RowView, Snapshot, WorkspaceView};
use vigil::time::{BootTime, Now, WallTime};

/// Time zero of a scene, in milliseconds since boot.
const START: u64 = 1_000_000;

/// Who sends an event, and when its hook started.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    pub pid: Option<u32>,
    pub tty: u32,
    pub above: Vec<u32>,
    pub started: Option<u64>,
    pub id: Option<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<String>,
}

impl Sender {
    pub fn pid(pid: u32) -> Self {
        Self { pid: Some(pid), ..Self::default() }
    }

    pub fn started(mut self, millis: u64) -> Self {
        self.started = Some(millis);
        self
    }

    pub fn cwd(mut self, cwd: &str) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

pub fn process(pid: u32) -> Process {
    Process { pid, start: u64::from(pid) * 100 }
}

pub struct Scene {
    pub roster: Roster,
    pub millis: u64,
    pub asleep: std::time::Duration,
    pub alerts: Vec<(u64, &'static str)>,
    pub told: Vec<(u64, &'static str)>,
    publisher: Publisher,
    reader: Snapshot,
}

impl Scene {
    pub fn new() -> Self {
        Self {
            roster: Roster::new(Settings::default()),
            millis: 0,
            asleep: std::time::Duration::ZERO,
            alerts: Vec::new(),
            told: Vec::new(),
            publisher: Publisher::new(),
            reader: Snapshot::empty(),
        }
    }

    pub fn now(&self) -> Now {
        let wall = WallTime(1_700_000_000_000 + i64::try_from(self.millis).unwrap());
        Now { boot: BootTime::from_millis(START + self.millis), wall, asleep: self.asleep }
    }

    /// Sends from nowhere in particular, its hook having started now.
    pub fn send(&mut self, agent: &str, name: &str, payload: Value) -> Outcome {
        self.send_from(&Sender::default(), agent, name, payload)
    }

    pub fn send_from(&mut self, sender: &Sender, agent: &str, name: &str, payload: Value) -> Outcome {
        let started = sender.started.unwrap_or(self.millis);
        let link = |pid: u32, comm: &str, tty| ChainLink { pid, start: u64::from(pid) * 100, comm: comm.into(), tty };
        let chain = sender.pid.map(|pid| {
            let above = sender.above.iter().map(|pid| link(*pid, "other", 0));
            [link(1_000_000, "sh", 0), link(pid, agent, sender.tty)].into_iter().chain(above).collect()
        });
        let origin = Origin {
            id: sender.id.clone(),
            at: Some(BootTime::from_millis(START + started).0),
            chain: chain.unwrap_or_default(),
            env: sender.env.clone(),
            cwd: sender.cwd.clone(),
            ..Origin::default()
        };
        let agent = agent::find(agent);
        let payload = forward::reduce(&agent, payload.to_string().as_bytes()).unwrap();
        let event = agent::event(&agent, name, &payload, &origin, &Here::default(), Found::default()).unwrap();
        let outcome = self.roster.apply(event, self.now());
        self.check();
        outcome
    }

    /// Lets time pass, stopping wherever the roster wants to act.
    pub fn wait(&mut self, millis: u64) {
        let end = self.millis + millis;
        let end_boot = BootTime::from_millis(START + end);
        let mut steps = 0;
        while let Some(deadline) = self.roster.next_deadline().filter(|deadline| *deadline <= end_boot) {
            self.millis = self.millis.max((deadline.0 / 1_000_000).saturating_sub(START));
            let now = Now { boot: deadline.max(self.now().boot), ..self.now() };
            self.roster.tick(now);
            self.check();
            steps += 1;
            assert!(steps < 10_000, "the roster waits for something that never happens");
        }
        self.millis = end;
        self.roster.tick(self.now());
        self.check();
    }

    /// What must hold after every step.
    pub fn check(&mut self) {
        self.roster.verify_invariants();
        let due = self.roster.take_due();
        self.told.extend(due.state_events.iter().map(|event| (self.millis, event.name.as_str())));
        self.alerts.extend(due.alerts.iter().map(|alert| {
            let kind = match (alert.kind, alert.silent) {
                (AlertKind::Finished, false) => "finished",
                (AlertKind::Finished, true) => "finished-quiet",
                (AlertKind::NeedsInput, _) => "needs-input",
                (AlertKind::Failed, _) => "failed",
            };
            (self.millis, kind)
        }));
        let dirty = self.roster.take_dirty();
        if let Some((serial, changes)) = self.publisher.publish(&self.roster, &dirty) {
            // As it goes over the bus.
            let text = serde_json::to_string(&changes).unwrap();
            self.reader.apply(serial, &serde_json::from_str::<Vec<_>>(&text).unwrap());
        }
        assert_eq!(self.reader, self.roster.snapshot(self.publisher.serial(), false), "the changes add up");
        let text = serde_json::to_string(&self.roster.replicate()).unwrap();
        let state: State = serde_json::from_str(&text).unwrap();
        let restored = Roster::restore(state, Settings::default(), self.now(), |_| true);
        let again = serde_json::to_string(&restored.replicate()).unwrap();
        assert_eq!(again, text, "the state comes back as it went");
        assert_eq!(restored.snapshot(0, false), self.roster.snapshot(0, false), "and shows the same");
        restored.verify_invariants();
    }

    /// A restart: the state goes out and comes in, and processes of `dead` are gone.
    pub fn restart(&mut self, dead: &[u32]) {
        let state = serde_json::to_string(&self.roster.replicate()).unwrap();
        let state: State = serde_json::from_str(&state).unwrap();
        self.roster = Roster::restore(state, Settings::default(), self.now(), |process| !dead.contains(&process.pid));
        self.publisher = Publisher::new();
        self.reader = Snapshot::empty();
        self.check();
    }

    pub fn workspaces(&self) -> Vec<WorkspaceView> {
        self.roster.snapshot(0, false).workspaces
    }

    pub fn rows(&self) -> Vec<RowView> {
        self.workspaces().into_iter().flat_map(|workspace| workspace.rows.unwrap_or_default()).collect()
    }

    /// The only row.
    pub fn row(&self) -> RowView {
        let mut rows = self.rows();
        assert_eq!(rows.len(), 1, "one row: {rows:#?}");
        rows.remove(0)
    }

    /// The only row, in short: status, attention, questions.
    pub fn shown(&self) -> (&'static str, &'static str, u32) {
        let row = self.row();
        (row.status.as_str(), row.attention.as_str(), row.questions)
    }

    pub fn counts(&self) -> (u32, u32) {
        (self.row().subagents, self.row().background)
    }

    pub fn alert_kinds(&self) -> Vec<&'static str> {
        self.alerts.iter().map(|(_, kind)| *kind).collect()
    }

    pub fn told_names(&self) -> Vec<&'static str> {
        self.told.iter().map(|(_, name)| *name).collect()
    }
}

/// A session whose turn has run for ten seconds.
pub fn running(agent: &str) -> Scene {
    let mut scene = Scene::new();
    scene.send(agent, "prompt-submit", of("s"));
    scene.wait(10_000);
    scene
}

/// A payload of one session.
pub fn of(session: &str) -> Value {
    json!({ "session_id": session })
}

/// A payload of one session, with more in it.
pub fn with(session: &str, more: Value) -> Value {
    let mut payload = of(session);
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

#[test]
fn every_state_event_has_its_name() {
    let names = [
        (StateName::SessionStart, "session.start"),
        (StateName::SessionBusy, "session.busy"),
        (StateName::SessionWaiting, "session.waiting"),
        (StateName::SessionIdle, "session.idle"),
        (StateName::SessionError, "session.error"),
        (StateName::SessionEnd, "session.end"),
        (StateName::SubagentStart, "subagent.start"),
        (StateName::SubagentStop, "subagent.stop"),
    ];
    for (name, text) in names {
        assert_eq!(name.as_str(), text);
    }
}
