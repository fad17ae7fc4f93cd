// SPDX-License-Identifier: GPL-3.0-or-later
//! `vigilctl status`: the snapshot, as JSON or for people.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use zbus::Variant;

use super::bus::{Activation, Vigil, explain, talk};
use crate::snapshot::{RowView, Snapshot, WorkspaceView};
use crate::status::{Attention, Status};
use crate::text;

/// How a snapshot is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned text
    #[default]
    Plain,
}

/// Prints the snapshot.
pub(super) fn run(json: bool, details: bool, format: Format) -> anyhow::Result<()> {
    let (text, snapshot) = fetch(details)?;
    match format {
        Format::Plain => print(&text, &snapshot, json),
    }
}

/// Prints a snapshot, as it came or for people.
pub(super) fn print(text: &str, snapshot: &Snapshot, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{text}")?;
    } else {
        out.write_all(plain(snapshot, colours()).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// The snapshot of the running application, as it came and as it reads.
pub(super) fn fetch(details: bool) -> anyhow::Result<(String, Snapshot)> {
    talk(async |vigil, _| snapshot(&vigil, details).await)
}

/// Asks for the snapshot.
pub(super) async fn snapshot(vigil: &Vigil, details: bool) -> anyhow::Result<(String, Snapshot)> {
    let mut options: HashMap<&str, Variant<'_>> = HashMap::new();
    options.extend(details.then_some(("details", true.into())));
    let text: String = vigil
        .call("GetSnapshot", &options, Activation::Never)
        .await
        .map_err(|error| anyhow::Error::msg(explain(&error)))?;
    let snapshot = serde_json::from_str(&text).context("The snapshot cannot be read")?;
    Ok((text, snapshot))
}

/// Whether standard output shows colours.
pub(super) fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Workspaces with their rows beneath them. Hidden helpers are tracked and not shown, here as in the window.
fn plain(snapshot: &Snapshot, colours: bool) -> String {
    let width = shown(snapshot.workspaces.iter()).map(|row| width(&row.name)).max().unwrap_or_default();
    let mut page = String::new();
    for workspace in &snapshot.workspaces {
        if !page.is_empty() {
            page.push('\n');
        }
        page.push_str(&heading(workspace, colours));
        page.push('\n');
        for row in shown([workspace].into_iter()) {
            page.push_str("  ");
            page.push_str(&line(row, width, colours));
            page.push('\n');
            for more in [&row.question, &row.detail].into_iter().flatten() {
                for part in text::lines(more).lines() {
                    let _ = writeln!(page, "      {part}");
                }
            }
        }
    }
    if page.is_empty() { "No agents\n".into() } else { page }
}

fn shown<'a>(workspaces: impl Iterator<Item = &'a WorkspaceView>) -> impl Iterator<Item = &'a RowView> {
    workspaces.flat_map(|workspace| workspace.rows.iter().flatten()).filter(|row| !row.hidden)
}

/// A workspace's name, and what is known of its work.
pub(super) fn heading(workspace: &WorkspaceView, colours: bool) -> String {
    let mut heading = paint(&text::one_line(&workspace.name), "1", colours);
    if let Some(branch) = &workspace.branch {
        let mark = if workspace.dirty == Some(true) { "*" } else { "" };
        let _ = write!(heading, "  {}{mark}", text::one_line(branch));
    }
    if let Some(progress) = &workspace.progress {
        let _ = write!(heading, "  {:.0} % {}", progress.value * 100.0, text::one_line(&progress.label));
    }
    if let Some(log) = &workspace.log {
        let _ = write!(heading, "  {}", text::one_line(&log.message));
    }
    heading.trim_end().to_string()
}

/// A row in one line: whether it wants to be seen, its status, its name, its counts, and what it says.
pub(super) fn line(row: &RowView, name_width: usize, colours: bool) -> String {
    let mark = if row.attention == Attention::None { ' ' } else { '*' };
    let colour = match (row.status, row.attention) {
        (Status::Running, _) => "34",
        (Status::NeedsInput, _) => "33",
        (Status::Failed, _) => "31",
        (Status::Idle, Attention::Finished) => "32",
        (Status::Idle, _) => "2",
    };
    let status = paint(&format!("{mark} {:<11}", row.status.label()), colour, colours);
    let name = text::one_line(&row.name);
    let padding = " ".repeat(name_width.saturating_sub(width(&name)));
    let name = format!("{}{name}{padding}", if row.nested { "↳ " } else { "" });
    let mut said: Vec<String> = Vec::new();
    let count = |count: u32, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    if row.subagents > 0 {
        said.push(count(row.subagents, "subagent", "subagents"));
    }
    if row.background > 0 {
        said.push(count(row.background, "background task", "background tasks"));
    }
    said.extend(row.host.as_deref().map(|host| format!("on {}", text::one_line(host))));
    said.extend(row.message.as_deref().map(text::one_line).filter(|message| !message.is_empty()));
    format!("{status}  {name}  {}", said.join(" · ")).trim_end().to_string()
}

fn width(text: &str) -> usize {
    text::one_line(text).chars().count()
}

fn paint(text: &str, colour: &str, colours: bool) -> String {
    if colours { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(name: &str, status: &str, more: serde_json::Value) -> serde_json::Value {
        let mut row = json!({
            "id": "r1", "agent": "claude", "name": name, "status": status, "label": "", "icon": "", "subagents": 0,
            "background": 0, "hidden": false, "nested": false, "watched": true, "attention": "none", "message": null,
            "tool": null, "questions": 0, "surface": null, "pid": null, "host": null, "since": "", "priority": 0,
            "sessions": [],
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            row[key] = value.clone();
        }
        row
    }

    fn snapshot() -> Snapshot {
        let rows = json!([
            row(
                "Claude Code",
                "needs-input",
                json!({"attention": "needs-input", "message": "Permission\u{1b}[2J\nfor Bash"})
            ),
            row("Pi", "running", json!({"subagents": 2, "background": 1, "host": "box"})),
            row("Helper", "running", json!({"hidden": true})),
        ]);
        let workspace = json!({
            "id": "w", "name": "sh\u{7}op", "path": "/home/u/shop", "branch": "main", "dirty": true,
            "attention": "needs-input", "progress": {"value": 0.4, "label": "3 of 7"}, "log": null, "ports": [],
            "rows": rows,
        });
        serde_json::from_value(json!({"version": 1, "serial": 1, "workspaces": [workspace]})).expect("a snapshot")
    }

    #[test]
    fn a_page_is_aligned_and_clean() {
        let page = "\
shop  main*  40 % 3 of 7
  * Needs input  Claude Code  Permission[2J for Bash
    Running      Pi           2 subagents · 1 background task · on box
";
        assert_eq!(plain(&snapshot(), false), page);
    }

    #[test]
    fn colours_are_the_only_control_characters() {
        let page = plain(&snapshot(), true);
        assert!(page.contains("\u{1b}[33m* Needs input\u{1b}[0m"));
        assert!(!page.contains("\u{1b}[2J") && !page.contains('\u{7}'));
    }

    #[test]
    fn nothing_is_said_too() {
        assert_eq!(plain(&Snapshot::empty(), false), "No agents\n");
    }
}
