// SPDX-License-Identifier: GPL-3.0-or-later
//! How agents come to call us: our entries in their settings, put in, taken out, and looked after.
//!
//! One file a format ([`json`]); those are text in, text out.

pub mod json;
