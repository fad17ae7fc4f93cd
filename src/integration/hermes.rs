// SPDX-License-Identifier: GPL-3.0-or-later
//! Hermes Agent: our plugin in its folder of plugins, and its name among those that the user has enabled.
//!
//! A folder that is only there is found and not loaded (seen, 0.19.0): its name has to stand under `plugins.enabled` of
//! `config.yaml`, and not under `plugins.disabled`, which wins. Each profile of the user's has a home of its own; the one
//! that `HERMES_HOME` names is meant.

use std::path::PathBuf;

use super::dropped::Dropped;
use super::json::Flaw;
use super::part::{Format, Left, Part, Survey};
use super::yaml::{self, Listed};
use super::{Integration, PLAIN, Surroundings, Version};

/// How we are put into it.
pub const INTEGRATION: Integration = Integration {
    agent: ID,
    programs: &["hermes"],
    folders: &[".local/bin"],
    parts: &[
        Part { file: manifest, format: &MANIFEST },
        Part { file: plugin, format: &PLUGIN },
        Part { file: settings, format: &ENABLED },
    ],
    switched_off,
    ..PLAIN
};

/// The agent's id in the catalogue.
pub const ID: &str = "hermes";

/// What the plugin is called, and its folder.
const NAME: &str = "vigil";

/// What the agent reads of the plugin before it loads it.
pub const MANIFEST: InFolder = InFolder(Dropped {
    name: "the plugin's manifest",
    template: include_str!("../../data/integrations/hermes/plugin.yaml"),
});

/// The plugin.
pub const PLUGIN: Dropped =
    Dropped { name: "the plugin", template: include_str!("../../data/integrations/hermes/__init__.py") };

/// Its name among the enabled ones.
pub const ENABLED: Listed =
    Listed { name: "`vigil` under `plugins.enabled`", keys: ["plugins", "enabled"], word: NAME };

/// A file that is in a folder of our own, and the last to go from it.
#[derive(Debug)]
pub struct InFolder(Dropped);

/// The agent's home: `$HERMES_HOME`, else `~/.hermes`.
fn home(surroundings: &Surroundings) -> Option<PathBuf> {
    let home = surroundings.variable("HERMES_HOME").map(PathBuf::from);
    home.or_else(|| Some(surroundings.home.as_ref()?.join(".hermes")))
}

fn in_plugin(surroundings: &Surroundings, name: &str) -> Option<PathBuf> {
    Some(home(surroundings)?.join("plugins").join(NAME).join(name))
}

/// Where the manifest is.
pub fn manifest(surroundings: &Surroundings) -> Option<PathBuf> {
    in_plugin(surroundings, "plugin.yaml")
}

/// Where the plugin is.
pub fn plugin(surroundings: &Surroundings) -> Option<PathBuf> {
    in_plugin(surroundings, "__init__.py")
}

/// The user's settings.
pub fn settings(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(home(surroundings)?.join("config.yaml"))
}

/// Whether the user has disabled our plugin, as a sentence.
pub fn switched_off(surroundings: &Surroundings, texts: &[Option<String>]) -> Option<String> {
    let text = texts.last()?.as_deref()?;
    let off = yaml::has(text, ["plugins", "disabled"], NAME);
    let place = settings(surroundings)?;
    off.then(|| format!("`{NAME}` under `plugins.disabled` in {} switches it off; remove it", place.display()))
}

impl Format for InFolder {
    fn survey(
        &self,
        text: Option<&str>,
        version: Option<Version>,
        runs: &dyn Fn(&str) -> bool,
    ) -> Result<Survey, Flaw> {
        self.0.survey(text, version, runs)
    }

    fn install(&self, text: Option<&str>, version: Option<Version>, program: &str) -> Result<String, Flaw> {
        self.0.install(text, version, program)
    }

    fn uninstall(&self, text: &str) -> Result<Left, Flaw> {
        self.0.uninstall(text)
    }

    fn snippet(&self, version: Option<Version>, program: &str) -> String {
        self.0.snippet(version, program)
    }

    fn emptied(&self) -> &'static str {
        self.0.emptied()
    }

    fn owns_folder(&self) -> bool {
        true
    }
}
