// SPDX-License-Identifier: GPL-3.0-or-later
//! What above the list says that an integration wants repair.

use std::cell::RefCell;

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::Integration;
use crate::app::i18n::gettext_f;
use crate::text;

/// What the banner shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BannerFace {
    /// Whether it is there.
    pub revealed: bool,
    /// What is wrong.
    pub label: String,
    /// Whether we can put it right.
    pub repairable: bool,
    /// The agent whose hooks it is about.
    pub agent: String,
}

impl BannerFace {
    /// The banner of an integration that does not work as it should.
    fn of(broken: &Integration) -> Self {
        let name = broken.name();
        let label = if !broken.repairable() {
            let advice = text::one_line(&broken.advice());
            // Translators: {agent} is an agent's name, {advice} a sentence that says what to do.
            gettext_f("{agent}: {advice}", &[("agent", &name), ("advice", &advice)])
        } else if broken.state() == "partial" {
            // Translators: {agent} is an agent's name.
            gettext_f("{agent}’s hooks are incomplete", &[("agent", &name)])
        } else {
            // Translators: {agent} is an agent's name.
            gettext_f("{agent}’s hooks are out of date", &[("agent", &name)])
        };
        Self { revealed: true, label, repairable: broken.repairable(), agent: broken.agent() }
    }
}

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Banner)]
    pub struct Banner {
        /// Whether it is there. What it said stays while it goes.
        #[property(name = "revealed", get, type = bool, member = revealed)]
        /// What is wrong.
        #[property(name = "label", get, type = String, member = label)]
        /// Whether Repair would put it right.
        #[property(name = "repairable", get, type = bool, member = repairable)]
        /// The agent's id.
        #[property(name = "agent", get, type = String, member = agent)]
        pub(super) face: RefCell<BannerFace>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Banner {
        const NAME: &'static str = "VigilBanner";
        type Type = super::Banner;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Banner {}

    impl Banner {
        fn set_face(&self, face: BannerFace) {
            let old = self.face.replace(face.clone());
            let obj = self.obj();
            let _queue = obj.freeze_notify();
            super::super::notify_changed! {
                obj, old, face,
                label => notify_label,
                repairable => notify_repairable,
                agent => notify_agent,
                revealed => notify_revealed,
            }
        }

        /// One at a time: when the first is repaired, the next one has its turn.
        pub(super) fn look_at(&self, integrations: &gio::ListStore) {
            let broken = integrations.iter::<Integration>().flatten().find(Integration::broken);
            let gone = || BannerFace { revealed: false, ..self.face.borrow().clone() };
            let face = broken.map_or_else(gone, |broken| BannerFace::of(&broken));
            self.set_face(face);
        }
    }
}

glib::wrapper! {
    /// The banner above the list.
    pub struct Banner(ObjectSubclass<imp::Banner>);
}

impl Banner {
    /// The banner of the first of these [`Integration`]s that does not work as it should. The list stays as it is.
    pub fn new(integrations: &gio::ListStore) -> Self {
        let banner: Self = glib::Object::new();
        for integration in integrations.iter::<Integration>().flatten() {
            let (shown, list) = (banner.downgrade(), integrations.downgrade());
            integration.connect_notify_local(None, move |_, _| {
                if let (Some(shown), Some(list)) = (shown.upgrade(), list.upgrade()) {
                    shown.imp().look_at(&list);
                }
            });
        }
        banner.imp().look_at(integrations);
        banner
    }
}
