// SPDX-License-Identifier: GPL-3.0-or-later
//! The real widgets on a real display: templates, recycling, selection and focus. Run with
//! `G_DEBUG=fatal-warnings`, so that any warning of GTK fails.

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::app::model::{Agent, Sidebar, Workspace};
use vigil::app::widget::{self, AgentRow, FoldRow, SessionList, WorkspaceRow};
use vigil::snapshot::{Change, RowView, Snapshot, WorkspaceView};
use vigil::status::{Attention, Status};
use vigil::time::WallTime;

#[path = "widgets/banner.rs"]
mod banner;
#[path = "widgets/bench.rs"]
mod bench;
#[path = "widgets/focus.rs"]
mod focus;
#[path = "widgets/menu.rs"]
mod menu;
#[path = "widgets/preferences.rs"]
mod preferences;
mod scenes;
#[path = "widgets/sessions.rs"]
mod sessions;

use bench::{Bench, all, find, settle, texts, wait_until};
use scenes::{row, workspace};

fn running(name: &str) -> RowView {
    row("w", name, Status::Running, Attention::None, 600)
}

fn asking(name: &str) -> RowView {
    row("w", name, Status::NeedsInput, Attention::NeedsInput, 600)
}

fn idle(name: &str) -> RowView {
    row("w", name, Status::Idle, Attention::None, 600)
}

fn one(rows: Vec<RowView>) -> Bench {
    Bench::new(vec![workspace("w", "main", rows)])
}

#[gtk::test]
fn every_template_is_sound() {
    widget::register_resources();
    let _ = (AgentRow::default(), WorkspaceRow::default(), FoldRow::default(), SessionList::default());
    for picture in ["banner", "busy", "calm", "empty", "many", "question", "sessions", "states"] {
        Bench::picture(picture).close();
    }
    let bench = Bench::picture("busy");
    WidgetExt::activate_action(&bench.window, "win.show-help-overlay", None).unwrap();
    let shortcuts = bench.app.windows().into_iter().find_map(|window| window.downcast::<gtk::ShortcutsWindow>().ok());
    let shortcuts = shortcuts.or_else(|| {
        let windows = gtk::Window::list_toplevels();
        windows.into_iter().find_map(|window| window.downcast::<gtk::ShortcutsWindow>().ok())
    });
    shortcuts.expect("the shortcuts are shown").destroy();
    bench.close();
}

#[gtk::test]
fn every_icon_is_bundled() {
    let bench = Bench::picture("states");
    let images = all::<gtk::Image>(bench.list().upcast_ref());
    let names: Vec<String> = images.iter().filter_map(|image| image.icon_name()).map(String::from).collect();
    assert!(names.len() > 20);
    // The user's theme comes first; where it lacks one, ours is there.
    for name in names.iter().map(String::as_str).chain(["dev.vigil.Vigil-symbolic", "open-menu-symbolic"]) {
        let path = format!("{}/icons/scalable/actions/{name}.svg", widget::RESOURCE_PATH);
        assert!(gio::resources_lookup_data(&path, gio::ResourceLookupFlags::NONE).is_ok(), "{path}");
    }
    let theme = gtk::IconTheme::for_display(&WidgetExt::display(&bench.window));
    assert!(theme.has_icon("dev.vigil.Vigil-symbolic"));
    bench.close();
}

#[gtk::test]
fn a_row_follows_its_agent() {
    let bench = one(vec![running("A")]);
    let row = bench.row("w/A");
    assert!(texts(&row).contains(&"Running".to_owned()));
    assert!(row.has_css_class("running"));
    let mut view = asking("A");
    view.message = Some("Which <b>one</b>?".to_owned());
    bench.apply(&[Change::row("w", view)]);
    let texts = texts(&row);
    assert!(texts.contains(&"Needs input".to_owned()) && texts.contains(&"Which <b>one</b>?".to_owned()), "{texts:?}");
    assert!(row.has_css_class("needs-input") && !row.has_css_class("running"));
    bench.close();
}

#[gtk::test]
fn a_workspace_without_a_branch_shows_no_label_for_it() {
    let mut view = workspace("w", "main", vec![running("A")]);
    view.branch = None;
    let bench = Bench::new(vec![view]);
    let row = find::<WorkspaceRow>(bench.list().upcast_ref()).unwrap();
    assert_eq!(texts(&row), ["w"]);
    bench.close();
}

