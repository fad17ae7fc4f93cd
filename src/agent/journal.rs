// SPDX-License-Identifier: GPL-3.0-or-later
//! Agents that write of themselves what no hook tells: which files these are, and what their lines mean.
//!
//! The application watches the files and reads them; here it is decided what they say. A [`Source`] is one place where
//! agents write; its [`Reader`] is made once for each folder in which they do, is given what is new in the files, in
//! order, and makes events of it. It reads no clock and no file itself. Records carry their own times: an event's `at`
//! (and `seq`, where they are numbered) is when it was written down as such, not when it was read.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::event::{Event, Process};
use crate::time::{BootTime, Now};

/// Every place where journals are read.
pub const SOURCES: &[Source] = &[super::vibe::journal::SOURCE, super::codebuff::SOURCE, super::pool::journal::SOURCE];

/// Looks up a variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// One place where agents write, and who does.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Their ids in the catalogue. A hook of one of them has the place looked at, if it was not there before.
    pub agents: &'static [&'static str],
    /// The names of the processes that write there.
    pub processes: &'static [&'static str],
    /// The agents' own folder, told by variables of the environment; nothing outside of it is ever opened.
    pub top: fn(Variable<'_>) -> Option<PathBuf>,
    /// Makes the reader of such a folder.
    pub reader: fn() -> Box<dyn Reader>,
}

/// What something below the agents' own folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A folder whose entries are looked at: so many of those that were there before, the newest, and all that come.
    Folder(usize),
    /// The same, but there are only folders in it: what is written to its files wakes nobody.
    Way(usize),
    /// A file to which lines are appended.
    Lines,
    /// A small file that is written anew as a whole.
    Whole,
}

/// What is new in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A line, without its end. While a file is read that was there before, what lines make is not told to anybody:
    /// they only show the reader the way to the present.
    Line(&'a [u8]),
    /// Of a file that was there before, or that was cut: the lines up to here were history. What it makes is told: the
    /// state now.
    CaughtUp,
    /// All that stands in it now.
    Whole(&'a [u8]),
    /// It has gone.
    Gone,
    /// It is followed no more, for there are too many, or nobody wants it; it may come back.
    Left,
}

/// A process that writes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which it is.
    pub process: Process,
    /// Its name, as the kernel cuts it.
    pub comm: String,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// When it started, to the hundredth of a second.
    pub started: BootTime,
}

/// Which process an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// That one of the candidates: the event gets its terminal and folder.
    Is(usize),
    /// Not said, and not needed: hooks have told of the session.
    Unneeded,
    /// None that lives: the event is of the past, and nobody is told.
    Gone,
}

/// Makes events of the files below one folder. Paths are relative to it.
pub trait Reader: fmt::Debug + Send {
    /// What is to be done with something of that name; `None` for what is no journal.
    fn shape(&self, path: &Path) -> Option<Shape>;

    /// What is new in a file makes these events. Anything of an unknown form makes none.
    fn take(&mut self, path: &Path, input: Input<'_>, now: Now) -> Vec<Event>;

    /// Folders and files that are to be followed now although the folder above is not, as they may not exist yet. Each
    /// must have a [`Shape`].
    fn wanted(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// When [`Self::due`] wants to be called: for what only silence tells.
    fn deadline(&self) -> Option<BootTime> {
        None
    }

    /// The deadline has passed.
    fn due(&mut self, _now: Now) -> Vec<Event> {
        Vec::new()
    }

    /// Which of the processes that live now an event comes from; it may name the agent by it. Asked for a session's
    /// first event, for each of its starts, and when the process of before has gone.
    fn owner(&self, event: &mut Event, candidates: &[Candidate]) -> Owner;
}
