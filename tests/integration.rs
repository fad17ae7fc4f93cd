// SPDX-License-Identifier: GPL-3.0-or-later
//! Putting ourselves into agents: real settings files, and the built `vigilctl` that changes them.

#[path = "integration/codewhale.rs"]
mod codewhale;
#[path = "integration/codex.rs"]
mod codex;
#[path = "integration/doctor.rs"]
mod doctor;
#[path = "integration/edits.rs"]
mod edits;
#[path = "integration/hermes.rs"]
mod hermes;
#[path = "integration/home.rs"]
mod home;
#[path = "integration/opencode.rs"]
mod opencode;
#[path = "integration/pi.rs"]
mod pi;
#[path = "integration/pool.rs"]
mod pool;
#[path = "integration/random.rs"]
mod random;
#[path = "integration/refusals.rs"]
mod refusals;
#[path = "integration/writing.rs"]
mod writing;
