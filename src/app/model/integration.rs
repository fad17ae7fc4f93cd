// SPDX-License-Identifier: GPL-3.0-or-later
//! How far we are put into one agent, as an object that a banner and the preferences bind to.

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use crate::agent;
use crate::integration::{Report, State};

/// What is shown of an integration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Face {
    name: String,
    state: String,
    file: String,
    advice: String,
    broken: bool,
    repairable: bool,
}

impl From<&Report> for Face {
    fn from(report: &Report) -> Self {
        Self {
            name: agent::find(report.agent).name.to_string(),
            state: report.state.word().to_string(),
            file: report.file.as_ref().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default(),
            advice: report.advice.clone().unwrap_or_default(),
            // What has never been put in is nobody's mishap.
            broken: matches!(report.state, State::Partial | State::Stale),
            repairable: report.mends,
        }
    }
}

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Integration)]
    pub struct Integration {
        /// The agent's id.
        #[property(get, construct_only)]
        pub(super) agent: RefCell<String>,
        /// What to call the agent.
        #[property(name = "name", get, type = String, member = name)]
        /// `missing`, `partial`, `complete` or `stale`; empty before the first look.
        #[property(name = "state", get, type = String, member = state)]
        /// The settings file.
        #[property(name = "file", get, type = String, member = file)]
        /// What to do; empty where nothing is to be done.
        #[property(name = "advice", get, type = String, member = advice)]
        /// Whether hooks that were put in do not all work any more.
        #[property(name = "broken", get, type = bool, member = broken)]
        /// Whether an installation would mend it.
        #[property(name = "repairable", get, type = bool, member = repairable)]
        pub(super) face: RefCell<Face>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Integration {
        const NAME: &'static str = "VigilIntegration";
        type Type = super::Integration;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Integration {}
}

glib::wrapper! {
    /// How far we are put into one agent. Changed by whoever looks at the settings, alone.
    pub struct Integration(ObjectSubclass<imp::Integration>);
}

impl Integration {
    /// That of an agent, of which nothing is known yet.
    pub fn new(agent: &str) -> Self {
        glib::Object::builder().property("agent", agent).build()
    }

    /// Takes what was found, and tells of each property that is another one.
    pub fn set_report(&self, report: &Report) {
        let face = Face::from(report);
        let old = self.imp().face.replace(face.clone());
        let _queue = self.freeze_notify();
        super::notify_changed! {
            self, old, face,
            name => notify_name,
            state => notify_state,
            file => notify_file,
            advice => notify_advice,
            broken => notify_broken,
            repairable => notify_repairable,
        }
    }
}
