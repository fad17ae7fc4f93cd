// SPDX-License-Identifier: GPL-3.0-or-later
//! The sessions beneath a shared row: lines that stay, keys that open them, and what a press asks for.

use adw::prelude::*;
use gtk::glib;
use vigil::app::model::Agent;
use vigil::app::widget::{AgentRow, SessionLine};
use vigil::snapshot::{Change, RowView, ThingKind};
use vigil::status::{Attention, Status};

use super::bench::{Bench, all, find, settle, texts, wait_until};
use super::one;
use super::scenes::{session, shared};

const ROW: &str = "w/Claude Code";

fn view() -> RowView {
    shared(
        "w",
        vec![
            session("a", Status::Running, Attention::None, Some("tty:pts/1")),
            session("b", Status::Failed, Attention::Failed, Some("tty:pts/2")),
            session("c", Status::Idle, Attention::None, Some("tty:pts/3")),
        ],
    )
}

fn lines(row: &AgentRow) -> Vec<SessionLine> {
    all(row.upcast_ref())
}

fn expander(row: &AgentRow) -> gtk::ToggleButton {
    find(row.upcast_ref()).unwrap()
}

/// Presses a key where the focus is, as far as the bindings of the focused widget and those around it go.
fn press(widget: &impl IsA<gtk::Widget>, key: gtk::gdk::Key) -> bool {
    let mut widget = Some(widget.clone().upcast::<gtk::Widget>());
    while let Some(current) = widget {
        for controller in current.observe_controllers().iter::<glib::Object>().flatten() {
            let Ok(shortcuts) = controller.downcast::<gtk::ShortcutController>() else { continue };
            for shortcut in
                shortcuts.iter::<glib::Object>().flatten().filter_map(|it| it.downcast::<gtk::Shortcut>().ok())
            {
                let trigger = shortcut.trigger().and_downcast::<gtk::KeyvalTrigger>();
                let fits = trigger.is_some_and(|it| it.keyval() == key && it.modifiers().is_empty());
                let action = shortcut.action().filter(|_| fits);
                if action.is_some_and(|it| it.activate(gtk::ShortcutActionFlags::empty(), &current, None)) {
                    settle();
                    return true;
                }
            }
        }
        widget = current.parent();
    }
    false
}

#[gtk::test]
fn a_shared_row_opens_to_a_line_for_each_session() {
    let bench = one(vec![view()]);
    let row = bench.row(ROW);
    assert!(texts(&row).contains(&"1 of 3 failed".to_owned()), "{:?}", texts(&row));
    assert!(expander(&row).is_mapped() && lines(&row).iter().all(|line| !line.is_mapped()));
    expander(&row).set_active(true);
    wait_until("the lines are shown", || lines(&row).iter().all(|line| line.is_mapped()));
    let words: Vec<Vec<String>> = lines(&row).iter().map(texts).collect();
    let plain = |text: &String| text.replace(['\u{2066}', '\u{2069}'], "");
    let words: Vec<Vec<String>> = words.iter().map(|words| words.iter().map(plain).collect()).collect();
    assert_eq!(words, [["pts/1", "Running"], ["pts/2", "Failed"], ["pts/3", "Idle"]]);
    assert!(lines(&row)[1].has_css_class("failed") && lines(&row)[1].has_css_class("unseen-failed"));
    bench.close();
}

#[gtk::test]
fn pressing_a_session_marks_that_session_as_seen_and_nothing_else() {
    let bench = one(vec![view()]);
    bench.sidebar.agent(ROW).unwrap().set_expanded(true);
    settle();
    lines(&bench.row(ROW))[1].emit_clicked();
    settle();
    assert_eq!(bench.asked.take(), [format!("acknowledge {ROW}#b")]);
    bench.close();
}

