// SPDX-License-Identifier: GPL-3.0-or-later
//! What can be done with a row or one of its sessions: the menu, and the keys that do the same.

use adw::subclass::prelude::*;
use gtk::{gdk, gio, glib, prelude::*};

use super::imp::{SidebarView, row_above};
use crate::app::model::{Agent, Session};
use crate::app::widget::{AgentRow, SessionLine, activate, row_menu};

/// What the open menu is of.
pub(super) struct MenuOf {
    agent: Agent,
    session: Option<Session>,
    position: u32,
}

impl SidebarView {
    pub(super) fn dismiss_focused(&self) {
        let Some(focus) = self.focus_widget() else { return };
        let session = focus.downcast_ref::<SessionLine>().and_then(|line| line.session());
        let agent = focus.downcast_ref::<AgentRow>().and_then(|row| row.agent());
        let target = session.map(|session| session.target()).or_else(|| agent.map(|agent| agent.id()));
        if let Some(target) = target {
            activate(&*self.obj(), "app.dismiss", &target);
        }
    }

    pub(super) fn show_menu_of_focused(&self) {
        let Some(focus) = self.focus_widget() else { return };
        let line = line_above(&focus).map(Cast::upcast);
        let Some(place) = line.or_else(|| row_above(&focus)) else { return };
        if let Some(bounds) = place.compute_bounds(&*self.obj()) {
            let x = (bounds.x() + bounds.width() / 2.0) as i32;
            let y = (bounds.y() + bounds.height()) as i32;
            self.show_menu(&place, &gdk::Rectangle::new(x, y, 1, 1));
        }
    }

    /// Whether there is a row with a menu at that place of the list.
    pub(super) fn show_menu_at(&self, x: f64, y: f64) -> bool {
        let Some(picked) = self.list.pick(x, y, gtk::PickFlags::DEFAULT) else { return false };
        let Some((x, y)) = self.list.translate_coordinates(&*self.obj(), x, y) else { return false };
        self.show_menu(&picked, &gdk::Rectangle::new(x as i32, y as i32, 1, 1))
    }

    /// Shows the menu of the session or the row that holds the widget.
    fn show_menu(&self, widget: &gtk::Widget, at: &gdk::Rectangle) -> bool {
        let row = row_above(widget).and_downcast::<AgentRow>();
        let (Some(row), Some(sidebar)) = (row, self.obj().sidebar()) else { return false };
        let Some(agent) = row.agent() else { return false };
        let line = line_above(widget);
        let session = line.as_ref().and_then(|line| line.session());
        let model = match session.as_ref().and_then(|session| row_menu::session_of(&agent.view(), &session.id())) {
            Some(session) => row_menu::session_menu(&agent.view(), &session),
            None => {
                let workspace = sidebar.workspace(&agent.workspace_id());
                let path = workspace.and_then(|workspace| workspace.view().path.clone());
                row_menu::menu(&agent.view(), path.as_deref())
            }
        };
        match line {
            Some(line) => line.grab_focus(),
            None => row.grab_focus(),
        };
        let menu = self.menu.borrow().clone();
        let menu = menu.unwrap_or_else(|| self.new_menu());
        let position = self.position(agent.upcast_ref()).unwrap_or_default();
        self.menu_of.replace(Some(MenuOf { agent, session, position }));
        menu.set_menu_model(Some(&model));
        menu.set_pointing_to(Some(at));
        menu.popup();
        true
    }

    fn new_menu(&self) -> gtk::PopoverMenu {
        let menu = gtk::PopoverMenu::from_model(None::<&gio::MenuModel>);
        menu.set_has_arrow(false);
        menu.set_position(gtk::PositionType::Bottom);
        menu.set_parent(&*self.obj());
        menu.connect_closed(glib::clone!(
            #[weak(rename_to = view)]
            self.obj(),
            move |_| view.imp().leave_menu()
        ));
        self.menu.replace(Some(menu.clone()));
        menu
    }

    /// Gives the focus back to what the menu was of, or to what stands in its place now.
    fn leave_menu(&self) {
        let Some(MenuOf { agent, session, position }) = self.menu_of.take() else { return };
        let stand_in = self.obj().sidebar().and_then(|sidebar| sidebar.stand_in(agent.upcast_ref()));
        self.focus(stand_in.and_then(|item| self.position(&item)).unwrap_or(position));
        let row = self.focus_widget().and_downcast::<AgentRow>();
        let line = row.zip(session).and_then(|(row, session)| row.line(&session));
        line.map(|line| line.grab_focus());
    }

    fn focus_widget(&self) -> Option<gtk::Widget> {
        self.obj().root()?.focus()
    }
}

fn line_above(widget: &gtk::Widget) -> Option<SessionLine> {
    widget.ancestor(SessionLine::static_type()).and_downcast()
}
