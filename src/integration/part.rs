// SPDX-License-Identifier: GPL-3.0-or-later
//! One file of an integration: where it is, and how what is ours is put into it, found in it, and taken out.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::command::Ours;
use super::file::{Change, Trouble};
use super::json::Flaw;
use super::{Action, Found, Refusal, Surroundings, Version};

/// A shape of settings. Text in, text out: a format reads no file and starts no program.
pub trait Format: Debug + Sync {
    /// Looks at a text, `None` without a file. `runs` says whether a program is there.
    ///
    /// # Errors
    ///
    /// Where the text is not of the shape that the agent reads.
    fn survey(&self, text: Option<&str>, version: Option<Version>, runs: &dyn Fn(&str) -> bool)
    -> Result<Survey, Flaw>;

    /// The text with everything that is ours, running that program. Doing it again changes nothing.
    ///
    /// # Errors
    ///
    /// Where the text is not of the shape that the agent reads, or the place is somebody else's.
    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw>;

    /// The text without anything that is ours, and without what came with it.
    ///
    /// # Errors
    ///
    /// Where the text is not of the shape that the agent reads.
    fn uninstall(&self, text: &str) -> Result<Left, Flaw>;

    /// All that is ours as settings of their own, for a user to put in by hand.
    fn snippet(&self, version: Option<Version>, program: &str) -> String;

    /// What is left of a file that is to go and cannot, for a link leads to it.
    fn emptied(&self) -> &'static str;

    /// Whether its folder came with it. The folder goes with the file, unless something else is in it than what Python
    /// makes of a plugin.
    fn owns_folder(&self) -> bool {
        false
    }
}

/// The events of an agent's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// Those whose entry it takes to be complete. Of an unknown version only what every version has.
    pub required: Vec<&'static str>,
    /// Those that may have an entry; elsewhere one does harm.
    pub allowed: Vec<&'static str>,
}

/// An entry of ours in an agent's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The event that it is for.
    pub(super) event: String,
    /// What it runs.
    pub(super) ours: Ours,
    /// It is called for each of its events, with the event's own name.
    pub(super) works: bool,
}

impl Events {
    /// What our entries come to. `runs` says whether a program is there.
    pub(super) fn survey(&self, entries: &[&Entry], runs: &dyn Fn(&str) -> bool) -> Survey {
        let fault = |entry: &&Entry| {
            if !self.allowed.contains(&entry.event.as_str()) {
                Some(Fault::UnknownEvent(entry.event.clone()))
            } else if !entry.ours.guarded {
                Some(Fault::OldForm)
            } else if !runs(&entry.ours.program) {
                Some(Fault::Gone(entry.ours.program.clone()))
            } else {
                (!entry.works).then_some(Fault::Altered)
            }
        };
        let has = |event: &str| entries.iter().any(|entry| entry.event == event && entry.works);
        Survey {
            served: entries.iter().map(|entry| entry.event.as_str()).collect::<BTreeSet<_>>().len(),
            required: self.required.len(),
            missing: self.required.iter().copied().filter(|event| !has(event)).collect(),
            fault: entries.iter().find_map(fault),
            programs: entries.iter().map(|entry| entry.ours.program.clone()).collect(),
        }
    }

    /// Whether the last of these entries may stay: the agent takes it, it works, and no other of its event does so
    /// before it.
    pub(super) fn keeps(&self, entries: &[&Entry]) -> bool {
        let Some((last, before)) = entries.split_last() else { return false };
        let served = before.iter().any(|entry| entry.event == last.event && entry.works);
        last.works && !served && self.allowed.contains(&last.event.as_str())
    }
}

/// What a text holds of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many of the entries that belong there are there in some form.
    pub served: usize,
    /// How many should be.
    pub required: usize,
    /// Those that are not, or do not work for all that they are for.
    pub missing: Vec<&'static str>,
    /// The first thing that is wrong.
    pub fault: Option<Fault>,
    /// The programs that our entries run.
    pub programs: BTreeSet<String>,
}

impl Survey {
    /// Takes another part's.
    pub(super) fn add(&mut self, other: Self) {
        self.served += other.served;
        self.required += other.required;
        self.missing.extend(other.missing);
        self.programs.extend(other.programs);
        self.fault = self.fault.take().or(other.fault);
    }
}

/// What is wrong with what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It runs a program that is not there.
    Gone(String),
    /// Its command is not guarded, or otherwise not as we write it.
    OldForm,
    /// It runs beside the agent, or only sometimes.
    Altered,
    /// It is of another version of ours.
    Outdated,
    /// It is for an event that this version of the agent does not know.
    UnknownEvent(String),
}

impl Fault {
    /// What is wrong, as a sentence without its full stop.
    pub(super) fn sentence(&self, version: Option<Version>) -> String {
        match self {
            Self::Gone(program) => format!("The hooks run {program}, which is not there"),
            Self::OldForm => "The hooks run a command of an older form".to_string(),
            Self::Altered => "The agent does not wait for a hook".to_string(),
            Self::Outdated => "What was put in is of another version of Vigil".to_string(),
            Self::UnknownEvent(event) => {
                let who = version.map_or("Vigil".into(), |version| format!("version {version}"));
                format!("There is a hook for {event}, which {who} does not know")
            }
        }
    }
}

/// What is left of a file without what is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// This text.
    Text(String),
    /// Nothing: the file came with it.
    Nothing,
}

/// One file of an integration.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where it is, by the name that the agent uses; `None` without a home.
    pub(super) file: fn(&Surroundings) -> Option<PathBuf>,
    /// What it is.
    pub(super) format: &'static dyn Format,
}

impl Part {
    pub(super) fn path(&self, surroundings: &Surroundings) -> Option<PathBuf> {
        std::path::absolute((self.file)(surroundings)?).ok()
    }

    /// What an action makes of the file's text.
    pub(super) fn change(
        &self,
        file: &Path,
        text: Option<&str>,
        found: &Found,
        action: Action<'_>,
    ) -> Result<Change, Trouble> {
        let changed = match (action, text) {
            (Action::Install(program), text) => self.format.install(text, found.version, program).map(Left::Text),
            (Action::Uninstall, None) => return Ok(Change::Nothing),
            (Action::Uninstall, Some(text)) => self.format.uninstall(text),
        };
        match changed {
            Ok(Left::Text(changed)) if text == Some(changed.as_str()) => Ok(Change::Nothing),
            Ok(Left::Text(changed)) => Ok(Change::Write(changed)),
            Ok(Left::Nothing) => Ok(Change::Remove(self.format.emptied())),
            Err(flaw) => Err(Trouble::Refused(format!("{}, {flaw}. Nothing was changed", file.display()))),
        }
    }

    /// What the user is told of trouble; with what to put in by hand where a file may not be written.
    pub(super) fn refuse(&self, trouble: Trouble, found: &Found, action: Action<'_>) -> Refusal {
        let snippet = match (&trouble, action) {
            (Trouble::ReadOnly(_), Action::Install(program)) => Some(self.format.snippet(found.version, program)),
            _ => None,
        };
        let (Trouble::Unfit(message) | Trouble::ReadOnly(message) | Trouble::Refused(message)) = trouble;
        Refusal { message, snippet }
    }
}
