// SPDX-License-Identifier: GPL-3.0-or-later
//! Objects that the list widgets bind to: properties only, no decisions.
