// SPDX-License-Identifier: GPL-3.0-or-later
//! Published changes in, list signals and property notifications out. Needs no display.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gtk::{gio, glib, prelude::*};
use vigil::app::model::{Agent, Fold, Sidebar, Workspace};
use vigil::snapshot::{Change, RowView, Snapshot, ThingKind, WorkspaceView};
use vigil::status::{Attention, Status};
use vigil::time::WallTime;

#[path = "model/faces.rs"]
mod faces;
#[path = "model/order.rs"]
mod order;
mod scenes;
#[path = "model/sessions.rs"]
mod sessions;
#[path = "model/splicing.rs"]
mod splicing;

use scenes::{row, settle, workspace};

/// The `items-changed` signals of a list since the last look.
#[derive(Clone, Default)]
struct Signals(Rc<RefCell<Vec<(u32, u32, u32)>>>);

impl Signals {
    fn of(list: &impl IsA<gio::ListModel>) -> Self {
        let signals = Self::default();
        let log = signals.0.clone();
        list.connect_items_changed(move |_, position, removed, added| {
            log.borrow_mut().push((position, removed, added));
        });
        signals
    }

    fn take(&self) -> Vec<(u32, u32, u32)> {
        self.0.take()
    }
}

/// The properties that an object told of since the last look.
#[derive(Clone, Default)]
struct Notified(Rc<RefCell<Vec<String>>>);

impl Notified {
    fn of(object: &impl IsA<glib::Object>) -> Self {
        let notified = Self::default();
        let log = notified.0.clone();
        object.connect_notify_local(None, move |_, property| log.borrow_mut().push(property.name().to_owned()));
        notified
    }

    fn take(&self) -> Vec<String> {
        let mut names = self.0.take();
        names.sort();
        names
    }
}

fn sidebar(workspaces: Vec<WorkspaceView>) -> Sidebar {
    let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
    sidebar.reset(&Snapshot { workspaces, ..Snapshot::empty() });
    sidebar
}

fn idle(name: &str) -> RowView {
    row("w", name, Status::Idle, Attention::None, 600)
}

fn running(name: &str) -> RowView {
    row("w", name, Status::Running, Attention::None, 600)
}

/// A question that is longer than what a row shows of it.
const COMMAND: &str = "rm -rf build && cargo build --release --target x86_64-unknown-linux-musl";

fn asking(name: &str) -> RowView {
    row("w", name, Status::NeedsInput, Attention::NeedsInput, 600)
}

fn one(rows: Vec<RowView>) -> (Sidebar, Workspace) {
    let sidebar = sidebar(vec![workspace("w", "main", rows)]);
    let workspace = sidebar.workspace("w").unwrap();
    (sidebar, workspace)
}

/// The rows beneath a workspace, a fold as its label.
fn names(workspace: &Workspace) -> Vec<String> {
    let name = |object: glib::Object| match object.downcast::<Agent>() {
        Ok(agent) => agent.name(),
        Err(other) => other.downcast::<Fold>().unwrap().label(),
    };
    workspace.rows().iter::<glib::Object>().map(|row| name(row.unwrap())).collect()
}

fn changed(view: &RowView, change: impl FnOnce(&mut RowView)) -> Change {
    let mut view = view.clone();
    change(&mut view);
    settle(&mut view);
    Change::row("w", view)
}

#[test]
fn rows_stand_in_the_order_of_the_core() {
    let (_, workspace) = one(vec![idle("B"), running("C"), idle("A"), asking("D")]);
    assert_eq!(names(&workspace), ["D", "C", "A", "B"]);
}

#[test]
fn one_change_notifies_its_own_properties_and_no_list() {
    let row = running("A");
    let (sidebar, workspace) = one(vec![row.clone(), running("B")]);
    let (rows, workspaces) = (Signals::of(workspace.rows()), Signals::of(sidebar.workspaces()));
    let (this, other) = (sidebar.agent("w/A").unwrap(), sidebar.agent("w/B").unwrap());
    let (this, other, header) = (Notified::of(&this), Notified::of(&other), Notified::of(&workspace));

    sidebar.apply(&[changed(&row, |row| row.subagents = 1)]);
    assert_eq!(
        this.take(),
        ["description", "detail-visible", "indicator", "subagents", "subagents-label", "subagents-tooltip"]
    );
    sidebar.apply(&[changed(&row, |row| row.subagents = 1)]);
    assert!(this.take().is_empty(), "the same again says nothing");
    assert!(other.take().is_empty());
    assert!(header.take().is_empty());
    assert!(rows.take().is_empty());
    assert!(workspaces.take().is_empty());
}

