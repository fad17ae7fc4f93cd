// SPDX-License-Identifier: GPL-3.0-or-later
//! Says why an agent's settings were left alone, and what the user can put in by hand.

use std::cell::RefCell;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib;

use crate::app::i18n::gettext;
use crate::integration::Refusal;
use crate::text;

const CLOSE: &str = "close";
const COPY: &str = "copy";

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "refusal.ui")]
    #[properties(wrapper_type = super::RefusalDialog)]
    pub struct RefusalDialog {
        /// What can be put in by hand; empty without anything.
        #[property(get, set, construct_only)]
        snippet: RefCell<String>,
        #[template_child]
        snippet_text: TemplateChild<gtk::TextView>,
        #[template_child]
        snippet_box: TemplateChild<gtk::Box>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for RefusalDialog {
        const NAME: &'static str = "VigilRefusalDialog";
        type Type = super::RefusalDialog;
        type ParentType = adw::MessageDialog;

        fn class_init(klass: &mut Self::Class) {
            klass.bind_template();
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for RefusalDialog {
        fn constructed(&self) {
            self.parent_constructed();
            let snippet = self.snippet.borrow();
            let obj = self.obj();
            self.snippet_text.buffer().set_text(&snippet);
            self.snippet_box.set_visible(!snippet.is_empty());
            obj.add_response(CLOSE, &gettext("_Close"));
            if !snippet.is_empty() {
                obj.add_response(COPY, &gettext("Co_py"));
            }
            obj.set_default_response(Some(CLOSE));
            obj.set_close_response(CLOSE);
        }

        fn dispose(&self) {
            self.dispose_template();
        }
    }

    impl WidgetImpl for RefusalDialog {}
    impl WindowImpl for RefusalDialog {}

    impl MessageDialogImpl for RefusalDialog {
        fn response(&self, response: &str) {
            if response == COPY {
                self.obj().clipboard().set_text(&self.snippet.borrow());
            }
        }
    }
}

glib::wrapper! {
    /// Why an agent's settings were left alone.
    pub struct RefusalDialog(ObjectSubclass<imp::RefusalDialog>)
        @extends adw::MessageDialog, gtk::Window, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Native, gtk::Root, gtk::ShortcutManager;
}

impl RefusalDialog {
    /// A dialog above `parent` that says it.
    pub fn new(parent: &impl IsA<gtk::Window>, heading: &str, refusal: &Refusal) -> Self {
        glib::Object::builder()
            .property("transient-for", parent)
            .property("heading", heading)
            .property("body", text::one_line(&refusal.message))
            .property("snippet", refusal.snippet.clone().unwrap_or_default())
            .build()
    }
}
