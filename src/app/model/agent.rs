// SPDX-License-Identifier: GPL-3.0-or-later
//! One agent's row, as an object that a row widget binds to.

use std::cell::{Cell, Ref, RefCell};

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::agent_face::AgentFace;
use super::elapsed::elapsed;
use super::session::{self, Session};
use crate::snapshot::RowView;
use crate::status::{Attention, Status};
use crate::time::WallTime;

mod imp {
    use super::*;

    #[derive(glib::Properties)]
    #[properties(wrapper_type = super::Agent)]
    pub struct Agent {
        /// What to call it.
        #[property(name = "name", get, type = String, member = name)]
        /// What it does, did or asks.
        #[property(name = "message", get, type = String, member = message)]
        /// How many lines the message may take.
        #[property(name = "message-lines", get, type = i32, member = message_lines)]
        /// The status as a word.
        #[property(name = "status-label", get, type = String, member = status_label)]
        /// The icon that leads the row.
        #[property(name = "indicator", get, type = String, member = indicator)]
        /// The icon of what has not been seen, where the indicator does not say it.
        #[property(name = "state-mark", get, type = String, member = state_mark)]
        /// The same, as a sentence.
        #[property(name = "state-mark-tooltip", get, type = String, member = state_mark_tooltip)]
        /// Whether there is one.
        #[property(name = "state-mark-visible", get, type = bool, member = state_mark_visible)]
        /// How many sessions there are, or what some of them did.
        #[property(name = "sessions-label", get, type = String, member = sessions_label)]
        /// How many sessions there are.
        #[property(name = "sessions-tooltip", get, type = String, member = sessions_tooltip)]
        /// Whether there is more than one.
        #[property(name = "sessions-visible", get, type = bool, member = sessions_visible)]
        /// Whether there is a second line.
        #[property(name = "detail-visible", get, type = bool, member = detail_visible)]
        /// Subagents at work.
        #[property(name = "subagents", get, type = i32, member = subagents)]
        /// The same, as the counter shows it.
        #[property(name = "subagents-label", get, type = String, member = subagents_label)]
        /// The same, as a sentence.
        #[property(name = "subagents-tooltip", get, type = String, member = subagents_tooltip)]
        /// Background tasks that run.
        #[property(name = "background", get, type = i32, member = background)]
        /// The same, as the counter shows it.
        #[property(name = "background-label", get, type = String, member = background_label)]
        /// The same, as a sentence.
        #[property(name = "background-tooltip", get, type = String, member = background_tooltip)]
        /// The open question, whole.
        #[property(name = "question", get, type = String, member = question)]
        /// Who asks, and where.
        #[property(name = "question-context", get, type = String, member = question_context)]
        /// Whether there is a question to open.
        #[property(name = "question-visible", get, type = bool, member = question_visible)]
        /// Whether there is anything to open.
        #[property(name = "expandable", get, type = bool, member = expandable)]
        /// What opening it shows.
        #[property(name = "expander-label", get, type = String, member = expander_label)]
        /// The row's style classes.
        #[property(name = "row-classes", get, type = Vec<String>, member = row_classes)]
        /// All of it in one sentence.
        #[property(name = "description", get, type = String, member = description)]
        pub(super) face: RefCell<AgentFace>,
        /// How long the status has lasted.
        #[property(get)]
        pub(super) elapsed: RefCell<String>,
        /// Whether the question and the sessions are open.
        #[property(get, set = Self::set_expanded, explicit_notify)]
        pub(super) expanded: Cell<bool>,
        /// Whether the question is: it is told by what is open and by whether there is one.
        #[property(get)]
        /// Whether it is not, so that the message stands in the row.
        #[property(name = "question-closed", get = |agent: &Self| !agent.question_open.get(), type = bool)]
        pub(super) question_open: Cell<bool>,
        /// The sessions beneath the row; none if it has only one. The same list for good.
        #[property(get = |agent: &Self| agent.sessions.clone().upcast(), type = gio::ListModel)]
        pub(super) sessions: gio::ListStore,
        /// Whether the question can be answered from here.
        #[property(get)]
        pub(super) answerable: Cell<bool>,
        pub(super) view: RefCell<Option<RowView>>,
        pub(super) since: Cell<WallTime>,
        pub(super) workspace_id: RefCell<String>,
        pub(super) workspace_name: RefCell<String>,
    }

