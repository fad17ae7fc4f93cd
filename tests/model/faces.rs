// SPDX-License-Identifier: GPL-3.0-or-later
//! What is shown of a row and of a workspace.

use vigil::app::model::AgentFace;
use vigil::snapshot::RowView;
use vigil::status::{Attention, Status};

use super::scenes::{self, row, session, shared};
use super::{COMMAND, sidebar};

#[test]
fn every_message_line() {
    let face = |status, attention, change: &dyn Fn(&mut RowView)| {
        let mut view = row("w", "A", status, attention, 1);
        change(&mut view);
        let face = AgentFace::of(&view, "w");
        let plain = face.message.replace(['\u{2068}', '\u{2069}'], "");
        (plain, face.message_lines, face.detail_visible)
    };
    let text = |text: &str| Some(text.to_owned());
    use Attention as A;
    use Status as S;
    let tool = |row: &mut RowView| (row.tool, row.detail) = (text("Bash"), text("cargo test"));
    let tool_only = |row: &mut RowView| (row.tool, row.message) = (text("Bash"), text("said"));
    let said = |row: &mut RowView| row.message = text("said");
    let nothing = |_: &mut RowView| {};
    let permission = |row: &mut RowView| {
        (row.tool, row.question, row.message) = (text("Bash"), text("rm -rf x"), text("Permission for Bash"));
    };
    let asked =
        |row: &mut RowView| (row.tool, row.question, row.message) = (text("Ask"), text("Which?"), text("Which?"));
    let unsaid = |row: &mut RowView| row.question = text("Which?");
    for (status, attention, change, line) in [
        (S::Running, A::None, &tool as &dyn Fn(&mut RowView), ("Bash · cargo test", 1, true)),
        (S::Running, A::None, &tool_only, ("Bash", 1, true)),
        (S::Running, A::None, &said, ("said", 1, true)),
        (S::Running, A::None, &nothing, ("", 1, false)),
        (S::Idle, A::Finished, &said, ("Finished · said", 1, true)),
        (S::Idle, A::Finished, &nothing, ("Finished", 1, true)),
        (S::Idle, A::None, &said, ("said", 1, true)),
        (S::Failed, A::Failed, &said, ("said", 2, true)),
        (S::Failed, A::None, &said, ("said", 1, true)),
        (S::NeedsInput, A::NeedsInput, &permission, ("Bash · rm -rf x", 2, true)),
        (S::NeedsInput, A::NeedsInput, &asked, ("Which?", 2, true)),
        (S::NeedsInput, A::NeedsInput, &unsaid, ("Which?", 2, true)),
        (S::NeedsInput, A::None, &said, ("said", 1, true)),
    ] {
        assert_eq!(face(status, attention, change), (line.0.to_owned(), line.1, line.2));
    }
}

#[test]
fn a_question_is_opened_only_if_there_is_more_of_it_than_the_message_shows() {
    for (tool, question, message, opens) in [
        (None, "May I?", None, false),
        (None, "May I?", Some("May I?"), false),
        (None, "May I delete it?", Some("It asks"), true),
        (None, "May I?\nAnd this?", Some("May I? And this?"), true),
        (Some("Bash"), "rm -rf build", Some("Permission for Bash"), false),
        (Some("Bash"), COMMAND, Some("Permission for Bash"), true),
        (None, "\u{53ef}\u{4ee5}\u{5417}\u{ff1f}", None, false),
    ] {
        let mut view = row("w", "A", Status::NeedsInput, Attention::NeedsInput, 1);
        let text = |text: Option<&str>| text.map(str::to_owned);
        (view.tool, view.question, view.message) = (text(tool), text(Some(question)), text(message));
        let face = AgentFace::of(&view, "w");
        assert_eq!((face.question_visible, face.expandable), (opens, opens), "{question}");
    }
    let mut view = row("w", "A", Status::NeedsInput, Attention::None, 1);
    view.question = Some("May I push it to origin?".to_owned());
    assert!(AgentFace::of(&view, "w").expandable, "seen, the message has one line");
}

