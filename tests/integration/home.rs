// SPDX-License-Identifier: GPL-3.0-or-later
//! A home folder of our own with Claude Code's settings in it, and `vigilctl` at work there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use vigil::integration::json::{Document, Item, Syntax};

/// A user who may do nothing that the files do not allow. The super-user is not held up by modes.
pub const NOBODY: u32 = 65534;

pub struct Home {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("it says UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Outcome {
    #[track_caller]
    pub fn assert_says(&self, says: &str) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        assert!(self.stdout.contains(says), "{says:?} is not in {self:?}");
    }

    #[track_caller]
    pub fn assert_refuses(&self, says: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self:?}");
        assert!(self.stderr.contains(says), "{says:?} is not in {self:?}");
    }
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join(".claude")).unwrap();
        Self { folder }
    }

    /// A home whose settings are those.
    pub fn with(settings: impl AsRef<[u8]>) -> Self {
        let home = Self::new();
        fs::write(home.settings(), settings).unwrap();
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn settings(&self) -> PathBuf {
        self.path().join(".claude/settings.json")
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.settings()).unwrap()
    }

    pub fn text(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.text().trim_start_matches('\u{feff}')).expect("the settings are JSON")
    }

    /// The events with an entry of ours, each as often as it has one.
    pub fn events(&self) -> Vec<String> {
        let text = self.text();
        let document = Document::parse(&text, Syntax::Strict).expect("the settings are JSON");
        let lists = document.root().get("hooks").expect("there are hooks").items();
        let ours = |list: &Item<'_>| list.value.source().matches("hook claude || :").count();
        lists.iter().flat_map(|list| vec![list.key.unwrap().string().unwrap(); ours(list)]).collect()
    }

    /// A `vigilctl`, in an environment that holds this home and nothing else.
    pub fn vigilctl(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vigilctl"));
        command.args(words).env_clear().env("HOME", self.path()).env("PATH", self.path().join("bin")).current_dir("/");
        command
    }

    pub fn run(&self, words: &[&str]) -> Outcome {
        self.vigilctl(words).output().expect("the program starts").into()
    }

    /// Installs the program as it is built, which it would not do by itself.
    pub fn install(&self) -> Outcome {
        self.run(&["install", "claude", "--program", env!("CARGO_BIN_EXE_vigilctl")])
    }

    pub fn uninstall(&self) -> Outcome {
        self.run(&["uninstall", "claude"])
    }

    /// Puts an executable script under that name.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The same `install`, by a user whom modes hold up.
    pub fn install_as_nobody(&self) -> Outcome {
        if !rustix::process::geteuid().is_root() {
            return self.install();
        }
        // Nobody may not read where we were built.
        let copy = self.path().join("vigilctl");
        fs::copy(env!("CARGO_BIN_EXE_vigilctl"), &copy).unwrap();
        let mut command = Command::new(&copy);
        command.args(["install", "claude", "--program"]).arg(&copy);
        command.env_clear().env("HOME", self.path()).current_dir("/").uid(NOBODY).gid(NOBODY);
        command.output().expect("the program starts").into()
    }
}
