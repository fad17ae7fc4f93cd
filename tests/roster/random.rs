// SPDX-License-Identifier: GPL-3.0-or-later
//! Random operations: whatever comes in whatever order, the invariants hold. `VIGIL_CASES` sets how many are tried.

use proptest::prelude::*;
use serde_json::{Value, json};
use vigil::event::UnifiedKind;
use vigil::roster::StatusOptions;

use crate::scene::{Scene, Sender, process};

#[derive(Clone, Debug)]
enum Op {
    Event {
        agent: &'static str,
        name: String,
        payload: Value,
        sender: Sender,
    },
    Wait(u64),
    Acknowledge(usize),
    Dismiss(usize),
    Die(u32),
    HangUp(u32),
    SetStatus(&'static str, &'static str, &'static str),
    SetCounts(&'static str, &'static str, i32, i32),
    Suspend(u64),
    Restart(u32),
    /// The event before the last one comes again, under the same delivery id or a new one.
    Again(Box<Op>, bool),
    Focus(Option<&'static str>),
    ShowHidden(bool),
}

const NATIVE: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "SessionEnd",
    "Elicitation",
    "ElicitationResult",
    "PreCompact",
];

fn payload() -> impl Strategy<Value = Value> {
    let maybe = |choices: &'static [&'static str]| proptest::option::weighted(0.6, proptest::sample::select(choices));
    let flag = || proptest::option::weighted(0.2, any::<bool>());
    (
        (
            maybe(&["s1", "s2", "s3"]),
            maybe(&["w1", "w2"]),
            maybe(&["p1", "p2"]),
            maybe(&["a1", "a2"]),
            maybe(&["c1", "c2", "c3"]),
            maybe(&["Bash", "Read", "AskUserQuestion"]),
        ),
        (
            maybe(&["startup", "resume", "clear", "compact"]),
            maybe(&["clear", "other"]),
            maybe(&["permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog", "agent_needs_input"]),
            maybe(&["server_error", "authentication_failed"]),
        ),
        (flag(), flag(), flag(), flag(), flag()),
        (
            proptest::option::weighted(0.3, 0..9i64),
            proptest::option::weighted(0.2, prop_oneof![9 => 0..4u32, 1 => Just(u32::MAX)]),
            0..3usize,
        ),
    )
        .prop_map(|(ids, natives, flags, numbers)| {
            let mut payload = json!({
                "session_id": ids.0, "workspace_id": ids.1, "surface_id": ids.2, "agent_id": ids.3,
                "tool_use_id": ids.4, "tool_name": ids.5, "source": natives.0, "reason": natives.1,
                "notification_type": natives.2, "error": natives.3, "task_id": ids.4,
                "recoverable": flags.0, "waiting": flags.1, "automatic": flags.2, "background": flags.3,
                "seq": numbers.0, "subagent_count": numbers.1, "value": 0.5, "cwd": "/home/u/shop",
                "tool_input": { "command": ids.4 },
            });
            if flags.4 == Some(true) {
                let all = ["a1", "c1", "c2"];
                let tasks = all[..numbers.2]
                    .iter()
                    .map(|id| json!({ "id": id, "type": if *id == "a1" { "subagent" } else { "shell" } }));
                payload["background_tasks"] = tasks.collect();
            }
            payload.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            payload
        })
}

fn event() -> impl Strategy<Value = Op> {
    let names: Vec<String> = UnifiedKind::names().chain(NATIVE.iter().copied()).map(ToString::to_string).collect();
    let sender = (
        proptest::option::weighted(0.5, 1..5u32),
        proptest::option::weighted(0.3, Just((136 << 8) | 1)),
        proptest::option::weighted(0.2, 1..5u32),
        proptest::option::weighted(0.3, 0..30_000u64),
    );
    (
        proptest::sample::select(&["claude", "codex", "hermes", "gemini"][..]),
        proptest::sample::select(names),
        payload(),
        sender,
    )
        .prop_map(|(agent, name, payload, (pid, tty, above, started))| {
            let above = above.filter(|above| Some(*above) != pid).into_iter().collect();
            let sender = Sender { pid, tty: tty.unwrap_or_default(), above, started, ..Sender::default() };
            Op::Event { agent, name, payload, sender }
        })
}

