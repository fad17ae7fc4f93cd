// SPDX-License-Identifier: GPL-3.0-or-later
//! How agents come to call us: our entries in their settings, put in, taken out, and looked after.
//!
//! One table entry an agent ([`INTEGRATIONS`]), one file an agent for what it reads ([`claude`]), one a shape of
//! settings ([`hooks`]), one a format ([`json`]); those are text in, text out. [`file`](mod@file) alone writes, and
//! [`program`] alone looks for programs. An agent rewrites its settings when it likes, from what it read long ago: so
//! what has been put in is looked at again, never taken for granted.

pub mod claude;
pub mod command;
pub mod file;
pub mod hooks;
pub mod json;
pub mod program;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use file::{Change, Target, Trouble};
use hooks::{Fault, Left, Survey, Wanted};

/// How one agent's settings are found and read.
#[derive(Clone, Copy, Debug)]
pub struct Integration {
    /// The agent's id in the catalogue.
    pub agent: &'static str,
    /// The names of its program.
    programs: &'static [&'static str],
    /// Folders of the home in which it may be without being on the path.
    folders: &'static [&'static str],
    file: fn(&Surroundings) -> Option<PathBuf>,
    wanted: fn(Option<Version>) -> Wanted,
    switched_off: fn(&Surroundings, Option<&str>) -> Option<String>,
}

/// The agents that we can be put into.
pub const INTEGRATIONS: &[Integration] = &[Integration {
    agent: claude::ID,
    programs: &["claude"],
    folders: &[".local/bin", ".claude/local"],
    file: claude::file,
    wanted: claude::wanted,
    switched_off: claude::switched_off,
}];

const NO_HOME: &str = "There is no home folder, and so no settings";

/// The integration of an agent.
pub fn find(agent: &str) -> Option<&'static Integration> {
    INTEGRATIONS.iter().find(|integration| integration.agent == agent)
}

/// Whose settings, and where.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The environment.
    pub variables: BTreeMap<OsString, OsString>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What `/etc` is in.
    pub root: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        Self { variables: std::env::vars_os().collect(), home: std::env::home_dir(), root: "/".into() }
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

/// A program's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// Reads what stands at the beginning, as in `2.1.332 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut parts = word.split(['.', '-', '+']).map(str::parse);
        let mut next = || parts.next()?.ok();
        Some(Self([next()?, next()?, next()?]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The agent's program, as far as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub program: Option<PathBuf>,
    /// Its version, if it said one.
    pub version: Option<Version>,
}

/// How far we are put into an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not at all.
    Missing,
    /// Some events have no entry.
    Partial,
    /// All is as it should be.
    Complete,
    /// There are entries, and something keeps them from working.
    Stale,
}

impl State {
    /// Its word in `doctor --json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Partial => "partial",
            Self::Complete => "complete",
            Self::Stale => "stale",
        }
    }
}

/// What was found of one integration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The agent's id.
    pub agent: &'static str,
    /// How far we are put in.
    pub state: State,
    /// The settings file, by the name that the agent uses.
    pub file: Option<PathBuf>,
    /// What to do, where something is to be done.
    pub advice: Option<String>,
    /// Whether an installation would do it.
    pub mends: bool,
}

/// What an agent's settings were and will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The file itself, behind all links.
    pub file: PathBuf,
    /// What it held; `None` without a file.
    pub before: Option<String>,
    /// What it holds then.
    pub after: Option<String>,
}

impl Plan {
    fn new(target: Target, before: Option<String>, change: Change) -> Self {
        let after = match change {
            Change::Nothing => before.clone(),
            Change::Write(text) => Some(text),
            Change::Remove => target.is_link.then(|| file::EMPTY.to_string()),
        };
        Self { file: target.real, before, after }
    }

    /// Whether there is anything to do.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// Why settings are left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A sentence for the user.
    pub message: String,
    /// What they can put in by hand, where the settings are written from.
    pub snippet: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.snippet.is_some() { f.write_str(". Put this in where it is written from:") } else { Ok(()) }
    }
}

impl std::error::Error for Refusal {}

/// What is to be done with an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Put in entries that run this program.
    Install(&'a str),
    /// Take them out.
    Uninstall,
}

