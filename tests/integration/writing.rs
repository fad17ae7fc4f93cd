// SPDX-License-Identifier: GPL-3.0-or-later
//! How a file is written: behind links, as whose, and beside other writers.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use vigil::integration::file::{Change, Trouble, update};

use crate::home::{Home, NOBODY};

#[test]
fn the_file_behind_links_is_changed_and_the_links_stay() {
    let home = Home::new();
    let repository = home.path().join("dotfiles/claude");
    fs::create_dir_all(&repository).unwrap();
    fs::write(repository.join("settings.json"), "{\n    \"a\": 1\n}\n").unwrap();
    symlink("dotfiles/claude", home.path().join("first")).unwrap();
    symlink("../first/settings.json", home.path().join(".claude/second.json")).unwrap();
    symlink("second.json", home.settings()).unwrap();
    home.install().assert_says(&format!("installed in {}", repository.join("settings.json").display()));
    assert_eq!(fs::read_link(home.settings()).unwrap().to_str(), Some("second.json"));
    assert_eq!(home.events().len(), 17);
    home.uninstall().assert_says("removed from");
    assert_eq!(fs::read_to_string(repository.join("settings.json")).unwrap(), "{\n    \"a\": 1\n}\n");
    assert!(home.settings().is_symlink() && home.path().join(".claude/second.json").is_symlink());
}

#[test]
fn a_linked_file_never_goes() {
    let home = Home::new();
    home.install().assert_says("installed");
    let real = home.path().join("real.json");
    fs::rename(home.settings(), &real).unwrap();
    symlink(&real, home.settings()).unwrap();
    home.uninstall().assert_says("removed");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
    assert!(home.settings().is_symlink());
}

#[test]
fn mode_and_owner_stay() {
    let home = Home::with("{}");
    for mode in [0o600, 0o644, 0o640, 0o755] {
        fs::set_permissions(home.settings(), fs::Permissions::from_mode(mode)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(home.settings(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let before = fs::metadata(home.settings()).unwrap();
        home.install().assert_says("installed");
        let after = fs::metadata(home.settings()).unwrap();
        let who = |found: &fs::Metadata| (found.mode(), found.uid(), found.gid());
        assert_eq!(who(&before), who(&after));
        assert_ne!(before.ino(), after.ino(), "it was replaced whole");
        home.uninstall().assert_says("removed");
        assert_eq!(who(&before), who(&fs::metadata(home.settings()).unwrap()));
    }
}

#[test]
fn extended_attributes_stay() {
    let home = Home::with("{}");
    let set = rustix::fs::setxattr(home.settings(), "user.note", b"mine", rustix::fs::XattrFlags::empty());
    if set.is_err() {
        return eprintln!("this file system has no extended attributes: not checked");
    }
    home.install().assert_says("installed");
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(home.settings(), "user.note", &mut value).expect("the attribute is there");
    assert_eq!(&value[..length], b"mine");
}

#[test]
fn what_the_agent_writes_meanwhile_is_not_lost() {
    let home = Home::with("{\"a\": 1}");
    let mut asked = 0;
    let done = update(&home.settings(), |text| {
        asked += 1;
        let text = text.unwrap().to_string();
        if asked == 2 {
            // Another program, right after we have read it.
            fs::write(home.settings(), "{\"b\": 2}").unwrap();
        }
        Ok(Change::Write(format!("{text}!")))
    });
    assert!(done.is_ok());
    assert_eq!((asked, home.text().as_str()), (3, "{\"b\": 2}!"));
}

#[test]
fn a_file_that_comes_meanwhile_is_not_lost() {
    let home = Home::new();
    let mut asked = 0;
    let done = update(&home.settings(), |text| {
        asked += 1;
        if asked == 2 {
            fs::write(home.settings(), "{}").unwrap();
        }
        Ok(Change::Write(format!("{}!", text.unwrap_or_default())))
    });
    assert!(done.is_ok());
    assert_eq!(home.text(), "{}!");
}

#[test]
fn a_file_that_never_rests_is_left_alone() {
    let home = Home::with("0");
    let mut asked = 0;
    let done = update(&home.settings(), |_| {
        asked += 1;
        fs::write(home.settings(), asked.to_string()).unwrap();
        Ok(Change::Write("ours".into()))
    });
    assert!(matches!(done, Err(Trouble::Unfit(why)) if why.contains("changes too often")));
    assert_eq!(home.text(), asked.to_string());
    let names: Vec<_> =
        fs::read_dir(home.path().join(".claude")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.json"]);
}

#[test]
fn two_at_once_are_one_installation() {
    for _ in 0..5 {
        let home = Home::with("{\n  \"a\": 1\n}\n");
        let words = ["install", "claude", "--program", env!("CARGO_BIN_EXE_vigilctl")];
        let start = || home.vigilctl(&words).stdout(Stdio::null()).spawn().unwrap();
        let mut both: Vec<_> = (0..4).map(|_| start()).collect();
        assert!(both.iter_mut().all(|child| child.wait().unwrap().success()));
        assert_eq!(home.events().len(), 17);
        home.uninstall().assert_says("removed");
        assert_eq!(home.text(), "{\n  \"a\": 1\n}\n");
    }
}

#[test]
fn readers_never_see_half_a_file() {
    let home = Home::with("{\n  \"a\": 1\n}\n");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !over.load(Ordering::Relaxed) {
                assert_eq!(home.json()["a"], 1);
                seen += 1;
            }
            seen
        });
        for _ in 0..5 {
            home.install().assert_says("installed");
            home.uninstall().assert_says("removed");
        }
        over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn what_a_killed_one_left_is_no_obstacle() {
    let home = Home::with("{}");
    let path = home.settings();
    let beside = home.path().join(format!(".claude/.settings.json.vigil-{}", std::process::id()));
    fs::write(&beside, "half").unwrap();
    assert!(update(&path, |_| Ok(Change::Write("whole".into()))).is_ok());
    assert_eq!(home.text(), "whole");
    assert!(!beside.exists());
}
