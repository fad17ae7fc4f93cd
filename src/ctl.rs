// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line and hook program.
//!
//! Two programs in one: a guest that agents call at every step (`hook`), which must never be heard, and commands for
//! people and their scripts, which say what went wrong. Which one it is is decided by the first words alone, so that
//! the guest never goes through the command line's parser.

mod bus;
mod commands;
mod deadline;
mod doctor;
mod hook;
mod install;
mod line;
mod replay;
mod running;
mod seen;
mod status;
mod stdin;
mod trust;
mod watch;

use std::process::ExitCode;

/// The command line as it is described, for what is made of it: completions.
pub fn description() -> clap::Command {
    line::description()
}

/// Runs one command.
pub fn main() -> ExitCode {
    // Arguments that are not UTF-8 are read as well as they can be: a guest takes any.
    let mut words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // Séance's spelling, whatever the program is called: its scripts say `seance ctl`.
    if words.first().is_some_and(|word| word == "ctl") {
        words.remove(0);
    }
    match hook::Call::parse(&words) {
        Some(call) => hook::run(call),
        None => line::run(words),
    }
}
