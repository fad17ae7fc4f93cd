// SPDX-License-Identifier: GPL-3.0-or-later
//! The demo day through the core: what its picture has to show, before there is a picture.

use std::time::Duration;

use serde_json::Value;
use vigil::agent;
use vigil::event::Project;
use vigil::forward;
use vigil::origin::{Found, Here};
use vigil::protocol::Origin;
use vigil::roster::{Roster, Settings};
use vigil::snapshot::Snapshot;
use vigil::time::{BootTime, Now, WallTime};

const DAY: &str = include_str!("../demo/day.jsonl");

/// How fast `./dev run` plays it.
const SPEED: u64 = 2;

fn now(millis: u64) -> Now {
    Now { boot: BootTime::from_millis(millis), wall: WallTime(millis as i64 / 1000), asleep: Duration::ZERO }
}

/// The snapshot at the end of the day.
fn evening() -> Snapshot {
    let mut roster = Roster::new(Settings::default());
    let mut time = now(1_000);
    for line in DAY.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let name = line["event"].as_str().unwrap();
        if name.starts_with('#') {
            continue;
        }
        let agent = agent::find(line["agent"].as_str().unwrap());
        let payload = forward::reduce(&agent, line["payload"].to_string().as_bytes()).unwrap();
        let env = line.get("env").map(|env| serde_json::from_value(env.clone()).unwrap()).unwrap_or_default();
        let root = payload.get("cwd").and_then(Value::as_str).map(|cwd| format!("/{}", cwd.trim_matches('@')));
        let found = Found { project: root.map(|root| Project { root, title: None }), ..Found::default() };
        time = now(1_000 + line["t_ms"].as_u64().unwrap() / SPEED);
        let origin = Origin { env, ..Origin::default() };
        let event = agent::event(&agent, name, &payload, &origin, &Here::default(), found).unwrap();
        roster.tick(time);
        roster.apply(event, time);
    }
    roster.tick(time);
    roster.snapshot(0, false)
}

#[test]
fn the_day_ends_as_its_picture_shows() {
    let snapshot = evening();
    let rows: Vec<String> = snapshot
        .workspaces
        .iter()
        .flat_map(|workspace| workspace.rows.iter().flatten().map(|row| (&workspace.name, row)))
        .map(|(workspace, row)| {
            let mark = serde_json::to_value(row.attention).unwrap();
            let (name, label, icon) = (&row.name, &row.label, &row.icon);
            format!(
                "{workspace}: {name}, {label}, {}, {icon} {}+{}",
                mark.as_str().unwrap(),
                row.subagents,
                row.background
            )
        })
        .collect();
    let mut sorted = rows.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "PAYMENTS: Claude Code, Running, none, content-loading-symbolic 0+0",
            "PAYMENTS: Mistral Vibe, Failed, failed, dialog-error-symbolic 0+0",
            "PAYMENTS: Pi Agent, Idle, none, media-playback-start-symbolic 0+1",
            "SHOP: Claude Code, Running, none, system-run-symbolic 2+1",
            "SHOP: Codex, Needs input, needs-input, dialog-question-symbolic 0+0",
            "SHOP: OpenCode, Idle, finished, emblem-ok-symbolic 0+0",
            "docs: Hermes Agent, Idle, none, radio-symbolic 0+0",
        ]
    );
}

#[test]
fn the_workspaces_stand_in_their_order() {
    let names: Vec<String> = evening().workspaces.into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["SHOP", "PAYMENTS", "docs"]);
}

#[test]
fn the_shop_shows_its_progress_and_its_log() {
    let snapshot = evening();
    let shop = snapshot.workspaces.iter().find(|workspace| workspace.name == "SHOP").unwrap();
    assert_eq!(shop.progress.as_ref().unwrap().label, "3 of 7 tasks");
    assert_eq!(shop.log.as_ref().unwrap().message, "build: compiled in 2.3 s");
}
