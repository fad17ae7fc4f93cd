// SPDX-License-Identifier: GPL-3.0-or-later
//! The tree, step by step, with a reader that only says what it was given.

use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags};
use tempfile::TempDir;

use super::tree::{Change, Tree};
use crate::agent::journal::{Candidate, Input, Owner, Reader, Shape, Source};
use crate::event::{Event, Kind};
use crate::time::{BootTime, Now};

const SOURCE: Source = Source { agents: &["echo"], processes: &[], top: |_| None, reader: || Box::<Echo>::default() };

/// Tells each input as an event's name. `chats/NAME/log.jsonl` has lines, `chats/NAME/state.json` is written anew;
/// `far/away/log.jsonl` is only followed when it is told.
#[derive(Debug, Default)]
struct Echo {
    quiet: Option<BootTime>,
}

impl Reader for Echo {
    fn shape(&self, path: &Path) -> Option<Shape> {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        match parts.as_slice() {
            ["chats"] => Some(Shape::Way(3)),
            ["chats", _] => Some(Shape::Folder(8)),
            ["chats", _, "log.jsonl"] | ["far", "away", "log.jsonl"] => Some(Shape::Lines),
            ["chats", _, "state.json"] => Some(Shape::Whole),
            _ => None,
        }
    }

    fn take(&mut self, path: &Path, input: Input<'_>, now: Now) -> Vec<Event> {
        self.quiet = Some(now.boot + Duration::from_secs(20));
        let text = match input {
            Input::Line(text) | Input::Whole(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        };
        let name = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        vec![Event::new("echo", format!("{name}: {text}"), Kind::Other)]
    }

    fn deadline(&self) -> Option<BootTime> {
        self.quiet
    }

    fn due(&mut self, _now: Now) -> Vec<Event> {
        self.quiet = None;
        vec![Event::new("echo", "quiet", Kind::Other)]
    }

    fn owner(&self, _event: &mut Event, _candidates: &[Candidate]) -> Owner {
        Owner::Unneeded
    }
}

struct Scene {
    home: TempDir,
    inotify: OwnedFd,
    tree: Tree,
    now: Now,
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let tree = Tree::new(&SOURCE, home.path().join("top"), inotify.try_clone().unwrap());
        Self { home, inotify, tree, now: Now::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.home.path().join("top").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn append(&self, name: &str, text: &str) {
        use std::io::Write;
        let file = fs::OpenOptions::new().append(true).create(true).open(self.path(name));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn changes(&self) -> Vec<Change> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.inotify, &mut buffer);
        let mut changes = Vec::new();
        while let Ok(event) = events.next() {
            changes.push(Change::of(&event));
        }
        changes
    }

    fn look_at(&mut self, changes: &[Change], told: Vec<PathBuf>) -> Vec<String> {
        let told = self.tree.look(changes, told, self.now);
        told.into_iter().map(|(event, _)| event.name).collect()
    }

