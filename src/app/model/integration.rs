// SPDX-License-Identifier: GPL-3.0-or-later
//! How far we are put into one agent, as an object that a banner and the preferences bind to.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use gtk::{glib, prelude::*, subclass::prelude::*};

use super::integration_face::{Facts, IntegrationFace, Way};
use crate::integration::{Found, Report};

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Integration)]
    pub struct Integration {
        /// The agent's id.
        #[property(get, construct_only)]
        pub(super) agent: RefCell<String>,
        /// Whether its details are open.
        #[property(get, set, explicit_notify, set = Self::set_expanded)]
        expanded: Cell<bool>,
        /// What to call the agent.
        #[property(name = "name", get, type = String, member = name)]
        /// The first letter of that.
        #[property(name = "initial", get, type = String, member = initial)]
        /// `missing`, `partial`, `complete` or `stale`; empty before the first look.
        #[property(name = "state", get, type = String, member = state)]
        /// The same for the user, in a few words.
        #[property(name = "status", get, type = String, member = status)]
        /// Whether the agent, or something of ours for it, is on this computer.
        #[property(name = "present", get, type = bool, member = present)]
        /// What to do; empty where nothing is to be done.
        #[property(name = "advice", get, type = String, member = advice)]
        /// Whether that is more than what the button says.
        #[property(name = "advised", get, type = bool, member = advised)]
        /// Whether what was put in does not all work any more.
        #[property(name = "broken", get, type = bool, member = broken)]
        /// Whether an installation would mend it.
        #[property(name = "repairable", get, type = bool, member = repairable)]
        /// Whether it works without anything being put in.
        #[property(name = "automatic", get, type = bool, member = automatic)]
        /// Where its program is, and its version.
        #[property(name = "program", get, type = String, member = program)]
        /// What the line of the files is called.
        #[property(name = "files-title", get, type = String, member = files_title)]
        /// The files that are edited, one a line.
        #[property(name = "files", get, type = String, member = files)]
        /// Whether there are any.
        #[property(name = "edits", get, type = bool, member = edits)]
        /// Whether sessions that run have to be started anew.
        #[property(name = "restart", get, type = bool, member = restart)]
        /// What it cannot tell, one a line.
        #[property(name = "gaps", get, type = String, member = gaps)]
        /// Whether there is such a thing.
        #[property(name = "gapped", get, type = bool, member = gapped)]
        /// What the button says that puts us in.
        #[property(name = "offer", get, type = String, member = offer)]
        /// Whether there is one.
        #[property(name = "offered", get, type = bool, member = offered)]
        /// The same as a whole sentence.
        #[property(name = "offer-description", get, type = String, member = offer_description)]
        /// The application's action that it calls.
        #[property(name = "offer-action", get, type = String, member = offer_action)]
        /// Whether there is anything to take out.
        #[property(name = "removable", get, type = bool, member = removable)]
        /// What the button says that takes us out, as a whole sentence.
        #[property(name = "remove-description", get, type = String, member = remove_description)]
        pub(super) face: RefCell<IntegrationFace>,
        pub(super) facts: RefCell<Facts>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Integration {
        const NAME: &'static str = "VigilIntegration";
        type Type = super::Integration;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Integration {
        fn constructed(&self) {
            self.parent_constructed();
            let agent = self.agent.borrow().clone();
            let facts = Facts { way: Way::of(&agent), agent, ..Facts::default() };
            self.face.replace(IntegrationFace::from(&facts));
            self.facts.replace(facts);
        }
    }

    impl Integration {
        fn set_expanded(&self, expanded: bool) {
            if self.expanded.replace(expanded) != expanded {
                self.obj().notify_expanded();
            }
        }

        /// Takes the facts anew, and tells of each property that is another one.
        pub(super) fn take(&self, change: impl FnOnce(&mut Facts)) {
            change(&mut self.facts.borrow_mut());
            let face = IntegrationFace::from(&*self.facts.borrow());
            let old = self.face.replace(face.clone());
            let obj = self.obj();
            let _queue = obj.freeze_notify();
            super::super::notify_changed! {
                obj, old, face,
                name => notify_name,
                initial => notify_initial,
                state => notify_state,
                status => notify_status,
                present => notify_present,
                advice => notify_advice,
                advised => notify_advised,
                broken => notify_broken,
                repairable => notify_repairable,
                automatic => notify_automatic,
                program => notify_program,
                files_title => notify_files_title,
                files => notify_files,
                edits => notify_edits,
                restart => notify_restart,
                gaps => notify_gaps,
                gapped => notify_gapped,
                offer => notify_offer,
                offered => notify_offered,
                offer_description => notify_offer_description,
                offer_action => notify_offer_action,
                removable => notify_removable,
                remove_description => notify_remove_description,
            }
        }
    }
}

glib::wrapper! {
    /// How far we are put into one agent. Changed by whoever looks at settings and programs, alone.
    pub struct Integration(ObjectSubclass<imp::Integration>);
}

impl Integration {
    /// That of an agent, of which nothing is known yet.
    pub fn new(agent: &str) -> Self {
        glib::Object::builder().property("agent", agent).build()
    }

    /// Takes what was found in the settings.
    pub fn set_report(&self, report: &Report) {
        self.imp().take(|facts| facts.report = Some(report.clone()));
    }

    /// Takes where the agent's program was found; `None` while nobody looks.
    pub fn set_found(&self, found: Option<Found>) {
        self.imp().take(|facts| facts.found = found);
    }

    /// Takes which files are edited, and the home to which they are shown relatively.
    pub fn set_files(&self, files: Vec<PathBuf>, home: Option<&Path>) {
        self.imp().take(|facts| (facts.files, facts.home) = (files, home.map(Path::to_path_buf)));
    }
}