#[test]
fn a_row_that_comes_and_one_that_goes_are_one_signal_each() {
    let (sidebar, workspace) = one(vec![running("A"), running("C")]);
    let rows = Signals::of(workspace.rows());
    sidebar.apply(&[Change::row("w", running("B"))]);
    assert_eq!(rows.take(), [(1, 0, 1)]);
    sidebar.apply(&[Change::removed(ThingKind::Row, "w/A")]);
    assert_eq!(rows.take(), [(0, 1, 0)]);
    assert!(sidebar.agent("w/A").is_none());
    assert_eq!(names(&workspace), ["B", "C"]);
}

#[test]
fn a_row_that_moves_moves_alone() {
    let views = ["A", "B", "C", "D", "E"].map(running);
    let (sidebar, workspace) = one(views.to_vec());
    let rows = Signals::of(workspace.rows());
    sidebar.apply(&[changed(&views[4], |row| row.status = Status::NeedsInput)]);
    assert_eq!(rows.take(), [(4, 1, 0), (0, 0, 1)]);
    assert_eq!(names(&workspace), ["E", "A", "B", "C", "D"]);
    sidebar.apply(&[Change::row("w", views[4].clone())]);
    assert_eq!(rows.take(), [(0, 1, 0), (4, 0, 1)]);
    assert_eq!(names(&workspace), ["A", "B", "C", "D", "E"]);
}

#[test]
fn a_row_changes_its_workspace() {
    let sidebar = sidebar(vec![workspace("v", "main", vec![]), workspace("w", "main", vec![running("A")])]);
    let (v, w) = (sidebar.workspace("v").unwrap(), sidebar.workspace("w").unwrap());
    let agent = sidebar.agent("w/A").unwrap();
    sidebar.apply(&[Change::row("v", running("A"))]);
    assert_eq!((names(&v).len(), names(&w).len()), (1, 0));
    assert_eq!(sidebar.agent("w/A").unwrap(), agent, "it is the same object");
    assert_eq!(agent.description(), "A in v: Running");
}

#[test]
fn a_workspace_is_shown_while_it_has_something_to_show() {
    let mut hidden = running("A");
    hidden.hidden = true;
    let sidebar = sidebar(vec![workspace("w", "main", vec![hidden])]);
    let shown = Signals::of(sidebar.workspaces());
    assert_eq!(sidebar.workspaces().n_items(), 0);
    assert_eq!((sidebar.page().as_str(), sidebar.agents()), ("empty", 0));
    sidebar.set_show_hidden(true);
    assert_eq!((sidebar.page().as_str(), sidebar.agents()), ("list", 1));
    assert!(sidebar.agent("w/A").unwrap().row_classes().contains(&"muted".to_owned()));
    sidebar.set_show_hidden(false);
    assert_eq!(shown.take(), [(0, 0, 1), (0, 1, 0)]);
    sidebar.apply(&[Change::row("w", running("B"))]);
    assert_eq!(sidebar.page(), "list");
    sidebar.apply(&[Change::removed(ThingKind::Workspace, "w")]);
    assert_eq!(sidebar.page(), "empty");
    assert!(sidebar.agent("w/B").is_none());
    sidebar.apply(&[Change::row("w", running("B"))]);
    assert!(sidebar.agent("w/B").is_none(), "a row of no workspace is none");
}

#[test]
fn a_reset_leaves_what_is_the_same_alone() {
    let sidebar = sidebar(vec![workspace("v", "main", vec![running("A")]), workspace("w", "main", vec![running("B")])]);
    let kept = sidebar.agent("w/B").unwrap();
    let shown = Signals::of(sidebar.workspaces());
    let views = vec![workspace("w", "main", vec![running("B")]), workspace("x", "main", vec![running("C")])];
    sidebar.reset(&Snapshot { workspaces: views, ..Snapshot::empty() });
    assert_eq!(sidebar.agent("w/B").unwrap(), kept);
    assert!(sidebar.workspace("v").is_none() && sidebar.agent("w/A").is_none());
    let names: Vec<String> =
        sidebar.workspaces().iter::<Workspace>().map(|workspace| workspace.unwrap().id()).collect();
    assert_eq!(names, ["w", "x"]);
    assert_eq!(shown.take().len(), 2);
}

