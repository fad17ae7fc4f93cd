// SPDX-License-Identifier: GPL-3.0-or-later
//! Where news goes: the bus, the window, and whatever is announced.

use crate::policy::{Alert, StateEvent};
use crate::roster::{Dirty, Roster};
use crate::snapshot::Change;

/// What changed since an output last heard.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    /// The roster as it is now.
    pub roster: &'a Roster,
    /// What may have changed in it.
    pub dirty: &'a Dirty,
    /// The serial and the changes that the published snapshot shows, if it shows any.
    pub published: Option<(u64, &'a [Change])>,
}

/// One reader of the service. It may send commands, which wait in the queue; it never calls the service.
pub trait Output {
    /// Something changed.
    fn changed(&self, _changed: &Changed<'_>) {}

    /// A state event is due.
    fn state_event(&self, _event: &StateEvent) {}

    /// An alert is due.
    fn alert(&self, _alert: &Alert) {}
}
