// SPDX-License-Identifier: GPL-3.0-or-later
//! One session beneath a shared row: a button that marks it as seen. All that it shows is bound in the template.

use std::cell::RefCell;

use gtk::{gdk, glib, prelude::*, subclass::prelude::*};

use crate::app::model::Session;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "session_line.ui")]
    #[properties(wrapper_type = super::SessionLine)]
    pub struct SessionLine {
        /// The session that is shown.
        #[property(get, set = Self::set_session, nullable)]
        session: RefCell<Option<Session>>,
        classes: RefCell<Option<glib::Binding>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for SessionLine {
        const NAME: &'static str = "VigilSessionLine";
        type Type = super::SessionLine;
        type ParentType = gtk::Button;

        fn class_init(klass: &mut Self::Class) {
            Session::ensure_type();
            klass.bind_template();

            // Among themselves the lines are walked like rows; at the ends the key is the list's again.
            let plain = gdk::ModifierType::empty();
            for key in [gdk::Key::Down, gdk::Key::KP_Down] {
                klass.add_binding(key, plain, |line| focus(line.next_sibling()));
            }
            for key in [gdk::Key::Up, gdk::Key::KP_Up] {
                klass.add_binding(key, plain, |line| focus(line.prev_sibling()));
            }
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for SessionLine {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for SessionLine {}

    impl ButtonImpl for SessionLine {
        fn clicked(&self) {
            if let Some(session) = &*self.session.borrow() {
                super::super::activate(&*self.obj(), "app.acknowledge", &session.target());
            }
        }
    }

    impl SessionLine {
        fn set_session(&self, session: Option<Session>) {
            if let Some(classes) = self.classes.take() {
                classes.unbind();
            }
            if let Some(session) = &session {
                let classes = session.bind_property("line-classes", &*self.obj(), "css-classes").sync_create().build();
                self.classes.replace(Some(classes));
            }
            self.session.replace(session);
        }
    }

    fn focus(line: Option<gtk::Widget>) -> glib::Propagation {
        if line.is_some_and(|line| line.grab_focus()) { glib::Propagation::Stop } else { glib::Propagation::Proceed }
    }
}

glib::wrapper! {
    /// One session beneath a shared row.
    pub struct SessionLine(ObjectSubclass<imp::SessionLine>)
        @extends gtk::Button, gtk::Widget,
        @implements gtk::Actionable, gtk::Buildable, gtk::ConstraintTarget;
}

impl SessionLine {
    /// A line for that session.
    pub fn new(session: &Session) -> Self {
        glib::Object::builder().property("session", session).build()
    }
}
