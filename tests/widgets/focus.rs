// SPDX-License-Identifier: GPL-3.0-or-later
//! Selection and focus: where they are, and that they go together.

use adw::prelude::*;
use vigil::app::model::{Fold, Workspace};
use vigil::app::widget::{FoldRow, SessionLine, Window, WorkspaceRow};
use vigil::snapshot::{Change, Snapshot, ThingKind};
use vigil::status::{Attention, Status};

use super::bench::{Bench, all, find, settle, wait_until};
use super::scenes::{row, session, shared, workspace};
use super::{asking, idle, one, running};

#[gtk::test]
fn nothing_is_selected_by_itself() {
    let bench = one(vec![running("A")]);
    assert_eq!(bench.window.selected_row(), None);
    bench.close();
}

#[gtk::test]
fn selection_and_focus_move_with_their_row() {
    let bench = one(["A", "B", "C", "D"].map(running).to_vec());
    assert!(bench.window.select_row("w/C"));
    assert_eq!((bench.window.selected_row().unwrap(), bench.focused_id()), ("w/C".to_owned(), "w/C".to_owned()));
    for change in [asking("C"), running("C"), asking("A"), asking("D"), asking("C"), running("A")] {
        bench.apply(&[Change::row("w", change)]);
        assert_eq!((bench.window.selected_row().unwrap(), bench.focused_id()), ("w/C".to_owned(), "w/C".to_owned()));
    }
    bench.close();
}

#[gtk::test]
fn the_focus_of_a_row_that_goes_stays_in_its_place() {
    let bench = one(["A", "B", "C"].map(running).to_vec());
    bench.window.select_row("w/B");
    bench.apply(&[Change::removed(ThingKind::Row, "w/B")]);
    assert_eq!(bench.focused_id(), "w/C");
    bench.apply(&[Change::removed(ThingKind::Row, "w/C")]);
    assert_eq!(bench.focused_id(), "w/A");
    bench.close();
}

#[gtk::test]
fn the_focus_of_a_row_that_is_folded_away_goes_to_the_fold() {
    let mut finished = idle("D");
    finished.attention = Attention::Finished;
    let bench = one(vec![idle("A"), idle("B"), idle("C"), finished]);
    bench.window.select_row("w/D");
    bench.apply(&[Change::row("w", idle("D"))]);
    assert!(bench.focused().unwrap().is::<Fold>());
    let workspace = bench.sidebar.workspace("w").unwrap();
    bench.sidebar.toggle_folded(&workspace);
    settle();
    assert!(bench.focused().unwrap().is::<Workspace>());
    bench.close();
}

#[gtk::test]
fn selection_and_focus_move_with_a_workspace_that_becomes_urgent() {
    let workspaces =
        ["v", "w", "x"].map(|id| workspace(id, "main", vec![row(id, "A", Status::Idle, Attention::None, 9)]));
    let bench = Bench::new(workspaces.to_vec());
    bench.window.select_row("x/A");
    let here = || (bench.window.selected_row().unwrap(), bench.focused_id());
    bench.sidebar.set_by_urgency(true);
    for id in ["w", "x", "v"] {
        bench.apply(&[Change::row(id, row(id, "A", Status::NeedsInput, Attention::NeedsInput, 9))]);
        assert_eq!(here(), ("x/A".to_owned(), "x/A".to_owned()), "{id}");
    }
    bench.sidebar.set_by_urgency(false);
    settle();
    assert_eq!(here(), ("x/A".to_owned(), "x/A".to_owned()));
    bench.close();
}

#[gtk::test]
fn a_new_window_focuses_its_list() {
    let bench = one(vec![running("A")]);
    assert!(bench.focused().unwrap().is::<Workspace>());
    assert_eq!(bench.list().model().and_downcast::<gtk::SingleSelection>().unwrap().selected_item(), None);
    bench.apply(&[Change::row("w", running("B"))]);
    assert!(bench.focused().unwrap().is::<Workspace>());
    assert_eq!(bench.list().model().and_downcast::<gtk::SingleSelection>().unwrap().selected_item(), None);
    bench.close();
}

