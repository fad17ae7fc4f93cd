// SPDX-License-Identifier: GPL-3.0-or-later
//! The window on a real display, in an application that records what is asked of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::app::model::{Agent, Banner, Integration, Sidebar};
use vigil::app::widget::{self, AgentRow, FoldRow, SidebarView, Window, WorkspaceRow};
use vigil::snapshot::{Change, Snapshot, WorkspaceView};
use vigil::time::WallTime;

use super::scenes;

/// Turns the main loop until something holds; a test that waits for what never comes fails.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        if !glib::MainContext::default().iteration(false) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Lets everything that is due happen.
pub fn settle() {
    while glib::MainContext::default().iteration(false) {}
}

/// Lets the window paint what has changed: some things GTK does only then.
pub fn painted(bench: &Bench) {
    let clock = bench.window.frame_clock().expect("the window is on the screen");
    let before = clock.frame_counter();
    bench.window.queue_draw();
    wait_until("a frame", || clock.frame_counter() > before + 1);
    settle();
}

/// The application, which has recorded what was asked of it.
pub struct Bench {
    pub app: adw::Application,
    pub sidebar: Sidebar,
    pub integrations: gio::ListStore,
    pub window: Window,
    pub asked: Rc<RefCell<Vec<String>>>,
}

impl Bench {
    pub fn new(workspaces: Vec<WorkspaceView>) -> Self {
        widget::register_resources();
        // All tests of this process share one bus connection.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let id = format!("dev.vigil.Bench{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let app = adw::Application::new(Some(&id), gio::ApplicationFlags::NON_UNIQUE);
        app.set_resource_base_path(Some(widget::RESOURCE_PATH));
        app.register(None::<&gio::Cancellable>).unwrap();
        let asked = Rc::<RefCell<Vec<String>>>::default();
        for name in ["acknowledge", "dismiss", "install", "repair", "uninstall"] {
            let action = gio::SimpleAction::new(name, Some(glib::VariantTy::STRING));
            let asked = asked.clone();
            action.connect_activate(move |action, id| {
                asked.borrow_mut().push(format!("{} {}", action.name(), id.unwrap().str().unwrap()));
            });
            app.add_action(&action);
        }
        let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
        let integrations: gio::ListStore = [Integration::new("claude")].into_iter().collect();
        sidebar.reset(&Snapshot { workspaces, ..Snapshot::empty() });
        let window = Window::new(&app, &sidebar, &Banner::new(&integrations));
        window.present();
        wait_until("the window is on the screen", || window.is_mapped());
        settle();
        Self { app, sidebar, integrations, window, asked }
    }

    pub fn banner(&self) -> Banner {
        self.window.banner().expect("the window has one")
    }

    pub fn picture(name: &str) -> Self {
        let bench = Self::new(Vec::new());
        scenes::show(&bench.sidebar, name);
        settle();
        bench
    }

    pub fn view(&self) -> SidebarView {
        find(self.window.upcast_ref()).expect("the window has a list")
    }

    pub fn list(&self) -> gtk::ListView {
        find(self.window.upcast_ref()).expect("the view has a list")
    }

    pub fn rows(&self) -> Vec<AgentRow> {
        let mut rows = all::<AgentRow>(self.list().upcast_ref());
        rows.retain(|row| row.agent().is_some());
        rows
    }

    pub fn row(&self, id: &str) -> AgentRow {
        let row = self.rows().into_iter().find(|row| row.agent().unwrap().id() == id);
        row.unwrap_or_else(|| panic!("no row {id}"))
    }

    pub fn focused(&self) -> Option<glib::Object> {
        let focus = GtkWindowExt::focus(&self.window)?;
        let row = focus.downcast_ref::<AgentRow>().and_then(|row| row.agent()).map(Cast::upcast);
        row.or_else(|| focus.downcast_ref::<WorkspaceRow>().and_then(|row| row.workspace()).map(Cast::upcast))
            .or_else(|| focus.downcast_ref::<FoldRow>().and_then(|row| row.fold()).map(Cast::upcast))
    }

    pub fn focused_id(&self) -> String {
        self.focused().and_downcast::<Agent>().map(|agent| agent.id()).unwrap_or_default()
    }

    pub fn apply(&self, changes: &[Change]) {
        self.sidebar.apply(changes);
        settle();
    }

    pub fn close(self) {
        self.window.destroy();
        settle();
        self.app.quit();
    }
}

pub fn children(widget: &gtk::Widget) -> impl Iterator<Item = gtk::Widget> {
    std::iter::successors(widget.first_child(), |child| child.next_sibling())
}

pub fn all<T: IsA<gtk::Widget>>(widget: &gtk::Widget) -> Vec<T> {
    let mut found: Vec<T> = widget.clone().downcast().into_iter().collect();
    found.extend(children(widget).flat_map(|child| all::<T>(&child)));
    found
}

pub fn find<T: IsA<gtk::Widget>>(widget: &gtk::Widget) -> Option<T> {
    all(widget).into_iter().next()
}

/// The texts of all labels that can be seen.
pub fn texts(widget: &impl IsA<gtk::Widget>) -> Vec<String> {
    let labels = all::<gtk::Label>(widget.upcast_ref());
    labels.iter().filter(|label| label.is_mapped()).map(|label| label.label().to_string()).collect()
}
