// SPDX-License-Identifier: GPL-3.0-or-later
//! The quiet rows of one workspace, as one row: "5 idle".

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use super::bidi;
use super::{Agent, Workspace};
use crate::app::i18n::{gettext, gettext_f, ngettext_f};

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Fold)]
    pub struct Fold {
        /// How many there are.
        #[property(get)]
        pub(super) label: RefCell<String>,
        /// Which they are.
        #[property(get)]
        pub(super) names: RefCell<String>,
        /// Both in one sentence.
        #[property(get)]
        pub(super) description: RefCell<String>,
        pub(super) workspace: glib::WeakRef<Workspace>,
        pub(super) agents: RefCell<Vec<Agent>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Fold {
        const NAME: &'static str = "VigilFold";
        type Type = super::Fold;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Fold {}
}

glib::wrapper! {
    /// The quiet rows of one workspace, as one row.
    pub struct Fold(ObjectSubclass<imp::Fold>);
}

impl Fold {
    pub(super) fn new(workspace: &Workspace) -> Self {
        let fold: Self = glib::Object::new();
        fold.imp().workspace.set(Some(workspace));
        fold
    }

    /// The workspace that it stands in.
    pub fn workspace(&self) -> Option<Workspace> {
        self.imp().workspace.upgrade()
    }

    /// Whether it stands for that agent.
    pub fn contains(&self, agent: &Agent) -> bool {
        self.imp().agents.borrow().contains(agent)
    }

    pub(super) fn set_agents(&self, agents: &[Agent]) {
        let imp = self.imp();
        imp.agents.replace(agents.to_vec());
        let count = u32::try_from(agents.len()).unwrap_or(u32::MAX);
        let names: Vec<String> = agents.iter().map(Agent::name).collect();
        // Translators: between the names in a list.
        let comma = gettext(", ");
        let workspace = self.workspace().map(|workspace| workspace.view().name.clone()).unwrap_or_default();
        // Translators: so many agents are idle.
        let label = ngettext_f("{count} idle", "{count} idle", count);
        let description = gettext_f(
            // Translators: read out by screen readers: "5 idle in shop: Codex, Hermes Agent".
            "{count} in {workspace}: {names}",
            &[("count", &label), ("workspace", &workspace), ("names", &names.join(&comma))],
        );
        if imp.label.replace(label.clone()) != label {
            self.notify_label();
        }
        let names = names.iter().map(|name| bidi::isolate(name)).collect::<Vec<_>>().join(&comma);
        if imp.names.replace(names.clone()) != names {
            self.notify_names();
        }
        if imp.description.replace(description.clone()) != description {
            self.notify_description();
        }
    }
}
