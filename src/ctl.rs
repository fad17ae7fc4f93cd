// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line and hook program.

use std::process::ExitCode;

/// Runs one command.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
