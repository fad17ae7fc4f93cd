// SPDX-License-Identifier: GPL-3.0-or-later
//! Vigil keeps vigil over the coding agents that run in your terminals.
//!
//! # Layout
//!
//! The core knows no toolkit, no clock and no I/O:
//!
//! - [`event`]: the unified vocabulary, and what one event carries.
//! - [`agent`]: the catalogue, and one translation a file from native payloads to events.
//! - [`forward`]: which fields of a payload are read at all, and how they are cut.
//! - [`origin`]: what a hook saw of its processes and panes, and what follows from it.
//! - [`roster`]: the state machine: events in, rows out.
//! - [`policy`]: what to announce, and when.
//! - [`snapshot`]: the published view.
//! - [`status`], [`time`], [`text`], [`protocol`]: the words that all of these use.
//!
//! Beside it stands what looks at the world, with no toolkit either:
//!
//! - [`integration`]: our entries in agents' settings, put in, taken out, and looked after.
//! - [`proc`]: what the kernel says of a process and of those above it.
//!
//! Around it, two thin shells: [`app`] is the sidebar (GTK), [`ctl`] the command line and hook program (no GTK).
//!
//! ```text
//! native event ──translate──▶ Event ──Roster::apply(event, now)──▶ changes ──▶ rows · alerts · state events · D-Bus
//! ```

pub mod agent;
pub mod app;
pub mod ctl;
pub mod event;
pub mod forward;
pub mod integration;
pub mod origin;
pub mod policy;
pub mod proc;
pub mod protocol;
pub mod roster;
pub mod snapshot;
pub mod status;
pub mod text;
pub mod time;
