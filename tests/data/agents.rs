// SPDX-License-Identifier: GPL-3.0-or-later
//! The page on the agents says what the catalogue, the integrations and the known gaps say.

use vigil::agent::gap::{Gap, cannot_tell};
use vigil::agent::{Agent, CATALOGUE, Integration};
use vigil::app::model::sentence;
use vigil::integration;

use super::{read, root};

/// An agent's name; with its page, where it has one.
fn named(agent: &Agent<'_>) -> String {
    let page = format!("agents/{}.md", agent.id);
    if root().join("docs").join(&page).is_file() { format!("[{}]({page})", agent.name) } else { agent.name.to_owned() }
}

/// The first table's row of an agent.
fn connected(agent: &Agent<'_>) -> String {
    let how = match agent.integration {
        Integration::Hooks => "hooks",
        Integration::Plugin => "plugin",
        Integration::Log => "log",
        Integration::HooksAndLog => "hooks and log",
        Integration::Scripts => "scripts",
    };
    let (command, restart) = match integration::find(agent.id) {
        Some(entry) => (format!("`vigilctl install {}`", agent.id), if entry.is_live() { "no" } else { "yes" }),
        None => ("—".to_owned(), "—"),
    };
    format!("| {} | {how} | {command} | {restart} |\n", named(agent))
}

/// What a gap takes away: the columns of the second table, and how much.
fn taken(gap: Gap) -> (&'static [usize], &'static str) {
    match gap {
        Gap::Retry | Gap::Reconnection => (&[0], "partly"),
        Gap::Question => (&[2], "no"),
        Gap::Approval => (&[2], "partly"),
        Gap::Failure | Gap::FailureInPrint => (&[3], "partly"),
        Gap::Subagents => (&[4], "partly"),
        Gap::Background => (&[5], "no"),
        Gap::BackgroundEnd => (&[5], "partly"),
        Gap::Interrupt => (&[6], "partly"),
        Gap::Replacement => (&[7], "partly"),
        Gap::WithoutJournal => (&[0, 2, 3, 6], "partly"),
        Gap::Untried => (&[], ""),
    }
}

/// The second table's row of an agent.
fn tells(agent: &Agent<'_>) -> String {
    let mut cells = ["yes"; 8];
    for gap in cannot_tell(agent.id) {
        let (columns, much) = taken(*gap);
        columns.iter().for_each(|column| cells[*column] = much);
    }
    if agent.id == "pi" {
        cells[4] = "none";
    }
    format!("| {} | {} |\n", agent.name, cells.join(" | "))
}

/// The list of an agent's gaps.
fn lacks(agent: &Agent<'_>) -> String {
    let gaps: String = cannot_tell(agent.id).iter().map(|gap| format!("- {}\n", sentence(*gap))).collect();
    if gaps.is_empty() { gaps } else { format!("**{}**\n\n{gaps}\n", agent.name) }
}

#[test]
fn the_page_on_the_agents_is_true() {
    let page = read("docs/agents.md");
    for part in [connected, tells, lacks] {
        let expected: String = CATALOGUE.iter().map(part).collect();
        assert!(page.contains(expected.trim_end()), "docs/agents.md has to have:\n{expected}");
    }
    for file in super::files_ending(&["docs/agents"], ".md") {
        let link = format!("]({})", file.trim_start_matches("docs/"));
        assert!(page.contains(&link), "docs/agents.md does not lead to {file}");
    }
}
