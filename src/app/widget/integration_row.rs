// SPDX-License-Identifier: GPL-3.0-or-later
//! One agent in the preferences: how far we are put into it, and what can be done about it.

use std::cell::RefCell;

use adw::subclass::prelude::*;
use gtk::{glib, prelude::*};

use crate::app::model::Integration;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "integration_row.ui")]
    #[properties(wrapper_type = super::IntegrationRow)]
    pub struct IntegrationRow {
        /// The agent that is shown. None only while the template is being made, which already looks.
        #[property(get, set, construct_only, nullable)]
        integration: RefCell<Option<Integration>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for IntegrationRow {
        const NAME: &'static str = "VigilIntegrationRow";
        type Type = super::IntegrationRow;
        type ParentType = adw::ExpanderRow;

        fn class_init(klass: &mut Self::Class) {
            Integration::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for IntegrationRow {
        fn constructed(&self) {
            self.parent_constructed();
            // What of the template itself is bound is bound here, as in the rows of the list.
            if let Some(integration) = &*self.integration.borrow() {
                let obj = self.obj();
                integration.bind_property("name", &*obj, "title").sync_create().build();
                integration.bind_property("status", &*obj, "subtitle").sync_create().build();
                integration.bind_property("expanded", &*obj, "expanded").sync_create().bidirectional().build();
            }
        }

        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for IntegrationRow {}
    impl ListBoxRowImpl for IntegrationRow {}
    impl PreferencesRowImpl for IntegrationRow {}
    impl ExpanderRowImpl for IntegrationRow {}

    #[gtk::template_callbacks]
    impl IntegrationRow {
        #[template_callback]
        fn on_offer(&self) {
            if let Some(integration) = &*self.integration.borrow() {
                super::super::activate(&*self.obj(), &integration.offer_action(), &integration.agent());
            }
        }

        #[template_callback]
        fn on_remove(&self) {
            if let Some(integration) = &*self.integration.borrow() {
                super::super::activate(&*self.obj(), "app.uninstall", &integration.agent());
            }
        }

        /// A button that goes must not take the keyboard's focus with it.
        #[template_callback]
        fn on_button_shown(&self, _: glib::ParamSpec, button: &gtk::Widget) {
            let root = self.obj().root();
            if !button.is_visible() && root.is_some_and(|root| root.focus().is_none_or(|focus| focus == *button)) {
                self.obj().child_focus(gtk::DirectionType::TabForward);
            }
        }
    }
}

glib::wrapper! {
    /// One agent in the preferences.
    pub struct IntegrationRow(ObjectSubclass<imp::IntegrationRow>)
        @extends adw::ExpanderRow, adw::PreferencesRow, gtk::ListBoxRow, gtk::Widget,
        @implements gtk::Actionable, gtk::Buildable, gtk::ConstraintTarget;
}

impl IntegrationRow {
    /// A row of that agent.
    pub fn new(integration: &Integration) -> Self {
        glib::Object::builder().property("integration", integration).build()
    }
}
