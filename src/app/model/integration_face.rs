// SPDX-License-Identifier: GPL-3.0-or-later
//! What is said of one agent and how far we are put into it.

use std::path::{Path, PathBuf};

use super::bidi::isolate;
use crate::agent::{self, gap::Gap};
use crate::app::i18n::{gettext, gettext_f, ngettext_f};
use crate::integration::{self, Found, Report, State};
use crate::text;

/// How an agent can be connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// We can be put into it.
    Entry {
        /// Whether sessions that run already take it up.
        live: bool,
    },
    /// Its log is read, and nothing is put in.
    Log,
    /// In no way that we know.
    #[default]
    None,
}

impl Way {
    /// That of an agent.
    pub fn of(agent: &str) -> Self {
        match (integration::find(agent), agent::find(agent).integration) {
            (Some(entry), _) => Self::Entry { live: entry.is_live() },
            (None, agent::Integration::Log) => Self::Log,
            (None, _) => Self::None,
        }
    }
}

/// What the look at one agent has found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The agent's id.
    pub agent: String,
    /// How it can be connected.
    pub way: Way,
    /// The files that are edited.
    pub files: Vec<PathBuf>,
    /// The user's home, which is not spelled out.
    pub home: Option<PathBuf>,
    /// How far we are put in; none before the first look.
    pub report: Option<Report>,
    /// Its program; none before somebody has looked for it.
    pub found: Option<Found>,
}

/// What is shown of an integration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrationFace {
    /// What to call the agent.
    pub name: String,
    /// The first letter of that.
    pub initial: String,
    /// `missing`, `partial`, `complete` or `stale`; empty before the first look.
    pub state: String,
    /// The same for the user, in a few words.
    pub status: String,
    /// Whether the agent, or something of ours for it, is on this computer.
    pub present: bool,
    /// What to do; empty where nothing is to be done.
    pub advice: String,
    /// Whether that is more than what the button says.
    pub advised: bool,
    /// Whether what was put in does not all work any more.
    pub broken: bool,
    /// Whether an installation would mend it.
    pub repairable: bool,
    /// Whether it works without anything being put in.
    pub automatic: bool,
    /// Where its program is, and its version.
    pub program: String,
    /// What the line of the files is called.
    pub files_title: String,
    /// The files that are edited, one a line.
    pub files: String,
    /// Whether there are any.
    pub edits: bool,
    /// Whether sessions that run have to be started anew.
    pub restart: bool,
    /// What it cannot tell, one a line.
    pub gaps: String,
    /// Whether there is such a thing.
    pub gapped: bool,
    /// What the button says that puts us in.
    pub offer: String,
    /// Whether there is one.
    pub offered: bool,
    /// The same as a whole sentence.
    pub offer_description: String,
    /// The application's action that it calls.
    pub offer_action: String,
    /// Whether there is anything to take out.
    pub removable: bool,
    /// What the button says that takes us out, as a whole sentence.
    pub remove_description: String,
}

