// SPDX-License-Identifier: GPL-3.0-or-later
//! What the menus of a row and of a session offer, and that each of it works.

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::app::widget::{SessionLine, row_menu};
use vigil::snapshot::{Change, RowView, ThingKind};
use vigil::status::{Attention, Status};

use super::bench::{Bench, all, find, painted, settle, texts, wait_until};
use super::scenes::{session, shared, workspace};
use super::{asking, idle, one};

/// The labels of a menu, each with its action and its target.
fn items(menu: &gio::Menu) -> Vec<(String, String, String)> {
    let text = |section: &gio::MenuModel, item, name: &str| {
        let value = section.item_attribute_value(item, name, None);
        value.and_then(|value| value.str().map(str::to_owned)).unwrap_or_default()
    };
    let sections = (0..menu.n_items()).filter_map(|section| menu.item_link(section, gio::MENU_LINK_SECTION));
    let items = sections.flat_map(|section| (0..section.n_items()).map(move |item| (section.clone(), item)));
    items.map(|(of, item)| (text(&of, item, "label"), text(&of, item, "action"), text(&of, item, "target"))).collect()
}

fn labels(menu: &gio::Menu) -> Vec<String> {
    items(menu).into_iter().map(|(label, ..)| label.replace('_', "")).collect()
}

fn copied(bench: &Bench) -> String {
    let text = glib::MainContext::default().block_on(bench.window.clipboard().read_text_future());
    text.unwrap().unwrap().to_string()
}

fn act(bench: &Bench, action: &str, target: &str) {
    WidgetExt::activate_action(&bench.view(), action, Some(&target.to_variant())).unwrap();
    settle();
}

fn claude() -> RowView {
    let mut row = shared(
        "w",
        vec![
            session("1-a", Status::Running, Attention::None, Some("tty:pts/1")),
            session("2-b", Status::Idle, Attention::None, Some("tty:pts/2")),
        ],
    );
    row.agent = "claude".to_owned();
    row
}

#[gtk::test]
fn a_menu_offers_what_can_be_done_and_nothing_else() {
    let all = ["Mark as Seen", "Open Folder", "Copy Session ID", "Copy Resume Command", "Dismiss"];
    let mut row = claude();
    row.attention = Attention::Failed;
    assert_eq!(labels(&row_menu::menu(&row, Some("/home/u/w"))), all);
    assert!(items(&row_menu::menu(&row, None)).iter().all(|(_, _, target)| *target == row.id));
    row.attention = Attention::None;
    assert_eq!(labels(&row_menu::menu(&row, None)), all[2..], "seen, and nowhere");
    row.cwd = Some("/home/u/w".to_owned());
    row.host = Some("elsewhere".to_owned());
    assert_eq!(labels(&row_menu::menu(&row, None)), all[2..], "another machine's folder is not here");
    row.agent = "pi".to_owned();
    assert_eq!(labels(&row_menu::menu(&row, None)), ["Copy Session ID", "Dismiss"]);
    row.sessions[0].id.clear();
    row.surface = Some("tty:pts/1".to_owned());
    assert_eq!(labels(&row_menu::menu(&row, None)), ["Dismiss"], "a session that has no id");
}

#[gtk::test]
fn a_session_has_a_menu_of_its_own() {
    let mut row = claude();
    row.sessions[1].attention = Attention::Finished;
    let menu = row_menu::session_menu(&row, &row.sessions[1]);
    assert_eq!(labels(&menu), ["Mark as Seen", "Copy Session ID", "Copy Resume Command", "Dismiss"]);
    assert!(items(&menu).iter().all(|(_, _, target)| target == "w/Claude Code#2-b"));
    assert!(!labels(&row_menu::session_menu(&row, &row.sessions[0])).contains(&"Mark as Seen".to_owned()));
}

#[gtk::test]
fn the_session_that_matters_wants_the_user_or_is_the_one_shown() {
    let mut row = claude();
    let id = |row: &RowView| row_menu::session(row).unwrap().id.clone();
    assert_eq!(id(&row), "1-a");
    row.surface = Some("tty:pts/2".to_owned());
    assert_eq!(id(&row), "2-b", "the row shows it");
    row.sessions[0].attention = Attention::Finished;
    assert_eq!(id(&row), "1-a", "it wants to be seen");
}

#[gtk::test]
fn a_resume_command_is_one_word_behind_its_program() {
    let mut row = claude();
    let command = |row: &RowView| row_menu::resume_command(row, &row.sessions[0]);
    assert_eq!(command(&row).unwrap(), "claude --resume 1-a");
    row.agent = "codex".to_owned();
    assert_eq!(command(&row).unwrap(), "codex resume 1-a");
    for id in ["$(rm -rf ~)", "-x", "a b", "it's"] {
        row.sessions[0].id = id.to_owned();
        let words = glib::shell_parse_argv(command(&row).unwrap()).unwrap();
        assert_eq!(words, ["codex", "resume", id]);
    }
}

