// SPDX-License-Identifier: GPL-3.0-or-later
//! The preferences: what is set, and how far we are put into the agents.

use std::cell::RefCell;
use std::sync::OnceLock;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::{gio, glib};

use super::IntegrationRow;
use crate::app::model::{Connections, Integration};
use crate::app::settings::Settings;

/// A page of the preferences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// What the window shows, and how.
    General,
    /// How far we are put into the agents.
    Integrations,
}

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "preferences.ui")]
    #[properties(wrapper_type = super::Preferences)]
    pub struct Preferences {
        /// The agents. None only while the template is being made, which already looks.
        #[property(get, set, construct_only, nullable)]
        connections: RefCell<Option<Connections>>,
        #[template_child]
        pub(super) general: TemplateChild<adw::PreferencesPage>,
        #[template_child]
        pub(super) integrations: TemplateChild<adw::PreferencesPage>,
        #[template_child]
        pub(super) background: TemplateChild<gtk::Switch>,
        #[template_child]
        pub(super) order: TemplateChild<adw::ComboRow>,
        #[template_child]
        pub(super) fold: TemplateChild<gtk::Switch>,
        #[template_child]
        pub(super) hidden: TemplateChild<gtk::Switch>,
        #[template_child]
        pub(super) grace: TemplateChild<gtk::Adjustment>,
        #[template_child]
        present: TemplateChild<gtk::ListBox>,
        #[template_child]
        absent: TemplateChild<gtk::ListBox>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Preferences {
        const NAME: &'static str = "VigilPreferences";
        type Type = super::Preferences;
        type ParentType = adw::PreferencesWindow;

        fn class_init(klass: &mut Self::Class) {
            Connections::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for Preferences {
        fn signals() -> &'static [glib::subclass::Signal] {
            static SIGNALS: OnceLock<Vec<glib::subclass::Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| vec![glib::subclass::Signal::builder("look").build()])
        }

        fn constructed(&self) {
            self.parent_constructed();
            if let Some(connections) = &*self.connections.borrow() {
                bind(&self.present, &connections.present());
                bind(&self.absent, &connections.absent());
            }
        }

        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for Preferences {}
    impl WindowImpl for Preferences {}
    impl AdwWindowImpl for Preferences {}
    impl PreferencesWindowImpl for Preferences {}

    #[gtk::template_callbacks]
    impl Preferences {
        #[template_callback]
        fn on_look(&self) {
            self.obj().emit_by_name::<()>("look", &[]);
        }
    }

    fn bind(list: &gtk::ListBox, model: &gio::ListStore) {
        list.bind_model(Some(model), |item| {
            let integration = item.downcast_ref::<Integration>().expect("the lists are of them");
            IntegrationRow::new(integration).upcast()
        });
    }
}

glib::wrapper! {
    /// The preferences.
    pub struct Preferences(ObjectSubclass<imp::Preferences>)
        @extends adw::PreferencesWindow, adw::Window, gtk::Window, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Native, gtk::Root, gtk::ShortcutManager;
}

impl Preferences {
    /// A window in which those settings are set. It uses the actions `app.install`, `app.repair` and `app.uninstall`,
    /// each with an agent's id.
    pub fn new(settings: &Settings, connections: &Connections) -> Self {
        let window: Self = glib::Object::builder().property("connections", connections).build();
        let imp = window.imp();
        settings.bind_close_to_background(&*imp.background, "active");
        settings.bind_workspace_order(&*imp.order, "selected");
        settings.bind_fold_idle(&*imp.fold, "active");
        settings.bind_show_hidden(&*imp.hidden, "active");
        settings.bind_error_grace(&*imp.grace, "value");
        imp.general.set_sensitive(settings.is_stored());
        window
    }

    /// Shows that page.
    pub fn turn_to(&self, page: Page) {
        let imp = self.imp();
        let page = match page {
            Page::General => &imp.general,
            Page::Integrations => &imp.integrations,
        };
        self.set_visible_page(&**page);
    }

    /// Calls back when the user wants the agents' programs to be looked for.
    pub fn connect_look(&self, look: impl Fn() + 'static) {
        self.connect_local("look", false, move |_| {
            look();
            None
        });
    }

    /// Says something in passing.
    pub fn toast(&self, text: &str) {
        self.add_toast(super::toast(text));
    }
}