impl From<&Facts> for IntegrationFace {
    fn from(facts: &Facts) -> Self {
        let name = agent::find(&facts.agent).name.to_string();
        let state = facts.report.as_ref().map(|report| report.state);
        let mends = facts.report.as_ref().is_some_and(|report| report.mends);
        let is_found = facts.program().is_some();
        let has_ours = state.is_some_and(|state| state != State::Missing);
        // What has never been put in is nobody's mishap.
        let broken = matches!(state, Some(State::Partial | State::Stale));
        let (offer, offer_action) = match state {
            Some(State::Missing) if mends && is_found => (gettext("Install"), "app.install"),
            Some(_) if mends && broken => (gettext("Repair"), "app.repair"),
            _ => (String::new(), ""),
        };
        let place = [("agent", name.as_str())];
        let offer_description = match offer_action {
            "app.install" => gettext_f("Install Vigil in {agent}", &place),
            "app.repair" => gettext_f("Repair Vigil in {agent}", &place),
            _ => String::new(),
        };
        let advice = facts.report.as_ref().and_then(|report| report.advice.clone()).unwrap_or_default();
        let gaps = agent::gap::cannot_tell(&facts.agent);
        let files = u32::try_from(facts.files.len()).unwrap_or(u32::MAX);
        Self {
            initial: name.chars().take(1).collect(),
            state: state.map(|state| state.word().to_string()).unwrap_or_default(),
            status: facts.status(),
            present: is_found || has_ours,
            advised: !advice.is_empty() && offer_action != "app.install",
            advice,
            broken,
            repairable: mends,
            automatic: facts.way == Way::Log && is_found,
            program: facts.program_line(),
            files_title: ngettext_f("Edited File", "Edited Files", files),
            files: facts.file_lines().join("\n"),
            edits: files > 0,
            restart: facts.way == Way::Entry { live: false },
            gaps: gaps.iter().map(|gap| format!("• {}", sentence(*gap))).collect::<Vec<_>>().join("\n"),
            gapped: !gaps.is_empty(),
            offered: !offer.is_empty(),
            offer,
            offer_description,
            offer_action: offer_action.to_string(),
            removable: has_ours,
            // Translators: what a button does; {agent} is an agent's name.
            remove_description: gettext_f("Remove Vigil from {agent}", &place),
            name,
        }
    }
}

impl Facts {
    fn program(&self) -> Option<&Path> {
        self.found.as_ref()?.program.as_deref()
    }

    /// What the row says beneath the name.
    fn status(&self) -> String {
        let state = self.report.as_ref().map(|report| (report.state, report.mends));
        match state {
            Some((State::Complete, _)) => match self.file_lines().first() {
                // Translators: of an agent that Vigil is put into; {file} is the settings file.
                Some(file) => gettext_f("Connected · {file}", &[("file", file)]),
                None => gettext("Connected"),
            },
            Some((State::Partial, _)) => gettext("Incomplete"),
            Some((State::Stale, true)) => gettext("Out of date"),
            Some((State::Stale, false)) => gettext("Switched off"),
            _ if self.found.is_none() => gettext("Looking for it…"),
            _ if self.program().is_none() => gettext("Not found"),
            Some((State::Missing, false)) => gettext("Cannot be connected"),
            Some((State::Missing, true)) => gettext("Found, not connected"),
            None => match self.way {
                Way::Entry { .. } => gettext("Looking for it…"),
                Way::Log => gettext("Nothing to install, its session log is read"),
                Way::None => gettext("Found, but Vigil cannot be put into it yet"),
            },
        }
    }

    fn program_line(&self) -> String {
        let Some(found) = &self.found else { return gettext("Looking for it…") };
        let Some(program) = &found.program else { return gettext("Not found") };
        let program = self.path(program);
        match found.version {
            // Translators: where an agent's program is, and its version.
            Some(version) => gettext_f(
                "{program} · version {version}",
                &[("program", &isolate(&program)), ("version", &version.to_string())],
            ),
            None => program,
        }
    }

    fn file_lines(&self) -> Vec<String> {
        self.files.iter().map(|file| isolate(&self.path(file))).collect()
    }

    /// A path as it is read best: from the home, if it is there.
    fn path(&self, path: &Path) -> String {
        let below = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let shown = below.map_or_else(|| path.to_path_buf(), |below| Path::new("~").join(below));
        text::one_line(&shown.to_string_lossy())
    }
}

