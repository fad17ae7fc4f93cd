// SPDX-License-Identifier: GPL-3.0-or-later
//! How agents come to call us: our entries in their settings, put in, taken out, and looked after.
//!
//! One table entry an agent ([`INTEGRATIONS`]), each in the agent's own file; one file a shape of settings ([`hooks`],
//! [`toml`], [`yaml`], [`yaml_hooks`], [`dropped`], [`npmrc`]: a [`part::Format`]), one a syntax ([`json`]); those are
//! text in, text out.
//! [`file`](mod@file) alone writes, and [`program`] alone looks for programs. An agent rewrites its settings when it
//! likes, from what it read long ago: so what has been put in is looked at again, never taken for granted.

pub mod claude;
pub mod codewhale;
pub mod codex;
pub mod command;
pub mod dropped;
pub mod file;
pub mod hermes;
pub mod hooks;
pub mod json;
pub mod npmrc;
pub mod opencode;
pub mod part;
pub mod pi;
pub mod pool;
pub mod program;
pub mod toml;
pub mod yaml;
pub mod yaml_hooks;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use file::{Change, Target, Trouble};
use part::{Part, Survey};

/// How one agent's settings are found and read.
#[derive(Clone, Copy, Debug)]
pub struct Integration {
    /// The agent's id in the catalogue.
    pub agent: &'static str,
    /// The names of its program.
    programs: &'static [&'static str],
    /// Folders of the home in which it may be without being on the path.
    folders: &'static [&'static str],
    /// The files that are edited, in the order in which they are put in; they are taken out the other way round.
    parts: &'static [Part],
    /// What keeps it from working although all is there, by the text of each part, as a sentence.
    switched_off: fn(&Surroundings, &[Option<String>]) -> Option<String>,
    /// Other files that decide, by the names that the agent uses: they are looked at, never edited.
    beside: &'static [fn(&Surroundings) -> Option<PathBuf>],
    /// The entries that the agent does not run before its user has trusted them, by the text of each part; `None` for
    /// an agent that trusts its settings.
    untrusted: Option<FindUntrusted>,
    /// Whether an agent that runs already takes it up by itself.
    live: bool,
}

type FindUntrusted = fn(&Surroundings, &[Option<String>]) -> Vec<Untrusted>;

/// An entry of ours that the agent does not run before its user has trusted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    /// What the agent calls it.
    pub key: String,
    /// What it runs.
    pub command: String,
}

/// What most of them are like; each starts from it.
const PLAIN: Integration = Integration {
    agent: "",
    programs: &[],
    folders: &[],
    parts: &[],
    switched_off: |_, _| None,
    beside: &[],
    untrusted: None,
    live: false,
};

/// The agents that we can be put into.
pub const INTEGRATIONS: &[Integration] = &[
    claude::INTEGRATION,
    codewhale::INTEGRATION,
    codex::INTEGRATION,
    hermes::INTEGRATION,
    opencode::KILO,
    opencode::MIMO,
    opencode::OPENCODE,
    pi::INTEGRATION,
    pool::INTEGRATION,
];

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
    /// Reads the first word of the first line that is one, as in `2.1.332 (Claude Code)` and `codex-cli 0.171.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |word: &str| {
            let mut parts = word.strip_prefix('v').unwrap_or(word).split(['.', '-', '+']).map(str::parse);
            let mut next = || parts.next()?.ok();
            Some(Self([next()?, next()?, next()?]))
        };
        text.lines().next()?.split_whitespace().find_map(number)
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
    /// The file that says most, by the name that the agent uses: the first that something is wrong with, else the
    /// first of all.
    pub file: Option<PathBuf>,
    /// What to do, where something is to be done.
    pub advice: Option<String>,
    /// Whether an installation would do it.
    pub mends: bool,
}

