// SPDX-License-Identifier: GPL-3.0-or-later
//! What to announce, and when (rule 14). Decides only; outputs deliver.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::snapshot::RowView;
use crate::status::{Counts, Status};
use crate::time::BootTime;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertKind {
    /// A turn finished.
    Finished,
    /// A question is open.
    NeedsInput,
    /// A turn failed.
    Failed,
}

/// An alert that is due now.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// What it is about.
    pub kind: AlertKind,
    /// Whether it goes out without sound, because background work still runs.
    pub silent: bool,
    /// The row, with details.
    pub row: RowView,
    /// The row's workspace.
    pub workspace: String,
    /// The session that it is about.
    pub session: String,
}

/// The name of a state event, for the D-Bus signal and the user's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateName {
    /// A session began.
    SessionStart,
    /// It works.
    SessionBusy,
    /// It waits for an answer.
    SessionWaiting,
    /// It has been idle for a moment.
    SessionIdle,
    /// It failed.
    SessionError,
    /// It is over.
    SessionEnd,
    /// A subagent began.
    SubagentStart,
    /// A subagent ended.
    SubagentStop,
}

impl StateName {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session.start",
            Self::SessionBusy => "session.busy",
            Self::SessionWaiting => "session.waiting",
            Self::SessionIdle => "session.idle",
            Self::SessionError => "session.error",
            Self::SessionEnd => "session.end",
            Self::SubagentStart => "subagent.start",
            Self::SubagentStop => "subagent.stop",
        }
    }
}

/// A state event that is due now.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEvent {
    /// What happened.
    pub name: StateName,
    /// The row as it is now, or was when it went.
    pub row: RowView,
    /// The row's workspace.
    pub workspace: String,
}

/// A finished alert waits this long after the turn's end, or its last subagent's: a turn that resumes by then was not
/// over.
pub const FINISHED_SETTLES: Duration = Duration::from_millis(1500);

/// A question waits this long: some programs answer themselves.
pub const QUESTION_SETTLES: Duration = Duration::from_millis(500);

/// Idle is told to the world once it has lasted this long.
pub const IDLE_SETTLES: Duration = Duration::from_millis(1500);

/// What may become an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A turn ended.
    Finished {
        /// When it did, or when its last subagent ended, whichever was later.
        since: BootTime,
        /// What still runs beside it.
        counts: Counts,
        /// Whether a silent alert has gone out since background work began.
        quiet_given: bool,
        /// Too old when it was learnt of (rule 13).
        stale: bool,
    },
    /// A question is open.
    Question {
        /// Since when.
        opened: BootTime,
    },
    /// A turn has failed, its grace over.
    Failed,
}

/// Whom an alert would reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audience {
    /// Whether the session is shown at all: hidden and nested ones raise no alert (rule 12).
    pub shown: bool,
    /// Whether the user is looking at it right now.
    pub looked_at: bool,
}

/// What to do about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No alert, and the matter is closed.
    Never,
    /// Not yet: until then, or until something changes.
    Wait(Option<BootTime>),
    /// Now.
    Go {
        /// Without sound.
        silent: bool,
    },
}

/// Rule 14: whether, when and how loudly to announce. The one place that decides it.
pub fn verdict(subject: &Subject, audience: Audience, now: BootTime) -> Verdict {
    let (ready, silent) = match *subject {
        Subject::Finished { counts, .. } if counts.subagents > 0 => return Verdict::Wait(None),
        Subject::Finished { since, counts, quiet_given, .. } => {
            if counts.background > 0 && quiet_given {
                return Verdict::Never;
            }
            (since + FINISHED_SETTLES, counts.background > 0)
        }
        Subject::Question { opened } => (opened + QUESTION_SETTLES, false),
        Subject::Failed => (now, false),
    };
    // An old one waits too: until then an interrupt right behind it takes it back (rule 3).
    let stale = matches!(subject, Subject::Finished { stale: true, .. });
    if now < ready {
        Verdict::Wait(Some(ready))
    } else if !audience.shown || audience.looked_at || stale {
        Verdict::Never
    } else {
        Verdict::Go { silent }
    }
}

