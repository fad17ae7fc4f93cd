// SPDX-License-Identifier: GPL-3.0-or-later
//! All agents as the preferences list them: those that are on this computer, and the others.

use std::cell::{Cell, OnceCell, RefCell};

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::Integration;
use crate::app::i18n::ngettext_f;

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Connections)]
    pub struct Connections {
        /// The [`Integration`]s of agents that are on this computer, or have something of ours.
        #[property(get = Self::present)]
        present: OnceCell<gio::ListStore>,
        /// Those of the others.
        #[property(get = Self::absent)]
        absent: OnceCell<gio::ListStore>,
        /// How many others there are, in words.
        #[property(get)]
        absent_label: RefCell<String>,
        /// Their names.
        #[property(get)]
        absent_names: RefCell<String>,
        /// Whether there are any.
        #[property(get)]
        absent_any: Cell<bool>,
        /// Whether there are any on this computer.
        #[property(get)]
        present_any: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Connections {
        const NAME: &'static str = "VigilConnections";
        type Type = super::Connections;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Connections {}

    impl Connections {
        pub(super) fn present(&self) -> gio::ListStore {
            self.present.get_or_init(gio::ListStore::new::<Integration>).clone()
        }

        pub(super) fn absent(&self) -> gio::ListStore {
            self.absent.get_or_init(gio::ListStore::new::<Integration>).clone()
        }

        /// Has each stand where it belongs, in the order of the whole.
        pub(super) fn sort(&self, all: &gio::ListStore) {
            let (present, absent): (Vec<_>, Vec<_>) =
                all.iter::<Integration>().flatten().partition(|one| one.present());
            let names: Vec<String> = absent.iter().map(Integration::name).collect();
            let count = u32::try_from(absent.len()).unwrap_or(u32::MAX);
            let obj = self.obj();
            let _queue = obj.freeze_notify();
            // Translators: agents that were not found on this computer.
            self.absent_label.replace(ngettext_f("{count} more agent", "{count} more agents", count));
            obj.notify_absent_label();
            self.absent_names.replace(names.join(", "));
            obj.notify_absent_names();
            self.absent_any.set(!absent.is_empty());
            obj.notify_absent_any();
            self.present_any.set(!present.is_empty());
            obj.notify_present_any();
            fit(&self.present(), &present);
            fit(&self.absent(), &absent);
        }
    }

    /// Makes a list that, by taking out what has gone and putting in what has come: the others keep their rows.
    fn fit(list: &gio::ListStore, wanted: &[Integration]) {
        list.retain(|kept| wanted.iter().any(|one| one.upcast_ref::<glib::Object>() == kept));
        for (at, one) in (0..).zip(wanted) {
            if list.item(at).as_ref() != Some(one.upcast_ref::<glib::Object>()) {
                list.insert(at, one);
            }
        }
    }
}

glib::wrapper! {
    /// All agents, sorted by whether they are on this computer.
    pub struct Connections(ObjectSubclass<imp::Connections>);
}

impl Connections {
    /// Those of this list of [`Integration`]s, which stays as it is.
    pub fn new(integrations: &gio::ListStore) -> Self {
        let connections: Self = glib::Object::new();
        for integration in integrations.iter::<Integration>().flatten() {
            let (sorted, list) = (connections.downgrade(), integrations.downgrade());
            integration.connect_present_notify(move |_| {
                if let (Some(sorted), Some(list)) = (sorted.upgrade(), list.upgrade()) {
                    sorted.imp().sort(&list);
                }
            });
        }
        connections.imp().sort(integrations);
        connections
    }
}
