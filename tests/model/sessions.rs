// SPDX-License-Identifier: GPL-3.0-or-later
//! The sessions of a shared row: how many, what the row says of them, and the list that it opens to.

use gtk::gio;
use gtk::prelude::*;
use vigil::app::model::{Agent, AgentFace, Session, Sidebar};
use vigil::snapshot::{Change, RowView, SessionView};
use vigil::status::{Attention, Status};

use super::scenes::{self, session, shared};
use super::{COMMAND, Notified, Signals, idle, names, one};

fn works(id: &str) -> SessionView {
    session(id, Status::Running, Attention::None, None)
}

fn with(sessions: Vec<SessionView>) -> (Sidebar, Agent) {
    let (sidebar, _) = one(vec![shared("w", sessions)]);
    let agent = sidebar.agent("w/Claude Code").unwrap();
    (sidebar, agent)
}

fn list(agent: &Agent) -> Vec<Session> {
    agent.sessions().iter::<gtk::glib::Object>().map(|session| session.unwrap().downcast().unwrap()).collect()
}

fn plain(text: &str) -> String {
    text.replace(['\u{2066}', '\u{2069}'], "")
}

fn shown(agent: &Agent) -> Vec<String> {
    list(agent).iter().map(|session| plain(&session.name())).collect()
}

#[test]
fn a_row_says_how_many_sessions_share_it() {
    let (_, agent) = with(vec![works("a"), works("b")]);
    assert!(agent.sessions_visible() && agent.expandable() && agent.detail_visible());
    assert_eq!((agent.sessions_label().as_str(), agent.sessions_tooltip().as_str()), ("2 sessions", "2 sessions"));
    assert_eq!(agent.description(), "Claude Code in w: Running, 2 sessions");
    assert_eq!(agent.expander_label(), "Show the Sessions");
}

#[test]
fn a_row_with_one_session_says_nothing_of_it() {
    let (_, agent) = with(vec![works("a")]);
    assert!(!agent.sessions_visible() && !agent.expandable() && !agent.detail_visible());
    assert_eq!((agent.sessions_label().as_str(), agent.sessions().n_items()), ("", 0));
    agent.set_expanded(true);
    assert!(!agent.expanded());
}

#[test]
fn what_another_session_did_is_said_in_words_and_in_shape() {
    let other = |status, attention| session("b", status, attention, None);
    for (first, second, label, mark, wants) in [
        (works("a"), other(Status::Failed, Attention::Failed), "1 of 2 failed", "dialog-error-symbolic", 1),
        (works("a"), other(Status::Idle, Attention::Finished), "1 of 2 finished", "emblem-ok-symbolic", 0),
        (
            session("a", Status::Idle, Attention::None, None),
            other(Status::Failed, Attention::Failed),
            "1 of 2 failed",
            "dialog-error-symbolic",
            1,
        ),
        (
            session("a", Status::NeedsInput, Attention::None, None),
            other(Status::Failed, Attention::Failed),
            "1 of 2 failed",
            "dialog-error-symbolic",
            1,
        ),
    ] {
        let row = shared("w", vec![first, second]);
        let (sidebar, _) = one(vec![row.clone()]);
        let face = AgentFace::of(&row, "w");
        assert_eq!(face.sessions_label, label);
        assert_eq!((face.state_mark.as_str(), face.state_mark_visible), (mark, true));
        assert!(face.row_classes.contains(&"unseen".to_owned()), "{:?}", face.row_classes);
        assert!(face.description.contains(&format!("2 sessions, {label}")), "{}", face.description);
        assert_eq!((sidebar.wanted(), sidebar.wanted_visible()), (wants, wants > 0));
    }
}

#[test]
fn an_unseen_end_behind_new_work_of_one_session_is_marked_too() {
    let face = AgentFace::of(&scenes::row("w", "Codex", Status::Running, Attention::Finished, 1), "w");
    assert_eq!((face.state_mark.as_str(), face.state_mark_visible), ("emblem-ok-symbolic", true));
    assert_eq!(face.state_mark_tooltip, "finished but not seen yet");
    assert_eq!(face.description, "Codex in w: Running, finished but not seen yet");
    assert_eq!(face.row_classes, ["agent-row", "running", "unseen", "unseen-finished"]);
}

#[test]
fn a_row_is_not_quiet_while_one_of_its_sessions_works() {
    let aside = shared("w", vec![session("a", Status::Idle, Attention::None, None), works("b")]);
    assert_eq!(AgentFace::of(&aside, "w").sessions_label, "1 of 2 running");
    let mut views = vec![aside];
    views.extend(["W", "X", "Y", "Z"].map(idle));
    let (_, workspace) = one(views);
    assert_eq!(names(&workspace), ["Claude Code", "4 idle"]);
}