fn delivered_twice() -> impl Strategy<Value = Op> {
    (event(), any::<bool>()).prop_map(|(event, same)| Op::Again(Box::new(event), same))
}

fn op() -> impl Strategy<Value = Op> {
    let workspace = || proptest::sample::select(&["w1", "w2"][..]);
    let key = || proptest::sample::select(&["claude", "codex", "codex-p1", "builder"][..]);
    prop_oneof![
        30 => event(),
        6 => (0..20_000u64).prop_map(Op::Wait),
        2 => (0..6usize).prop_map(Op::Acknowledge),
        1 => (0..6usize).prop_map(Op::Dismiss),
        2 => (1..5u32).prop_map(Op::Die),
        1 => (0..3u32).prop_map(Op::HangUp),
        2 => (workspace(), key(), proptest::sample::select(&["Running", "Idle", "Needs input", "Failed", "busy"][..]))
            .prop_map(|(workspace, key, value)| Op::SetStatus(workspace, key, value)),
        1 => (workspace(), key(), -1..4i32, -1..4i32).prop_map(|(w, k, s, b)| Op::SetCounts(w, k, s, b)),
        1 => (1..100_000u64).prop_map(Op::Suspend),
        1 => (0..6u32).prop_map(Op::Restart),
        4 => delivered_twice(),
        1 => proptest::option::of(proptest::sample::select(&["p1", "p2"][..])).prop_map(Op::Focus),
        1 => any::<bool>().prop_map(Op::ShowHidden),
    ]
}

impl Op {
    fn apply(self, scene: &mut Scene) {
        match self {
            Self::Event { agent, name, payload, sender } => {
                let sender = Sender { started: sender.started.map(|started| started.min(scene.millis)), ..sender };
                scene.send_from(&sender, agent, &name, payload);
            }
            Self::Wait(millis) => scene.wait(millis),
            Self::Acknowledge(index) => {
                if let Some(row) = scene.rows().get(index) {
                    scene.roster.acknowledge(&row.id, scene.now()).unwrap();
                }
            }
            Self::Dismiss(index) => {
                if let Some(row) = scene.rows().get(index) {
                    scene.roster.dismiss(&row.id, scene.now()).unwrap();
                }
            }
            Self::Die(pid) => scene.roster.process_gone(&process(pid), scene.now()),
            Self::HangUp(tty) => scene.roster.tty_gone(&format!("pts/{tty}"), scene.now()),
            Self::SetStatus(workspace, key, value) => {
                let _ = scene.roster.set_status(workspace, key, value, StatusOptions::default(), scene.now());
            }
            Self::SetCounts(workspace, key, subagents, background) => {
                let _ = scene.roster.set_counts(workspace, key, subagents, background, scene.now());
            }
            Self::Suspend(millis) => {
                scene.millis += millis;
                scene.asleep += std::time::Duration::from_millis(millis);
                scene.roster.tick(scene.now());
            }
            Self::Restart(dead) => scene.restart(&[dead]),
            Self::Again(event, same) => {
                let Self::Event { agent, name, payload, sender } = *event else { unreachable!("only events are sent") };
                for time in 0..2 {
                    let id =
                        if same { format!("{}", scene.told.len()) } else { format!("{time}-{}", scene.told.len()) };
                    let started = sender.started.map(|started| started.min(scene.millis));
                    let sender = Sender { id: Some(id), started, ..sender.clone() };
                    scene.send_from(&sender, agent, &name, payload.clone());
                }
            }
            Self::Focus(surface) => scene.roster.set_focus(surface.map(ToString::to_string)),
            Self::ShowHidden(shows) => scene.roster.set_shows_hidden(shows),
        }
        scene.check();
    }
}

fn cases() -> u32 {
    std::env::var("VIGIL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_operations_break_no_invariant(ops in proptest::collection::vec(op(), 1..60)) {
        let mut scene = Scene::new();
        for op in ops {
            op.apply(&mut scene);
        }
    }
}
