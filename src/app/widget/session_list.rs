// SPDX-License-Identifier: GPL-3.0-or-later
//! The sessions beneath a shared row: a line for each, which stays as long as its session does.

use std::cell::RefCell;

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::{AgentRow, SessionLine};
use crate::app::model::{Agent, Session};

mod imp {
    use super::*;

    #[derive(Default, glib::Properties)]
    #[properties(wrapper_type = super::SessionList)]
    pub struct SessionList {
        /// The agent whose sessions are shown.
        #[property(get, set = Self::set_agent, nullable)]
        agent: RefCell<Option<Agent>>,
        followed: RefCell<Option<(gio::ListModel, glib::SignalHandlerId)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for SessionList {
        const NAME: &'static str = "VigilSessionList";
        type Type = super::SessionList;
        type ParentType = gtk::Box;
    }

    #[glib::derived_properties]
    impl ObjectImpl for SessionList {
        fn constructed(&self) {
            self.parent_constructed();
            self.obj().set_orientation(gtk::Orientation::Vertical);
        }

        fn dispose(&self) {
            self.set_agent(None);
        }
    }

    impl WidgetImpl for SessionList {}
    impl BoxImpl for SessionList {}

    impl SessionList {
        fn set_agent(&self, agent: Option<Agent>) {
            if *self.agent.borrow() == agent {
                return;
            }
            if let Some((sessions, handler)) = self.followed.take() {
                sessions.disconnect(handler);
            }
            match &agent {
                None => self.lines().for_each(|line| line.set_session(None::<Session>)),
                Some(agent) => self.follow(agent.sessions()),
            }
            self.agent.replace(agent);
        }

        /// Takes the lines that there are before it makes any: the list binds a row anew in the middle of a press.
        fn follow(&self, sessions: gio::ListModel) {
            let before: Vec<SessionLine> = self.lines().collect();
            let kept = before.len().min(sessions.n_items() as usize);
            for (line, session) in before.iter().zip(sessions.iter::<Session>().flatten()) {
                line.set_session(Some(session));
            }
            self.splice(&sessions, kept, before.len() - kept, sessions.n_items() as usize - kept);
            let handler = sessions.connect_items_changed(glib::clone!(
                #[weak(rename_to = list)]
                self.obj(),
                move |sessions, position, removed, added| {
                    list.imp().splice(sessions, position as usize, removed as usize, added as usize);
                }
            ));
            self.followed.replace(Some((sessions, handler)));
        }

        fn splice(&self, sessions: &gio::ListModel, position: usize, removed: usize, added: usize) {
            let obj = self.obj();
            let gone: Vec<SessionLine> = self.lines().skip(position).take(removed).collect();
            let focused = gone.iter().any(gtk::prelude::WidgetExt::has_focus);
            let mut before = position.checked_sub(1).and_then(|place| self.lines().nth(place));
            for line in gone {
                obj.remove(&line);
            }
            for place in position..position + added {
                let session = u32::try_from(place).ok().and_then(|place| sessions.item(place));
                let Some(session) = session.and_downcast::<Session>() else { continue };
                let line = SessionLine::new(&session);
                obj.insert_child_after(&line, before.as_ref());
                before = Some(line);
            }
            // The focus of a line that is gone goes to the one that took its place, else to the row.
            let next = || self.lines().nth(position).or(self.lines().last());
            if focused && !next().is_some_and(|line| line.grab_focus()) {
                let row = obj.ancestor(AgentRow::static_type());
                row.map(|row| row.grab_focus());
            }
        }

        pub(super) fn lines(&self) -> impl Iterator<Item = SessionLine> {
            let children = std::iter::successors(self.obj().first_child(), WidgetExt::next_sibling);
            children.filter_map(|child| child.downcast().ok())
        }
    }
}

glib::wrapper! {
    /// The sessions beneath a shared row.
    pub struct SessionList(ObjectSubclass<imp::SessionList>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl SessionList {
    /// The line of that session.
    pub fn line(&self, session: &Session) -> Option<SessionLine> {
        self.imp().lines().find(|line| line.session().as_ref() == Some(session))
    }
}

impl Default for SessionList {
    fn default() -> Self {
        glib::Object::new()
    }
}
