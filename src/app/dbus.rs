// SPDX-License-Identifier: GPL-3.0-or-later
//! The exported interface: parse, send a command, answer.
//!
//! The introspection XML is the one source of what is registered. Nothing is decided here, and nothing is answered
//! before it has been carried out.

mod origin;
mod parse;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use gtk::gio::prelude::*;
use gtk::{gio, glib};

use super::command::Queue;
use super::config;
use super::output::{Changed, Output};
use crate::policy::StateEvent;
use crate::protocol::{ERROR_PREFIX, INTERFACE, OBJECT_PATH, Refusal};
use crate::snapshot::Change;
use crate::status::Status;

const XML: &str = include_str!("../../data/dbus/dev.vigil.Vigil1.xml");

/// The properties, as they were last told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Rows that want the user.
    pub attention: u32,
    /// Rows by status.
    pub counts: BTreeMap<&'static str, u32>,
}

impl Default for Properties {
    fn default() -> Self {
        Self { attention: 0, counts: Status::ALL.map(|status| (status.as_str(), 0)).into() }
    }
}

impl Properties {
    fn get(&self, name: &str) -> glib::Variant {
        match name {
            "Version" => config::VERSION.to_variant(),
            "Attention" => self.attention.to_variant(),
            "Counts" => self.counts.to_variant(),
            // GDBus asks for no property that the XML does not have.
            _ => ().to_variant(),
        }
    }
}

/// The object on the bus.
#[derive(Debug)]
pub struct Door {
    connection: gio::DBusConnection,
    registration: Option<gio::RegistrationId>,
    properties: Rc<RefCell<Properties>>,
}

impl Door {
    /// Exports the object; from then on calls go into the queue.
    ///
    /// # Errors
    ///
    /// When the path is taken.
    pub fn open(connection: &gio::DBusConnection, queue: Queue) -> Result<Self, glib::Error> {
        let node = gio::DBusNodeInfo::for_xml(XML).expect("the interface's XML is valid, as a test says");
        let interface = node.lookup_interface(INTERFACE).expect("the XML describes the interface");
        let properties = Rc::new(RefCell::new(Properties::default()));
        let registration = connection
            .register_object(OBJECT_PATH, &interface)
            .method_call(move |_, _, _, _, method, arguments, invocation| {
                call(&queue, method, &arguments, invocation);
            })
            .property({
                let properties = properties.clone();
                move |_, _, _, _, name| properties.borrow().get(name)
            })
            .build()?;
        Ok(Self { connection: connection.clone(), registration: Some(registration), properties })
    }

    /// The end of the door through which signals go out.
    pub fn signals(&self) -> Signals {
        Signals { connection: self.connection.clone(), properties: self.properties.clone() }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take() {
            // It fails only when the connection has gone, and the object with it.
            let _ = self.connection.unregister_object(registration);
        }
    }
}

fn call(queue: &Queue, method: &str, arguments: &glib::Variant, invocation: gio::DBusMethodInvocation) {
    match parse::command(method, arguments) {
        Ok(command) => queue.send(command, move |outcome| match outcome {
            Ok(answer) => invocation.return_value(parse::answer(answer).as_ref()),
            Err(refusal) => refuse(invocation, &refusal),
        }),
        Err(refusal) => refuse(invocation, &refusal),
    }
}

fn refuse(invocation: gio::DBusMethodInvocation, refusal: &Refusal) {
    invocation.return_dbus_error(&format!("{ERROR_PREFIX}{}", refusal.name.as_str()), &refusal.message);
}

/// Sends the signals.
#[derive(Debug)]
pub struct Signals {
    connection: gio::DBusConnection,
    properties: Rc<RefCell<Properties>>,
}

impl Signals {
    fn emit(&self, interface: &str, signal: &str, arguments: &glib::Variant) {
        let sent = self.connection.emit_signal(None, OBJECT_PATH, interface, signal, Some(arguments));
        if let Err(error) = sent {
            glib::g_debug!("vigil", "Cannot send {signal}: {error}");
        }
    }

    fn set_properties(&self, new: Properties) {
        let old = self.properties.replace(new.clone());
        let changed: HashMap<&str, glib::Variant> =
            [("Attention", old.attention != new.attention), ("Counts", old.counts != new.counts)]
                .into_iter()
                .filter(|(_, changed)| *changed)
                .map(|(name, _)| (name, new.get(name)))
                .collect();
        if !changed.is_empty() {
            let arguments = (INTERFACE, changed, Vec::<String>::new()).to_variant();
            self.emit("org.freedesktop.DBus.Properties", "PropertiesChanged", &arguments);
        }
    }
}

impl Output for Signals {
    fn changed(&self, changed: &Changed<'_>) {
        if let Some((serial, changes)) = changed.published {
            self.emit(INTERFACE, "Changed", &(serial, json(changes)).to_variant());
        }
        self.set_properties(Properties {
            attention: changed.roster.attention_count(),
            counts: changed.roster.status_counts().into_iter().map(|(status, n)| (status.as_str(), n)).collect(),
        });
    }

    fn state_event(&self, event: &StateEvent) {
        let row = json(&Change::row(&event.workspace, event.row.clone()));
        self.emit(INTERFACE, "StateEvent", &(event.name.as_str(), row).to_variant());
    }
}

/// The published types have text keys and finite numbers only, so that nothing in them cannot be written.
fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        glib::g_critical!("vigil", "Cannot write what is published: {error}");
        "[]".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_xml_describes_the_interface() {
        let node = gio::DBusNodeInfo::for_xml(XML).unwrap();
        assert!(node.lookup_interface(INTERFACE).is_some());
        assert_eq!(node.path(), Some(OBJECT_PATH));
    }
}
