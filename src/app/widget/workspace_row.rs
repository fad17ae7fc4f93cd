// SPDX-License-Identifier: GPL-3.0-or-later
//! One workspace in the list. All that it shows is bound in the template.

use std::cell::RefCell;

use gtk::{glib, prelude::*, subclass::prelude::*};

use crate::app::model::Workspace;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "workspace_row.ui")]
    #[properties(wrapper_type = super::WorkspaceRow)]
    pub struct WorkspaceRow {
        /// The workspace that is shown; none while the row waits to be used again.
        #[property(get, set = Self::set_workspace, nullable)]
        workspace: RefCell<Option<Workspace>>,
        classes: RefCell<Option<glib::Binding>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for WorkspaceRow {
        const NAME: &'static str = "VigilWorkspaceRow";
        type Type = super::WorkspaceRow;
        type ParentType = gtk::Box;

        fn class_init(klass: &mut Self::Class) {
            Workspace::ensure_type();
            klass.bind_template();
            klass.bind_template_callbacks();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for WorkspaceRow {
        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for WorkspaceRow {}
    impl BoxImpl for WorkspaceRow {}

    #[gtk::template_callbacks]
    impl WorkspaceRow {
        #[template_callback]
        fn on_query_tooltip(&self, _x: i32, _y: i32, _keys: bool, tooltip: &gtk::Tooltip, label: &gtk::Label) -> bool {
            super::super::tooltip_if_cut(tooltip, label)
        }
    }

    impl WorkspaceRow {
        fn set_workspace(&self, workspace: Option<Workspace>) {
            if let Some(classes) = self.classes.take() {
                classes.unbind();
            }
            if let Some(workspace) = &workspace {
                let classes = workspace.bind_property("row-classes", &*self.obj(), "css-classes").sync_create().build();
                self.classes.replace(Some(classes));
            }
            self.workspace.replace(workspace);
        }
    }
}

glib::wrapper! {
    /// One workspace in the list.
    pub struct WorkspaceRow(ObjectSubclass<imp::WorkspaceRow>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl Default for WorkspaceRow {
    fn default() -> Self {
        glib::Object::new()
    }
}
