// SPDX-License-Identifier: GPL-3.0-or-later
//! The application: a service that holds itself, and a window when one is wanted.
//!
//! Started by the bus it opens no window; only `activate` and `show` do. The object on the bus is exported before the
//! name is owned, so that nobody who finds the name misses the object.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib::clone;
use gtk::{gio, glib};

use super::command::{Answer, Command, Queue, Request};
use super::dbus::Door;
use super::edit::Edit;
use super::i18n::gettext;
use super::integrations::{Integrations, Look};
use super::model::{Banner, Connections, Integration, Sidebar};
use super::output::{Changed, Output};
use super::service::Service;
use super::settings::{Settings, WorkspaceOrder};
use super::widget::{Page, Preferences, RESOURCE_PATH, RefusalDialog, Window};
use super::{actions, clock, config};
use crate::integration::{self, Refusal, Surroundings};
use crate::protocol::APP_ID;
use crate::{roster, text};

mod imp {
    use super::*;

    #[derive(Default)]
    pub struct VigilApplication {
        pub(super) queue: OnceCell<Queue>,
        pub(super) requests: RefCell<Option<async_channel::Receiver<Request>>>,
        pub(super) door: RefCell<Option<Door>>,
        pub(super) settings: OnceCell<Settings>,
        pub(super) service: OnceCell<Rc<Service>>,
        pub(super) sidebar: OnceCell<Sidebar>,
        pub(super) banner: OnceCell<Banner>,
        pub(super) connections: OnceCell<Connections>,
        pub(super) integrations: RefCell<Option<Integrations>>,
        pub(super) look: RefCell<Option<Look>>,
        pub(super) preferences: OnceCell<Preferences>,
        pub(super) refusal: glib::WeakRef<RefusalDialog>,
        pub(super) hold: RefCell<Option<gio::ApplicationHoldGuard>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for VigilApplication {
        const NAME: &'static str = "VigilApplication";
        type Type = super::VigilApplication;
        type ParentType = adw::Application;
    }

    impl ObjectImpl for VigilApplication {
        fn constructed(&self) {
            self.parent_constructed();
            let (queue, requests) = Queue::new();
            self.requests.replace(Some(requests));
            if self.queue.set(queue).is_ok() {
                actions::add(&self.obj());
            }
        }
    }

    impl ApplicationImpl for VigilApplication {
        fn dbus_register(&self, connection: &gio::DBusConnection, object_path: &str) -> Result<(), glib::Error> {
            self.parent_dbus_register(connection, object_path)?;
            let door = Door::open(connection, self.obj().queue().clone())?;
            self.door.replace(Some(door));
            Ok(())
        }

        fn dbus_unregister(&self, connection: &gio::DBusConnection, object_path: &str) {
            self.door.take();
            self.parent_dbus_unregister(connection, object_path);
        }

        fn startup(&self) {
            self.parent_startup();
            let obj = self.obj();
            gtk::Window::set_default_icon_name(APP_ID);
            obj.quit_on_signals();
            self.hold.replace(Some(obj.hold()));
            self.integrations.replace(Some(Integrations::start(Surroundings::here())));
            let settings = obj.settings();
            if let Some(requests) = self.requests.take() {
                let service = Service::start(settings, obj.queue(), requests);
                if let Some(door) = &*self.door.borrow() {
                    service.add_output(door.signals());
                }
                let set = self.service.set(service);
                assert!(set.is_ok(), "an application starts once");
            }
        }

        fn activate(&self) {
            self.parent_activate();
            self.obj().present();
        }

        fn shutdown(&self) {
            self.door.take();
            self.look.take();
            self.integrations.take();
            self.hold.take();
            self.parent_shutdown();
        }
    }

    impl GtkApplicationImpl for VigilApplication {}
    impl AdwApplicationImpl for VigilApplication {}
}

glib::wrapper! {
    /// The application.
    pub struct VigilApplication(ObjectSubclass<imp::VigilApplication>)
        @extends gio::Application, gtk::Application, adw::Application,
        @implements gio::ActionGroup, gio::ActionMap;
}

impl Default for VigilApplication {
    fn default() -> Self {
        Self::new()
    }
}

impl VigilApplication {
    /// The application of [`APP_ID`].
    pub fn new() -> Self {
        glib::Object::builder().property("application-id", APP_ID).property("resource-base-path", RESOURCE_PATH).build()
    }

    /// Where commands go.
    pub fn queue(&self) -> &Queue {
        self.imp().queue.get().expect("it is made with the application")
    }

    /// How far we are put into the agents; nothing before it has started.
    pub fn integrations(&self) -> Option<gio::ListStore> {
        self.imp().integrations.borrow().as_ref().map(|integrations| integrations.list().clone())
    }

    /// Opens the window, or brings it to the front.
    pub fn present(&self) {
        self.window().present();
    }

    /// Shows the window with the row that wants the user most, or the next one behind the one that is selected.
    pub fn next_attention(&self) {
        let application = self.downgrade();
        let after = self.open_window().and_then(|window| window.selected_row());
        self.queue().send(Command::NextAttention { after }, move |outcome| {
            let (Some(application), Ok(Answer::Row(row))) = (application.upgrade(), outcome) else { return };
            let window = application.window();
            if let Some(row) = row {
                window.select_row(&row);
            }
            window.present();
        });
    }

    /// Changes an agent's settings, and says in the window what has come of it.
    pub fn edit(&self, agent: &str, edit: Edit) {
        let Some(integration) = integration::find(agent) else {
            glib::g_warning!("vigil", "Refused: Vigil cannot be put into such an agent");
            return;
        };
        let application = self.downgrade();
        glib::spawn_future_local(async move {
            let done = gio::spawn_blocking(move || edit.carry_out(integration, &Surroundings::here())).await;
            let (Some(application), Ok(done)) = (application.upgrade(), done) else { return };
            match done {
                Ok(plans) => application.toast(&edit.outcome(integration, &plans)),
                Err(refusal) => application.refuse(&edit.refused(integration), &refusal),
            }
        });
    }