#[test]
fn folding_takes_the_rows_out_in_one_signal_and_shows_what_is_inside() {
    let (sidebar, workspace) = one(vec![asking("A"), running("B")]);
    let rows = Signals::of(workspace.rows());
    assert!(!workspace.summary_visible());
    sidebar.toggle_folded(&workspace);
    assert_eq!(rows.take(), [(0, 2, 0)]);
    assert!(workspace.folded() && workspace.summary_visible());
    assert_eq!(
        (workspace.summary_icon().as_str(), workspace.summary_label().as_str()),
        ("dialog-question-symbolic", "1")
    );
    assert_eq!(workspace.row_classes(), ["workspace-row", "folded", "needs-input"]);
    assert_eq!(workspace.description(), "Workspace w, branch main, 2 agents, folded, 1 needs input");

    sidebar.apply(&[Change::row("w", asking("C"))]);
    assert!(rows.take().is_empty(), "a folded row is not in the list");
    assert_eq!(workspace.summary_label(), "2");
    sidebar.toggle_folded(&workspace);
    assert_eq!(rows.take(), [(0, 0, 3)]);
    assert_eq!(workspace.row_classes(), ["workspace-row"]);
}

#[test]
fn more_than_three_quiet_rows_are_one() {
    let mut views = vec![running("R")];
    views.extend(["A", "B", "C"].map(idle));
    let (sidebar, workspace) = one(views);
    assert_eq!(names(&workspace), ["R", "A", "B", "C"]);
    let rows = Signals::of(workspace.rows());
    sidebar.apply(&[Change::row("w", idle("D"))]);
    assert_eq!(names(&workspace), ["R", "4 idle"]);
    assert_eq!(rows.take(), [(1, 3, 1)]);
    sidebar.apply(&[Change::row("w", idle("E"))]);
    assert_eq!(names(&workspace), ["R", "5 idle"]);
    assert!(rows.take().is_empty());

    let fold = workspace.rows().item(1).and_downcast::<Fold>().unwrap();
    assert_eq!(fold.description(), "5 idle in w: A, B, C, D, E");
    sidebar.unfold(&fold);
    assert_eq!(names(&workspace), ["R", "A", "B", "C", "D", "E"]);
    // Folded away and brought back, they are one row again.
    sidebar.toggle_folded(&workspace);
    sidebar.toggle_folded(&workspace);
    assert_eq!(names(&workspace), ["R", "5 idle"]);
}

#[test]
fn only_what_is_idle_and_seen_and_at_rest_is_quiet() {
    let mut finished = idle("Finished");
    finished.attention = Attention::Finished;
    let mut working = idle("Working");
    working.background = 1;
    settle(&mut working);
    let mut views = vec![finished, working];
    views.extend(["A", "B", "C", "D"].map(idle));
    let (_, workspace) = one(views);
    assert_eq!(names(&workspace), ["4 idle", "Finished", "Working"]);
}

#[test]
fn a_row_is_revealed_out_of_every_fold() {
    let (sidebar, workspace) = one(["A", "B", "C", "D"].map(idle).to_vec());
    let agent = sidebar.agent("w/C").unwrap();
    assert!(sidebar.stand_in(agent.upcast_ref()).unwrap().is::<Fold>());
    sidebar.toggle_folded(&workspace);
    assert!(sidebar.stand_in(agent.upcast_ref()).unwrap().is::<Workspace>());
    sidebar.set_search("nothing like it");
    assert_eq!(sidebar.reveal("w/C").unwrap(), agent);
    assert_eq!(names(&workspace), ["A", "B", "C", "D"]);
    assert_eq!(sidebar.stand_in(agent.upcast_ref()).unwrap(), agent);
    assert_eq!(sidebar.search(), "");
    assert!(sidebar.reveal("w/Z").is_none());
}

#[test]
fn a_search_looks_into_folds_and_asks_for_every_word() {
    let mut views = ["A", "B", "C", "D"].map(idle);
    views[0].message = Some("Wrote the Käsekuchen recipe".to_owned());
    let (sidebar, workspace) = one(views.to_vec());
    sidebar.toggle_folded(&workspace);
    let found = |text: &str| {
        sidebar.set_search(text);
        let agents = workspace.rows().iter::<glib::Object>().map(|row| row.unwrap().downcast::<Agent>().unwrap());
        let found = agents.filter(|agent| sidebar.finds(agent)).map(|agent| agent.name()).collect::<Vec<_>>();
        (found.join(""), sidebar.page())
    };
    assert_eq!(found("käse RECIPE"), ("A".to_owned(), "list".to_owned()));
    assert_eq!(found("main idle"), ("ABCD".to_owned(), "list".to_owned()));
    assert_eq!(found("w b"), ("B".to_owned(), "list".to_owned()));
    assert_eq!(found("käse b zzz"), (String::new(), "nothing-found".to_owned()));
    assert_eq!(workspace.row_classes(), ["workspace-row"]);
    sidebar.toggle_folded(&workspace);
    sidebar.set_search("  ");
    assert!(workspace.folded(), "a search is no time to fold");
    assert_eq!(workspace.rows().n_items(), 0);
    assert_eq!(sidebar.page(), "list");
}