    impl Default for Agent {
        fn default() -> Self {
            Self {
                face: RefCell::default(),
                elapsed: RefCell::default(),
                expanded: Cell::default(),
                question_open: Cell::default(),
                sessions: gio::ListStore::new::<Session>(),
                answerable: Cell::default(),
                view: RefCell::default(),
                since: Cell::default(),
                workspace_id: RefCell::default(),
                workspace_name: RefCell::default(),
            }
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Agent {
        const NAME: &'static str = "VigilAgent";
        type Type = super::Agent;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Agent {}

    impl Agent {
        /// Only a question and sessions can be open.
        fn set_expanded(&self, expanded: bool) {
            let expanded = expanded && self.face.borrow().expandable;
            if self.expanded.replace(expanded) != expanded {
                self.obj().notify_expanded();
            }
            self.open_question();
        }

        fn open_question(&self) {
            let open = self.expanded.get() && self.face.borrow().question_visible;
            if self.question_open.replace(open) != open {
                self.obj().notify_question_open();
                self.obj().notify_question_closed();
            }
        }

        /// Takes the new face and tells of each property that is another one.
        pub(super) fn set_face(&self, face: AgentFace) {
            let old = self.face.replace(face.clone());
            let _queue = self.obj().freeze_notify();
            let obj = self.obj();
            super::super::notify_changed! {
                obj, old, face,
                name => notify_name,
                message => notify_message,
                message_lines => notify_message_lines,
                status_label => notify_status_label,
                indicator => notify_indicator,
                state_mark => notify_state_mark,
                state_mark_tooltip => notify_state_mark_tooltip,
                state_mark_visible => notify_state_mark_visible,
                sessions_label => notify_sessions_label,
                sessions_tooltip => notify_sessions_tooltip,
                sessions_visible => notify_sessions_visible,
                detail_visible => notify_detail_visible,
                subagents => notify_subagents,
                subagents_label => notify_subagents_label,
                subagents_tooltip => notify_subagents_tooltip,
                background => notify_background,
                background_label => notify_background_label,
                background_tooltip => notify_background_tooltip,
                question => notify_question,
                question_context => notify_question_context,
                question_visible => notify_question_visible,
                expandable => notify_expandable,
                expander_label => notify_expander_label,
                row_classes => notify_row_classes,
                description => notify_description,
            }
            // Another question starts closed, and nothing is.
            let another = old.question_visible && face.question_visible && old.question != face.question;
            self.set_expanded(self.expanded.get() && !another);
        }
    }
}

glib::wrapper! {
    /// One agent's row. Made and changed by the [`Sidebar`](super::Sidebar) alone.
    pub struct Agent(ObjectSubclass<imp::Agent>);
}

impl Agent {
    pub(super) fn new(view: &RowView, workspace: &super::Workspace) -> Self {
        let agent: Self = glib::Object::new();
        agent.set_workspace(workspace);
        agent.set_view(view);
        agent
    }

    /// The row's id.
    pub fn id(&self) -> String {
        self.view().id.clone()
    }

    /// The published row.
    pub fn view(&self) -> Ref<'_, RowView> {
        Ref::map(self.imp().view.borrow(), |view| view.as_ref().expect("new() has set it"))
    }

    /// The id of the workspace that it stands in.
    pub fn workspace_id(&self) -> String {
        self.imp().workspace_id.borrow().clone()
    }

    /// When the status last changed.
    pub fn since(&self) -> WallTime {
        self.imp().since.get()
    }

    pub(super) fn set_view(&self, view: &RowView) {
        let imp = self.imp();
        if imp.view.borrow().as_ref() == Some(view) {
            return;
        }
        imp.since.set(WallTime::parse_rfc3339(&view.since).unwrap_or_default());
        imp.view.replace(Some(view.clone()));
        session::follow(&imp.sessions, view);
        self.renew();
    }

    pub(super) fn set_workspace(&self, workspace: &super::Workspace) {
        let imp = self.imp();
        imp.workspace_id.replace(workspace.id());
        let name = workspace.view().name.clone();
        if imp.workspace_name.replace(name.clone()) != name {
            self.renew();
        }
    }

    /// Sets the time that the row shows.
    pub(super) fn set_now(&self, now: WallTime) {
        let text = elapsed(self.since(), now);
        if *self.imp().elapsed.borrow() != text {
            self.imp().elapsed.replace(text);
            self.notify_elapsed();
        }
    }

    /// Whether it may be folded away with others: idle, seen, and nothing of it still at work.
    pub(super) fn is_quiet(&self) -> bool {
        let view = self.view();
        let rests = |status, subagents, background| status == Status::Idle && subagents == 0 && background == 0;
        // The row is Idle when the session that updated last is: the others may be at work.
        view.attention == Attention::None
            && rests(view.status, view.subagents, view.background)
            && view.sessions.iter().all(|session| rests(session.status, session.subagents, session.background))
    }

    /// Whether each of the words (in lower case) stands somewhere in what the user knows it by.
    pub(super) fn matches(&self, words: &[String], branch: &str) -> bool {
        let face = self.imp().face.borrow();
        let workspace = self.imp().workspace_name.borrow();
        let texts = [&face.name, &*workspace, branch, &face.message, &face.status_label].map(str::to_lowercase);
        words.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }

    fn renew(&self) {
        let imp = self.imp();
        let face = imp.view.borrow().as_ref().map(|view| AgentFace::of(view, &imp.workspace_name.borrow()));
        if let Some(face) = face {
            imp.set_face(face);
        }
    }
}
