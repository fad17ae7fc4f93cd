// SPDX-License-Identifier: GPL-3.0-or-later
//! The sidebar: a thin shell around the core.
//!
//! [`application`] is a service with a window when one is wanted. What comes in over the bus ([`dbus`]) or as an action
//! ([`actions`]) becomes a [`command`] in one queue; [`service`] carries it out on the roster and has the watchers
//! ([`watch`], [`claude`], [`journal`], [`git`], [`alarm`]) and the readers ([`output`]) follow. [`integrations`] looks
//! after our entries in the agents' settings, and [`edit`] changes them. Only [`model`] speaks to [`widget`].

use gtk::glib;
use gtk::prelude::*;

pub mod actions;
pub mod alarm;
pub mod application;
pub mod claude;
mod client;
pub mod clock;
pub mod command;
pub mod config;
pub mod dbus;
pub mod edit;
pub mod fd;
pub mod files;
pub mod found;
pub mod git;
pub mod i18n;
pub mod integrations;
pub mod journal;
pub mod model;
pub mod output;
pub mod proc;
pub mod project;
pub mod service;
pub mod settings;
pub mod watch;
pub mod widget;

/// Runs the sidebar until it quits.
pub fn main() -> glib::ExitCode {
    glib::set_application_name("Vigil");
    i18n::init(config::LOCALE_DIR);
    widget::register_resources();
    application::VigilApplication::new().run()
}
