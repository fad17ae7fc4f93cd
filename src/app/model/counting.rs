// SPDX-License-Identifier: GPL-3.0-or-later
//! What is counted, as words: the work beside a turn, and of a row's sessions how many there are and what some of them
//! did that the row does not show.

use crate::app::i18n::{fill, gettext, ngettext_f};
use crate::snapshot::{RowView, SessionView};
use crate::status::{Attention, Counts, Status, mark};

/// The caption behind the name: "2 sessions", or what some of them did.
pub(super) fn sessions_or_some(row: &RowView) -> String {
    some(row).unwrap_or_else(|| sessions(row))
}

/// "2 sessions".
pub(super) fn sessions(row: &RowView) -> String {
    ngettext_f("{count} session", "{count} sessions", length(&row.sessions, |_| true))
}

/// "1 of 2 failed": what has not been seen, else who works, where the row shows something else.
pub(super) fn some(row: &RowView) -> Option<String> {
    let unseen = length(&row.sessions, |session| session.attention == row.attention);
    let running = length(&row.sessions, |session| session.status == Status::Running);
    let counts = Counts { subagents: row.subagents, background: row.background };
    let some = |singular: &str, plural: &str, some| {
        fill(&ngettext_f(singular, plural, some), &[("all", &row.sessions.len().to_string())])
    };
    match row.attention {
        _ if mark(row.status, row.attention, counts).is_none() => {
            let aside = row.status == Status::Idle && running > 0;
            aside.then(|| some("{count} of {all} running", "{count} of {all} running", running))
        }
        // Translators: this and the next ones: so many of all sessions of an agent.
        Attention::Finished => Some(some("{count} of {all} finished", "{count} of {all} finished", unseen)),
        Attention::Failed => Some(some("{count} of {all} failed", "{count} of {all} failed", unseen)),
        Attention::NeedsInput => Some(some("{count} of {all} needs input", "{count} of {all} need input", unseen)),
        Attention::None => None,
    }
}

/// What has not been seen, as words.
pub(super) fn unseen(attention: Attention) -> String {
    match attention {
        Attention::None => String::new(),
        Attention::Finished => gettext("finished but not seen yet"),
        Attention::Failed => gettext("failed but not seen yet"),
        Attention::NeedsInput => gettext("asked but not seen yet"),
    }
}

/// The same behind that status, which may say most of it.
pub(super) fn unseen_beside(status: Status, attention: Attention) -> String {
    match (status, attention) {
        (Status::NeedsInput, Attention::NeedsInput) | (Status::Failed, Attention::Failed) => {
            // Translators: read out behind the state of an agent: "Failed, not seen yet".
            gettext("not seen yet")
        }
        _ => unseen(attention),
    }
}

/// The work beside the main turn, as words.
pub(super) fn work(subagents: u32, background: u32) -> impl Iterator<Item = String> {
    let subagents = (subagents > 0).then(|| self::subagents(subagents));
    subagents.into_iter().chain((background > 0).then(|| self::background(background)))
}

/// "2 subagents".
pub(super) fn subagents(count: u32) -> String {
    ngettext_f("{count} subagent", "{count} subagents", count)
}

/// "1 background task".
pub(super) fn background(count: u32) -> String {
    ngettext_f("{count} background task", "{count} background tasks", count)
}

fn length(sessions: &[SessionView], counts: impl Fn(&&SessionView) -> bool) -> u32 {
    u32::try_from(sessions.iter().filter(counts).count()).unwrap_or(u32::MAX)
}