#[test]
fn every_look() {
    for (status, attention, classes) in [
        (Status::Running, Attention::None, vec!["agent-row", "running"]),
        (Status::Running, Attention::Finished, vec!["agent-row", "running", "unseen", "unseen-finished"]),
        (Status::Idle, Attention::None, vec!["agent-row", "idle"]),
        (Status::Idle, Attention::Finished, vec!["agent-row", "finished"]),
        (Status::NeedsInput, Attention::NeedsInput, vec!["agent-row", "needs-input"]),
        (Status::NeedsInput, Attention::None, vec!["agent-row", "needs-input", "seen"]),
        (Status::Failed, Attention::Failed, vec!["agent-row", "failed"]),
        (Status::Failed, Attention::None, vec!["agent-row", "failed", "seen"]),
    ] {
        assert_eq!(AgentFace::of(&row("w", "A", status, attention, 1), "w").row_classes, classes);
    }
    let mut view = row("w", "A", Status::Idle, Attention::Finished, 1);
    view.background = 120;
    let face = AgentFace::of(&view, "w");
    assert_eq!(
        (face.indicator.as_str(), face.state_mark.as_str()),
        ("media-playback-start-symbolic", "emblem-ok-symbolic")
    );
    assert!(face.state_mark_visible, "the tick comes back beside the word");
    assert_eq!((face.background, face.background_label.as_str(), face.subagents), (120, "\u{2066}99+\u{2069}", 0));
    assert_eq!(face.background_tooltip, "120 background tasks");
}

#[test]
fn a_row_says_everything_in_one_sentence() {
    let mut view = row("shop", "Claude Code", Status::Running, Attention::None, 1);
    (view.subagents, view.background) = (2, 1);
    (view.tool, view.detail) = (Some("Bash".to_owned()), Some("cargo test".to_owned()));
    assert_eq!(
        AgentFace::of(&view, "shop").description,
        "Claude Code in shop: Running, 2 subagents, 1 background task, Bash · cargo test"
    );
}

#[test]
fn a_row_says_that_it_has_not_been_seen() {
    for (status, attention, said) in [
        (Status::NeedsInput, Attention::NeedsInput, "A in w: Needs input, not seen yet, Said"),
        (Status::NeedsInput, Attention::None, "A in w: Needs input, Said"),
        (Status::Failed, Attention::Failed, "A in w: Failed, not seen yet, Said"),
        (Status::Failed, Attention::None, "A in w: Failed, Said"),
        (Status::Running, Attention::Failed, "A in w: Running, failed but not seen yet, Said"),
        (Status::Idle, Attention::Finished, "A in w: Idle, Finished · Said"),
        (Status::Idle, Attention::None, "A in w: Idle, Said"),
    ] {
        let mut view = row("w", "A", status, attention, 1);
        view.message = Some("Said".to_owned());
        assert_eq!(AgentFace::of(&view, "w").description, said);
    }
    let failed = |id| session(id, Status::Failed, Attention::Failed, None);
    let row = shared("w", vec![failed("a"), failed("b")]);
    assert!(AgentFace::of(&row, "w").description.ends_with("w: Failed, not seen yet, 2 sessions"));
}

#[test]
fn a_workspace_shows_its_ports_progress_and_log() {
    let mut view = scenes::snapshot("states").workspaces.swap_remove(0);
    view.branch = Some("v2".to_owned());
    let sidebar = sidebar(vec![view]);
    let shown = sidebar.workspace("mobile-client-next").unwrap();
    assert_eq!(shown.ports_label(), "\u{2066}:3000 :5173 +1\u{2069}");
    assert_eq!((shown.branch().as_str(), shown.branch_visible(), shown.dirty()), ("v2", true, true));
    assert_eq!(shown.branch_tooltip(), "\u{2068}v2\u{2069}, with uncommitted changes");
    assert!(!shown.progress_visible() && !shown.log_visible());
}