#[gtk::test]
fn a_row_that_is_used_again_follows_only_its_new_agent() {
    let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
    let workspaces = vec![workspace("w", "main", vec![running("A"), idle("B")])];
    sidebar.reset(&Snapshot { workspaces, ..Snapshot::empty() });
    let row = AgentRow::default();
    let shown =
        || all::<gtk::Label>(row.upcast_ref()).iter().map(|label| label.label().to_string()).collect::<Vec<_>>();
    row.set_agent(sidebar.agent("w/A"));
    row.set_agent(None::<Agent>);
    row.set_agent(sidebar.agent("w/B"));
    assert!(shown().contains(&"Idle".to_owned()));
    sidebar.apply(&[Change::row("w", asking("A"))]);
    assert!(!shown().contains(&"Needs input".to_owned()) && !row.has_css_class("needs-input"));
    sidebar.apply(&[Change::row("w", asking("B"))]);
    assert!(shown().contains(&"Needs input".to_owned()) && row.has_css_class("needs-input"));
}

#[gtk::test]
fn nothing_outlives_its_end() {
    let bench = Bench::picture("sessions");
    let agents: Vec<_> = bench.rows().iter().map(|row| row.agent().unwrap().downgrade()).collect();
    let rows: Vec<_> = bench.rows().iter().map(ObjectExt::downgrade).collect();
    let workspaces: Vec<glib::WeakRef<Workspace>> =
        bench.sidebar.workspaces().iter().map(|workspace| Workspace::downgrade(&workspace.unwrap())).collect();
    assert!(!agents.is_empty() && !workspaces.is_empty());
    bench.sidebar.reset(&Snapshot::empty());
    settle();
    assert!(agents.iter().all(|agent| agent.upgrade().is_none()), "agents");
    assert!(workspaces.iter().all(|workspace| workspace.upgrade().is_none()), "workspaces");
    assert!(rows.iter().all(|row| row.upgrade().is_none()), "rows");

    // A window leaves nothing at the sidebar, which stays.
    let (window, view) = (bench.window.downgrade(), bench.view().downgrade());
    let sidebar = bench.sidebar.clone();
    bench.close();
    assert!(window.upgrade().is_none(), "window");
    assert!(view.upgrade().is_none(), "view");
    assert!(!sidebar.mapped() && !sidebar.is_ticking());
    let weak = sidebar.downgrade();
    drop(sidebar);
    assert!(weak.upgrade().is_none(), "sidebar");
}

#[gtk::test]
fn a_row_is_selected_out_of_a_fold_and_from_far_away() {
    let mut workspaces: Vec<WorkspaceView> = (0..40)
        .map(|number| {
            let id = format!("w{number}");
            let rows =
                (0..10).map(|row_number| row(&id, &format!("A{row_number}"), Status::Running, Attention::None, 9));
            workspace(&id, "main", rows.collect())
        })
        .collect();
    workspaces.push(workspace("w", "main", ["A", "B", "C", "D"].map(idle).to_vec()));
    let bench = Bench::new(workspaces);
    bench.sidebar.toggle_folded(&bench.sidebar.workspace("w").unwrap());
    assert!(bench.window.select_row("w/D"));
    settle();
    assert_eq!((bench.window.selected_row().unwrap(), bench.focused_id()), ("w/D".to_owned(), "w/D".to_owned()));
    assert!(bench.row("w/D").is_mapped());
    assert!(bench.window.select_row("w3/A7"));
    assert_eq!(bench.focused_id(), "w3/A7");
    assert!(!bench.window.select_row("w/Z"));
    bench.close();
}

#[gtk::test]
fn activating_a_row_acknowledges_folds_or_unfolds() {
    let mut rows = vec![running("R")];
    rows.extend(["A", "B", "C", "D"].map(idle));
    let bench = one(rows);
    let activate = |position: u32| {
        bench.list().emit_by_name::<()>("activate", &[&position]);
        settle();
    };
    activate(1);
    assert_eq!(bench.asked.take(), ["acknowledge w/R"]);
    let workspace = bench.sidebar.workspace("w").unwrap();
    assert_eq!(workspace.rows().n_items(), 2);
    activate(2);
    assert_eq!(workspace.rows().n_items(), 5);
    activate(0);
    assert!(workspace.folded());
    assert!(bench.asked.take().is_empty());
    bench.close();
}