impl Integration {
    /// Looks for the agent's program, and asks it for its version.
    pub fn find_program(&self, surroundings: &Surroundings) -> Found {
        let program = surroundings.find(self.programs, self.folders);
        let version = program.as_deref().and_then(program::version);
        Found { program, version }
    }

    /// The settings file, by the name that the agent uses.
    pub fn file(&self, surroundings: &Surroundings) -> Option<PathBuf> {
        std::path::absolute((self.file)(surroundings)?).ok()
    }

    /// Looks at the settings. Without a version, only what every version has is expected.
    pub fn inspect(&self, surroundings: &Surroundings, version: Option<Version>) -> Report {
        let blank = Report { agent: self.agent, state: State::Missing, file: None, advice: None, mends: false };
        let Some(file) = self.file(surroundings) else {
            return Report { advice: Some(NO_HOME.to_string()), ..blank };
        };
        let report = match file::read(&file) {
            Ok(text) => self.judge(surroundings, version, &file, text.as_deref(), blank),
            Err(Trouble::Unfit(why) | Trouble::ReadOnly(why) | Trouble::Refused(why)) => {
                Report { advice: Some(why), ..blank }
            }
        };
        Report { file: Some(file), ..report }
    }

    fn judge(
        &self,
        surroundings: &Surroundings,
        version: Option<Version>,
        file: &Path,
        text: Option<&str>,
        blank: Report,
    ) -> Report {
        let wanted = (self.wanted)(version);
        let runs = |program: &str| {
            let path = Path::new(program);
            if path.is_absolute() { program::is_program(path) } else { !surroundings.search(path).is_empty() }
        };
        let survey = match hooks::survey(text.unwrap_or_default(), &wanted, &runs) {
            Ok(survey) => survey,
            Err(flaw) => {
                let file = file.display();
                let why = format!("{file}, {flaw}; the agent ignores such a file. Mend it, then {}", self.run());
                return Report { advice: Some(why), ..blank };
            }
        };
        let off = (self.switched_off)(surroundings, text);
        let (state, advice, mends) = match (verdict(&survey, &wanted, version), off) {
            ((State::Missing, _), None) => (State::Missing, Some(capital(&self.run())), true),
            ((State::Missing, _), Some(off)) => {
                (State::Missing, Some(format!("{}. {off}", capital(&self.run()))), true)
            }
            (_, Some(off)) => (State::Stale, Some(off), false),
            ((state, Some(why)), None) => (state, Some(format!("{why}; {}", self.run())), true),
            ((state, None), None) => (state, None, false),
        };
        Report { state, advice, mends, ..blank }
    }

    fn run(&self) -> String {
        format!("run `{} install {}`", command::PROGRAM, self.agent)
    }

