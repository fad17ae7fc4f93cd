// SPDX-License-Identifier: GPL-3.0-or-later
//! What each agent does not tell, by any of the ways in which it is listened to.
//!
//! What is known from its process alone (that it has ended, that its terminal has gone) is no gap. Found by playing the
//! agents' recorded sessions and judging each step by what the user did.

/// Something that an agent does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// That a permission was given: the question stays until the tool has run.
    Approval,
    /// That it asks at all.
    Question,
    /// That it was interrupted, everywhere or somewhere.
    Interrupt,
    /// An error that ends a turn.
    Failure,
    /// The same, where it runs without a terminal only.
    FailureInPrint,
    /// That it tries again after an error.
    Retry,
    /// That the network has come back.
    Reconnection,
    /// That another session has taken the place of the one before.
    Replacement,
    /// Its subagents.
    Subagents,
    /// Its background tasks.
    Background,
    /// That a background task has ended.
    BackgroundEnd,
    /// Prompts, approvals, interrupts, errors and its end, where it writes no journal.
    WithoutJournal,
    /// All that only the real program could show: it could not be had.
    Untried,
}

/// The gaps of each agent that has any, by its id in the catalogue.
const GAPS: &[(&str, &[Gap])] = &[
    ("codebuff", &[Gap::Question, Gap::Failure, Gap::Subagents, Gap::Background, Gap::Untried]),
    ("codex", &[Gap::Approval, Gap::Failure, Gap::Replacement, Gap::Background]),
    ("freebuff", &[Gap::Question, Gap::Failure, Gap::Subagents, Gap::Background, Gap::Untried]),
    ("hermes", &[Gap::BackgroundEnd]),
    ("kilo", &[Gap::Reconnection, Gap::BackgroundEnd]),
    ("mimocode", &[Gap::Untried]),
    ("vibe", &[Gap::Retry, Gap::WithoutJournal]),
    ("pool", &[Gap::Question, Gap::Subagents, Gap::Background, Gap::Untried]),
    ("codewhale", &[Gap::Background]),
    ("gemini", &[Gap::Approval, Gap::Interrupt, Gap::FailureInPrint, Gap::Subagents, Gap::BackgroundEnd]),
];

/// What an agent does not tell, in the order in which it is said.
pub fn cannot_tell(agent: &str) -> &'static [Gap] {
    GAPS.iter().find(|(id, _)| *id == agent).map_or(&[], |(_, gaps)| gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::CATALOGUE;

    #[test]
    fn each_belongs_to_an_agent_and_stands_once() {
        for (at, (id, gaps)) in GAPS.iter().enumerate() {
            assert!(CATALOGUE.iter().any(|agent| agent.id == *id), "{id}");
            assert!(GAPS[..at].iter().all(|(other, _)| other != id), "{id}");
            let twice = gaps.iter().enumerate().find(|(at, gap)| gaps[..*at].contains(gap));
            assert!(!gaps.is_empty() && twice.is_none(), "{id}: {twice:?}");
        }
        assert_eq!(cannot_tell("claude"), []);
        assert_eq!(cannot_tell("home-made"), []);
    }
}
