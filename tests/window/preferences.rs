// SPDX-License-Identifier: GPL-3.0-or-later
//! A walk through the preferences with the keyboard alone, on a settings file that is really changed.
//!
//! What is written into settings has to last, and a build folder does not. So the programs are put where nothing says
//! that it is one: deeper below the build folder than its marks are looked for. A build folder that is temporary itself
//! has no such place; there it is the refusal that is walked to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::screen::Screen;
use crate::session::{PATIENCE, Session};

const INSTALL: &str = "Install Vigil in Claude Code";
const REPAIR: &str = "Repair Vigil in Claude Code";
const REMOVE: &str = "Remove Vigil from Claude Code";

/// What the user has written, in a way of their own.
const THEIRS: &str = "{ \"model\":\"opus\",\r\n\t\"hooks\" : {\"Stop\":[ ]}, \"x\": 1e2 }\r\n";

struct Walk {
    // In the order in which they end.
    session: Session,
    screen: Screen,
    file: PathBuf,
    program: PathBuf,
    _prefix: TempDir,
}

/// Whether nothing below this folder lasts.
fn is_temporary(folder: &Path) -> bool {
    let of_environment = std::env::var_os("TMPDIR").map(PathBuf::from);
    let folders = ["/tmp", "/var/tmp", "/dev"].into_iter().map(PathBuf::from).chain(of_environment);
    folders.into_iter().any(|temporary| folder.starts_with(temporary))
}

impl Walk {
    fn begin() -> Self {
        fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let prefix = TempDir::with_prefix_in("prefix-", env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let folder = prefix.path().join("opt/local/bin");
        fs::create_dir_all(&folder).expect("a folder");
        for program in [env!("CARGO_BIN_EXE_vigil"), env!("CARGO_BIN_EXE_vigilctl")].map(Path::new) {
            let there = folder.join(program.file_name().expect("a name"));
            fs::hard_link(program, &there).or_else(|_| fs::copy(program, &there).map(drop)).expect("a program");
        }
        let session = Session::start_readable_as(&folder.join("vigil"));
        let file = session.home().join(".claude/settings.json");
        fs::create_dir(session.home().join(".claude")).expect("a folder");
        fs::write(&file, THEIRS).expect("the settings");
        // It takes its time, and nobody waits for it.
        let agent = session.home().join(".local/bin/claude");
        fs::create_dir_all(agent.parent().expect("a folder")).expect("a folder");
        fs::write(&agent, "#!/bin/sh\nsleep 1\necho '2.1.332 (Claude Code)'\n").expect("a program");
        fs::set_permissions(&agent, PermissionsExt::from_mode(0o755)).expect("it is ours");
        let screen = Screen::open(&session);
        session.wait_for("a window", || session.has_window());
        let walk = Self { session, screen, file, program: folder.join("vigilctl"), _prefix: prefix };
        walk.focus_window(&[]);
        walk
    }

    /// There is no window manager that would give a new window the focus.
    fn focus_window(&self, others: &[String]) {
        let fresh = || self.session.windows().into_iter().find(|window| !others.contains(window));
        self.session.wait_for("another window", || fresh().is_some());
        self.xdotool(&["windowfocus", "--sync", &fresh().expect("there is one")]);
    }

    /// Opens the page with the keyboard.
    fn open(&self) {
        let before = self.session.windows();
        self.press("ctrl+comma");
        self.focus_window(&before);
        self.wait_to_say("Keep Watching When Closed");
        self.press("alt+i");
        self.wait_to_say("On This Computer");
    }

    fn press(&self, key: &str) {
        self.xdotool(&["key", "--clearmodifiers", key]);
    }

    fn xdotool(&self, words: &[&str]) {
        let outcome = self.session.command("xdotool").args(words).output().expect("xdotool is installed");
        assert!(outcome.status.success(), "{words:?}: {}", String::from_utf8_lossy(&outcome.stderr));
    }

    fn says(&self, text: &str) -> bool {
        self.screen.nodes().iter().any(|node| node.name.contains(text))
    }

    #[track_caller]
    fn wait_to_say(&self, text: &str) {
        self.session.wait_for(text, || self.says(text));
    }

    fn focused(&self) -> Vec<String> {
        self.screen.nodes().into_iter().filter(|node| node.focused).map(|node| node.name).collect()
    }

    /// Goes from one to the next until that has the focus.
    #[track_caller]
    fn tab_to(&self, name: &str) {
        self.wait_to_say(name);
        let mut way = Vec::new();
        while way.len() < 40 {
            let start = Instant::now();
            let mut focused = self.focused();
            while way.last() == Some(&focused) && start.elapsed() < Duration::from_millis(500) {
                focused = self.focused();
            }
            if focused.iter().any(|focus| focus == name) {
                return;
            }
            way.push(focused);
            self.press("Tab");
        }
        panic!("no way to {name}: {way:#?}");
    }

    fn settings(&self) -> String {
        fs::read_to_string(&self.file).expect("the settings")
    }

    #[track_caller]
    fn wait_to_hold(&self, holds: impl Fn(&str) -> bool) {
        self.session.wait_at_most(PATIENCE, "other settings", || holds(&self.settings()));
    }
}

#[test]
fn the_keyboard_puts_vigil_in_repairs_it_and_takes_it_out() {
    let walk = Walk::begin();
    walk.open();
    walk.tab_to(INSTALL);
    walk.press("Return");
    if is_temporary(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
        walk.wait_to_say("Claude Code Was Not Connected");
        walk.wait_to_say("will not last: it is in a temporary folder");
        assert_eq!(walk.settings(), THEIRS);
        return eprintln!("the build folder is temporary: what is put in was not checked");
    }
    walk.wait_to_say("Claude Code is connected");
    walk.wait_to_hold(|text| text != THEIRS);
    let complete = walk.settings();
    let program = walk.program.to_str().expect("a text");
    assert!(complete.contains(program) && complete.starts_with("{ \"model\":\"opus\",\r\n\t\"hooks\""), "{complete}");
    walk.wait_to_say("Connected · ");

    // Somebody takes out one of the hooks.
    let mut settings: serde_json::Value = serde_json::from_str(&complete).expect("JSON");
    settings["hooks"].as_object_mut().expect("an object").remove("SessionEnd").expect("there was one");
    fs::write(&walk.file, settings.to_string()).expect("the settings");
    walk.wait_to_say("Incomplete");
    walk.tab_to(REPAIR);
    walk.press("Return");
    walk.wait_to_say("Claude Code is connected again");
    walk.wait_to_hold(|text| text.contains("SessionEnd"));
    walk.wait_to_say("Connected · ");

    // What was put in first comes out to the very byte.
    fs::write(&walk.file, &complete).expect("the settings");
    walk.session.wait_for("the focus in the row", || walk.focused() == ["Claude Code"]);
    walk.press("Return");
    walk.tab_to(REMOVE);
    walk.press("Return");
    walk.wait_to_say("Claude Code is not connected any more");
    assert_eq!(walk.settings(), THEIRS);
    walk.wait_to_say("Found, not connected");

    // The window goes and comes again, and still says so.
    walk.press("ctrl+w");
    walk.session.wait_for("one window", || walk.session.windows().len() == 1);
    walk.focus_window(&[]);
    walk.open();
    walk.tab_to(INSTALL);
    assert!(!walk.says("Connected · "));
}
