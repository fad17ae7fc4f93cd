// SPDX-License-Identifier: GPL-3.0-or-later
//! The end of an agent's second line: counters, sessions, and the button that opens what there is beneath.

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use crate::app::model::Agent;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "agent_aside.ui")]
    #[properties(wrapper_type = super::AgentAside)]
    pub struct AgentAside {
        /// The agent that is shown.
        #[property(get, set, nullable)]
        agent: RefCell<Option<Agent>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for AgentAside {
        const NAME: &'static str = "VigilAgentAside";
        type Type = super::AgentAside;
        type ParentType = gtk::Box;

        fn class_init(klass: &mut Self::Class) {
            Agent::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for AgentAside {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for AgentAside {}
    impl BoxImpl for AgentAside {}

    #[gtk::template_callbacks]
    impl AgentAside {
        /// The button follows the agent by its binding; this is the way back.
        #[template_callback]
        fn on_expander_toggled(&self, expander: &gtk::ToggleButton) {
            if let Some(agent) = &*self.agent.borrow() {
                agent.set_expanded(expander.is_active());
            }
        }

        #[template_callback]
        fn on_query_tooltip(&self, _x: i32, _y: i32, _keys: bool, tooltip: &gtk::Tooltip, label: &gtk::Label) -> bool {
            super::super::tooltip_if_cut(tooltip, label)
        }
    }
}

glib::wrapper! {
    /// The end of an agent's second line.
    pub struct AgentAside(ObjectSubclass<imp::AgentAside>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}