#[gtk::test]
fn the_keys_that_open_a_question_open_the_sessions() {
    use gtk::gdk::Key;
    let bench = one(vec![view()]);
    bench.window.select_row(ROW);
    let (row, agent) = (bench.row(ROW), bench.sidebar.agent(ROW).unwrap());
    for (key, open) in [(Key::Right, true), (Key::Left, false), (Key::space, true), (Key::space, false)] {
        assert!(press(&row, key), "{key:?}");
        assert_eq!(agent.expanded(), open, "{key:?}");
    }
    press(&row, Key::Right);
    wait_until("the lines are shown", || lines(&row).iter().all(|line| line.is_mapped()));
    lines(&row)[0].grab_focus();
    assert!(press(&lines(&row)[0], Key::Down) && lines(&row)[1].has_focus());
    assert!(press(&lines(&row)[1], Key::Down) && lines(&row)[2].has_focus());
    assert!(press(&lines(&row)[2], Key::Up) && lines(&row)[1].has_focus());
    assert!(press(&lines(&row)[1], Key::Left) && !agent.expanded());
    assert_eq!(bench.focused_id(), ROW, "what closes gives the focus to the row");
    bench.close();
}

#[gtk::test]
fn lines_stay_through_changes_and_go_with_their_sessions() {
    let bench = one(vec![view()]);
    let (row, agent) = (bench.row(ROW), bench.sidebar.agent(ROW).unwrap());
    agent.set_expanded(true);
    wait_until("the lines are shown", || lines(&row).iter().all(|line| line.is_mapped()));
    let before = lines(&row);
    let mut view = view();
    view.message = Some("said".to_owned());
    view.sessions[0].status = Status::Idle;
    bench.apply(&[Change::row("w", view.clone())]);
    assert_eq!(lines(&row), before);
    assert!(texts(&before[0]).contains(&"Idle".to_owned()));

    before[1].grab_focus();
    view.sessions.remove(1);
    bench.apply(&[Change::row("w", view.clone())]);
    assert_eq!(lines(&row), [before[0].clone(), before[2].clone()]);
    assert!(before[2].has_focus(), "the focus of a line that goes stays in its place");
    view.sessions.truncate(1);
    bench.apply(&[Change::row("w", view)]);
    assert!(lines(&row).is_empty() && !expander(&row).is_visible());
    assert_eq!(bench.focused_id(), ROW);
    bench.close();
}

#[gtk::test]
fn a_question_and_the_sessions_are_shown_together() {
    let bench = Bench::picture("sessions");
    let row = bench.row("shop/Claude Code");
    wait_until("the lines are shown", || lines(&row).iter().all(|line| line.is_mapped()));
    let shown = texts(&row);
    assert!(shown.contains(&"git push --force-with-lease origin main".to_owned()), "{shown:?}");
    // Without a question the message stays where it is.
    let shown = texts(&bench.row("api/Claude Code"));
    assert!(shown.iter().any(|text| text.contains("refund.rs")), "{shown:?}");
    bench.close();
}

#[gtk::test]
fn a_new_selection_leaves_the_lines_that_are_just_being_pressed() {
    let bench = one(vec![view(), super::running("B"), super::running("A")]);
    bench.sidebar.agent(ROW).unwrap().set_expanded(true);
    let before = lines(&bench.row(ROW));
    for id in ["w/B", ROW, "w/A"] {
        bench.window.select_row(id);
        assert_eq!(lines(&bench.row(ROW)), before, "a new selection binds the rows anew");
        assert!(before.iter().all(|line| line.session().is_some()));
    }
    bench.close();
}

#[gtk::test]
fn lines_that_are_used_again_follow_only_their_new_row() {
    let mut other = shared("w", view().sessions[..2].to_vec());
    other.id = "w/Other".to_owned();
    let bench = one(vec![view(), other, super::running("B")]);
    let row = AgentRow::default();
    row.set_agent(bench.sidebar.agent(ROW));
    let before = lines(&row);
    row.set_agent(None::<Agent>);
    assert!(lines(&row).iter().all(|line| line.session().is_none()), "what waits holds nothing");
    row.set_agent(bench.sidebar.agent("w/Other"));
    assert_eq!(lines(&row), before[..2]);
    let targets: Vec<String> = lines(&row).iter().map(|line| line.session().unwrap().target()).collect();
    assert_eq!(targets, ["w/Other#a", "w/Other#b"]);
    bench.apply(&[Change::removed(ThingKind::Row, ROW)]);
    assert_eq!(lines(&row).len(), 2);
    row.set_agent(bench.sidebar.agent("w/B"));
    assert!(lines(&row).is_empty());
    bench.close();
}
