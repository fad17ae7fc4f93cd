// SPDX-License-Identifier: GPL-3.0-or-later
//! The roster, without a display, a bus or a clock: operations in, what is shown out, and after every operation the
//! invariants, the reader's copy and the restored state.

mod alerts;
mod bounds;
mod converge;
mod ends;
mod late;
mod lives;
mod observed;
mod places;
mod questions;
mod random;
mod scene;
mod scripts;
mod shape;
mod table;
mod turns;
