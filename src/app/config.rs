// SPDX-License-Identifier: GPL-3.0-or-later
//! What the build decides. Defaults let plain `cargo run` work.

/// The program's version, with the commit where the build knows one.
pub const VERSION: &str = match option_env!("VIGIL_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Where translations are installed.
pub const LOCALE_DIR: &str = match option_env!("VIGIL_LOCALE_DIR") {
    Some(dir) => dir,
    None => "/usr/share/locale",
};
