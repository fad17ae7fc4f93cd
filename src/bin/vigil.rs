// SPDX-License-Identifier: GPL-3.0-or-later
//! The sidebar.

fn main() -> gtk::glib::ExitCode {
    vigil::app::main()
}
