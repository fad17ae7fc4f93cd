// SPDX-License-Identifier: GPL-3.0-or-later
//! The running application from outside: every member, every action, and the tools by which scripts reach them.

#[path = "support/session.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod session;

#[path = "dbus/actions.rs"]
mod actions;
#[path = "dbus/agents.rs"]
mod agents;
#[path = "dbus/members.rs"]
mod members;
#[path = "dbus/origins.rs"]
mod origins;
#[path = "dbus/refusals.rs"]
mod refusals;
#[path = "dbus/signals.rs"]
mod signals;
#[path = "dbus/tools.rs"]
mod tools;
