// SPDX-License-Identifier: GPL-3.0-or-later
//! A place in a row for what most rows never show: its widgets are made once they are wanted for the first time.
//!
//! A list makes up to two hundred rows, whether they can be seen or not. Widgets that are there but hidden cost nearly
//! as much memory, and time before the first frame, as those that are shown.

use std::cell::{Cell, RefCell};

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib;

use crate::app::model::Agent;

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Part)]
    pub struct Part {
        /// The type of what is to be shown, by its name: a widget with a property `agent`.
        #[property(get, set, construct_only)]
        content: RefCell<String>,
        /// The agent that it shows.
        #[property(get, set, nullable)]
        agent: RefCell<Option<Agent>>,
        /// Whether it is to be seen.
        #[property(get, set = Self::set_wanted)]
        wanted: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Part {
        const NAME: &'static str = "VigilPart";
        type Type = super::Part;
        type ParentType = adw::Bin;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Part {
        fn constructed(&self) {
            self.parent_constructed();
            self.obj().set_visible(false);
        }
    }

    impl WidgetImpl for Part {}
    impl BinImpl for Part {}

    impl Part {
        fn set_wanted(&self, wanted: bool) {
            self.wanted.set(wanted);
            let obj = self.obj();
            if wanted && obj.child().is_none() {
                obj.set_child(Some(&self.make()));
            }
            obj.set_visible(wanted);
        }

        fn make(&self) -> gtk::Widget {
            let content = self.content.borrow();
            let content = glib::Type::from_name(content.as_str()).expect("the row has made its type known");
            let content =
                glib::Object::with_type(content).downcast::<gtk::Widget>().expect("the template names a widget");
            self.obj().bind_property("agent", &content, "agent").sync_create().build();
            content
        }
    }
}

glib::wrapper! {
    /// A place for what is made once it is wanted.
    pub struct Part(ObjectSubclass<imp::Part>)
        @extends adw::Bin, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget;
}
