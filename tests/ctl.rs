// SPDX-License-Identifier: GPL-3.0-or-later
//! The built `vigilctl` as a process: a guest under hostile conditions, and a command line on a private bus.

mod support;

#[path = "ctl/commands.rs"]
mod commands;
#[path = "ctl/guest.rs"]
mod guest;
#[path = "ctl/hostile.rs"]
mod hostile;