    /// Opens the preferences on that page, or brings them to the front.
    pub fn preferences(&self, page: Page) {
        let imp = self.imp();
        let window = imp.preferences.get_or_init(|| {
            let window = Preferences::new(self.settings(), self.connections());
            window.set_application(Some(self));
            let look = clone!(
                #[weak(rename_to = application)]
                self,
                move || application.look()
            );
            window.connect_map(clone!(
                #[strong]
                look,
                move |_| look()
            ));
            window.connect_look(look);
            window.connect_unmap(clone!(
                #[weak(rename_to = application)]
                self,
                move |_| {
                    application.imp().look.take();
                }
            ));
            window
        });
        if !window.is_visible() {
            window.set_transient_for(self.open_window().as_ref());
        }
        window.turn_to(page);
        window.present();
    }

    /// Looks for the agents' programs, as long as the preferences are open.
    fn look(&self) {
        let look = self.imp().integrations.borrow().as_ref().map(Integrations::look);
        self.imp().look.replace(look);
    }

    /// Says something in passing, in the window that the user sees.
    fn toast(&self, text: &str) {
        match (self.open_preferences(), self.open_window()) {
            (Some(preferences), _) => preferences.toast(text),
            (None, Some(window)) => window.toast(text),
            (None, None) => {}
        }
    }

    /// Says why settings were left alone; without a window, in the log. The latest reason is the one that counts.
    fn refuse(&self, heading: &str, refusal: &Refusal) {
        glib::g_message!("vigil", "{heading}: {}", text::one_line(&refusal.message));
        if let Some(earlier) = self.imp().refusal.upgrade() {
            earlier.close();
        }
        let preferences = self.open_preferences().map(Cast::upcast::<gtk::Window>);
        if let Some(parent) = preferences.or_else(|| self.open_window().map(Cast::upcast)) {
            let dialog = RefusalDialog::new(&parent, heading, refusal);
            self.imp().refusal.set(Some(&dialog));
            dialog.present();
        }
    }

    /// Says what this is.
    pub fn about(&self) {
        let about = adw::AboutWindow::builder()
            .application_name("Vigil")
            .application_icon(APP_ID)
            .version(config::VERSION)
            .comments(gettext("Keeps vigil over the coding agents in your terminals"))
            .license_type(gtk::License::Gpl30)
            // Translators: your names, one a line; they are shown under Credits.
            .translator_credits(gettext("translator-credits"))
            .modal(true)
            .build();
        about.set_transient_for(self.active_window().as_ref());
        about.present();
    }

    /// The window. Closed ones are gone; what they showed is in the model.
    fn window(&self) -> Window {
        self.open_window().unwrap_or_else(|| self.open())
    }

    fn open_preferences(&self) -> Option<Preferences> {
        self.imp().preferences.get().filter(|window| window.is_visible()).cloned()
    }

    fn open_window(&self) -> Option<Window> {
        self.windows().into_iter().find_map(|window| window.downcast().ok())
    }

    fn open(&self) -> Window {
        let window = Window::new(self, self.sidebar(), self.banner());
        let (width, height) = self.settings().window_size();
        window.set_default_size(width, height);
        let application = self.downgrade();
        window.connect_close_request(move |window| {
            if let Some(application) = application.upgrade() {
                application.settings().set_window_size(window.default_size());
                if !application.settings().close_to_background() {
                    application.quit();
                }
            }
            glib::Propagation::Proceed
        });
        window
    }

    fn settings(&self) -> &Settings {
        self.imp().settings.get_or_init(Settings::load)
    }

    /// What the window shows. It exists from the first window on.
    fn sidebar(&self) -> &Sidebar {
        let imp = self.imp();
        imp.sidebar.get_or_init(|| {
            let sidebar = Sidebar::new(|| clock::now().wall);
            let shown = sidebar.clone();
            self.settings().follow(move |settings| {
                shown.set_show_hidden(settings.show_hidden());
                shown.set_fold_idle(settings.fold_idle());
                shown.set_by_urgency(settings.workspace_order() == WorkspaceOrder::Urgency);
            });
            if let Some(service) = imp.service.get() {
                sidebar.reset(&service.snapshot(true));
                service.add_output(Mirror(sidebar.clone()));
            }
            sidebar
        })
    }

    /// What the window says of the integrations. It exists from the first window on.
    fn banner(&self) -> &Banner {
        self.imp().banner.get_or_init(|| {
            let none = gio::ListStore::new::<Integration>;
            Banner::new(&self.integrations().unwrap_or_else(none))
        })
    }

    /// What the preferences say of the integrations. It exists from the first time on.
    fn connections(&self) -> &Connections {
        self.imp().connections.get_or_init(|| {
            let none = gio::ListStore::new::<Integration>;
            Connections::new(&self.integrations().unwrap_or_else(none))
        })
    }

    fn quit_on_signals(&self) {
        // A terminal's Ctrl+C and a session's end take the ordinary way out.
        for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
            let application = self.downgrade();
            glib_unix::unix_signal_add_local(signal.as_raw(), move || {
                if let Some(application) = application.upgrade() {
                    application.quit();
                }
                glib::ControlFlow::Continue
            });
        }
    }
}

/// Keeps the window's model in step.
struct Mirror(Sidebar);

impl Output for Mirror {
    fn changed(&self, changed: &Changed<'_>) {
        self.0.apply(&roster::changes(changed.roster, changed.dirty, true));
    }
}
