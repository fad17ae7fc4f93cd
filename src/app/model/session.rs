// SPDX-License-Identifier: GPL-3.0-or-later
//! One session of a shared row, as an object that a line binds to.

use std::cell::RefCell;

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::session_face::SessionFace;
use super::splice::splice;
use crate::snapshot::{RowView, SessionView};

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::Session)]
    pub struct Session {
        /// The pane that it is in, else the beginning of its id.
        #[property(name = "name", get, type = String, member = name)]
        /// The pane and the id, whole.
        #[property(name = "tooltip", get, type = String, member = tooltip)]
        /// The status as a word.
        #[property(name = "status-label", get, type = String, member = status_label)]
        /// The icon that leads the line.
        #[property(name = "indicator", get, type = String, member = indicator)]
        /// The icon of what has not been seen, where the indicator does not say it.
        #[property(name = "state-mark", get, type = String, member = state_mark)]
        /// Whether there is one.
        #[property(name = "state-mark-visible", get, type = bool, member = state_mark_visible)]
        /// The line's style classes.
        #[property(name = "line-classes", get, type = Vec<String>, member = line_classes)]
        /// All of it in one sentence.
        #[property(name = "description", get, type = String, member = description)]
        pub(super) face: RefCell<SessionFace>,
        pub(super) row: RefCell<String>,
        pub(super) id: RefCell<String>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Session {
        const NAME: &'static str = "VigilSession";
        type Type = super::Session;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Session {}

    impl Session {
        /// Takes the new face and tells of each property that is another one.
        pub(super) fn set_face(&self, face: SessionFace) {
            let old = self.face.replace(face.clone());
            let obj = self.obj();
            let _queue = obj.freeze_notify();
            super::super::notify_changed! {
                obj, old, face,
                name => notify_name,
                tooltip => notify_tooltip,
                status_label => notify_status_label,
                indicator => notify_indicator,
                state_mark => notify_state_mark,
                state_mark_visible => notify_state_mark_visible,
                line_classes => notify_line_classes,
                description => notify_description,
            }
        }
    }
}

glib::wrapper! {
    /// One session of a shared row. Made and changed by its [`Agent`](super::Agent) alone.
    pub struct Session(ObjectSubclass<imp::Session>);
}

impl Session {
    /// What actions name it by: `ROW#SESSION`.
    pub fn target(&self) -> String {
        let imp = self.imp();
        format!("{}#{}", imp.row.borrow(), imp.id.borrow())
    }

    /// The agent's own id of it.
    pub fn id(&self) -> String {
        self.imp().id.borrow().clone()
    }

    fn new(row: &str, view: &SessionView) -> Self {
        let session: Self = glib::Object::new();
        session.imp().row.replace(row.to_owned());
        session.imp().id.replace(view.id.clone());
        session
    }
}

/// Brings the list of a row's sessions up to date: each that stays keeps its object. A row with one has no list.
pub(super) fn follow(store: &gio::ListStore, row: &RowView) {
    let views = if row.sessions.len() > 1 { row.sessions.as_slice() } else { &[] };
    if views.is_empty() && store.n_items() == 0 {
        return;
    }
    let mut known: Vec<Session> = store.iter().flatten().collect();
    let faces = SessionFace::all(views);
    let sessions = views.iter().zip(faces).map(|(view, face)| {
        let place = known.iter().position(|session| *session.imp().id.borrow() == view.id);
        let session = place.map_or_else(|| Session::new(&row.id, view), |place| known.swap_remove(place));
        session.imp().set_face(face);
        session.upcast()
    });
    splice(store, &sessions.collect::<Vec<_>>());
}