    fn look(&mut self) -> Vec<String> {
        let changes = self.changes();
        self.look_at(&changes, Vec::new())
    }
}

#[test]
fn history_is_not_told_and_what_is_new_is() {
    let mut scene = Scene::new();
    scene.append("chats/a/log.jsonl", "one\ntwo\n");
    scene.append("chats/a/state.json", "{}");
    assert_eq!(scene.look(), ["a: CaughtUp", "a: {}"]);
    assert_eq!(scene.look(), [""; 0]);
    scene.append("chats/a/log.jsonl", "three\nfo");
    scene.append("chats/b/log.jsonl", "all of it\n");
    scene.append("chats/a/other.txt", "no journal\n");
    let mut told = scene.look();
    told.sort();
    assert_eq!(told, ["a: three", "b: all of it"]);
    scene.append("chats/a/log.jsonl", "ur\n");
    scene.append("chats/a/state.json", "[]");
    assert_eq!(scene.look(), ["a: four", "a: {}[]"]);
}

#[test]
fn a_missing_folder_is_waited_for_and_may_go_again() {
    let mut scene = Scene::new();
    assert_eq!(scene.look(), [""; 0]);
    assert!(!scene.tree.has_top());
    scene.append("chats/a/log.jsonl", "one\n");
    assert_eq!(scene.look(), ["a: CaughtUp"]);
    fs::remove_dir_all(scene.home.path().join("top")).unwrap();
    assert_eq!(scene.look(), ["a: Gone"]);
    assert!(!scene.tree.has_top());
    scene.append("chats/b/log.jsonl", "two\n");
    assert_eq!(scene.look(), ["b: CaughtUp"]);
    scene.append("chats/b/log.jsonl", "three\n");
    assert_eq!(scene.look(), ["b: three"]);
}

#[test]
fn files_are_known_under_another_name_and_anew_under_the_same() {
    let mut scene = Scene::new();
    scene.append("chats/a/log.jsonl", "one\n");
    scene.look();
    // Rotated: the last line of the old file is not lost, and the new one is new.
    scene.append("chats/a/log.jsonl", "two\n");
    fs::rename(scene.path("chats/a/log.jsonl"), scene.path("chats/a/log.1.jsonl")).unwrap();
    scene.append("chats/a/log.jsonl", "three\n");
    assert_eq!(scene.look(), ["a: two", "a: three"]);
    fs::rename(scene.path("chats/a/log.jsonl"), scene.path("chats/b/log.jsonl")).unwrap();
    scene.look();
    scene.append("chats/b/log.jsonl", "four\n");
    assert_eq!(scene.look(), ["b: four"]);
    // Written anew in place, or from beside.
    fs::write(scene.path("chats/b/log.jsonl"), "x\n").unwrap();
    assert_eq!(scene.look(), ["b: CaughtUp"]);
    scene.append("chats/b/log.jsonl", "five\n");
    assert_eq!(scene.look(), ["b: five"]);
    fs::write(scene.path("fresh"), "a\nb\nc\n").unwrap();
    fs::rename(scene.path("fresh"), scene.path("chats/b/log.jsonl")).unwrap();
    assert_eq!(scene.look(), ["b: CaughtUp"]);
    fs::remove_file(scene.path("chats/b/log.jsonl")).unwrap();
    assert_eq!(scene.look(), ["b: Gone"]);
}

#[test]
fn after_an_overflow_all_is_looked_at() {
    let mut scene = Scene::new();
    scene.append("chats/a/log.jsonl", "one\n");
    scene.append("chats/b/log.jsonl", "one\n");
    scene.look();
    scene.append("chats/a/log.jsonl", "two\n");
    scene.append("chats/c/log.jsonl", "new\n");
    fs::remove_dir_all(scene.path("chats/b")).unwrap();
    scene.changes();
    let mut told = scene.look_at(&[Change::OVERFLOW], Vec::new());
    told.sort();
    assert_eq!(told, ["a: two", "b: Gone", "c: new"]);
    scene.append("chats/c/log.jsonl", "more\n");
    assert_eq!(scene.look(), ["c: more"]);
}

#[test]
fn what_is_told_is_waited_for_and_nothing_outside_is_opened() {
    let mut scene = Scene::new();
    scene.append("chats/a/log.jsonl", "one\n");
    scene.look();
    let told = ["far/away/log.jsonl", "../outside/log.jsonl", "far/../chats/a/log.jsonl", "far/away/other"];
    assert_eq!(scene.look_at(&[], told.iter().map(PathBuf::from).collect()), [""; 0]);
    scene.append("far/away/log.jsonl", "first\n");
    scene.append("far/other/log.jsonl", "nobody asked\n");
    assert_eq!(scene.look(), ["away: CaughtUp"]);
    scene.append("far/away/log.jsonl", "second\n");
    assert_eq!(scene.look(), ["away: second"]);
}

#[test]
fn there_is_a_limit_to_everything() {
    let mut scene = Scene::new();
    for number in 0..5 {
        scene.append(&format!("chats/{number}/log.jsonl"), "old\n");
        let at = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + number);
        let folder = fs::File::open(scene.path(&format!("chats/{number}/log.jsonl")).parent().unwrap()).unwrap();
        folder.set_modified(at).unwrap();
    }
    assert_eq!(scene.look(), ["2: CaughtUp", "3: CaughtUp", "4: CaughtUp"], "the newest");
    for number in 100..240 {
        scene.append(&format!("chats/{number}/log.jsonl"), "new\n");
        scene.look();
    }
    let watched = fs::read_to_string(format!("/proc/self/fdinfo/{}", std::os::fd::AsRawFd::as_raw_fd(&scene.inotify)));
    assert!(watched.unwrap().matches("inotify wd:").count() <= 129, "the one above too");
    scene.append("chats/239/log.jsonl", "more\n");
    assert_eq!(scene.look(), ["239: more"]);
}

#[test]
fn silence_is_told_at_the_deadline() {
    let mut scene = Scene::new();
    scene.append("chats/a/log.jsonl", "one\n");
    scene.look();
    assert_eq!(scene.tree.deadline(), Some(BootTime::from_millis(20_000)));
    scene.now.boot = BootTime::from_millis(19_999);
    assert_eq!(scene.look(), [""; 0]);
    scene.now.boot = BootTime::from_millis(20_000);
    assert_eq!(scene.look(), ["quiet"]);
    assert_eq!(scene.tree.deadline(), None);
}