/// Something that an agent does not tell, in a whole sentence without its full stop.
pub fn sentence(gap: Gap) -> String {
    match gap {
        Gap::Approval => gettext("That a permission was given: it asks until the tool has run"),
        Gap::Question => gettext("That it asks you something"),
        Gap::Interrupt => gettext("That you interrupted it, in some places"),
        Gap::Failure => gettext("Errors that end its turn, or not all of them"),
        Gap::FailureInPrint => gettext("Errors where it runs without a terminal"),
        Gap::Retry => gettext("That it tries again after an error"),
        Gap::Reconnection => gettext("That the network is back after it was offline"),
        Gap::Replacement => gettext("That a new session has taken the place of the one before"),
        Gap::Subagents => gettext("Its subagents, or not all of them"),
        Gap::Background => gettext("Its background tasks"),
        Gap::BackgroundEnd => gettext("That a background task has ended"),
        Gap::WithoutJournal => {
            gettext("Most of it where it writes no journal: in older versions and without a terminal")
        }
        Gap::Untried => gettext("More may be missing: the program itself has not been tried yet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::CATALOGUE;

    fn facts(agent: &str, way: Way, program: Option<&str>) -> Facts {
        let found = Some(Found { program: program.map(PathBuf::from), version: None });
        Facts { agent: agent.to_owned(), way, found, ..Facts::default() }
    }

    fn report(state: State, mends: bool, advice: Option<&str>) -> Report {
        Report { agent: "codex", state, file: None, advice: advice.map(ToOwned::to_owned), mends }
    }

    #[test]
    fn sessions_have_to_be_started_anew_only_where_they_do_not_see_it() {
        for (way, restart) in [
            (Way::Entry { live: false }, true),
            (Way::Entry { live: true }, false),
            (Way::Log, false),
            (Way::None, false),
        ] {
            assert_eq!(IntegrationFace::from(&facts("codex", way, None)).restart, restart, "{way:?}");
        }
        assert_eq!(Way::of("claude"), Way::Entry { live: true });
        assert_eq!((Way::of("codebuff"), Way::of("home-made")), (Way::Log, Way::None));
    }

    #[test]
    fn what_is_offered_is_what_helps() {
        let entry = Way::Entry { live: true };
        for (program, state, mends, offer, removable, present) in [
            (Some("/x"), State::Missing, true, "app.install", false, true),
            (None, State::Missing, true, "", false, false),
            (Some("/x"), State::Missing, false, "", false, true),
            (None, State::Partial, true, "app.repair", true, true),
            (None, State::Stale, false, "", true, true),
            (Some("/x"), State::Complete, false, "", true, true),
        ] {
            let facts = Facts { report: Some(report(state, mends, None)), ..facts("codex", entry, program) };
            let face = IntegrationFace::from(&facts);
            assert_eq!((face.offer_action.as_str(), face.offered), (offer, !offer.is_empty()), "{facts:?}");
            assert_eq!((face.removable, face.present), (removable, present), "{facts:?}");
        }
    }

    #[test]
    fn a_path_begins_at_the_home_and_stays_one_line() {
        let files = vec![PathBuf::from("/home/u/.x/a\nb"), "/etc/x".into(), "/home/user/y".into()];
        let facts = Facts { files, home: Some("/home/u".into()), ..facts("codex", Way::None, Some("/home/u/bin/c")) };
        let face = IntegrationFace::from(&facts);
        let lines: Vec<&str> = face.files.lines().collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("\u{2068}~/.x/a") && lines[2] == "\u{2068}/home/user/y\u{2069}", "{lines:?}");
        assert_eq!((face.files_title.as_str(), face.program.as_str()), ("Edited Files", "~/bin/c"));
    }

    #[test]
    fn every_gap_has_a_sentence_of_its_own() {
        let gaps: Vec<Gap> = CATALOGUE.iter().flat_map(|agent| agent::gap::cannot_tell(agent.id)).copied().collect();
        for (at, gap) in gaps.iter().enumerate() {
            let same = gaps[..at].iter().find(|other| sentence(**other) == sentence(*gap));
            assert!(same.is_none_or(|other| other == gap), "{same:?} and {gap:?}");
            assert!(!sentence(*gap).ends_with('.'));
        }
        let face = IntegrationFace::from(&facts("kilo", Way::None, None));
        assert_eq!(face.gaps.lines().count(), 2);
        assert!(face.gapped && !IntegrationFace::from(&facts("claude", Way::None, None)).gapped);
    }
}
