// SPDX-License-Identifier: GPL-3.0-or-later
//! Recorded sessions of Claude Code, side by side, through the real hook program into the real window.
//!
//! Each has a workspace and a process of its own, and each of its hooks is a `vigilctl` that this process starts. Lines
//! come at their recorded distance, but for long pauses, which are cut to a length that all spans of the rules fit in.
//! After each line the window has to say what the labels want, and go on saying it until the next one.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::claude::Claude;
use crate::claude_captures::{CLAUDE, begins, is_print};
use crate::labels::{Capture, Expectation, Line, Shown};
use crate::screen::{Screen, told};
use crate::session::{PATIENCE, Session};

/// No pause is longer. The longest span of a rule that is no wait of its own is 2 s (rule 4).
const LONGEST_PAUSE: Duration = Duration::from_millis(2300);

/// After a pause like this the window is looked at once more before the next line.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// From one beginning to the next: a dozen at once would wait for each other at the reader.
const STAGGER: Duration = Duration::from_secs(4);

/// What comes by itself after a line may come so much later.
const SLACK: Duration = Duration::from_millis(500);

#[test]
fn the_window_says_what_recorded_sessions_show() {
    let mut session = Session::start_readable();
    let screen = Screen::open(&session);
    let faults: Vec<String> = thread::scope(|scope| {
        let play = |(place, name): (usize, &&'static str)| {
            let play = Play::new(&session, &screen, name);
            scope.spawn(move || {
                thread::sleep(STAGGER * u32::try_from(place).expect("a dozen"));
                play.run()
            })
        };
        // The longest first: the others begin and end beside them.
        let plays: Vec<_> = CLAUDE.names.iter().rev().enumerate().map(play).collect();
        plays.into_iter().filter_map(|play| play.join().expect("no play panics").err()).collect()
    });
    assert!(faults.is_empty(), "{}\nthe log says:\n{}", faults.join("\n"), session.log());
    assert_eq!(screen.list(""), Some(Vec::new()), "all of them have ended");
    assert!(!session.has_ended());
}

/// A capture in play.
struct Play<'a> {
    session: &'a Session,
    screen: &'a Screen,
    capture: Capture,
    folder: PathBuf,
    claude: Option<Claude>,
    slowest_hook: Duration,
}

impl<'a> Play<'a> {
    fn new(session: &'a Session, screen: &'a Screen, name: &'static str) -> Self {
        let folder = session.home().join("projects").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let capture = Capture::load(&CLAUDE, name);
        Self { session, screen, capture, folder, claude: None, slowest_hook: Duration::ZERO }
    }

    fn run(mut self) -> Result<(), String> {
        let lines = self.capture.lines.clone();
        for (at, line) in lines.iter().enumerate() {
            let begin = Instant::now();
            self.play(line);
            self.comes_true(&line.shows)?;
            let mut last = &line.shows;
            if let Some((after, later)) = &line.later {
                sleep_until(begin + *after / 2);
                self.is_true(last)?;
                sleep_until(begin + *after + SLACK);
                self.comes_true(later)?;
                last = later;
            }
            let pause =
                lines.get(at + 1).map_or(LONGEST_PAUSE, |next| Duration::from_millis(next.millis - line.millis));
            sleep_until(begin + pause.min(LONGEST_PAUSE));
            if pause >= LONG_PAUSE {
                self.is_true(last)?;
            }
        }
        self.capture.end().iter().try_for_each(|end| self.comes_true(end))
    }

    fn play(&mut self, line: &Line) {
        match (line.event.as_str(), line.note.as_str()) {
            ("#driver", "SIGKILL") => self.claude().kill(),
            ("#driver", "SIGTERM") => self.claude().terminate(),
            ("#driver", _) => {}
            _ => self.hook(line),
        }
    }

    fn hook(&mut self, line: &Line) {
        if begins(line) {
            assert!(self.claude.is_none(), "{}: the process before it lives", line.shows.place);
            let entrypoint = if is_print(self.capture.name) { "sdk-cli" } else { "cli" };
            let environment = [("CLAUDE_CODE_ENTRYPOINT", entrypoint)];
            self.claude = Some(Claude::start(self.session, &self.folder, &environment));
        }
        let mut payload = line.payload.clone();
        payload["cwd"] = self.folder.to_str().expect("the folder's name is a text").into();
        let begin = Instant::now();
        self.claude().hook(&line.event, &payload.to_string());
        self.slowest_hook = self.slowest_hook.max(begin.elapsed());
        // After these the process goes on, with another session.
        let goes_on = matches!(line.payload["reason"].as_str(), Some("clear" | "resume"));
        if line.event == "SessionEnd" && !goes_on {
            self.claude.take().expect("it has run the hook").end();
        }
    }

    fn claude(&mut self) -> &mut Claude {
        self.claude.as_mut().expect("every capture begins with its process")
    }

    /// It is shown now.
    fn is_true(&self, expected: &Expectation) -> Result<(), String> {
        // A snapshot is given when all that came before it has been published, to the window too. Reading the window
        // takes a while, in which a grace may end: both are of one time when the snapshot is the same behind it.
        let workspace = self.capture.name;
        let (published, rows) = loop {
            let before = published(self.session, &self.folder);
            let rows = self.screen.list(&format!(" {workspace}: ")).ok_or("the window is gone")?;
            if published(self.session, &self.folder) == before {
                break (before, rows);
            }
        };
        let shown = told(&rows, workspace, &published).map_err(|fault| format!("{}: {fault}", expected.place))?;
        expected.judge(&shown.to_string())
    }

    /// It is shown before long.
    fn comes_true(&self, expected: &Expectation) -> Result<(), String> {
        let start = Instant::now();
        loop {
            match self.is_true(expected) {
                Err(fault) if start.elapsed() > PATIENCE => {
                    let slowest = self.slowest_hook;
                    return Err(format!("{fault}, {PATIENCE:?} long (the slowest hook so far took {slowest:?})"));
                }
                Err(_) => thread::sleep(Duration::from_millis(20)),
                Ok(()) => return Ok(()),
            }
        }
    }
}

/// What the snapshot has of the workspace in that folder.
fn published(session: &Session, folder: &Path) -> Shown {
    let workspaces = session.snapshot().workspaces;
    let here = workspaces.into_iter().find(|workspace| workspace.path.as_deref() == folder.to_str());
    let rows = here.and_then(|workspace| workspace.rows).unwrap_or_default();
    assert!(rows.len() <= 1, "one session has one row: {rows:#?}");
    Shown::of(rows.first())
}

fn sleep_until(time: Instant) {
    thread::sleep(time.saturating_duration_since(Instant::now()));
}
