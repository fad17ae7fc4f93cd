// SPDX-License-Identifier: GPL-3.0-or-later
//! What the status file of an agent tells beyond its hooks (section 6).

use serde_json::json;
use vigil::event::{Event, Kind, Observed};
use vigil::roster::Outcome;
use vigil::time::BootTime;

use crate::scene::{Scene, of, with};

/// The file said so that many milliseconds ago.
fn observe(scene: &mut Scene, observed: Observed, ago: u64) -> Outcome {
    let mut event = Event::new("claude", "status file", Kind::Observed(observed));
    event.session = Some("s".into());
    event.at = Some(BootTime(scene.now().boot.0 - ago * 1_000_000));
    let outcome = scene.roster.apply(event, scene.now());
    scene.check();
    outcome
}

fn asked() -> Scene {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(1000);
    scene.send("claude", "PreToolUse", with("s", json!({ "tool_name": "Bash", "tool_use_id": "a" })));
    scene.send("claude", "PermissionRequest", with("s", json!({ "tool_name": "Bash" })));
    scene.wait(1000);
    assert_eq!(scene.shown(), ("needs-input", "needs-input", 1));
    scene
}

#[test]
fn busy_behind_a_question_is_its_answer() {
    let mut scene = asked();
    assert_eq!(observe(&mut scene, Observed::Busy, 0), Outcome::Applied);
    assert_eq!(scene.shown(), ("running", "none", 0));
}

#[test]
fn idle_behind_a_question_is_its_dismissal_and_raises_nothing() {
    let mut scene = asked();
    observe(&mut scene, Observed::Idle, 0);
    assert_eq!(scene.shown(), ("idle", "none", 0));
    scene.alerts.clear();
    scene.wait(60_000);
    assert!(scene.alerts.is_empty());
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(100);
    scene.send("claude", "Stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
}

#[test]
fn idle_in_the_middle_of_a_turn_is_an_interrupt() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(1000);
    observe(&mut scene, Observed::Idle, 0);
    assert_eq!(scene.shown(), ("idle", "none", 0));
}

#[test]
fn what_is_older_than_the_hooks_says_nothing() {
    let mut scene = asked();
    for observed in [Observed::Busy, Observed::Idle] {
        assert_eq!(observe(&mut scene, observed, 1500), Outcome::Late);
        assert_eq!(scene.shown().0, "needs-input");
    }
}

#[test]
fn it_makes_no_hook_late() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(5000);
    observe(&mut scene, Observed::Idle, 0);
    let prompt = crate::scene::Sender::default().started(scene.millis - 50);
    assert_eq!(scene.send_from(&prompt, "claude", "UserPromptSubmit", of("s")), Outcome::Applied);
    assert_eq!(scene.shown().0, "running");
}

#[test]
fn a_file_that_is_quicker_than_the_stop_takes_no_finish_away() {
    for (stop_started, finished) in [(-50, "finished"), (1999, "finished"), (2000, "none")] {
        let mut scene = Scene::new();
        scene.send("claude", "UserPromptSubmit", of("s"));
        scene.wait(5000);
        observe(&mut scene, Observed::Idle, 0);
        let started = scene.millis.checked_add_signed(stop_started).unwrap();
        scene.millis = scene.millis.max(started);
        let stop = crate::scene::Sender::default().started(started);
        scene.send_from(&stop, "claude", "Stop", of("s"));
        assert_eq!(scene.shown(), ("idle", finished, 0), "{stop_started} ms after the file");
    }
}

#[test]
fn busy_takes_back_an_idle_that_no_stop_had_said() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(1000);
    observe(&mut scene, Observed::Idle, 0);
    scene.wait(1000);
    observe(&mut scene, Observed::Busy, 0);
    assert_eq!(scene.shown().0, "running");
    scene.send("claude", "Stop", of("s"));
    assert_eq!(scene.shown(), ("idle", "finished", 0));
    scene.wait(5000);
    assert_eq!(observe(&mut scene, Observed::Busy, 0), Outcome::Recorded);
    assert_eq!(scene.shown(), ("idle", "finished", 0), "behind a stop runs the user's own command, or a compaction");
}

#[test]
fn it_ends_neither_a_grace_nor_a_failure() {
    let mut scene = Scene::new();
    scene.send("claude", "UserPromptSubmit", of("s"));
    scene.wait(1000);
    scene.send("claude", "StopFailure", with("s", json!({ "error": "server_error" })));
    scene.wait(100);
    observe(&mut scene, Observed::Idle, 0);
    scene.wait(6000);
    assert_eq!(scene.shown(), ("failed", "failed", 0));
    for observed in [Observed::Idle, Observed::Busy, Observed::Waiting] {
        observe(&mut scene, observed, 0);
        assert_eq!(scene.shown(), ("failed", "failed", 0));
    }
}

#[test]
fn a_session_that_no_hook_has_told_of_gets_no_row() {
    let mut scene = Scene::new();
    assert_eq!(observe(&mut scene, Observed::Busy, 0), Outcome::Homeless);
    assert!(scene.rows().is_empty());
}
