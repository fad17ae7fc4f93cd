// SPDX-License-Identifier: GPL-3.0-or-later
//! The times that the rows show: set right when the list comes onto a screen, ticking only while it is there.

use gtk::{glib, subclass::prelude::*};

use super::super::{Agent, next_tick};
use super::{Sidebar, imp};

impl Sidebar {
    /// Whether a timer runs.
    pub fn is_ticking(&self) -> bool {
        self.imp().timer.borrow().is_some()
    }

    /// Sets the times of all rows in the list right.
    pub fn tick(&self) {
        let now = self.now();
        for agent in self.listed() {
            agent.set_now(now);
        }
    }

    /// Starts the timer that the rows need, and no other.
    pub(super) fn wind(&self) {
        let imp = self.imp();
        let now = self.now();
        let wait = if imp.mapped.get() { next_tick(self.listed().iter().map(Agent::since), now) } else { None };
        let Some(wait) = wait else { return imp.stop() };
        // A wait of a minute is not begun anew at every change, else it might never end.
        let seconds = wait.as_secs() < 60;
        if imp.timer.borrow().as_ref().is_some_and(|timer| timer.seconds == seconds) {
            return;
        }
        imp.stop();
        let source = glib::timeout_add_local_once(
            wait,
            glib::clone!(
                #[weak(rename_to = sidebar)]
                self,
                move || {
                    sidebar.imp().timer.take();
                    sidebar.tick();
                    sidebar.wind();
                }
            ),
        );
        imp.timer.replace(Some(imp::Timer { source, seconds }));
    }
}