#[test]
fn the_header_says_what_matters() {
    let failed = row("w", "F", Status::Failed, Attention::Failed, 1);
    let sidebar = sidebar(vec![]);
    let says = |views: &[RowView]| {
        let view = workspace("w", "main", views.to_vec());
        sidebar.reset(&Snapshot { workspaces: vec![view], ..Snapshot::empty() });
        (
            sidebar.wanted_label(),
            sidebar.wanted_visible(),
            sidebar.wanted_classes().contains(&"failed".into()),
            sidebar.summary(),
        )
    };
    assert_eq!(says(&[idle("A")]), ("0 need you".into(), false, false, "All idle".into()));
    assert_eq!(says(&[running("A"), running("B")]), ("0 need you".into(), false, false, "2 running".into()));
    assert_eq!(says(&[running("A"), asking("B")]), ("1 needs you".into(), true, false, "1 running".into()));
    assert_eq!(says(std::slice::from_ref(&failed)), ("1 needs you".into(), true, true, "All idle".into()));
    assert_eq!(says(&[failed, asking("B")]), ("2 need you".into(), true, false, "All idle".into()));
    let mut finished = idle("A");
    finished.attention = Attention::Finished;
    assert!(!says(&[finished]).1, "finished waits, it does not ask");
    sidebar.reset(&Snapshot::empty());
    assert_eq!(sidebar.summary(), "");
}

#[test]
fn a_question_stays_open_through_changes_and_closes_with_its_end() {
    let mut view = asking("A");
    view.question = Some(COMMAND.to_owned());
    let (sidebar, _) = one(vec![view.clone()]);
    let agent = sidebar.agent("w/A").unwrap();
    agent.set_expanded(true);
    sidebar.apply(&[changed(&view, |row| row.subagents = 3)]);
    assert!(agent.expanded());
    sidebar.apply(&[changed(&view, |row| row.question = Some(format!("{COMMAND} --all")))]);
    assert!(!agent.expanded(), "another question starts closed");
    agent.set_expanded(true);
    sidebar.apply(&[changed(&view, |row| row.status = Status::Running)]);
    assert!(!agent.expanded() && !agent.question_visible());
    agent.set_expanded(true);
    assert!(!agent.expanded(), "there is nothing to open");
}

#[test]
fn times_tick_only_on_a_screen() {
    glib::MainContext::new()
        .with_thread_default(|| {
            let now = Rc::new(Cell::new(WallTime(scenes::NOW)));
            let clock = now.clone();
            let sidebar = Sidebar::new(move || clock.get());
            let views = vec![row("w", "A", Status::Running, Attention::None, 12)];
            sidebar.reset(&Snapshot { workspaces: vec![workspace("w", "main", views)], ..Snapshot::empty() });
            let (agent, workspace) = (sidebar.agent("w/A").unwrap(), sidebar.workspace("w").unwrap());
            assert_eq!(agent.elapsed(), "12s");
            assert!(!sidebar.is_ticking());

            now.set(WallTime(scenes::NOW + 20_000));
            assert_eq!(agent.elapsed(), "12s", "off the screen nothing ticks");
            sidebar.set_mapped(true);
            assert_eq!(agent.elapsed(), "32s", "set right at once");
            assert!(sidebar.is_ticking());

            sidebar.toggle_folded(&workspace);
            assert!(!sidebar.is_ticking(), "no row, no timer");
            sidebar.toggle_folded(&workspace);
            assert!(sidebar.is_ticking());
            sidebar.set_mapped(false);
            assert!(!sidebar.is_ticking());

            let notified = Notified::of(&agent);
            now.set(WallTime(scenes::NOW + 21_000));
            sidebar.tick();
            sidebar.tick();
            assert_eq!(notified.take(), ["elapsed"]);
        })
        .unwrap();
}

#[test]
fn the_next_tick_is_a_second_or_a_minute_away() {
    let since = |seconds: i64| WallTime(scenes::NOW - seconds * 1000);
    let next = |rows: &[WallTime]| vigil::app::model::next_tick(rows.iter().copied(), WallTime(scenes::NOW + 250));
    assert_eq!(next(&[since(12), since(3000)]), Some(Duration::from_millis(750)));
    assert_eq!(next(&[since(60), since(3000)]), Some(Duration::from_secs(60)));
    assert_eq!(next(&[]), None);
}
