// SPDX-License-Identifier: GPL-3.0-or-later
//! Names and types that both programs share: the bus, the interface, and the origin block of a hook.

use std::collections::BTreeMap;

/// The application id, and the bus name. Defined once at build time; the default serves plain `cargo`.
pub const APP_ID: &str = match option_env!("VIGIL_APP_ID") {
    Some(id) => id,
    None => "dev.vigil.Vigil",
};

/// Where the object lives on the bus.
pub const OBJECT_PATH: &str = "/dev/vigil/Vigil";

/// The one interface.
pub const INTERFACE: &str = "dev.vigil.Vigil1";

/// Errors on the bus are named `dev.vigil.Vigil1.Error.NAME`.
pub const ERROR_PREFIX: &str = "dev.vigil.Vigil1.Error.";

/// The version of the snapshot format.
pub const SNAPSHOT_VERSION: u32 = 1;

/// The version of the origin block.
pub const ORIGIN_VERSION: u32 = 1;

/// How many parents a hook lists.
pub const CHAIN_LENGTH: usize = 16;

/// The variables a hook forwards in its origin block, and no others: ids of workspaces and panes, and the few that
/// an agent's translation, or the watching of its own files, needs. None of them holds a secret.
pub const ENVIRONMENT: &[&str] = &[
    "VIGIL_WORKSPACE_ID",
    "VIGIL_SURFACE_ID",
    "SEANCE_WORKSPACE_ID",
    "SEANCE_SURFACE_ID",
    "TMUX",
    "TMUX_PANE",
    "ZELLIJ_SESSION_NAME",
    "ZELLIJ_PANE_ID",
    "KITTY_PID",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "WEZTERM_UNIX_SOCKET",
    "KONSOLE_DBUS_SERVICE",
    "KONSOLE_DBUS_SESSION",
    "WINDOWID",
    "CLAUDE_PID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CONFIG_DIR",
    "HOME",
    "VIBE_HOME",
    "CODEWHALE_SESSION_ID",
    "DEEPSEEK_SESSION_ID",
];

/// What an error on the bus says of a call, by the last word of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorName {
    /// The payload is not one JSON object, or a field in it has the wrong type.
    InvalidPayload,
    /// An argument is empty, too long, out of range or of the wrong form.
    InvalidArgument,
    /// No row has that id or key.
    UnknownRow,
    /// The member exists, and does nothing yet.
    NotAvailable,
}

impl ErrorName {
    /// The last word of the error's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidPayload => "InvalidPayload",
            Self::InvalidArgument => "InvalidArgument",
            Self::UnknownRow => "UnknownRow",
            Self::NotAvailable => "NotAvailable",
        }
    }
}

/// A refusal: its name and a sentence that says what was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of refusal.
    pub name: ErrorName,
    /// What was wrong, as a sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal of that name.
    pub fn new(name: ErrorName, message: impl Into<String>) -> Self {
        Self { name, message: message.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// One process of a hook's ancestry, as it was while the hook lived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// The process id, in the hook's pid namespace.
    pub pid: u32,
    /// When it started, in clock ticks since boot (`/proc/PID/stat`, field 22): pid and start name a process for good.
    pub start: u64,
    /// Its `comm`.
    pub comm: String,
    /// The device number of its controlling terminal (field 7), 0 for none.
    pub tty: u32,
}

/// Where an event comes from, as the hook saw it. Everything in it is a claim of the sender; absent parts are `None`
/// or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Random, 128 bit: an event is applied once.
    pub id: Option<String>,
    /// [`ORIGIN_VERSION`] of the sender.
    pub version: u32,
    /// The hook's start on the boot clock, in nanoseconds.
    pub at: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
    /// Inode of the pid namespace.
    pub pidns: Option<u64>,
    /// The host's name.
    pub host: Option<String>,
    /// Parents, nearest first.
    pub chain: Vec<ChainLink>,
    /// The hook's working directory.
    pub cwd: Option<String>,
    /// The variables of [`ENVIRONMENT`] that were set.
    pub env: BTreeMap<String, String>,
}
