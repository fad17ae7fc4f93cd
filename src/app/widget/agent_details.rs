// SPDX-License-Identifier: GPL-3.0-or-later
//! What opens beneath an agent: its question, and its sessions.

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use super::{SessionLine, SessionList};
use crate::app::model::{Agent, Session};

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "agent_details.ui")]
    #[properties(wrapper_type = super::AgentDetails)]
    pub struct AgentDetails {
        /// The agent that is shown.
        #[property(get, set, nullable)]
        agent: RefCell<Option<Agent>>,
        #[template_child]
        pub(super) session_list: TemplateChild<SessionList>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for AgentDetails {
        const NAME: &'static str = "VigilAgentDetails";
        type Type = super::AgentDetails;
        type ParentType = gtk::Box;

        fn class_init(klass: &mut Self::Class) {
            Agent::ensure_type();
            SessionList::ensure_type();
            klass.bind_template();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for AgentDetails {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for AgentDetails {}
    impl BoxImpl for AgentDetails {}
}

glib::wrapper! {
    /// What opens beneath an agent.
    pub struct AgentDetails(ObjectSubclass<imp::AgentDetails>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl AgentDetails {
    /// The line of that session.
    pub fn line(&self, session: &Session) -> Option<SessionLine> {
        self.imp().session_list.line(session)
    }
}