#[gtk::test]
fn delete_dismisses_the_focused_row() {
    let bench = one(vec![running("A")]);
    let dismiss = || WidgetExt::activate_action(&bench.row("w/A"), "row.dismiss", None).unwrap();
    dismiss();
    assert!(bench.asked.take().is_empty(), "no row has the focus");
    bench.window.select_row("w/A");
    dismiss();
    assert_eq!(bench.asked.take(), ["dismiss w/A"]);
    bench.close();
}

#[gtk::test]
fn an_open_question_is_the_agents_and_not_the_rows() {
    let mut view = asking("A");
    view.question = Some("rm -rf build && cargo build --release --target x86_64-linux-gnu".to_owned());
    let bench = one(vec![view.clone(), running("B")]);
    let agent = bench.sidebar.agent("w/A").unwrap();
    let expander = |row: &AgentRow| find::<gtk::ToggleButton>(row.upcast_ref()).unwrap();
    expander(&bench.row("w/A")).set_active(true);
    assert!(agent.expanded());
    bench.window.select_row("w/B");
    assert!(expander(&bench.row("w/A")).is_active(), "a new selection binds the rows anew");
    bench.apply(&[Change::row("w", running("A"))]);
    assert!(!expander(&bench.row("w/A")).is_active());
    assert!(all::<gtk::Button>(bench.row("w/A").upcast_ref()).iter().all(|button| !button.is_mapped()));
    bench.close();
}

#[gtk::test]
fn a_search_finds_and_lets_go() {
    let bench = Bench::picture("states");
    let before = bench.list().model().unwrap().n_items();
    bench.window.search("hermes");
    wait_until("the search is on", || bench.sidebar.search() == "hermes");
    settle();
    let shown: Vec<String> =
        bench.rows().iter().filter(|row| row.is_mapped()).map(|row| row.agent().unwrap().id()).collect();
    assert_eq!(shown, ["api/Hermes Agent"]);
    assert_eq!(bench.list().model().unwrap().n_items(), 2, "its workspace and itself");
    // What comes to match while it is searched for is found, too.
    let mut view = row("mobile", "Codex", Status::Running, Attention::None, 1);
    view.message = Some("asks Hermes".to_owned());
    bench.apply(&[Change::row("mobile-client-next", view)]);
    assert_eq!(bench.list().model().unwrap().n_items(), 4);
    bench.window.search("no such thing");
    wait_until("nothing is found", || bench.sidebar.page() == "nothing-found");
    WidgetExt::activate_action(&bench.window, "win.search", None).unwrap();
    wait_until("the search is over", || bench.sidebar.search().is_empty());
    assert_eq!(bench.list().model().unwrap().n_items(), before);
    bench.close();
}

#[gtk::test]
fn the_window_is_usable_at_its_narrowest() {
    for picture in ["busy", "many", "question", "sessions", "states"] {
        let bench = Bench::picture(picture);
        let (minimum, _, _, _) = bench.window.measure(gtk::Orientation::Horizontal, -1);
        assert!(minimum <= 262, "{picture}: {minimum}");
        bench.close();
    }
}

#[gtk::test]
fn an_empty_window_leads_to_the_integrations_where_there_are_any() {
    let bench = Bench::new(Vec::new());
    assert!(texts(&bench.window).contains(&"No Agents Yet".to_owned()));
    let is_offered = |bench: &Bench| texts(&bench.window).contains(&"Set Up Integrations".to_owned());
    assert!(!is_offered(&bench));
    bench.app.add_action(&gio::SimpleAction::new("integrations", None));
    bench.window.set_visible(false);
    bench.window.present();
    wait_until("the button is shown", || is_offered(&bench));
    bench.close();
}

