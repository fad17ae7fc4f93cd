// SPDX-License-Identifier: GPL-3.0-or-later
//! What a row shows of an agent, as plain values: a function of the published row, and nothing else.
//!
//! Icons come from [`crate::status`]; here are only words, weights and what is hidden. The texts are other programs':
//! the core has made them one clean line, labels show them as text, and [`bidi`] keeps them apart.

use gtk::glib;

use super::{bidi, counting};
use crate::app::i18n::{gettext, gettext_f};
use crate::snapshot::RowView;
use crate::status::{Attention, Counts, Status, indicator, mark};

/// A counter shows no more than this.
const MOST_COUNTED: u32 = 99;

/// A line of a message has room for more letters than this in the narrowest window.
const SURE_COLUMNS: i32 = 20;

/// What a row shows of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFace {
    /// What to call it.
    pub name: String,
    /// What it does, did or asks.
    pub message: String,
    /// How many lines the message may take.
    pub message_lines: i32,
    /// The status as a word.
    pub status_label: String,
    /// The icon that leads the row.
    pub indicator: String,
    /// The icon of what has not been seen, beside the word where the indicator does not say it.
    pub state_mark: String,
    /// The same, as a sentence.
    pub state_mark_tooltip: String,
    /// Whether there is one.
    pub state_mark_visible: bool,
    /// How many sessions there are, or what some of them did.
    pub sessions_label: String,
    /// How many sessions there are.
    pub sessions_tooltip: String,
    /// Whether there is more than one.
    pub sessions_visible: bool,
    /// Whether there is a second line.
    pub detail_visible: bool,
    /// Subagents at work.
    pub subagents: i32,
    /// The same, as the counter shows it.
    pub subagents_label: String,
    /// The same, as a sentence.
    pub subagents_tooltip: String,
    /// Background tasks that run.
    pub background: i32,
    /// The same, as the counter shows it.
    pub background_label: String,
    /// The same, as a sentence.
    pub background_tooltip: String,
    /// The open question, whole.
    pub question: String,
    /// Who asks, and where.
    pub question_context: String,
    /// Whether there is a question to open: one that the message does not show whole.
    pub question_visible: bool,
    /// Whether there is anything to open.
    pub expandable: bool,
    /// What opening it shows.
    pub expander_label: String,
    /// The row's style classes.
    pub row_classes: Vec<String>,
    /// All of it in one sentence.
    pub description: String,
}

impl AgentFace {
    /// The face of `row`, which stands in the workspace of that name.
    pub fn of(row: &RowView, workspace: &str) -> Self {
        let counts = Counts { subagents: row.subagents, background: row.background };
        let mark = mark(row.status, row.attention, counts);
        let message = message(row);
        let question = row.question.clone().filter(|_| row.status == Status::NeedsInput).unwrap_or_default();
        let message_lines = if wants(row) { 2 } else { 1 };
        let question_visible = !question.is_empty() && !message.shows(&question, message_lines);
        let sessions_visible = row.sessions.len() > 1;
        let expandable = question_visible || sessions_visible;
        Self {
            name: bidi::alone(&row.name),
            message_lines,
            status_label: status_label(row.status),
            indicator: indicator(row.status, row.attention, counts).to_owned(),
            state_mark: mark.unwrap_or_default().to_owned(),
            state_mark_tooltip: if mark.is_some() { counting::unseen(row.attention) } else { String::new() },
            state_mark_visible: mark.is_some(),
            sessions_label: if sessions_visible { counting::sessions_or_some(row) } else { String::new() },
            sessions_tooltip: if sessions_visible { counting::sessions(row) } else { String::new() },
            sessions_visible,
            detail_visible: !message.is_empty() || row.subagents > 0 || row.background > 0 || expandable,
            subagents: count(row.subagents),
            subagents_label: count_label(row.subagents),
            subagents_tooltip: counting::subagents(row.subagents),
            background: count(row.background),
            background_label: count_label(row.background),
            background_tooltip: counting::background(row.background),
            question_context: if question_visible { question_context(row) } else { String::new() },
            question_visible,
            expandable,
            expander_label: expander_label(question_visible, sessions_visible),
            question,
            row_classes: row_classes(row).into_iter().map(str::to_owned).collect(),
            description: description(row, workspace, &message.plain()),
            message: message.isolated(),
        }
    }
}

/// The status as a word in the user's language.
pub fn status_label(status: Status) -> String {
    match status {
        // Translators: the state of an agent: it works.
        Status::Running => gettext("Running"),
        // Translators: the state of an agent: it waits for a prompt.
        Status::Idle => gettext("Idle"),
        // Translators: the state of an agent: it has asked something.
        Status::NeedsInput => gettext("Needs input"),
        // Translators: the state of an agent: it ended in an error.
        Status::Failed => gettext("Failed"),
    }
}

/// Whether the user is wanted, and has not been there yet.
fn wants(row: &RowView) -> bool {
    matches!(
        (row.status, row.attention),
        (Status::NeedsInput, Attention::NeedsInput) | (Status::Failed, Attention::Failed)
    )
}

/// Whether something has not been seen that the row's own state does not say: another session of a shared row finished
/// or failed while this one runs, waits or asks.
fn is_unseen_apart(row: &RowView) -> bool {
    row.attention != Attention::None
        && !wants(row)
        && (row.status, row.attention) != (Status::Idle, Attention::Finished)
}

fn unseen_class(attention: Attention) -> &'static str {
    match attention {
        Attention::None => "",
        Attention::Finished => "unseen-finished",
        Attention::Failed => "unseen-failed",
        Attention::NeedsInput => "unseen-needs-input",
    }
}

