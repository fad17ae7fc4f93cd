// SPDX-License-Identifier: GPL-3.0-or-later
//! The sidebar: a thin shell around the core.

use gtk::glib;

pub mod i18n;
pub mod model;
pub mod widget;

/// Runs the sidebar until it quits.
pub fn main() -> glib::ExitCode {
    glib::ExitCode::SUCCESS
}