/// Rule 14: the state event of a row that shows that status since then, given what was told last; `None` when there is
/// nothing to tell, or not yet.
pub fn state_event(shown: Status, since: BootTime, told: Option<Status>, now: BootTime) -> Option<StateName> {
    match shown {
        _ if told == Some(shown) => None,
        Status::Running => Some(StateName::SessionBusy),
        Status::NeedsInput => Some(StateName::SessionWaiting),
        Status::Failed => Some(StateName::SessionError),
        Status::Idle => (since + IDLE_SETTLES <= now).then_some(StateName::SessionIdle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: Audience = Audience { shown: true, looked_at: false };

    fn finished(since: u64, subagents: u32, background: u32, quiet_given: bool) -> Subject {
        let counts = Counts { subagents, background };
        Subject::Finished { since: BootTime::from_millis(since), counts, quiet_given, stale: false }
    }

    fn at(millis: u64) -> BootTime {
        BootTime::from_millis(millis)
    }

    #[test]
    fn a_finished_turn_waits_for_a_second_and_a_half() {
        assert_eq!(verdict(&finished(1000, 0, 0, false), SHOWN, at(2499)), Verdict::Wait(Some(at(2500))));
        assert_eq!(verdict(&finished(1000, 0, 0, false), SHOWN, at(2500)), Verdict::Go { silent: false });
    }

    #[test]
    fn it_waits_for_subagents_and_is_silent_beside_background_work() {
        assert_eq!(verdict(&finished(0, 1, 0, false), SHOWN, at(9000)), Verdict::Wait(None));
        assert_eq!(verdict(&finished(0, 0, 1, false), SHOWN, at(9000)), Verdict::Go { silent: true });
        assert_eq!(verdict(&finished(0, 0, 1, true), SHOWN, at(9000)), Verdict::Never);
    }

    #[test]
    fn a_question_waits_for_half_a_second_and_a_failure_not_at_all() {
        let question = Subject::Question { opened: at(1000) };
        assert_eq!(verdict(&question, SHOWN, at(1499)), Verdict::Wait(Some(at(1500))));
        assert_eq!(verdict(&question, SHOWN, at(1500)), Verdict::Go { silent: false });
        assert_eq!(verdict(&Subject::Failed, SHOWN, at(0)), Verdict::Go { silent: false });
    }

    #[test]
    fn nobody_is_told_what_they_see_or_cannot_see() {
        for audience in [Audience { shown: false, looked_at: false }, Audience { shown: true, looked_at: true }] {
            assert_eq!(verdict(&Subject::Failed, audience, at(0)), Verdict::Never);
        }
    }

    #[test]
    fn old_news_are_none() {
        let counts = Counts::default();
        let old = Subject::Finished { since: at(0), counts, quiet_given: false, stale: true };
        assert_eq!(verdict(&old, SHOWN, at(9000)), Verdict::Never);
    }

    #[test]
    fn state_events_are_told_once_and_idle_once_it_has_lasted() {
        let told = |shown, told, now| state_event(shown, at(1000), told, at(now));
        assert_eq!(told(Status::Running, None, 1000), Some(StateName::SessionBusy));
        assert_eq!(told(Status::Running, Some(Status::Running), 1000), None);
        assert_eq!(told(Status::NeedsInput, Some(Status::Running), 1000), Some(StateName::SessionWaiting));
        assert_eq!(told(Status::Failed, Some(Status::Running), 1000), Some(StateName::SessionError));
        assert_eq!(told(Status::Idle, Some(Status::Running), 2499), None);
        assert_eq!(told(Status::Idle, Some(Status::Running), 2500), Some(StateName::SessionIdle));
    }
}
