// SPDX-License-Identifier: GPL-3.0-or-later
//! One agent in the list. All that it shows is bound in the template; the keys that open a question and sessions are here.

use std::cell::RefCell;

use adw::prelude::*;
use gtk::{gdk, glib, subclass::prelude::*};

use super::{AgentAside, AgentDetails, Part, SessionLine};
use crate::app::model::{Agent, Session};

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "agent_row.ui")]
    #[properties(wrapper_type = super::AgentRow)]
    pub struct AgentRow {
        /// The agent that is shown; none while the row waits to be used again.
        #[property(get, set = Self::set_agent, nullable)]
        agent: RefCell<Option<Agent>>,
        classes: RefCell<Option<glib::Binding>>,
        #[template_child]
        pub(super) details: TemplateChild<Part>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for AgentRow {
        const NAME: &'static str = "VigilAgentRow";
        type Type = super::AgentRow;
        type ParentType = gtk::Box;

        fn class_init(klass: &mut Self::Class) {
            Agent::ensure_type();
            Part::ensure_type();
            AgentAside::ensure_type();
            AgentDetails::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();

            let plain = gdk::ModifierType::empty();
            klass.add_binding(gdk::Key::space, plain, |row| row.imp().expand(|expanded| !expanded));
            for (key, forward) in [
                (gdk::Key::Right, true),
                (gdk::Key::KP_Right, true),
                (gdk::Key::Left, false),
                (gdk::Key::KP_Left, false),
            ] {
                klass.add_binding(key, plain, move |row| {
                    let mirrored = row.direction() == gtk::TextDirection::Rtl;
                    row.imp().expand(|_| forward != mirrored)
                });
            }
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for AgentRow {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for AgentRow {}
    impl BoxImpl for AgentRow {}

    #[gtk::template_callbacks]
    impl AgentRow {
        #[template_callback(function)]
        fn has_aside(subagents: i32, background: i32, expandable: bool) -> bool {
            subagents > 0 || background > 0 || expandable
        }

        #[template_callback]
        fn on_query_tooltip(&self, _x: i32, _y: i32, _keys: bool, tooltip: &gtk::Tooltip, label: &gtk::Label) -> bool {
            super::super::tooltip_if_cut(tooltip, label)
        }
    }

    impl AgentRow {
        fn set_agent(&self, agent: Option<Agent>) {
            if let Some(classes) = self.classes.take() {
                classes.unbind();
            }
            if let Some(agent) = &agent {
                let classes = agent.bind_property("row-classes", &*self.obj(), "css-classes").sync_create().build();
                self.classes.replace(Some(classes));
            }
            self.agent.replace(agent);
        }

        /// Opens or closes what there is; the key goes on to others if that changes nothing.
        fn expand(&self, wanted: impl Fn(bool) -> bool) -> glib::Propagation {
            let Some(agent) = self.agent.borrow().clone() else { return glib::Propagation::Proceed };
            let before = agent.expanded();
            agent.set_expanded(wanted(before));
            if agent.expanded() == before {
                return glib::Propagation::Proceed;
            }
            if before {
                // What is closed loses a focus inside.
                self.obj().grab_focus();
            }
            glib::Propagation::Stop
        }
    }
}

glib::wrapper! {
    /// One agent in the list.
    pub struct AgentRow(ObjectSubclass<imp::AgentRow>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl AgentRow {
    /// The line of that session, if it can be seen.
    pub fn line(&self, session: &Session) -> Option<SessionLine> {
        self.imp().details.child().and_downcast::<AgentDetails>()?.line(session).filter(WidgetExt::is_mapped)
    }
}

impl Default for AgentRow {
    fn default() -> Self {
        glib::Object::new()
    }
}
