// SPDX-License-Identifier: GPL-3.0-or-later
//! A file descriptor in the main loop.

use std::cell::Cell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use gtk::glib;

/// Calls back from the main loop whenever a descriptor is readable; dropped, it closes the descriptor.
pub struct FdWatch {
    // The source must go before the descriptor closes: fields drop in this order, after `Drop::drop`.
    source: Rc<Cell<Option<glib::SourceId>>>,
    fd: Rc<OwnedFd>,
}

impl FdWatch {
    /// Watches `fd` until the callback breaks or the watch is dropped. Must be called on the main thread.
    pub fn new(fd: OwnedFd, mut readable: impl FnMut(&OwnedFd) -> glib::ControlFlow + 'static) -> Self {
        let fd = Rc::new(fd);
        let source = Rc::new(Cell::new(None));
        let condition = glib::IOCondition::IN | glib::IOCondition::HUP | glib::IOCondition::ERR;
        let id = glib_unix::unix_fd_add_local(fd.as_raw_fd(), condition, {
            let (fd, source) = (fd.clone(), source.clone());
            move |_, _| {
                let flow = readable(&fd);
                if flow.is_break() {
                    // The main loop removes the source itself; its id must not be used again.
                    source.take();
                }
                flow
            }
        });
        source.set(Some(id));
        Self { source, fd }
    }

    /// The descriptor.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}

impl std::fmt::Debug for FdWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FdWatch").field(&self.fd).finish()
    }
}

impl Drop for FdWatch {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            source.remove();
        }
    }
}