#[gtk::test]
fn times_tick_while_the_window_is_mapped() {
    let bench = one(vec![row("w", "A", Status::Running, Attention::None, 5)]);
    assert!(bench.sidebar.mapped() && bench.sidebar.is_ticking());
    bench.window.set_visible(false);
    wait_until("the window is off the screen", || !bench.window.is_mapped());
    assert!(!bench.sidebar.is_ticking());
    bench.close();
}

#[gtk::test]
fn a_toast_shows_any_text_as_it_is() {
    let bench = one(vec![running("A")]);
    bench.window.toast("<b>no & markup");
    settle();
    assert!(texts(&bench.window).iter().any(|text| text == "&lt;b&gt;no &amp; markup" || text == "<b>no & markup"));
    bench.close();
}

#[gtk::test]
fn the_header_is_calm_or_says_who_is_wanted() {
    let bench = one(vec![running("A"), asking("B")]);
    let shown = || texts(&find::<adw::HeaderBar>(bench.window.upcast_ref()).unwrap());
    assert!(shown().contains(&"1 needs you".to_owned()) && !shown().contains(&"Vigil".to_owned()));
    bench.apply(&[Change::row("w", running("B"))]);
    assert!(shown().contains(&"Vigil".to_owned()) && shown().contains(&"2 running".to_owned()), "{:?}", shown());
    bench.close();
}

#[gtk::test]
fn the_list_follows_workspaces_that_change_places() {
    let workspaces =
        ["v", "w", "x"].map(|id| workspace(id, "main", vec![row(id, "A", Status::Idle, Attention::None, 9)]));
    let bench = Bench::new(workspaces.to_vec());
    let name = |object: glib::Object| match object.downcast::<Workspace>() {
        Ok(workspace) => workspace.id(),
        Err(object) => object.downcast::<Agent>().unwrap().id(),
    };
    let listed = || -> Vec<String> {
        bench.list().model().unwrap().iter::<glib::Object>().map(|item| name(item.unwrap())).collect()
    };
    let painted = || -> Vec<String> {
        let holders: Vec<gtk::Widget> = bench::children(bench.list().upcast_ref()).collect();
        let shown = |holder: &gtk::Widget| {
            let row = holder.first_child()?;
            let agent = row.downcast_ref::<AgentRow>().and_then(|row| row.agent()).map(|agent| agent.id());
            agent.or_else(|| row.downcast_ref::<WorkspaceRow>()?.workspace().map(|workspace| workspace.id()))
        };
        holders.iter().filter_map(shown).collect()
    };
    bench.sidebar.set_by_urgency(true);
    for (id, order) in [("w", "wvx"), ("x", "wxv"), ("v", "vwx")] {
        bench.apply(&[Change::row(id, row(id, "A", Status::NeedsInput, Attention::NeedsInput, 9))]);
        let expected: Vec<String> = order.chars().flat_map(|id| [id.to_string(), format!("{id}/A")]).collect();
        assert_eq!(listed(), expected);
        assert_eq!(painted(), expected);
    }
    bench.close();
}

#[gtk::test]
fn the_rows_that_the_first_frame_leaves_out_follow_it() {
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let bench = one(names.iter().map(|name| running(name)).collect());
    wait_until("all rows are there", || bench.rows().len() == 100);
    bench.apply(&[Change::row("w", running("one more"))]);
    wait_until("a new one too", || bench.rows().len() == 101);
    bench.close();
}

#[gtk::test]
fn a_row_has_widgets_for_what_it_has_shown() {
    let bench = one(vec![running("A"), running("B")]);
    let made = |id: &str| {
        let row = bench.row(id);
        let buttons = all::<gtk::ToggleButton>(row.upcast_ref()).iter().filter(|button| button.is_mapped()).count();
        (all::<gtk::Widget>(row.upcast_ref()).len(), buttons)
    };
    let (plain, none) = made("w/A");
    assert!(plain <= 12 && none == 0, "{plain} widgets, {none} buttons");
    let question = "Run cargo build --release --target x86_64-unknown-linux-musl?";
    let asks = RowView { question: Some(question.to_owned()), ..asking("A") };
    bench.apply(&[Change::row("w", asks)]);
    let (asking, one) = made("w/A");
    assert!(asking > plain && one == 1, "{asking} widgets, {one} buttons");
    assert_eq!(made("w/B"), (plain, 0));
    bench.close();
}
