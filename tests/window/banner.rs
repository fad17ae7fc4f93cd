// SPDX-License-Identifier: GPL-3.0-or-later
//! The banner of the real application, on a settings file that is really changed. The `vigilctl` beside a build does
//! not last, and so Repair keeps to the one that the hooks run already.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use vigil::integration::{Action, Found, Surroundings, find};

use crate::screen::Screen;
use crate::session::Session;

const INCOMPLETE: &str = "Claude Code’s hooks are incomplete";

struct Home {
    session: Session,
    screen: Screen,
    file: PathBuf,
}

impl Home {
    fn open() -> Self {
        let session = Session::start_readable();
        let screen = Screen::open(&session);
        let file = session.home().join(".claude/settings.json");
        Self { session, screen, file }
    }

    /// Puts in all hooks.
    fn install(&self) -> String {
        let program = self.session.home().join("vigilctl");
        fs::copy("/bin/true", &program).expect("a program");
        let home = self.session.home();
        let surroundings = Surroundings { home: Some(home.into()), root: home.into(), ..Surroundings::default() };
        let claude = find("claude").expect("there is Claude Code");
        let action = Action::Install(program.to_str().expect("a text"));
        claude.carry_out(&surroundings, &Found::default(), action).expect("it can be installed");
        fs::read_to_string(&self.file).expect("the settings")
    }

    fn says(&self, text: &str) -> bool {
        self.screen.nodes().iter().any(|node| node.name.contains(text))
    }

    /// Whether the banner offers to repair it.
    fn offers(&self) -> bool {
        self.screen.nodes().iter().any(|node| node.name == "Repair")
    }

    #[track_caller]
    fn wait_to_say(&self, text: &str) {
        self.session.wait_for(text, || self.says(text));
    }

    fn repair(&self) {
        let done = self.session.action("repair", Some("'claude'"));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The same hooks without one.
fn without_a_hook(text: &str) -> String {
    let mut settings: serde_json::Value = serde_json::from_str(text).expect("JSON");
    settings["hooks"].as_object_mut().expect("an object").remove("Stop").expect("there was one");
    serde_json::to_string_pretty(&settings).expect("JSON")
}

#[test]
fn repair_completes_the_file_and_the_banner_goes() {
    let home = Home::open();
    let complete = home.install();
    assert!(!home.says(INCOMPLETE) && !home.offers());
    fs::write(&home.file, without_a_hook(&complete)).unwrap();
    home.wait_to_say(INCOMPLETE);
    assert!(home.offers());
    home.repair();
    home.session.wait_for("no banner", || !home.says(INCOMPLETE) && !home.offers());
    let settings: serde_json::Value = serde_json::from_str(&fs::read_to_string(&home.file).unwrap()).unwrap();
    assert_eq!(settings, serde_json::from_str::<serde_json::Value>(&complete).unwrap());
}

#[test]
fn what_cannot_be_repaired_is_said_and_left_as_it_is() {
    let home = Home::open();
    let complete = home.install();

    // No program that lasts.
    fs::remove_file(home.session.home().join("vigilctl")).unwrap();
    home.wait_to_say("Claude Code’s hooks are out of date");
    home.repair();
    home.wait_to_say("will not last: it is in a");
    assert_eq!(fs::read_to_string(&home.file).unwrap(), complete);

    // No settings that the agent could read.
    fs::write(&home.file, "{\n  // mine\n}\n").unwrap();
    home.session.wait_for("no banner", || !home.says("are out of date"));
    home.repair();
    home.wait_to_say("line 2");
    assert_eq!(fs::read_to_string(&home.file).unwrap(), "{\n  // mine\n}\n");

    // A link to what are no settings.
    fs::remove_file(&home.file).unwrap();
    symlink("/proc/version", &home.file).unwrap();
    home.repair();
    home.wait_to_say("/settings.json, ");
    assert!(fs::read_link(&home.file).is_ok());
}

#[test]
fn nothing_is_put_in_where_nothing_is() {
    let home = Home::open();
    home.repair();
    home.wait_to_say("vigilctl install claude");
    assert!(!home.file.exists() && !home.offers());
}
