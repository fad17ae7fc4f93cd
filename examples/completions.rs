// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes the completions of the command line into `data/completions`, for each shell.
//!
//! `cargo run --example completions`, whenever the command line has changed.

use clap_complete::Shell;

fn main() -> std::io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/completions");
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut vigil::ctl::description(), "vigilctl", folder)?;
    }
    Ok(())
}
