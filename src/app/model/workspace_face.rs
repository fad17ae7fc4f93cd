// SPDX-License-Identifier: GPL-3.0-or-later
//! What a row shows of a workspace, as plain values.

use super::bidi;
use crate::app::i18n::{gettext, gettext_f, ngettext_f};
use crate::snapshot::{LogLevel, WorkspaceView};
use crate::status::{Attention, attention_icon};

/// How many ports are named before the rest is counted.
const NAMED_PORTS: usize = 2;

/// What a row shows of a workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkspaceFace {
    /// The title.
    pub name: String,
    /// Where it is, else the title, which may be cut.
    pub name_tooltip: String,
    /// The branch.
    pub branch: String,
    /// Whether there is one.
    pub branch_visible: bool,
    /// The branch, and whether there are changes.
    pub branch_tooltip: String,
    /// Whether the work tree differs from HEAD.
    pub dirty: bool,
    /// Ports that its processes listen on.
    pub ports_label: String,
    /// The same, all of them.
    pub ports_tooltip: String,
    /// Whether there are any.
    pub ports_visible: bool,
    /// The icon of the strongest attention inside.
    pub summary_icon: String,
    /// How many rows have it.
    pub summary_label: String,
    /// Whether the row is folded and something inside wants to be seen.
    pub summary_visible: bool,
    /// From 0 to 1.
    pub progress: f64,
    /// What is being done, or how much of it.
    pub progress_label: String,
    /// Whether there is progress.
    pub progress_visible: bool,
    /// The latest log line.
    pub log: String,
    /// The icon of its level.
    pub log_icon: String,
    /// Whether the level has one.
    pub log_icon_visible: bool,
    /// The style classes of the line.
    pub log_classes: Vec<String>,
    /// Whether there is a log line.
    pub log_visible: bool,
    /// The row's style classes.
    pub row_classes: Vec<String>,
    /// All of it in one sentence.
    pub description: String,
}

/// What a folded workspace has to tell of the agents inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Whether their rows are out of sight.
    pub folded: bool,
    /// How many there are.
    pub agents: u32,
    /// The strongest attention among them.
    pub attention: Attention,
    /// How many of them have it.
    pub wanting: u32,
}

impl WorkspaceFace {
    /// The face of `workspace`.
    pub fn of(workspace: &WorkspaceView, inside: Inside) -> Self {
        let branch = workspace.branch.as_deref().unwrap_or_default();
        let dirty = workspace.dirty == Some(true) && !branch.is_empty();
        let progress = workspace.progress.as_ref();
        let log = workspace.log.as_ref();
        let level = log.map_or(LogLevel::Info, |log| log.level);
        let summary_visible = inside.folded && inside.attention != Attention::None;
        Self {
            name: bidi::alone(&workspace.name),
            name_tooltip: bidi::alone(workspace.path.as_ref().unwrap_or(&workspace.name)),
            branch: bidi::alone(branch),
            branch_visible: !branch.is_empty(),
            branch_tooltip: branch_tooltip(branch, dirty),
            dirty,
            ports_label: ports_label(&workspace.ports, NAMED_PORTS),
            ports_tooltip: ports_label(&workspace.ports, usize::MAX),
            ports_visible: !workspace.ports.is_empty(),
            summary_icon: attention_icon(inside.attention).unwrap_or_default().to_owned(),
            summary_label: inside.wanting.to_string(),
            summary_visible,
            progress: progress.map_or(0.0, |progress| progress.value.clamp(0.0, 1.0)),
            progress_label: progress.map(|progress| bidi::alone(&progress.label)).unwrap_or_default(),
            progress_visible: progress.is_some(),
            log: log.map(|log| bidi::alone(&log.message)).unwrap_or_default(),
            log_icon: "dialog-warning-symbolic".to_owned(),
            log_icon_visible: level != LogLevel::Info,
            log_classes: log_classes(level).into_iter().map(str::to_owned).collect(),
            log_visible: log.is_some(),
            row_classes: row_classes(inside).into_iter().map(str::to_owned).collect(),
            description: description(workspace, branch, dirty, inside),
        }
    }
}

fn branch_tooltip(branch: &str, dirty: bool) -> String {
    if dirty {
        // Translators: {branch} is a git branch whose files differ from the last commit.
        gettext_f("{branch}, with uncommitted changes", &[("branch", &bidi::isolate(branch))])
    } else {
        bidi::alone(branch)
    }
}

fn ports_label(ports: &[u16], named: usize) -> String {
    let mut words: Vec<String> = ports.iter().take(named).map(|port| format!(":{port}")).collect();
    if ports.len() > named {
        words.push(format!("+{}", ports.len() - named));
    }
    if words.is_empty() { String::new() } else { bidi::left_to_right(&words.join(" ")) }
}

fn log_classes(level: LogLevel) -> Vec<&'static str> {
    // Not .warning and .error: those are libadwaita's, and colour all text below them.
    match level {
        LogLevel::Info => vec!["log"],
        LogLevel::Warning => vec!["log", "level-warning"],
        LogLevel::Error => vec!["log", "level-error"],
    }
}

fn row_classes(inside: Inside) -> Vec<&'static str> {
    let mut classes = vec!["workspace-row"];
    if inside.folded {
        classes.push("folded");
        if inside.attention != Attention::None {
            classes.push(inside.attention.as_str());
        }
    }
    classes
}

/// "Workspace shop, branch main, uncommitted changes, 3 agents, folded, 1 needs input".
fn description(workspace: &WorkspaceView, branch: &str, dirty: bool, inside: Inside) -> String {
    // Translators: this and the next few are read out by screen readers.
    let mut parts = vec![gettext_f("Workspace {name}", &[("name", &workspace.name)])];
    if !branch.is_empty() {
        parts.push(gettext_f("branch {branch}", &[("branch", branch)]));
    }
    if dirty {
        parts.push(gettext("uncommitted changes"));
    }
    parts.push(ngettext_f("{count} agent", "{count} agents", inside.agents));
    if inside.folded {
        parts.push(gettext("folded"));
        parts.push(wanting(inside));
    }
    if let Some(progress) = &workspace.progress {
        parts.push(progress.label.clone());
    }
    if let Some(log) = &workspace.log {
        parts.push(log.message.clone());
    }
    parts.retain(|part| !part.is_empty());
    parts.join(&gettext(", "))
}

fn wanting(Inside { attention, wanting, .. }: Inside) -> String {
    match attention {
        Attention::NeedsInput => ngettext_f("{count} needs input", "{count} need input", wanting),
        Attention::Failed => ngettext_f("{count} failed", "{count} failed", wanting),
        Attention::Finished => ngettext_f("{count} finished", "{count} finished", wanting),
        Attention::None => String::new(),
    }
}
