// SPDX-License-Identifier: GPL-3.0-or-later
//! What a row can show: status, attention, counts, and the indicator made of the three.
//!
//! [`indicator`], [`mark`] and [`priority`] are the only places that decide an icon or an order; the row and every export call
//! them. Labels are English in every interface; the window translates them.

use serde::{Deserialize, Serialize};

/// What an agent is doing, as one of four words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A turn is being worked on.
    Running,
    /// Nothing runs; the prompt waits.
    #[default]
    Idle,
    /// A permission or a question is open.
    NeedsInput,
    /// The turn ended in an error, or the process in none.
    Failed,
}

impl Status {
    /// All four, in the order of the counters.
    pub const ALL: [Self; 4] = [Self::Running, Self::Idle, Self::NeedsInput, Self::Failed];

    /// The word on the wire: `running`, `idle`, `needs-input`, `failed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::NeedsInput => "needs-input",
            Self::Failed => "failed",
        }
    }

    /// The English label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Idle => "Idle",
            Self::NeedsInput => "Needs input",
            Self::Failed => "Failed",
        }
    }

    /// The status whose English label this is, in any case.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.label().eq_ignore_ascii_case(label.trim()))
    }
}

/// What the user has not seen yet. Ordered by strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attention {
    /// All has been seen.
    #[default]
    None,
    /// A turn finished.
    Finished,
    /// A turn failed.
    Failed,
    /// A question is open.
    NeedsInput,
}

impl Attention {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::NeedsInput => "needs-input",
        }
    }
}

/// Work beside the main turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Subagents at work.
    pub subagents: u32,
    /// Background tasks that run.
    pub background: u32,
}

/// The icon that shows a status by itself, without activity.
pub fn status_icon(status: Status, attention: Attention) -> &'static str {
    match (status, attention) {
        (Status::Running, _) => "content-loading-symbolic",
        (Status::Idle, Attention::Finished) => "emblem-ok-symbolic",
        (Status::Idle, _) => "radio-symbolic",
        (Status::NeedsInput, _) => "dialog-question-symbolic",
        (Status::Failed, _) => "dialog-error-symbolic",
    }
}

/// The indicator of a row: activity takes the place of Running and Idle, never of Needs input and Failed
/// (status model, section 5).
pub fn indicator(status: Status, attention: Attention, counts: Counts) -> &'static str {
    match status {
        Status::Running | Status::Idle if counts.subagents > 0 => "system-run-symbolic",
        Status::Running | Status::Idle if counts.background > 0 => "media-playback-start-symbolic",
        _ => status_icon(status, attention),
    }
}

/// The icon of what has not been seen: that of the status which raises it.
pub fn attention_icon(attention: Attention) -> Option<&'static str> {
    let status = match attention {
        Attention::None => return None,
        Attention::Finished => Status::Idle,
        Attention::Failed => Status::Failed,
        Attention::NeedsInput => Status::NeedsInput,
    };
    Some(status_icon(status, attention))
}

/// What has not been seen, where the indicator does not say it: activity has taken its place, or it belongs to another
/// session of the row than the one that is shown.
pub fn mark(status: Status, attention: Attention, counts: Counts) -> Option<&'static str> {
    attention_icon(attention).filter(|icon| *icon != indicator(status, attention, counts))
}

/// Where a row stands among its neighbours, highest first (status model, section 5).
pub fn priority(status: Status, counts: Counts) -> i32 {
    match status {
        Status::NeedsInput => 10,
        Status::Failed => 9,
        Status::Running => 5,
        Status::Idle if counts.subagents == 0 && counts.background > 0 => -1,
        Status::Idle => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(subagents: u32, background: u32) -> Counts {
        Counts { subagents, background }
    }

    #[test]
    fn every_row_of_the_indicator_table() {
        for status in [Status::Running, Status::Idle] {
            let own = status_icon(status, Attention::None);
            assert_eq!(indicator(status, Attention::None, counts(0, 0)), own);
            assert_eq!(indicator(status, Attention::None, counts(2, 0)), "system-run-symbolic");
            assert_eq!(indicator(status, Attention::None, counts(0, 1)), "media-playback-start-symbolic");
            assert_eq!(indicator(status, Attention::None, counts(1, 1)), "system-run-symbolic");
        }
        for (status, icon) in
            [(Status::NeedsInput, "dialog-question-symbolic"), (Status::Failed, "dialog-error-symbolic")]
        {
            for activity in [counts(0, 0), counts(1, 0), counts(0, 1), counts(1, 1)] {
                assert_eq!(indicator(status, Attention::None, activity), icon);
            }
        }
    }

    #[test]
    fn every_status_icon() {
        assert_eq!(status_icon(Status::Running, Attention::Finished), "content-loading-symbolic");
        assert_eq!(status_icon(Status::Idle, Attention::None), "radio-symbolic");
        assert_eq!(status_icon(Status::Idle, Attention::Finished), "emblem-ok-symbolic");
        assert_eq!(status_icon(Status::NeedsInput, Attention::NeedsInput), "dialog-question-symbolic");
        assert_eq!(status_icon(Status::Failed, Attention::Failed), "dialog-error-symbolic");
    }

    #[test]
    fn a_mark_stands_where_the_indicator_says_something_else() {
        use Attention::{Failed, Finished, NeedsInput, None};
        for (status, attention, counts, icon) in [
            (Status::Running, None, counts(1, 1), Option::None),
            (Status::Idle, Finished, counts(0, 0), Option::None),
            (Status::Idle, Finished, counts(0, 1), Some("emblem-ok-symbolic")),
            (Status::Idle, Failed, counts(0, 0), Some("dialog-error-symbolic")),
            (Status::Running, Finished, counts(0, 0), Some("emblem-ok-symbolic")),
            (Status::Running, Failed, counts(2, 0), Some("dialog-error-symbolic")),
            (Status::Failed, Failed, counts(0, 0), Option::None),
            (Status::Failed, None, counts(0, 0), Option::None),
            (Status::NeedsInput, NeedsInput, counts(0, 0), Option::None),
            (Status::NeedsInput, Failed, counts(0, 0), Some("dialog-error-symbolic")),
        ] {
            assert_eq!(mark(status, attention, counts), icon, "{status:?} {attention:?}");
        }
    }

    #[test]
    fn every_priority() {
        assert_eq!(priority(Status::NeedsInput, counts(0, 3)), 10);
        assert_eq!(priority(Status::Failed, counts(0, 3)), 9);
        assert_eq!(priority(Status::Running, counts(0, 3)), 5);
        assert_eq!(priority(Status::Idle, counts(0, 0)), 0);
        assert_eq!(priority(Status::Idle, counts(1, 1)), 0);
        assert_eq!(priority(Status::Idle, counts(0, 1)), -1);
    }

    #[test]
    fn labels_are_read_in_any_case() {
        for status in Status::ALL {
            assert_eq!(Status::from_label(&status.label().to_uppercase()), Some(status));
        }
        assert_eq!(Status::from_label("Thinking"), None);
    }

    #[test]
    fn attention_is_ordered_by_strength() {
        assert!(Attention::NeedsInput > Attention::Failed);
        assert!(Attention::Failed > Attention::Finished);
        assert!(Attention::Finished > Attention::None);
    }
}
