// SPDX-License-Identifier: GPL-3.0-or-later
//! The user's settings, behind one typed door. The names of the keys stand in the schema and here only.

use std::path::PathBuf;
use std::time::Duration;

use gtk::gio::prelude::*;
use gtk::{gio, glib};

use crate::protocol::APP_ID;
use crate::roster;

const CLOSE_TO_BACKGROUND: &str = "close-to-background";
const ERROR_GRACE: &str = "error-grace";
const FOLD_IDLE: &str = "fold-idle";
const SHOW_HIDDEN: &str = "show-hidden";
const UNWATCHED_HOURS: &str = "unwatched-hours";
const WINDOW_HEIGHT: &str = "window-height";
const WINDOW_WIDTH: &str = "window-width";
const WORKSPACE_ORDER: &str = "workspace-order";

/// In which order workspaces stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkspaceOrder {
    /// Each keeps its place.
    #[default]
    Stable,
    /// Those that want the user come first.
    Urgency,
}

/// The settings. Without a schema they are the defaults, and nothing can be stored.
#[derive(Clone, Debug)]
pub struct Settings(Option<gio::Settings>);

impl Settings {
    /// The user's settings, by the installed schema, else by the one of the build folder.
    pub fn load() -> Self {
        let Some(schema) = find_schema() else {
            glib::g_warning!("vigil", "No settings schema {APP_ID}: the defaults hold, and nothing is stored");
            return Self(None);
        };
        Self(Some(gio::Settings::new_full(&schema, None::<&gio::SettingsBackend>, None)))
    }

    /// The defaults, whatever is installed.
    pub fn defaults() -> Self {
        Self(None)
    }

    /// Whether closing the window keeps the service.
    pub fn close_to_background(&self) -> bool {
        self.0.as_ref().is_none_or(|settings| settings.boolean(CLOSE_TO_BACKGROUND))
    }

    /// Whether hidden agents are shown.
    pub fn show_hidden(&self) -> bool {
        self.0.as_ref().is_some_and(|settings| settings.boolean(SHOW_HIDDEN))
    }

    /// Whether quiet rows fold into one.
    pub fn fold_idle(&self) -> bool {
        self.0.as_ref().is_none_or(|settings| settings.boolean(FOLD_IDLE))
    }

    /// In which order workspaces stand.
    pub fn workspace_order(&self) -> WorkspaceOrder {
        match self.0.as_ref().map(|settings| settings.enum_(WORKSPACE_ORDER)) {
            Some(1) => WorkspaceOrder::Urgency,
            _ => WorkspaceOrder::Stable,
        }
    }

    /// The window's size, in width and height.
    pub fn window_size(&self) -> (i32, i32) {
        match &self.0 {
            Some(settings) => (settings.int(WINDOW_WIDTH), settings.int(WINDOW_HEIGHT)),
            None => (360, 720),
        }
    }

    /// Keeps the window's size for the next time. One that is out of range is not kept.
    pub fn set_window_size(&self, (width, height): (i32, i32)) {
        if let Some(settings) = &self.0 {
            let kept = settings.set_int(WINDOW_WIDTH, width).and_then(|()| settings.set_int(WINDOW_HEIGHT, height));
            if let Err(error) = kept {
                glib::g_debug!("vigil", "The window's size is not kept: {error}");
            }
        }
    }

    /// What of it the roster goes by.
    pub fn roster(&self) -> roster::Settings {
        let (grace, hours) = match &self.0 {
            Some(settings) => (settings.uint(ERROR_GRACE), settings.uint(UNWATCHED_HOURS)),
            None => (6, 12),
        };
        roster::Settings {
            error_grace: Duration::from_secs(u64::from(grace)),
            unwatched: Duration::from_secs(u64::from(hours) * 60 * 60),
        }
    }

    /// Keeps that property (`bool`) and whether closing the window keeps the service equal, both ways.
    pub fn bind_close_to_background(&self, object: &impl IsA<glib::Object>, property: &str) {
        self.bind(CLOSE_TO_BACKGROUND, object, property);
    }

    /// The same with whether hidden agents are shown.
    pub fn bind_show_hidden(&self, object: &impl IsA<glib::Object>, property: &str) {
        self.bind(SHOW_HIDDEN, object, property);
    }

