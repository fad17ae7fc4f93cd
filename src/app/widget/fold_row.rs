// SPDX-License-Identifier: GPL-3.0-or-later
//! The quiet rows of a workspace, as one row of the list. All that it shows is bound in the template.

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use crate::app::model::Fold;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "fold_row.ui")]
    #[properties(wrapper_type = super::FoldRow)]
    pub struct FoldRow {
        /// The fold that is shown; none while the row waits to be used again.
        #[property(get, set, nullable)]
        fold: RefCell<Option<Fold>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for FoldRow {
        const NAME: &'static str = "VigilFoldRow";
        type Type = super::FoldRow;
        type ParentType = gtk::Box;

        fn class_init(klass: &mut Self::Class) {
            Fold::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for FoldRow {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for FoldRow {}
    impl BoxImpl for FoldRow {}

    #[gtk::template_callbacks]
    impl FoldRow {
        #[template_callback]
        fn on_query_tooltip(&self, _x: i32, _y: i32, _keys: bool, tooltip: &gtk::Tooltip, label: &gtk::Label) -> bool {
            super::super::tooltip_if_cut(tooltip, label)
        }
    }
}

glib::wrapper! {
    /// The quiet rows of a workspace, as one row of the list.
    pub struct FoldRow(ObjectSubclass<imp::FoldRow>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl Default for FoldRow {
    fn default() -> Self {
        glib::Object::new()
    }
}
