// SPDX-License-Identifier: GPL-3.0-or-later
//! Widgets: templates and bindings, no state.
