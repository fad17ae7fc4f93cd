// SPDX-License-Identifier: GPL-3.0-or-later
//! OpenCode, Kilo Code and MiMo Code: one plugin for the three, a file in the plugin folder of each.
//!
//! The user's own folder is read wherever else the program looks (seen, OpenCode 1.18.33: a folder of
//! `OPENCODE_CONFIG_DIR` comes in addition), and a file alone is enough. A running program reads it at its next start.
//! MiMo Code could not be run: its folders are those of its documentation, and whether its installation of packages
//! holds it up without a network is not known, so it gets no [`super::npmrc`].

use std::path::PathBuf;

use super::dropped::Dropped;
use super::npmrc::Npmrc;
use super::part::Part;
use super::{Integration, PLAIN, Surroundings};

/// How we are put into OpenCode.
pub const OPENCODE: Integration = Integration {
    agent: "opencode",
    programs: &["opencode"],
    folders: &[".opencode/bin", ".local/bin", ".bun/bin"],
    parts: &[Part { file: opencode_plugin, format: &PLUGIN }, Part { file: opencode_npmrc, format: &PATIENCE }],
    switched_off: opencode_off,
    ..PLAIN
};

/// How we are put into Kilo Code.
pub const KILO: Integration = Integration {
    agent: "kilo",
    programs: &["kilo", "kilocode"],
    folders: &[".local/bin", ".bun/bin"],
    parts: &[Part { file: kilo_plugin, format: &PLUGIN }, Part { file: kilo_npmrc, format: &PATIENCE }],
    switched_off: kilo_off,
    ..PLAIN
};

/// How we are put into MiMo Code.
pub const MIMO: Integration = Integration {
    agent: "mimocode",
    programs: &["mimo"],
    folders: &[".mimocode/bin", ".local/bin"],
    parts: &[Part { file: mimo_plugin, format: &PLUGIN }],
    switched_off: mimo_off,
    ..PLAIN
};

/// The plugin.
pub const PLUGIN: Dropped =
    Dropped { name: "plugin", template: include_str!("../../data/integrations/opencode/vigil.js") };

/// What keeps the program from standing still where there is no network.
pub const PATIENCE: Npmrc = Npmrc;

/// The folder of settings that bears that name.
fn folder(surroundings: &Surroundings, name: &str) -> Option<PathBuf> {
    let folder = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    Some(folder.or_else(|| Some(surroundings.home.as_ref()?.join(".config")))?.join(name))
}

fn plugin_in(folder: PathBuf) -> PathBuf {
    folder.join("plugins/vigil.js")
}

/// The plugin of OpenCode.
pub fn opencode_plugin(surroundings: &Surroundings) -> Option<PathBuf> {
    folder(surroundings, "opencode").map(plugin_in)
}

/// The plugin of Kilo Code.
pub fn kilo_plugin(surroundings: &Surroundings) -> Option<PathBuf> {
    folder(surroundings, "kilo").map(plugin_in)
}

/// The plugin of MiMo Code, all of whose folders may lie elsewhere.
pub fn mimo_plugin(surroundings: &Surroundings) -> Option<PathBuf> {
    let own = surroundings.variable("MIMOCODE_HOME").map(|home| PathBuf::from(home).join("config"));
    own.or_else(|| folder(surroundings, "mimocode")).map(plugin_in)
}

/// How npm is to behave in OpenCode's folder.
pub fn opencode_npmrc(surroundings: &Surroundings) -> Option<PathBuf> {
    folder(surroundings, "opencode").map(|folder| folder.join(".npmrc"))
}

/// How npm is to behave in Kilo Code's folder.
pub fn kilo_npmrc(surroundings: &Surroundings) -> Option<PathBuf> {
    folder(surroundings, "kilo").map(|folder| folder.join(".npmrc"))
}

/// What switches plugins off, as a sentence.
fn pure(surroundings: &Surroundings, variable: &str) -> Option<String> {
    let value = surroundings.variable(variable)?.to_str()?.to_lowercase();
    let is_set = ["1", "true"].contains(&value.as_str());
    is_set.then(|| format!("`{variable}` in the environment switches all plugins off; unset it"))
}

/// What switches OpenCode's plugins off.
pub fn opencode_off(surroundings: &Surroundings, _texts: &[Option<String>]) -> Option<String> {
    pure(surroundings, "OPENCODE_PURE")
}

/// What switches Kilo Code's plugins off.
pub fn kilo_off(surroundings: &Surroundings, _texts: &[Option<String>]) -> Option<String> {
    pure(surroundings, "KILO_PURE")
}

/// What switches MiMo Code's plugins off.
pub fn mimo_off(surroundings: &Surroundings, _texts: &[Option<String>]) -> Option<String> {
    pure(surroundings, "MIMOCODE_PURE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(variables: &[(&str, &str)]) -> Surroundings {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Surroundings { variables, home: Some("/home/u".into()), root: "/".into() }
    }

    #[test]
    fn each_program_has_its_folder() {
        let at = |file: Option<PathBuf>| file.unwrap().display().to_string();
        let usual = surroundings(&[("OPENCODE_CONFIG_DIR", "/elsewhere")]);
        assert_eq!(at(opencode_plugin(&usual)), "/home/u/.config/opencode/plugins/vigil.js");
        assert_eq!(at(kilo_plugin(&usual)), "/home/u/.config/kilo/plugins/vigil.js");
        assert_eq!(at(mimo_plugin(&usual)), "/home/u/.config/mimocode/plugins/vigil.js");
        assert_eq!(at(opencode_npmrc(&usual)), "/home/u/.config/opencode/.npmrc");
        let moved = surroundings(&[("XDG_CONFIG_HOME", "/c"), ("MIMOCODE_HOME", "/m")]);
        assert_eq!(at(opencode_plugin(&moved)), "/c/opencode/plugins/vigil.js");
        assert_eq!(at(kilo_npmrc(&moved)), "/c/kilo/.npmrc");
        assert_eq!(at(mimo_plugin(&moved)), "/m/config/plugins/vigil.js");
        assert_eq!(opencode_plugin(&Surroundings::default()), None);
    }

    #[test]
    fn plugins_are_switched_off_by_a_variable() {
        assert_eq!(opencode_off(&surroundings(&[("KILO_PURE", "1")]), &[]), None);
        assert_eq!(opencode_off(&surroundings(&[("OPENCODE_PURE", "0")]), &[]), None);
        assert!(opencode_off(&surroundings(&[("OPENCODE_PURE", "true")]), &[]).is_some());
        assert!(kilo_off(&surroundings(&[("KILO_PURE", "1")]), &[]).is_some());
        assert!(mimo_off(&surroundings(&[("MIMOCODE_PURE", "1")]), &[]).is_some());
    }
}
