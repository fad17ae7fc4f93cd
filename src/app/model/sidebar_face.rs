// SPDX-License-Identifier: GPL-3.0-or-later
//! What the header shows of all agents together, as plain values.

use crate::app::i18n::{gettext, ngettext_f};

/// How many agents there are, and what they want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All that are shown.
    pub agents: u32,
    /// Those that work.
    pub running: u32,
    /// Those with an open question that has not been seen.
    pub asking: u32,
    /// Those that failed and have not been seen.
    pub failed: u32,
}

/// What the header shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SidebarFace {
    /// How many agents are shown.
    pub agents: u32,
    /// How many of them work.
    pub running: u32,
    /// How many want the user.
    pub wanted: u32,
    /// The same, on the pill.
    pub wanted_label: String,
    /// Whether the pill stands in the title's place.
    pub wanted_visible: bool,
    /// The pill's style classes.
    pub wanted_classes: Vec<String>,
    /// The line below the title.
    pub summary: String,
}

impl SidebarFace {
    /// The face of so many agents.
    pub fn of(totals: Totals) -> Self {
        let wanted = totals.asking + totals.failed;
        // "text-button" is what GTK gives a button with a label; setting the classes takes it away.
        let mut classes = vec!["flat", "text-button", "wanted-pill"];
        if totals.asking == 0 && totals.failed > 0 {
            classes.push("failed");
        }
        Self {
            agents: totals.agents,
            running: totals.running,
            wanted,
            // Translators: so many agents ask something or failed.
            wanted_label: ngettext_f("{count} needs you", "{count} need you", wanted),
            wanted_visible: wanted > 0,
            wanted_classes: classes.into_iter().map(str::to_owned).collect(),
            summary: if totals.agents == 0 {
                String::new()
            } else if totals.running > 0 {
                // Translators: so many agents work.
                ngettext_f("{count} running", "{count} running", totals.running)
            } else {
                // Translators: no agent works.
                gettext("All idle")
            },
        }
    }
}
