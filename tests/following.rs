// SPDX-License-Identifier: GPL-3.0-or-later
//! Agents' settings change, and the model says so. Needs no display.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use gtk::glib;
use gtk::prelude::*;
use vigil::app::integrations::Integrations;
use vigil::app::model::Integration;
use vigil::integration::{Action, Found, Surroundings, find};

/// A change that takes longer than this never comes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a test in the thread that has the main loop, one after the other: what stays in the loop for a moment must not
/// meet another thread.
fn in_main_loop(test: impl FnOnce() + Send + 'static) {
    type Job = Box<dyn FnOnce() + Send>;
    static MAIN: LazyLock<Sender<Job>> = LazyLock::new(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::spawn(move || {
            let context = glib::MainContext::default();
            let _owned = context.acquire().expect("no other thread has the main loop");
            jobs.iter().for_each(|job| job());
        });
        sender
    });
    let (over, is_over) = mpsc::channel();
    let job = move || {
        let outcome = catch_unwind(AssertUnwindSafe(test));
        over.send(outcome).expect("the test waits");
    };
    MAIN.send(Box::new(job)).expect("the thread lives");
    if let Err(panic) = is_over.recv().expect("the job ends") {
        resume_unwind(panic);
    }
}

/// Looks after one home.
fn look_after(home: &Path, test: impl FnOnce(&Integration, &dyn Fn(&str))) {
    let context = glib::MainContext::default();
    let integrations = Integrations::start(surroundings(home));
    let shown = integrations.list().item(0).and_downcast::<Integration>().expect("there is Claude Code");
    let wait = |state: &str| {
        let start = Instant::now();
        while shown.state() != state {
            assert!(start.elapsed() < PATIENCE, "{} does not become {state}: {}", shown.state(), shown.advice());
            context.iteration(false);
            thread::sleep(Duration::from_millis(1));
        }
    };
    test(&shown, &wait);
}

fn surroundings(home: &Path) -> Surroundings {
    Surroundings { home: Some(home.into()), root: home.into(), ..Surroundings::default() }
}

fn act(home: &Path, action: Action<'_>) {
    let claude = find("claude").expect("there is Claude Code");
    claude.carry_out(&surroundings(home), &Found::default(), action).expect("it can be done");
}

/// A program that is there, by the right name.
fn program(home: &Path) -> String {
    let path = home.join("vigilctl");
    fs::copy("/bin/true", &path).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn settings_are_followed_from_the_first_folder_on() {
    in_main_loop(|| {
        let home = tempfile::tempdir().unwrap();
        let program = program(home.path());
        look_after(home.path(), |shown, wait| {
            wait("missing");
            assert_eq!((shown.agent(), shown.name()), ("claude".into(), "Claude Code".into()));
            assert!(!shown.broken() && shown.repairable(), "what was never there is not broken");

            act(home.path(), Action::Install(&program));
            wait("complete");
            assert!(!shown.broken() && shown.advice().is_empty());

            // As the agent writes: in place, from what it read long ago.
            let file = home.path().join(".claude/settings.json");
            fs::write(&file, fs::read_to_string(&file).unwrap().replace("\"Stop\"", "\"Later\"")).unwrap();
            wait("stale");
            act(home.path(), Action::Install(&program));
            wait("complete");

            fs::write(&file, "{\"disableAllHooks\": true}").unwrap();
            wait("missing");
            act(home.path(), Action::Install(&program));
            wait("stale");
            assert!(shown.broken() && !shown.repairable(), "an installation does not switch hooks on");

            fs::remove_dir_all(home.path().join(".claude")).unwrap();
            wait("missing");
            act(home.path(), Action::Install(&program));
            wait("complete");
        });
    });
}

#[test]
fn the_file_behind_a_link_is_followed() {
    in_main_loop(|| {
        let home = tempfile::tempdir().unwrap();
        let program = program(home.path());
        fs::create_dir_all(home.path().join(".claude")).unwrap();
        fs::create_dir_all(home.path().join("dotfiles")).unwrap();
        fs::write(home.path().join("dotfiles/claude.json"), "{}").unwrap();
        symlink("../dotfiles/claude.json", home.path().join(".claude/settings.json")).unwrap();
        look_after(home.path(), |_, wait| {
            wait("missing");
            act(home.path(), Action::Install(&program));
            wait("complete");
            fs::write(home.path().join("dotfiles/claude.json"), "{}").unwrap();
            wait("missing");
        });
    });
}

#[test]
fn only_what_has_changed_is_told() {
    in_main_loop(|| {
        let home = tempfile::tempdir().unwrap();
        let program = program(home.path());
        act(home.path(), Action::Install(&program));
        look_after(home.path(), |shown, wait| {
            wait("complete");
            let told: Rc<RefCell<Vec<String>>> = Rc::default();
            let log = told.clone();
            shown.connect_notify_local(None, move |_, property| log.borrow_mut().push(property.name().to_string()));
            let file = home.path().join(".claude/settings.json");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("{text}\n")).unwrap();
            fs::write(home.path().join(".claude/history.jsonl"), "1").unwrap();
            fs::remove_file(&program).unwrap();
            fs::write(&file, &text).unwrap();
            wait("stale");
            let mut told = told.take();
            told.sort();
            // What is offered follows from the state; name, program and files are as they were.
            let changed = [
                "advice",
                "advised",
                "broken",
                "offer",
                "offer-action",
                "offer-description",
                "offered",
                "repairable",
                "state",
                "status",
            ];
            assert_eq!(told, changed);
        });
    });
}
