// SPDX-License-Identifier: GPL-3.0-or-later
//! The window. It may be closed and made anew at any time: all that lasts is in the model.

use std::cell::RefCell;

use adw::subclass::prelude::*;
use gtk::{gdk, gio, glib, prelude::*};

use super::{SidebarView, row_menu};
use crate::app::i18n::gettext;
use crate::app::model::{Agent, Banner, Sidebar};
use crate::snapshot::SessionView;

/// The keys of the window's and the application's actions. [`Window::new`] sets them.
pub const ACCELERATORS: &[(&str, &[&str])] = &[
    ("win.search", &["<Control>f"]),
    ("win.show-help-overlay", &["<Control>question"]),
    ("window.close", &["<Control>w"]),
    ("app.next-attention", &["<Control>j"]),
    ("app.preferences", &["<Control>comma"]),
    ("app.quit", &["<Control>q"]),
];

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "window.ui")]
    #[properties(wrapper_type = super::Window)]
    pub struct Window {
        /// What is shown. None only while the template is being made, which already looks.
        #[property(get, set, construct_only, nullable)]
        sidebar: RefCell<Option<Sidebar>>,
        /// What is said above it.
        #[property(get, set, construct_only, nullable)]
        banner: RefCell<Option<Banner>>,
        #[template_child]
        revealer: TemplateChild<gtk::Revealer>,
        #[template_child]
        pub(super) view: TemplateChild<SidebarView>,
        #[template_child]
        pub(super) toasts: TemplateChild<adw::ToastOverlay>,
        #[template_child]
        pub(super) search_bar: TemplateChild<gtk::SearchBar>,
        #[template_child]
        pub(super) search_entry: TemplateChild<gtk::SearchEntry>,
        #[template_child]
        integrations: TemplateChild<gtk::Button>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Window {
        const NAME: &'static str = "VigilWindow";
        type Type = super::Window;
        type ParentType = adw::ApplicationWindow;

        fn class_init(klass: &mut Self::Class) {
            SidebarView::ensure_type();
            Sidebar::ensure_type();
            Banner::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();

            let row = Some(glib::VariantTy::STRING);
            klass.install_action("win.open-folder", row, |window, _, id| window.imp().open_folder(id));
            klass.install_action("win.copy-session-id", row, |window, _, id| window.imp().copy_session_id(id));
            klass.install_action("win.copy-resume-command", row, |window, _, id| window.imp().copy_resume_command(id));
            klass.install_action("win.show-help-overlay", None, |window, _, _| window.imp().show_shortcuts());
            klass.add_binding(gdk::Key::Escape, gdk::ModifierType::empty(), |window| window.imp().end_search());
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for Window {
        fn constructed(&self) {
            self.parent_constructed();
            self.search_bar.connect_entry(&*self.search_entry);
            let search = gio::PropertyAction::new("search", &*self.search_bar, "search-mode-enabled");
            self.obj().add_action(&search);
            // A window that was closed in the middle of a search leaves it behind.
            self.sidebar().set_search("");
        }

        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for Window {
        fn map(&self) {
            let obj = self.obj();
            self.sidebar().set_mapped(true);
            // Where there are no preferences, a button to them would be a lie.
            let application = obj.application();
            self.integrations.set_visible(application.is_some_and(|app| app.has_action("integrations")));
            self.parent_map();
            if self.integrations.is_mapped() && GtkWindowExt::focus(&*obj).is_none() {
                self.integrations.grab_focus();
            }
        }

        fn unmap(&self) {
            self.parent_unmap();
            self.sidebar().set_mapped(false);
        }
    }

    impl WindowImpl for Window {}
    impl ApplicationWindowImpl for Window {}
    impl AdwApplicationWindowImpl for Window {}

    #[gtk::template_callbacks]
    impl Window {
        #[template_callback]
        fn on_search_changed(&self, entry: &gtk::SearchEntry) {
            self.sidebar().set_search(entry.text());
        }

        /// A banner that goes can be seen until it has gone.
        #[template_callback]
        fn on_banner_moved(&self) {
            let Some(revealer) = self.revealer.try_get() else { return };
            if let Some(banner) = revealer.child() {
                banner.set_visible(revealer.reveals_child() || revealer.is_child_revealed());
            }
        }

        #[template_callback]
        fn on_repair(&self) {
            if let Some(banner) = &*self.banner.borrow() {
                super::super::activate(&*self.obj(), "app.repair", &banner.agent());
            }
        }

        #[template_callback]
        fn on_search_activate(&self, entry: &gtk::SearchEntry) {
            // The entry tells of its text only after a pause, and Return may come before.
            self.on_search_changed(entry);
            self.view.focus_first_agent();
        }
    }

    impl Window {
        fn sidebar(&self) -> Sidebar {
            self.sidebar.borrow().clone().expect("new() has set it")
        }

        /// The entry ends the search by itself, but Escape means the same on a row that was found.
        fn end_search(&self) -> glib::Propagation {
            if !self.search_bar.is_search_mode() {
                return glib::Propagation::Proceed;
            }
            self.search_bar.set_search_mode(false);
            glib::Propagation::Stop
        }

        fn open_folder(&self, id: Option<&glib::Variant>) {
            let Some(agent) = id.and_then(|id| self.sidebar().agent(id.str()?)) else { return };
            let workspace = self.sidebar().workspace(&agent.workspace_id());
            let path = workspace.and_then(|workspace| workspace.view().path.clone());
            let Some(folder) = row_menu::folder(&agent.view(), path.as_deref()) else { return };
            let window = self.obj().clone();
            glib::spawn_future_local(async move {
                let uri = gio::File::for_path(&folder).uri();
                if let Err(error) = gtk::show_uri_full_future(Some(&window), &uri, gdk::CURRENT_TIME).await {
                    glib::g_message!("vigil", "Could not open {folder}: {error}");
                    window.toast(&gettext("The folder could not be opened"));
                }
            });
        }

        fn copy_session_id(&self, target: Option<&glib::Variant>) {
            if let Some((_, session)) = self.session(target) {
                self.copy(&session.id, &gettext("Session ID copied"));
            }
        }

        fn copy_resume_command(&self, target: Option<&glib::Variant>) {
            let Some((agent, session)) = self.session(target) else { return };
            if let Some(command) = row_menu::resume_command(&agent.view(), &session) {
                self.copy(&command, &gettext("Command copied"));
            }
        }

        /// The session of `ROW#SESSION`, and of `ROW` the one that matters.
        fn session(&self, target: Option<&glib::Variant>) -> Option<(Agent, SessionView)> {
            let target = target?.str()?;
            let (row, session) = target.split_once('#').map_or((target, None), |(row, id)| (row, Some(id)));
            let agent = self.sidebar().agent(row)?;
            let session = match session {
                Some(id) => row_menu::session_of(&agent.view(), id),
                None => row_menu::session(&agent.view()).cloned(),
            };
            Some((agent, session?))
        }

        fn copy(&self, text: &str, toast: &str) {
            self.obj().clipboard().set_text(text);
            self.obj().toast(toast);
        }

        fn show_shortcuts(&self) {
            let builder = gtk::Builder::from_string(include_str!("shortcuts.ui"));
            let shortcuts: gtk::ShortcutsWindow = builder.object("shortcuts").expect("the file has it");
            shortcuts.set_transient_for(Some(&*self.obj()));
            shortcuts.present();
        }
    }
}

glib::wrapper! {
    /// The window.
    pub struct Window(ObjectSubclass<imp::Window>)
        @extends adw::ApplicationWindow, gtk::ApplicationWindow, gtk::Window, gtk::Widget,
        @implements gio::ActionGroup, gio::ActionMap, gtk::Buildable, gtk::ConstraintTarget, gtk::Native, gtk::Root,
            gtk::ShortcutManager;
}

impl Window {
    /// A window of `app` that shows `sidebar`, and `banner` above it. It uses the actions `app.acknowledge` and
    /// `app.dismiss` (each with a row's id), `app.repair` (with an agent's), `app.next-attention`, `app.about`,
    /// `app.quit` and, where there are any, `app.preferences` and `app.integrations`.
    pub fn new(app: &impl IsA<gtk::Application>, sidebar: &Sidebar, banner: &Banner) -> Self {
        for (action, keys) in ACCELERATORS {
            app.set_accels_for_action(action, keys);
        }
        glib::Object::builder()
            .property("application", app)
            .property("sidebar", sidebar)
            .property("banner", banner)
            .build()
    }

    /// Brings the row into view (out of a fold, or a search that does not find it), selects and focuses it. Whether
    /// there is such a row.
    pub fn select_row(&self, id: &str) -> bool {
        self.imp().view.select_row(id)
    }

    /// The id of the row that is selected, if it is an agent's.
    pub fn selected_row(&self) -> Option<String> {
        self.imp().view.selected_row()
    }

    /// Opens the search with that text.
    pub fn search(&self, text: &str) {
        let imp = self.imp();
        imp.search_bar.set_search_mode(true);
        imp.search_entry.set_text(text);
    }

    /// Says something in passing.
    pub fn toast(&self, text: &str) {
        self.imp().toasts.add_toast(super::toast(text));
    }
}
