// SPDX-License-Identifier: GPL-3.0-or-later
//! What `./dev bench` compares inside one process: `bench empty` opens an empty Adwaita window, `bench rows COUNT` the
//! sidebar with that many rows; each prints the time of its first painted frame, in nanoseconds of the monotonic clock,
//! and stays. `bench apply COUNT` prints what the state machine takes for one event at that many rows, in nanoseconds.
//! `bench paint COUNT` prints, for each of some events that change a row in sight of a window at rest, the nanoseconds
//! and the number of frames from the event until the window has been painted.

use std::cell::Cell;
use std::time::{Duration, Instant};

use adw::prelude::*;
use gtk::{gdk, gio, glib};
use rustix::time::{ClockId, clock_gettime};
use vigil::app::model::{Banner, Integration, Sidebar};
use vigil::app::widget::{self, Window};
use vigil::event::{Event, Kind, Place, Project};
use vigil::protocol::SNAPSHOT_VERSION;
use vigil::roster::{self, Dirty, Roster, Settings};
use vigil::snapshot::Snapshot;
use vigil::status::{Attention, Status};
use vigil::time::{BootTime, Now, WallTime};

#[path = "../tests/scenes/mod.rs"]
mod scenes;

/// Rows of one workspace.
const TOGETHER: usize = 10;

/// Events of one measurement.
const EVENTS: usize = 20_000;

/// Events that are followed onto the screen.
const PAINTED: usize = 40;

/// Within this time a window comes to rest: a colour takes 200 ms to change.
const REST: Duration = Duration::from_millis(300);

fn main() -> glib::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = words.get(1).and_then(|count| count.parse().ok());
    match (words.first().copied(), count) {
        (Some("empty"), None) => show(empty),
        (Some("rows"), Some(count)) => show(move |app| sidebar(app, count)),
        (Some("apply"), Some(count)) => apply(count),
        (Some("paint"), Some(count)) => paint(count),
        _ => {
            eprintln!("usage: bench empty | rows COUNT | apply COUNT | paint COUNT");
            glib::ExitCode::FAILURE
        }
    }
}

/// Opens that window and tells of its first frame.
fn show<W: IsA<gtk::Window>>(window: impl Fn(&adw::Application) -> W + 'static) -> glib::ExitCode {
    run(move |app| {
        let window: gtk::Window = window(app).upcast();
        open(&window, |_| {
            let now = clock_gettime(ClockId::Monotonic);
            println!("{}", now.tv_sec * 1_000_000_000 + now.tv_nsec);
        });
    })
}

fn run(activate: impl Fn(&adw::Application) + 'static) -> glib::ExitCode {
    let app =
        adw::Application::builder().application_id("dev.vigil.Bench").flags(gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate(activate);
    app.run_with_args::<&str>(&[])
}

/// Puts the window on the screen, and calls that once it is painted.
fn open(window: &gtk::Window, painted: impl FnOnce(&gdk::FrameClock) + 'static) {
    window.set_default_size(380, 760);
    let painted = Cell::new(Some(painted));
    window.connect_realize(move |window| {
        let painted = Cell::new(painted.take());
        let clock = window.frame_clock().expect("a realized window has one");
        clock.connect_after_paint(move |clock| {
            if let Some(painted) = painted.take() {
                painted(clock);
            }
        });
    });
    window.present();
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
    window_of(app, &sidebar)
}

fn window_of(app: &adw::Application, sidebar: &Sidebar) -> Window {
    let integrations = gio::ListStore::new::<Integration>();
    Window::new(app, sidebar, &Banner::new(&integrations))
}

/// Each event goes the way of the application, less the bus and the queue: state machine, changes, model, rows.
fn paint(count: usize) -> glib::ExitCode {
    run(move |app| {
        widget::register_resources();
        let mut fed = Fed::new(count);
        for session in 0..count {
            fed.feed(session, Kind::PromptSubmit { automatic: false });
        }
        let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
        sidebar.reset(&fed.roster.snapshot(1, true));
        let window = window_of(app, &sidebar);
        let app = app.clone();
        open(window.upcast_ref(), move |clock| {
            let clock = clock.clone();
            glib::spawn_future_local(async move {
                let (tell, told) = async_channel::unbounded();
                clock.connect_after_paint(move |clock| {
                    let _ = tell.try_send((Instant::now(), clock.frame_counter()));
                });
                for number in 0..PAINTED {
                    glib::timeout_future(REST).await;
                    while told.try_recv().is_ok() {}
                    let kind = if number % 2 == 0 { Kind::Stop } else { Kind::PromptSubmit { automatic: false } };
                    let (frame, began) = (clock.frame_counter(), Instant::now());
                    let dirty = fed.feed(number / 2 % TOGETHER, kind);
                    let changes = roster::changes(&fed.roster, &dirty, true);
                    assert!(!changes.is_empty(), "each of them changes a row");
                    sidebar.apply(&changes);
                    let Ok((painted, last)) = told.recv().await else { return };
                    println!("{} {}", (painted - began).as_nanos(), last - frame);
                }
                app.quit();
            });
        });
    })
}

/// A state machine whose clock goes on by a millisecond with each event.
struct Fed {
    roster: Roster,
    clock: u64,
}

impl Fed {
    /// One of that many sessions.
    fn new(count: usize) -> Self {
        let mut fed = Self { roster: Roster::new(Settings::default()), clock: 1_000_000_000 };
        for session in 0..count {
            fed.feed(session, Kind::SessionStart { waiting: true });
        }
        let shown: u32 = fed.roster.status_counts().iter().map(|(_, count)| count).sum();
        assert_eq!(shown as usize, count, "each session has its row");
        fed
    }

    fn feed(&mut self, session: usize, kind: Kind) -> Dirty {
        self.clock += 1_000_000;
        let now = Now { boot: BootTime(self.clock), wall: WallTime(scenes::NOW), ..Now::default() };
        self.roster.apply(event(session, kind), now);
        self.roster.take_due();
        self.roster.take_dirty()
    }
}

/// Turns of agents in turn: prompt, tool, tool's end, stop.
fn apply(count: usize) -> glib::ExitCode {
    let mut fed = Fed::new(count);
    let steps = [Kind::PromptSubmit { automatic: false }, Kind::PreToolUse, Kind::PostToolUse, Kind::Stop];
    let began = Instant::now();
    for number in 0..EVENTS {
        // A large step, so that neighbours in memory are not neighbours in time.
        let session = (number / steps.len() * 7919) % count;
        fed.feed(session, steps[number % steps.len()].clone());
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