    /// What an action would do, without doing it.
    ///
    /// # Errors
    ///
    /// When the settings cannot be read, or are not of the shape that the agent reads.
    pub fn plan(&self, surroundings: &Surroundings, found: &Found, action: Action<'_>) -> Result<Plan, Refusal> {
        let file = self.require_file(surroundings)?;
        let refuse = |trouble| self.refuse(trouble, found, action);
        let target = file::resolve(&file).map_err(refuse)?;
        let before = file::read(&file).map_err(refuse)?;
        let change = self.change(&file, before.as_deref(), found, action).map_err(refuse)?;
        Ok(Plan::new(target, before, change))
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// When the settings cannot be read or written, or are not of the shape that the agent reads; they are then as
    /// they were.
    pub fn carry_out(&self, surroundings: &Surroundings, found: &Found, action: Action<'_>) -> Result<Plan, Refusal> {
        let file = self.require_file(surroundings)?;
        let mut last = None;
        let target = file::update(&file, |text| {
            let change = self.change(&file, text, found, action)?;
            last = Some((text.map(ToString::to_string), change.clone()));
            Ok(change)
        });
        let target = target.map_err(|trouble| self.refuse(trouble, found, action))?;
        let (before, change) = last.unwrap_or((None, Change::Nothing));
        Ok(Plan::new(target, before, change))
    }

    /// Completes what is there, with the program beside this one; if that will not last, with the one that the entries
    /// run already and somebody has chosen. Nothing is put in where nothing is.
    ///
    /// # Errors
    ///
    /// When there is nothing to repair or no program to run, or as for [`Self::carry_out`].
    pub fn repair(&self, surroundings: &Surroundings) -> Result<Plan, Refusal> {
        let refusal = |message| Refusal { message, snippet: None };
        let report = self.inspect(surroundings, None);
        if let (State::Missing, Some(advice)) = (report.state, report.advice) {
            return Err(refusal(advice));
        }
        let program = program::lasting_beside(surroundings);
        let program = program.or_else(|why| self.program(surroundings).ok_or(why)).map_err(refusal)?;
        self.carry_out(surroundings, &self.find_program(surroundings), Action::Install(&program))
    }

    /// The program that all entries run, if it is there.
    fn program(&self, surroundings: &Surroundings) -> Option<String> {
        let text = file::read(&self.file(surroundings)?).ok()??;
        let survey = hooks::survey(&text, &(self.wanted)(None), &|_| true).ok()?;
        let mut programs = survey.programs.into_iter();
        let program = programs.next().filter(|program| program::named(Path::new(program)).as_ref() == Ok(program))?;
        programs.next().is_none().then_some(program)
    }

    fn require_file(&self, surroundings: &Surroundings) -> Result<PathBuf, Refusal> {
        self.file(surroundings).ok_or(Refusal { message: NO_HOME.to_string(), snippet: None })
    }

    fn change(&self, file: &Path, text: Option<&str>, found: &Found, action: Action<'_>) -> Result<Change, Trouble> {
        let wanted = (self.wanted)(found.version);
        let changed = match (action, text) {
            (Action::Install(program), text) => hooks::install(text, &wanted, program).map(Left::Text),
            (Action::Uninstall, None) => return Ok(Change::Nothing),
            (Action::Uninstall, Some(text)) => hooks::uninstall(text, self.agent),
        };
        match changed {
            Ok(Left::Text(changed)) if text == Some(changed.as_str()) => Ok(Change::Nothing),
            Ok(Left::Text(changed)) => Ok(Change::Write(changed)),
            Ok(Left::Nothing) => Ok(Change::Remove),
            Err(flaw) => Err(Trouble::Refused(format!("{}, {flaw}. Nothing was changed", file.display()))),
        }
    }

    fn refuse(&self, trouble: Trouble, found: &Found, action: Action<'_>) -> Refusal {
        match (trouble, action) {
            (Trouble::ReadOnly(why), Action::Install(program)) => {
                Refusal { message: why, snippet: Some(hooks::snippet(&(self.wanted)(found.version), program)) }
            }
            (Trouble::Unfit(message) | Trouble::ReadOnly(message) | Trouble::Refused(message), _) => {
                Refusal { message, snippet: None }
            }
        }
    }
}

/// What follows from what a file holds.
fn verdict(survey: &Survey, wanted: &Wanted, version: Option<Version>) -> (State, Option<String>) {
    if survey.served == 0 {
        return (State::Missing, None);
    }
    let why = survey.fault.as_ref().map(|fault| match fault {
        Fault::Gone(program) => format!("The hooks run {program}, which is not there"),
        Fault::OldForm => "The hooks run a command of an older form".to_string(),
        Fault::Altered => "The agent does not wait for a hook".to_string(),
        Fault::UnknownEvent(event) => {
            let who = version.map_or("Vigil".into(), |version| format!("version {version}"));
            format!("There is a hook for {event}, which {who} does not know")
        }
    });
    let missing = survey.missing.as_slice();
    match (why, missing) {
        (Some(why), _) => (State::Stale, Some(why)),
        (None, []) => (State::Complete, None),
        (None, missing) => {
            let all = wanted.required.len();
            (State::Partial, Some(format!("{} of {all} hooks are not there ({})", missing.len(), missing.join(", "))))
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_integration_is_of_the_catalogue() {
        for integration in INTEGRATIONS {
            assert!(crate::agent::CATALOGUE.iter().any(|agent| agent.id == integration.agent));
        }
    }

    #[test]
    fn versions_are_read_and_ordered() {
        assert_eq!(Version::parse("2.1.332 (Claude Code)\n"), Some(Version([2, 1, 332])));
        assert_eq!(Version::parse("2.1.332-beta.1"), Some(Version([2, 1, 332])));
        for bad in ["", "claude", "2.1", "v2.1.3", "error: 2.1.3"] {
            assert_eq!(Version::parse(bad), None, "{bad}");
        }
        assert!(Version([2, 1, 84]) < Version([2, 1, 197]) && Version([2, 1, 197]) < Version([2, 2, 0]));
    }
}
