// SPDX-License-Identifier: GPL-3.0-or-later
//! The real window, read as a screen reader reads it: what it says while agents work, and what the keyboard does in it.

#[path = "support/claude.rs"]
mod claude;
#[path = "support/claude_captures.rs"]
mod claude_captures;
#[path = "support/labels.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod labels;
#[path = "support/session.rs"]
#[allow(dead_code, reason = "each test binary takes a part of it")]
mod session;

#[path = "window/banner.rs"]
mod banner;
#[path = "window/captures.rs"]
mod captures;
#[path = "window/preferences.rs"]
mod preferences;
#[path = "window/screen.rs"]
mod screen;
#[path = "window/walk.rs"]
mod walk;
