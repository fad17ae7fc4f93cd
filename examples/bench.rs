// SPDX-License-Identifier: GPL-3.0-or-later
//! What `./dev bench` compares inside one process: `bench empty` opens an empty Adwaita window, `bench rows COUNT` the
//! sidebar with that many rows; each prints the time of its first painted frame, in nanoseconds of the monotonic clock,
//! and stays. `bench apply COUNT` prints what the state machine takes for one event at that many rows, in nanoseconds.

use std::time::Instant;

use adw::prelude::*;
use gtk::{gio, glib};
use rustix::time::{ClockId, clock_gettime};
use vigil::app::model::{Banner, Integration, Sidebar};
use vigil::app::widget::{self, Window};
use vigil::event::{Event, Kind, Place, Project};
use vigil::protocol::SNAPSHOT_VERSION;
use vigil::roster::{Roster, Settings};
use vigil::snapshot::Snapshot;
use vigil::status::{Attention, Status};
use vigil::time::{BootTime, Now, WallTime};

#[path = "../tests/scenes/mod.rs"]
mod scenes;

/// Rows of one workspace.
const TOGETHER: usize = 10;

/// Events of one measurement.
const EVENTS: usize = 20_000;

fn main() -> glib::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = words.get(1).and_then(|count| count.parse().ok());
    match (words.first().copied(), count) {
        (Some("empty"), None) => show(empty),
        (Some("rows"), Some(count)) => show(move |app| sidebar(app, count)),
        (Some("apply"), Some(count)) => apply(count),
        _ => {
            eprintln!("usage: bench empty | rows COUNT | apply COUNT");
            glib::ExitCode::FAILURE
        }
    }
}

/// Opens that window and tells of its first frame.
fn show<W: IsA<gtk::Window>>(window: impl Fn(&adw::Application) -> W + 'static) -> glib::ExitCode {
    let app =
        adw::Application::builder().application_id("dev.vigil.Bench").flags(gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate(move |app| {
        let window: gtk::Window = window(app).upcast();
        window.set_default_size(380, 760);
        window.connect_realize(|window| {
            let clock = window.frame_clock().expect("a realized window has one");
            let told = std::cell::Cell::new(false);
            clock.connect_after_paint(move |_| {
                if !told.replace(true) {
                    let now = clock_gettime(ClockId::Monotonic);
                    println!("{}", now.tv_sec * 1_000_000_000 + now.tv_nsec);
                }
            });
        });
        window.present();
    });
    app.run_with_args::<&str>(&[])
}

fn empty(app: &adw::Application) -> adw::ApplicationWindow {
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::new());
    adw::ApplicationWindow::builder().application(app).title("Empty").content(&content).build()
}

fn sidebar(app: &adw::Application, count: usize) -> Window {
    widget::register_resources();
    let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
    let rows: Vec<usize> = (0..count).collect();
    let workspaces = rows.chunks(TOGETHER).map(|rows| {
        let name = format!("workspace-{}", rows[0] / TOGETHER);
        let row = |number: &usize| {
            let (status, attention) = match number % 4 {
                0 => (Status::NeedsInput, Attention::NeedsInput),
                1 => (Status::Idle, Attention::None),
                _ => (Status::Running, Attention::None),
            };
            scenes::row(&name, &format!("Claude {number}"), status, attention, 60)
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        scenes::workspace(&name, "main", rows)
    });
    sidebar.reset(&Snapshot { version: SNAPSHOT_VERSION, serial: 1, workspaces: workspaces.collect() });
    let integrations = gtk::gio::ListStore::new::<Integration>();
    Window::new(app, &sidebar, &Banner::new(&integrations))
}

/// Turns of agents in turn: prompt, tool, tool's end, stop.
fn apply(count: usize) -> glib::ExitCode {
    let mut roster = Roster::new(Settings::default());
    let mut clock = 1_000_000_000_u64;
    let mut feed = |roster: &mut Roster, session: usize, kind: Kind| {
        clock += 1_000_000;
        let now = Now { boot: BootTime(clock), wall: WallTime(scenes::NOW), ..Now::default() };
        roster.apply(event(session, kind), now);
        roster.take_dirty();
        roster.take_due();
    };
    for session in 0..count {
        feed(&mut roster, session, Kind::SessionStart { waiting: true });
    }
    let shown: u32 = roster.status_counts().iter().map(|(_, count)| count).sum();
    assert_eq!(shown as usize, count, "each session has its row");
    let steps = [Kind::PromptSubmit { automatic: false }, Kind::PreToolUse, Kind::PostToolUse, Kind::Stop];
    let began = Instant::now();
    for number in 0..EVENTS {
        // A large step, so that neighbours in memory are not neighbours in time.
        let session = (number / steps.len() * 7919) % count;
        feed(&mut roster, session, steps[number % steps.len()].clone());
    }
    println!("{}", began.elapsed().as_nanos() / EVENTS as u128);
    glib::ExitCode::SUCCESS
}

fn event(session: usize, kind: Kind) -> Event {
    let project = Project { root: format!("/src/workspace-{}", session / TOGETHER), title: None };
    Event {
        session: Some(format!("session-{session}")),
        place: Place { project: Some(project), ..Place::default() },
        ..Event::new(format!("agent-{}", session % TOGETHER), "", kind)
    }
}