#[gtk::test]
fn an_empty_window_focuses_what_there_is_to_do_and_then_its_list() {
    let bench = Bench::new(Vec::new());
    bench.app.add_action(&gtk::gio::SimpleAction::new("integrations", None));
    let window = Window::new(&bench.app, &bench.sidebar, &bench.banner());
    window.present();
    wait_until("the window is on the screen", || window.is_mapped());
    let focus = || GtkWindowExt::focus(&window).unwrap();
    assert!(focus().downcast::<gtk::Button>().unwrap().has_css_class("suggested-action"));
    let workspaces = vec![workspace("w", "main", vec![running("A")])];
    bench.sidebar.reset(&Snapshot { workspaces, ..Snapshot::empty() });
    settle();
    assert!(focus().is::<WorkspaceRow>(), "{:?}", focus());
    window.destroy();
    bench.close();
}

#[gtk::test]
fn what_is_focused_in_a_row_selects_it() {
    let sessions = ["a", "b"].map(|id| session(id, Status::Running, Attention::None, None));
    let bench = one(vec![shared("w", sessions.to_vec()), running("B")]);
    bench.window.select_row("w/B");
    let row = bench.row("w/Claude Code");
    find::<gtk::ToggleButton>(row.upcast_ref()).unwrap().grab_focus();
    assert_eq!(bench.window.selected_row().unwrap(), "w/Claude Code");
    bench.sidebar.agent("w/Claude Code").unwrap().set_expanded(true);
    let line = || all::<SessionLine>(row.upcast_ref()).swap_remove(1);
    wait_until("the lines are shown", || line().is_mapped());
    bench.window.select_row("w/B");
    line().grab_focus();
    assert_eq!(bench.window.selected_row().unwrap(), "w/Claude Code");
    assert!(line().has_focus(), "the new selection leaves it there");
    bench.apply(&[Change::row("w", asking("B"))]);
    assert_eq!(bench.window.selected_row().unwrap(), "w/Claude Code");
    bench.close();
}

#[gtk::test]
fn what_is_focused_after_a_fold_was_opened_is_selected() {
    let bench = one(["A", "B", "C", "D"].map(idle).to_vec());
    let rows = bench.sidebar.workspace("w").unwrap();
    let fold = rows.rows().item(0).and_downcast::<Fold>().unwrap();
    let row = find::<FoldRow>(bench.list().upcast_ref()).unwrap();
    row.grab_focus();
    bench.sidebar.unfold(&fold);
    settle();
    assert_eq!((bench.window.selected_row().unwrap(), bench.focused_id()), ("w/A".to_owned(), "w/A".to_owned()));
    bench.apply(&[Change::removed(ThingKind::Row, "w/A")]);
    assert_eq!((bench.window.selected_row().unwrap(), bench.focused_id()), ("w/B".to_owned(), "w/B".to_owned()));
    bench.close();
}

#[gtk::test]
fn a_row_that_was_found_stays_when_the_search_ends() {
    let bench = one(["A", "B", "C", "Xylo"].map(idle).to_vec());
    bench.window.search("xylo");
    wait_until("the search is on", || bench.sidebar.search() == "xylo");
    bench.view().focus_first_agent();
    assert_eq!(bench.focused_id(), "w/Xylo");
    WidgetExt::activate_action(&bench.window, "win.search", None).unwrap();
    wait_until("the search is over", || bench.sidebar.search().is_empty());
    settle();
    let here = || (bench.window.selected_row().unwrap_or_default(), bench.focused_id());
    assert_eq!(here(), ("w/Xylo".to_owned(), "w/Xylo".to_owned()));
    bench.close();

    let bench = one(["A", "B", "C", "Xylo"].map(idle).to_vec());
    bench.window.search("xylo");
    wait_until("the search is on", || bench.sidebar.search() == "xylo");
    bench.window.search("");
    wait_until("the search is over", || bench.sidebar.search().is_empty());
    assert_eq!(bench.sidebar.workspace("w").unwrap().rows().n_items(), 1, "what was only found is folded again");
    bench.close();
}