    /// The same with whether quiet rows fold into one.
    pub fn bind_fold_idle(&self, object: &impl IsA<glib::Object>, property: &str) {
        self.bind(FOLD_IDLE, object, property);
    }

    /// The same with the grace after an error, in seconds (a `double`, as adjustments have it).
    pub fn bind_error_grace(&self, object: &impl IsA<glib::Object>, property: &str) {
        self.bind(ERROR_GRACE, object, property);
    }

    /// The same with the order of workspaces (`uint`, in the order of [`WorkspaceOrder`]).
    pub fn bind_workspace_order(&self, object: &impl IsA<glib::Object>, property: &str) {
        let Some(settings) = &self.0 else { return };
        let nicks = ["stable", "urgency"];
        let at = move |nick: &glib::Variant, _: glib::Type| {
            let at = nicks.iter().position(|known| nick.str() == Some(known))?;
            Some(u32::try_from(at).ok()?.to_value())
        };
        let nick = move |at: &glib::Value, _: glib::VariantType| {
            Some(nicks.get(usize::try_from(at.get::<u32>().ok()?).ok()?)?.to_variant())
        };
        settings.bind(WORKSPACE_ORDER, object, property).mapping(at).set_mapping(nick).build();
    }

    /// Whether what is set is kept.
    pub fn is_stored(&self) -> bool {
        self.0.is_some()
    }

    fn bind(&self, key: &str, object: &impl IsA<glib::Object>, property: &str) {
        if let Some(settings) = &self.0 {
            settings.bind(key, object, property).build();
        }
    }

    /// Calls back, now and whenever anything is set.
    pub fn follow(&self, changed: impl Fn(&Self) + 'static) {
        changed(self);
        if let Some(settings) = &self.0 {
            settings.connect_changed(None, move |settings, _| changed(&Self(Some(settings.clone()))));
        }
    }
}

/// Looked up first: GLib ends the program over a schema that is not there.
fn find_schema() -> Option<gio::SettingsSchema> {
    let installed = gio::SettingsSchemaSource::default();
    if let Some(schema) = installed.as_ref().and_then(|source| source.lookup(APP_ID, true)) {
        return Some(schema);
    }
    build_folders().find_map(|folder| {
        let source = gio::SettingsSchemaSource::from_directory(folder, installed.as_ref(), false).ok()?;
        source.lookup(APP_ID, false)
    })
}

/// Where a build leaves the compiled schema: in `schemas` beside or above the program, as in `target/schemas`.
fn build_folders() -> impl Iterator<Item = PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let folders: Vec<PathBuf> = program.ancestors().skip(1).take(3).map(|folder| folder.join("schemas")).collect();
    folders.into_iter().filter(|folder| folder.join("gschemas.compiled").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults in memory and those of the schema are one thing.
    #[test]
    fn defaults_are_the_schemas() {
        let xml = include_str!("../../data/dev.vigil.Vigil.gschema.xml");
        let default = |key: &str| {
            let entry = &xml[xml.find(&format!("<key name=\"{key}\"")).expect(key)..];
            let from = entry.find("<default>").unwrap() + "<default>".len();
            entry[from..from + entry[from..].find('<').unwrap()].to_string()
        };
        let settings = Settings::defaults();
        let (width, height) = settings.window_size();
        let order = if settings.workspace_order() == WorkspaceOrder::Stable { "'stable'" } else { "'urgency'" };
        let roster = settings.roster();
        let expected = [
            (CLOSE_TO_BACKGROUND, settings.close_to_background().to_string()),
            (ERROR_GRACE, roster.error_grace.as_secs().to_string()),
            (FOLD_IDLE, settings.fold_idle().to_string()),
            (SHOW_HIDDEN, settings.show_hidden().to_string()),
            (UNWATCHED_HOURS, (roster.unwatched.as_secs() / 3600).to_string()),
            (WINDOW_HEIGHT, height.to_string()),
            (WINDOW_WIDTH, width.to_string()),
            (WORKSPACE_ORDER, order.to_string()),
        ];
        for (key, value) in expected {
            assert_eq!(default(key), value, "{key}");
        }
        assert_eq!(xml.matches("<key ").count(), 8, "each key has its method");
    }
}
