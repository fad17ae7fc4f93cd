// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line and hook program.

fn main() -> std::process::ExitCode {
    vigil::ctl::main()
}