#[test]
fn a_session_is_known_by_its_pane_else_by_its_id() {
    let at = |id: &str, surface: Option<&str>| session(id, Status::Idle, Attention::None, surface);
    let (_, agent) = with(vec![
        at("1111111122222222", Some("tmux:/tmp/tmux-1000/default:%3")),
        at("3333333344444444", None),
        at("5555555566666666", Some("tty:pts/7")),
        at("7777777788888888", Some("tty:pts/7")),
        at("", None),
    ]);
    assert_eq!(shown(&agent), ["%3", "33333333", "pts/7 · 55555555", "pts/7 · 77777777", "Session"]);
    assert_eq!(plain(&list(&agent)[0].tooltip()), "tmux:/tmp/tmux-1000/default:%3\n1111111122222222");
    assert_eq!(list(&agent)[1].target(), "w/Claude Code#3333333344444444");
}

#[test]
fn a_session_says_its_status_its_work_and_what_was_not_seen() {
    let mut aside = session("b", Status::Running, Attention::Finished, Some("tty:pts/1"));
    aside.subagents = 2;
    let (_, agent) = with(vec![works("a"), aside, session("c", Status::Failed, Attention::Failed, None)]);
    let sessions = list(&agent);
    assert_eq!(sessions[1].description(), "pts/1: Running, finished but not seen yet, 2 subagents");
    assert_eq!(sessions[1].indicator(), "system-run-symbolic");
    assert_eq!((sessions[1].state_mark().as_str(), sessions[1].state_mark_visible()), ("emblem-ok-symbolic", true));
    assert_eq!(sessions[2].description(), "c: Failed, not seen yet");
    assert_eq!(sessions[2].line_classes(), ["flat", "session-line", "failed", "unseen-failed"]);
    assert!(!sessions[2].state_mark_visible(), "the indicator is the mark");
}

#[test]
fn one_session_that_changes_changes_alone() {
    let view = shared("w", ["a", "b", "c"].map(works).to_vec());
    let (sidebar, agent) = with(view.sessions.clone());
    let signals = Signals::of(&agent.sessions());
    let before = list(&agent);
    let notified: Vec<Notified> = before.iter().map(Notified::of).collect();
    let apply = |change: &dyn Fn(&mut RowView)| {
        let mut view = view.clone();
        change(&mut view);
        sidebar.apply(&[Change::row("w", view)]);
    };

    apply(&|row| row.message = Some("said".to_owned()));
    assert!(notified.iter().all(|notified| notified.take().is_empty()), "nothing of a session has changed");
    apply(&|row| row.sessions[1].status = Status::Idle);
    assert_eq!(notified[1].take(), ["description", "indicator", "line-classes", "status-label"]);
    assert!(notified[0].take().is_empty() && notified[2].take().is_empty());
    assert!(signals.take().is_empty(), "no line comes or goes");

    apply(&|row| drop(row.sessions.remove(1)));
    assert_eq!(signals.take(), [(1, 1, 0)]);
    assert_eq!(list(&agent), [before[0].clone(), before[2].clone()], "those that stay are the same objects");
    apply(&|row| row.sessions.truncate(1));
    assert_eq!((signals.take(), agent.sessions().n_items()), (vec![(0, 2, 0)], 0));
}

#[test]
fn an_open_list_of_sessions_stays_open_through_changes_and_closes_with_the_last_but_one() {
    let view = shared("w", vec![works("a"), works("b")]);
    let (sidebar, agent) = with(view.sessions.clone());
    let apply = |change: &dyn Fn(&mut RowView)| {
        let mut view = view.clone();
        change(&mut view);
        sidebar.apply(&[Change::row("w", view)]);
    };
    let asks = |question: &str| {
        let question = Some(format!("{question} {COMMAND}"));
        move |row: &mut RowView| (row.status, row.question) = (Status::NeedsInput, question.clone())
    };
    agent.set_expanded(true);
    assert!(agent.expanded() && !agent.question_open());
    apply(&|row| row.sessions[1].status = Status::Failed);
    assert!(agent.expanded());
    apply(&asks("this?"));
    assert!(agent.expanded() && agent.question_open(), "the question is shown with the sessions");
    assert_eq!(agent.expander_label(), "Show the Whole Question and the Sessions");
    apply(&asks("that?"));
    assert!(!agent.expanded() && !agent.question_open(), "another question starts closed");
    agent.set_expanded(true);
    apply(&|_| {});
    assert!(agent.expanded() && !agent.question_open(), "the sessions stay when the question goes");
    apply(&|row| row.sessions.truncate(1));
    assert!(!agent.expanded());
}

#[test]
fn the_list_of_sessions_is_the_same_for_good() {
    let (_, agent) = with(vec![works("a"), works("b")]);
    let list: gio::ListModel = agent.sessions();
    assert_eq!(list, agent.sessions());
    assert_eq!(list.item_type(), Session::static_type());
}