#[gtk::test]
fn ids_and_commands_are_copied_of_rows_and_of_sessions() {
    let bench = one(vec![claude()]);
    for (action, target, text) in [
        ("win.copy-session-id", "w/Claude Code", "1-a"),
        ("win.copy-session-id", "w/Claude Code#2-b", "2-b"),
        ("win.copy-resume-command", "w/Claude Code", "claude --resume 1-a"),
        ("win.copy-resume-command", "w/Claude Code#2-b", "claude --resume 2-b"),
    ] {
        act(&bench, action, target);
        assert_eq!(copied(&bench), text);
    }
    assert!(texts(&bench.window).contains(&"Session ID copied".to_owned()));
    act(&bench, "win.copy-session-id", "w/Claude Code#gone");
    act(&bench, "win.copy-session-id", "gone");
    assert_eq!(copied(&bench), "claude --resume 2-b", "what is gone is not copied");
    bench.close();
}

#[gtk::test]
fn a_folder_that_cannot_be_opened_is_said_so() {
    let mut view = workspace("w", "main", vec![idle("A")]);
    view.path = Some("/nowhere/at/all".to_owned());
    let bench = Bench::new(vec![view]);
    act(&bench, "win.open-folder", "w/A");
    wait_until("a toast", || texts(&bench.window).contains(&"The folder could not be opened".to_owned()));
    bench.close();
}

#[gtk::test]
fn the_items_of_the_open_menu_do_what_they_say() {
    let bench = one(vec![asking("A")]);
    for (label, asked) in [("Mark as", "acknowledge w/A"), ("Dismiss", "dismiss w/A")] {
        bench.window.select_row("w/A");
        WidgetExt::activate_action(&bench.row("w/A"), "row.menu", None).unwrap();
        let menu = find::<gtk::PopoverMenu>(bench.view().upcast_ref()).unwrap();
        wait_until("the menu is open", || menu.is_mapped());
        let labels = all::<gtk::Label>(menu.upcast_ref());
        let item = labels.iter().find(|text| text.is_mapped() && text.label().replace('_', "").contains(label));
        let item = item.unwrap_or_else(|| panic!("no {label}: {:?}", texts(&menu))).parent().unwrap();
        item.activate();
        wait_until("it is asked for", || !bench.asked.borrow().is_empty());
        assert_eq!(bench.asked.take(), [asked]);
        menu.popdown();
        settle();
    }
    bench.close();
}

#[gtk::test]
fn a_focused_session_is_what_menu_and_delete_mean() {
    let bench = one(vec![claude()]);
    bench.sidebar.agent("w/Claude Code").unwrap().set_expanded(true);
    let line = || all::<SessionLine>(bench.row("w/Claude Code").upcast_ref()).swap_remove(1);
    wait_until("the lines are shown", || line().is_mapped());
    line().grab_focus();
    WidgetExt::activate_action(&line(), "row.dismiss", None).unwrap();
    assert_eq!(bench.asked.take(), ["dismiss w/Claude Code#2-b"]);
    WidgetExt::activate_action(&line(), "row.menu", None).unwrap();
    let menu = find::<gtk::PopoverMenu>(bench.view().upcast_ref()).unwrap();
    wait_until("the menu is open", || menu.is_mapped());
    let model = menu.menu_model().and_downcast::<gio::Menu>().unwrap();
    assert!(items(&model).iter().all(|(_, _, target)| target == "w/Claude Code#2-b"), "{:?}", items(&model));
    menu.popdown();
    bench.close();
}

#[gtk::test]
fn closing_the_menu_gives_the_focus_back() {
    let bench = one(vec![claude(), asking("A")]);
    let menu = || find::<gtk::PopoverMenu>(bench.view().upcast_ref()).unwrap();
    let open = |widget: &gtk::Widget| {
        WidgetExt::activate_action(widget, "row.menu", None).unwrap();
        wait_until("the menu is open", || menu().is_mapped());
    };
    let close = || {
        menu().popdown();
        wait_until("the menu is closed", || !menu().is_mapped());
        painted(&bench);
    };
    bench.window.select_row("w/A");
    open(bench.row("w/A").upcast_ref());
    close();
    assert_eq!(bench.focused_id(), "w/A");

    open(bench.row("w/A").upcast_ref());
    bench.apply(&[Change::row("w", idle("A"))]);
    close();
    assert_eq!(bench.focused_id(), "w/A", "it has moved meanwhile");

    open(bench.row("w/A").upcast_ref());
    bench.apply(&[Change::removed(ThingKind::Row, "w/A")]);
    close();
    assert_eq!(bench.focused_id(), "w/Claude Code", "it has gone meanwhile");

    bench.sidebar.agent("w/Claude Code").unwrap().set_expanded(true);
    let line = || all::<SessionLine>(bench.row("w/Claude Code").upcast_ref()).swap_remove(1);
    wait_until("the lines are shown", || line().is_mapped());
    line().grab_focus();
    open(line().upcast_ref());
    close();
    assert_eq!(GtkWindowExt::focus(&bench.window), Some(line().upcast()));
    bench.close();
}
