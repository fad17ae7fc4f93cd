// SPDX-License-Identifier: GPL-3.0-or-later
//! The roster, without a display, a bus or a clock: operations in, what is shown out, and after every operation the
//! invariants, the reader's copy and the restored state.

mod places;
mod random;
mod rules;
mod scene;
mod scripts;
mod table;