fn row_classes(row: &RowView) -> Vec<&'static str> {
    let mut classes = vec!["agent-row"];
    classes.push(match (row.status, row.attention) {
        (Status::Idle, Attention::Finished) => "finished",
        (status, _) => status.as_str(),
    });
    match row.status {
        Status::NeedsInput | Status::Failed if !wants(row) => classes.push("seen"),
        _ => {}
    }
    if is_unseen_apart(row) {
        classes.extend(["unseen", unseen_class(row.attention)]);
    }
    if row.nested || row.hidden {
        classes.push("muted");
    }
    classes
}

/// The parts of the message line, from the most to the least important.
struct Message(Vec<String>);

impl Message {
    fn joined(&self, part: impl Fn(&str) -> String) -> String {
        // Translators: between the parts of a message, as in "Bash · cargo test" and "Finished · All tests pass".
        let separator = gettext(" · ");
        self.0.iter().map(|text| part(text)).collect::<Vec<_>>().join(&separator)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the whole text surely can be read in so many lines, in a window as narrow as can be.
    fn shows(&self, text: &str, lines: i32) -> bool {
        let line = self.plain();
        // Any but the plainest letters may be wide ones.
        let columns: i32 = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
        line.contains(text) && columns <= lines * SURE_COLUMNS
    }

    fn isolated(&self) -> String {
        if let [text] = self.0.as_slice() { bidi::alone(text) } else { self.joined(bidi::isolate) }
    }

    fn plain(&self) -> String {
        self.joined(str::to_owned)
    }
}

fn message(row: &RowView) -> Message {
    let message = row.message.as_deref().filter(|text| !text.is_empty());
    let tool = row.tool.as_deref().filter(|text| !text.is_empty());
    let parts = match row.status {
        Status::Running => match (tool, row.detail.as_deref().filter(|text| !text.is_empty())) {
            (Some(tool), detail) => vec![Some(tool.to_owned()), detail.map(str::to_owned)],
            (None, _) => vec![message.map(str::to_owned)],
        },
        Status::Idle if row.attention == Attention::Finished => {
            // Translators: opens the message of an agent whose turn is over and has not been looked at yet.
            vec![Some(gettext("Finished")), message.map(str::to_owned)]
        }
        Status::NeedsInput => match (tool, row.question.as_deref().filter(|text| !text.is_empty())) {
            // What the tool wants to do says more than that it asks.
            (Some(tool), Some(question)) if message.is_none_or(|message| is_permission(message, tool)) => {
                vec![Some(tool.to_owned()), Some(question.to_owned())]
            }
            (_, question) => vec![message.or(question).map(str::to_owned)],
        },
        Status::Idle | Status::Failed => vec![message.map(str::to_owned)],
    };
    Message(parts.into_iter().flatten().collect())
}

/// Whether the message is only the one that every permission has where details are left out.
fn is_permission(message: &str, tool: &str) -> bool {
    message.strip_prefix("Permission for ") == Some(tool)
}

fn question_context(row: &RowView) -> String {
    let tool = row.tool.as_deref().filter(|_| row.message != row.question);
    let folder = row.cwd.as_deref().map(short_path);
    match (tool, folder) {
        (Some(tool), Some(folder)) => {
            // Translators: who asks, and where; {tool} is a name such as Bash.
            gettext_f(
                "{tool} wants to run, in {folder}",
                &[("tool", &bidi::isolate(tool)), ("folder", &bidi::isolate(&folder))],
            )
        }
        (Some(tool), None) => gettext_f("{tool} wants to run", &[("tool", &bidi::isolate(tool))]),
        (None, Some(folder)) => gettext_f("Asks in {folder}", &[("folder", &bidi::isolate(&folder))]),
        (None, None) => gettext("Asks"),
    }
}

/// The home folder as "~".
fn short_path(path: &str) -> String {
    let home = glib::home_dir();
    match std::path::Path::new(path).strip_prefix(&home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.to_owned(),
    }
}

fn expander_label(question: bool, sessions: bool) -> String {
    match (question, sessions) {
        (true, false) => gettext("Show the Whole Question"),
        (true, true) => gettext("Show the Whole Question and the Sessions"),
        (false, _) => gettext("Show the Sessions"),
    }
}

fn count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn count_label(count: u32) -> String {
    if count > MOST_COUNTED { bidi::left_to_right(&format!("{MOST_COUNTED}+")) } else { count.to_string() }
}

/// "Claude Code in shop: Running, 2 subagents, 1 background task, Bash · cargo test".
fn description(row: &RowView, workspace: &str, message: &str) -> String {
    let status = status_label(row.status);
    let head = gettext_f(
        // Translators: read out by screen readers.
        "{agent} in {workspace}: {status}",
        &[("agent", &row.name), ("workspace", workspace), ("status", &status)],
    );
    let mut parts = vec![head];
    if wants(row) || (is_unseen_apart(row) && row.sessions.len() <= 1) {
        parts.push(counting::unseen_beside(row.status, row.attention));
    }
    if row.nested {
        // Translators: read out by screen readers: this agent was started by another one.
        parts.push(gettext("started by another agent"));
    }
    if row.sessions.len() > 1 {
        parts.push(counting::sessions(row));
        parts.extend(counting::some(row));
    }
    parts.extend(counting::work(row.subagents, row.background));
    if !message.is_empty() {
        parts.push(message.to_owned());
    }
    // Translators: between the parts of a sentence that is read out.
    parts.join(&gettext(", "))
}