/// What one of an agent's files was and will be.
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
            Change::Remove(left) => target.is_link.then(|| left.to_string()),
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
        let program = self.locate(surroundings);
        let version = program.as_deref().and_then(program::version);
        Found { program, version }
    }

    /// Looks for the agent's program, and does not start it.
    pub fn locate(&self, surroundings: &Surroundings) -> Option<PathBuf> {
        surroundings.find(self.programs, self.folders)
    }

    /// The files that are edited, by the names that the agent uses; none without a home.
    pub fn files(&self, surroundings: &Surroundings) -> Vec<PathBuf> {
        self.parts.iter().filter_map(|part| part.path(surroundings)).collect()
    }

    /// The files that decide besides those, by the names that the agent uses.
    pub fn files_beside(&self, surroundings: &Surroundings) -> Vec<PathBuf> {
        self.beside.iter().filter_map(|file| file(surroundings)).collect()
    }

    /// Our entries that the agent does not run before its user has trusted them.
    pub fn untrusted(&self, surroundings: &Surroundings) -> Vec<Untrusted> {
        let Some(untrusted) = self.untrusted else { return Vec::new() };
        let texts: Vec<_> = self.files(surroundings).iter().map(|file| file::read(file).ok().flatten()).collect();
        untrusted(surroundings, &texts)
    }

    /// Whether an agent that runs already takes up what is put in.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Looks at the settings. Without a version, only what every version has is expected.
    pub fn inspect(&self, surroundings: &Surroundings, version: Option<Version>) -> Report {
        let files = self.files(surroundings);
        let blank = Report { agent: self.agent, state: State::Missing, file: None, advice: None, mends: false };
        if files.len() < self.parts.len() {
            return Report { advice: Some(NO_HOME.to_string()), ..blank };
        }
        let runs = |program: &str| {
            let path = Path::new(program);
            if path.is_absolute() { program::is_program(path) } else { !surroundings.search(path).is_empty() }
        };
        let (mut whole, mut texts, mut telling) = (Survey::default(), Vec::new(), None);
        for (part, file) in self.parts.iter().zip(&files) {
            let text = match file::read(file) {
                Ok(text) => text,
                Err(Trouble::Unfit(why) | Trouble::ReadOnly(why) | Trouble::Refused(why)) => {
                    return Report { file: Some(file.clone()), advice: Some(why), ..blank };
                }
            };
            match part.format.survey(text.as_deref(), version, &runs) {
                Ok(survey) => {
                    let tells = survey.fault.is_some() || !survey.missing.is_empty();
                    telling = telling.or(tells.then_some(file));
                    whole.add(survey);
                }
                Err(flaw) => {
                    let why = format!(
                        "{}, {flaw}; the agent ignores such a file. Mend it, then {}",
                        file.display(),
                        self.run()
                    );
                    return Report { file: Some(file.clone()), advice: Some(why), ..blank };
                }
            }
            texts.push(text);
        }
        let off = (self.switched_off)(surroundings, &texts);
        let (state, advice, mends) = match (verdict(&whole, version), off) {
            ((State::Missing, _), None) => (State::Missing, Some(capital(&self.run())), true),
            ((State::Missing, _), Some(off)) => {
                (State::Missing, Some(format!("{}. {off}", capital(&self.run()))), true)
            }
            (_, Some(off)) => (State::Stale, Some(off), false),
            ((state, Some(why)), None) => (state, Some(format!("{why}; {}", self.run())), true),
            ((state, None), None) => (state, None, false),
        };
        let file = telling.filter(|_| state != State::Missing).or(files.first()).cloned();
        Report { state, advice, mends, file, ..blank }
    }

    fn run(&self) -> String {
        format!("run `{} install {}`", command::PROGRAM, self.agent)
    }

    /// What an action would do to each file, without doing it.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or is not of the shape that the agent reads.
    pub fn plan(&self, surroundings: &Surroundings, found: &Found, action: Action<'_>) -> Result<Vec<Plan>, Refusal> {
        self.in_order(surroundings, action)?
            .into_iter()
            .map(|(part, file)| {
                let refuse = |trouble| part.refuse(trouble, found, action);
                let target = file::resolve(&file).map_err(refuse)?;
                let before = file::read(&file).map_err(refuse)?;
                let change = part.change(&file, before.as_deref(), found, action).map_err(refuse)?;
                Ok(Plan::new(target, before, change))
            })
            .collect()
    }

    /// Does it. What any file refuses is found out before the first one is written.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written, or is not of the shape that the agent reads; it is then as it was.
    pub fn carry_out(
        &self,
        surroundings: &Surroundings,
        found: &Found,
        action: Action<'_>,
    ) -> Result<Vec<Plan>, Refusal> {
        self.plan(surroundings, found, action)?;
        self.in_order(surroundings, action)?
            .into_iter()
            .map(|(part, file)| {
                let mut last = None;
                let target = file::update(&file, |text| {
                    let change = part.change(&file, text, found, action)?;
                    last = Some((text.map(ToString::to_string), change.clone()));
                    Ok(change)
                });
                let target = target.map_err(|trouble| part.refuse(trouble, found, action))?;
                if action == Action::Uninstall && part.format.owns_folder() && file::read(&file) == Ok(None) {
                    file.parent().into_iter().for_each(file::clear_folder);
                }
                let (before, change) = last.unwrap_or((None, Change::Nothing));
                Ok(Plan::new(target, before, change))
            })
            .collect()
    }

    /// The parts and their files in the order of an action.
    fn in_order(
        &self,
        surroundings: &Surroundings,
        action: Action<'_>,
    ) -> Result<Vec<(&'static Part, PathBuf)>, Refusal> {
        let no_home = || Refusal { message: NO_HOME.to_string(), snippet: None };
        let parts = self.parts.iter().map(|part| Ok((part, part.path(surroundings).ok_or_else(no_home)?)));
        let mut parts = parts.collect::<Result<Vec<_>, Refusal>>()?;
        if action == Action::Uninstall {
            parts.reverse();
        }
        Ok(parts)
    }

    /// Completes what is there, with the program beside this one; if that will not last, with the one that the entries
    /// run already and somebody has chosen. Nothing is put in where nothing is.
    ///
    /// # Errors
    ///
    /// When there is nothing to repair or no program to run, or as for [`Self::carry_out`].
    pub fn repair(&self, surroundings: &Surroundings) -> Result<Vec<Plan>, Refusal> {
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
        let mut whole = Survey::default();
        for (part, file) in self.in_order(surroundings, Action::Install("")).ok()? {
            whole.add(part.format.survey(file::read(&file).ok()?.as_deref(), None, &|_| true).ok()?);
        }
        let mut programs = whole.programs.into_iter();
        let program = programs.next().filter(|program| program::named(Path::new(program)).as_ref() == Ok(program))?;
        programs.next().is_none().then_some(program)
    }
}

/// What follows from what the files hold.
fn verdict(survey: &Survey, version: Option<Version>) -> (State, Option<String>) {
    if survey.served == 0 {
        return (State::Missing, None);
    }
    match (&survey.fault, survey.missing.as_slice()) {
        (Some(fault), _) => (State::Stale, Some(fault.sentence(version))),
        (None, []) => (State::Complete, None),
        (None, missing) => {
            let all = survey.required;
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
        assert_eq!(Version::parse("codex-cli 0.171.0"), Some(Version([0, 171, 0])));
        assert_eq!(Version::parse("Hermes Agent v0.19.0 (2026.7.20)"), Some(Version([0, 19, 0])));
        for bad in ["", "claude", "2.1", "error\n2.1.3", "x2.1.3"] {
            assert_eq!(Version::parse(bad), None, "{bad}");
        }
        assert!(Version([2, 1, 84]) < Version([2, 1, 197]) && Version([2, 1, 197]) < Version([2, 2, 0]));
    }
}
