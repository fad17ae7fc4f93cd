// SPDX-License-Identifier: GPL-3.0-or-later
//! What a hostile sender can make the roster remember, and what an event costs among many rows.

use std::time::Instant;

use vigil::event::{BackgroundTask, Event, Kind, Process, Question, Said};
use vigil::roster::{Outcome, Roster, Settings, StatusOptions};
use vigil::time::{BootTime, Now};

fn now(millis: u64) -> Now {
    Now { boot: BootTime::from_millis(1_000_000 + millis), ..Now::default() }
}

fn event(session: &str, kind: Kind) -> Event {
    let mut event = Event::new("codex", "x", kind);
    event.session = Some(session.to_string());
    event.place.cwd = Some("/home/u/shop".to_string());
    event
}

/// An id as long as ids may be.
fn long(number: usize) -> String {
    format!("{number:04096}")
}

fn size(roster: &Roster) -> usize {
    serde_json::to_string(&roster.replicate()).unwrap().len()
}

#[test]
fn one_session_remembers_little_whatever_it_is_sent() {
    let mut roster = Roster::new(Settings::default());
    let kinds: [fn(usize) -> Kind; 8] = [
        |_| Kind::PreToolUse,
        |_| Kind::Question(Question::Request),
        |_| Kind::Question(Question::Unified),
        |_| Kind::SubagentStart,
        |_| Kind::SubagentStop,
        |n| Kind::BackgroundStart(Some(long(n))),
        |n| Kind::BackgroundStop(Some(long(n))),
        |n| Kind::Task { id: long(n), done: false },
    ];
    for round in 0..500 {
        for (number, kind) in kinds.iter().enumerate() {
            let mut event = event("s", kind(round));
            event.thread = (number != 1).then(|| long(round / 4));
            event.call.id = (number != 2).then(|| long(round));
            event.call.tool = Some("Bash".into());
            event.call.input = Some(long(round));
            event.began = Some(long(round));
            event.tasks = Some(vec![BackgroundTask { id: long(round), subagent: true }]);
            event.message = Said::Value("x".repeat(512));
            roster.apply(event, now(round as u64 * 10));
        }
    }
    roster.verify_invariants();
    let size = size(&roster);
    assert!(size < 2_000_000, "{size}");
}

#[test]
fn a_count_beyond_all_reason_is_told_once() {
    let mut roster = Roster::new(Settings::default());
    roster.apply(event("s", Kind::Stop), now(0));
    roster.take_due();
    for count in [u32::MAX, 0] {
        let kind = Kind::SubagentUpdate { subagents: Some(count), background: Some(count) };
        roster.apply(event("s", kind), now(1));
        assert_eq!(roster.take_due().state_events.len(), 1);
    }
}

#[test]
fn what_scripts_say_is_cut() {
    let mut roster = Roster::new(Settings::default());
    let huge = "x\u{202e}\n".repeat(1_000_000);
    let options = || StatusOptions { priority: None, display_name: Some(huge.clone()), message: Some(huge.clone()) };
    roster.set_status("w", "builder", "Running", options(), now(0)).unwrap();
    roster.set_status("w", "other", &huge, StatusOptions::default(), now(0)).unwrap();
    roster.set_progress("w", 0.5, &huge, now(0)).unwrap();
    roster.append_log("w", "info", &huge, now(0)).unwrap();
    roster.verify_invariants();
    assert!(size(&roster) < 20_000, "{}", size(&roster));
}

#[test]
fn ended_sessions_and_workspaces_without_rows_are_forgotten_in_time() {
    let mut roster = Roster::new(Settings::default());
    for number in 0..6000 {
        let mut end = event(&long(number), Kind::SessionEnd { successor: false });
        end.id = Some(format!("{number}"));
        assert_eq!(roster.apply(end, now(1)), Outcome::Homeless);
    }
    for number in 0..1000 {
        roster.set_progress(&format!("w{number}"), 0.5, "", now(number)).unwrap();
    }
    roster.verify_invariants();
    assert_eq!(roster.snapshot(0, false).workspaces.len(), 256);
    assert!(size(&roster) < 1_000_000, "{}", size(&roster));
}

/// Figures for a reader: `cargo test --release --test roster -- --ignored --nocapture what_an_event_costs`.
#[test]
#[ignore = "prints figures; means something in release mode only"]
fn what_an_event_costs() {
    for spread in [true, false] {
        for rows in [10_usize, 1_000, 10_000, 20_000] {
            let mut roster = Roster::new(Settings::default());
            let folder = |number: usize| if spread { format!("/home/u/p{number}") } else { "/home/u/shop".into() };
            let at = |number: usize, kind: Kind| {
                let mut event = event(&format!("s{number}"), kind);
                event.place.cwd = Some(folder(number));
                event.place.process = Some(Process { pid: u32::try_from(number).unwrap() + 2, start: 5 });
                event.place.surface = Some(format!("tmux:{number}"));
                event.place.ancestors = vec![Process { pid: 1, start: 1 }];
                event
            };
            let start = Instant::now();
            for number in 0..rows {
                roster.apply(at(number, Kind::PromptSubmit { automatic: false }), now(0));
            }
            let made = start.elapsed() / u32::try_from(rows).unwrap();
            roster.take_dirty();
            roster.take_due();
            let mut line = format!("{rows} rows, spread {spread}: making {made:?}");
            let mut measure = |what: &str, make: &dyn Fn(usize) -> Event| {
                const TIMES: u32 = 100;
                // The best of several, for a busy machine interrupts most of them.
                let best = (0..5_usize).map(|batch| {
                    let events: Vec<Event> = (0..100).map(|number| make(batch * 100 + number)).collect();
                    let start = Instant::now();
                    for (number, event) in events.into_iter().enumerate() {
                        roster.apply(event, now(1000 + (batch * 100 + number) as u64));
                        roster.take_dirty();
                        roster.take_due();
                    }
                    start.elapsed() / TIMES
                });
                line += &format!(", {what} {:?}", best.min().unwrap_or_default());
            };
            measure("tool use", &|number| {
                let kind = if number % 2 == 0 { Kind::PreToolUse } else { Kind::PostToolUse };
                at(number / 2 % rows, kind)
            });
            measure("stop and prompt", &|number| {
                let kind = if number % 2 == 0 { Kind::Stop } else { Kind::PromptSubmit { automatic: false } };
                at(number / 2 % rows, kind)
            });
            measure("progress", &|number| at(number % rows, Kind::Progress(Some(0.5), String::new())));
            measure("no id", &|number| Event { session: None, ..at(number % rows, Kind::PreToolUse) });
            measure("end", &|number| at(number % rows, Kind::SessionEnd { successor: false }));
            measure("ended", &|number| at(number % rows, Kind::PreToolUse));
            measure("new", &|number| at(rows + number, Kind::PreToolUse));
            println!("{line}");
        }
    }
}
