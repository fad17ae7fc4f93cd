// SPDX-License-Identifier: GPL-3.0-or-later
//! Late delivery: a session that happened in one order and arrives in another ends up the same, as far as rule 4 has it:
//! status, questions and counters. `VIGIL_CASES` sets how many are tried.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Scene, Sender, with};

/// One thing that happens in a session.
#[derive(Clone, Debug)]
enum Step {
    Prompt,
    Begin { thread: usize, asks: bool },
    End { thread: usize },
    Answer { thread: usize },
    Batch { thread: usize },
    Spawn,
    Depart { subagent: usize },
    Shell,
    Stop,
    Interrupt,
}

/// A hook call: when it started, its name, its payload.
type Hook = (u64, &'static str, Value);

/// Turns steps into hook calls that can follow on one another: no call ends that has not begun, nobody works who is not
/// there.
#[derive(Default)]
struct Author {
    hooks: Vec<Hook>,
    at: u64,
    made: usize,
    /// Whether a thread has several calls at once. A request then arrives behind its call's beginning: a hook ends
    /// before the agent goes on, and which call is meant could not be told otherwise.
    parallel: bool,
    /// Whether its stops list what runs.
    lists: bool,
    busy: bool,
    subagents: Vec<String>,
    shells: Vec<String>,
    /// Thread and id of open calls.
    calls: Vec<(String, String)>,
}

impl Author {
    fn hook(&mut self, name: &'static str, thread: &str, more: Value) {
        let mut payload = with("s", more);
        if !thread.is_empty() {
            payload["agent_id"] = json!(thread);
        }
        self.hooks.push((self.at, name, payload));
    }

    fn thread(&self, index: usize) -> Option<String> {
        let threads: Vec<&str> =
            self.busy.then_some("").into_iter().chain(self.subagents.iter().map(String::as_str)).collect();
        (!threads.is_empty()).then(|| threads[index % threads.len()].to_string())
    }

    fn name(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}{}", self.made)
    }

    fn list(&self) -> Value {
        let of =
            |ids: &[String], kind: &str| ids.iter().map(|id| json!({ "id": id, "type": kind })).collect::<Vec<_>>();
        [of(&self.subagents, "subagent"), of(&self.shells, "shell")].concat().into()
    }

    fn write(&mut self, step: &Step, gap: u64) {
        self.at += gap;
        match step {
            Step::Prompt if !self.busy => {
                self.busy = true;
                self.hook("UserPromptSubmit", "", json!({}));
            }
            Step::Begin { thread, asks } => {
                let Some(thread) = self.thread(*thread) else { return };
                if !self.parallel && self.calls.iter().any(|(of, _)| *of == thread) {
                    return;
                }
                let call = self.name("c");
                let tool = json!({ "tool_name": "Bash", "tool_use_id": call, "tool_input": { "command": call } });
                self.hook("PreToolUse", &thread, tool);
                if *asks {
                    self.at += 5;
                    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": call } });
                    self.hook("PermissionRequest", &thread, tool);
                }
                self.calls.push((thread, call));
            }
            Step::End { thread } => {
                let Some(thread) = self.thread(*thread) else { return };
                let Some(position) = self.calls.iter().position(|(of, _)| *of == thread) else { return };
                let (_, call) = self.calls.remove(position);
                let tool = json!({ "tool_name": "Bash", "tool_use_id": call, "tool_input": { "command": call } });
                self.hook("PostToolUse", &thread, tool);
            }
            Step::Answer { thread } => {
                let Some(thread) = self.thread(*thread) else { return };
                let Some((_, call)) = self.calls.iter().find(|(of, _)| *of == thread).cloned() else { return };
                self.hook("approval-response", &thread, json!({ "tool_use_id": call }));
            }
            Step::Batch { thread } => {
                let Some(thread) = self.thread(*thread) else { return };
                self.calls.retain(|(of, _)| *of != thread);
                self.hook("PostToolBatch", &thread, json!({}));
            }
            Step::Spawn if self.busy => {
                let id = self.name("a");
                self.hook("SubagentStart", &id, json!({}));
                self.subagents.push(id);
            }
            Step::Depart { subagent } if !self.subagents.is_empty() => {
                let id = self.subagents.remove(subagent % self.subagents.len());
                self.calls.retain(|(of, _)| *of != id);
                self.hook("SubagentStop", &id, json!({}));
            }
            Step::Shell if self.busy => {
                let id = self.name("b");
                self.hook("background-start", "", json!({ "task_id": id }));
                self.shells.push(id);
            }
            Step::Stop if self.busy => {
                self.busy = false;
                self.calls.retain(|(of, _)| !of.is_empty());
                if self.lists {
                    let list = self.list();
                    self.hook("Stop", "", json!({ "background_tasks": list }));
                } else {
                    self.subagents.clear();
                    self.calls.clear();
                    self.hook("Stop", "", json!({}));
                }
            }
            Step::Interrupt if self.busy => {
                self.busy = false;
                // The tool at work may still report behind it.
                self.hook("interrupt", "", json!({}));
                self.subagents.clear();
                let late = self.calls.drain(..).filter(|(of, _)| of.is_empty()).map(|(_, call)| call).next();
                if let Some(call) = late {
                    self.at += 5;
                    self.hook("PostToolUse", "", json!({ "tool_name": "Bash", "tool_use_id": call }));
                }
            }
            _ => {}
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    let thread = || 0..4usize;
    let step = prop_oneof![
        6 => Just(Step::Prompt),
        8 => (thread(), any::<bool>()).prop_map(|(thread, asks)| Step::Begin { thread, asks }),
        6 => thread().prop_map(|thread| Step::End { thread }),
        2 => thread().prop_map(|thread| Step::Answer { thread }),
        2 => thread().prop_map(|thread| Step::Batch { thread }),
        3 => Just(Step::Spawn),
        3 => thread().prop_map(|subagent| Step::Depart { subagent }),
        1 => Just(Step::Shell),
        3 => Just(Step::Stop),
        1 => Just(Step::Interrupt),
    ];
    proptest::collection::vec((step, prop_oneof![1..30u64, 30..4000u64]), 1..25)
}

/// Plays hook calls, each delivered so many milliseconds after its start, some twice; and says what is shown in the end.
fn play(hooks: &[Hook], (parallel, lists): (bool, bool), delays: &[u64], twice: &[bool]) -> (String, u32, u32, u32) {
    let mut scene = Scene::new();
    let start = with("s", json!({ "source": "startup" }));
    scene.send("claude", "SessionStart", start);
    if lists {
        scene.send("claude", "Stop", with("s", json!({ "background_tasks": [] })));
    }
    let mut order = Vec::new();
    let mut prompted = 0;
    for (index, (at, name, _)) in hooks.iter().enumerate() {
        let own = at + if delays.is_empty() { 0 } else { delays[index % delays.len()] };
        // A question opens no turn: where it comes first, its prompt is late, and rule 4 has it open none either.
        let behind = match *name {
            "PermissionRequest" if parallel => prompted.max(order.last().map_or(0, |(at, _)| *at)),
            "PermissionRequest" => prompted,
            _ => 0,
        };
        order.push((own.max(behind), index));
        if *name == "UserPromptSubmit" {
            prompted = own;
        }
    }
    order.sort_unstable();
    for (arrival, index) in order {
        let (at, name, payload) = &hooks[index];
        scene.wait(arrival.saturating_sub(scene.millis));
        let sender = Sender { id: Some(format!("e{index}")), ..Sender::default() }.started(*at);
        let times = 1 + usize::from(!twice.is_empty() && twice[index % twice.len()]);
        for _ in 0..times {
            scene.send_from(&sender, "claude", name, payload.clone());
        }
    }
    let row = scene.row();
    (row.status.as_str().to_string(), row.questions, row.subagents, row.background)
}

fn text(hooks: &[Hook], delays: &[u64]) -> String {
    let line = |(index, (at, name, payload)): (usize, &Hook)| {
        format!("{at} +{} {name} {payload}", delays[index % delays.len()])
    };
    hooks.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

fn cases() -> u32 {
    std::env::var("VIGIL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn late_delivery_ends_in_the_same_state(
        steps in steps(),
        (parallel, lists) in any::<(bool, bool)>(),
        delays in proptest::collection::vec(prop_oneof![3 => Just(0u64), 2 => 1..100u64, 1 => 100..9000u64], 1..40),
        twice in proptest::collection::vec(any::<bool>(), 1..8),
    ) {
        let mut author = Author { at: 100, parallel, lists, ..Author::default() };
        for (step, gap) in &steps {
            author.write(step, *gap);
        }
        let hooks = author.hooks;
        prop_assert_eq!(play(&hooks, (parallel, lists), &delays, &twice), play(&hooks, (parallel, lists), &[], &[]), "{}", text(&hooks, &delays));
    }
}
