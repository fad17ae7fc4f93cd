// SPDX-License-Identifier: GPL-3.0-or-later
//! The way to the application: one connection to the session bus and the calls on it.

use std::time::Duration;

use serde::Serialize;
use zbus::proxy::{CacheProperties, MethodFlags};
use zbus::wire::DynamicDeserialize;
use zbus::{Address, DynamicType, Proxy, connection, fdo, proxy};

use super::deadline::Deadline;
use crate::protocol::{APP_ID, ERROR_PREFIX, INTERFACE, OBJECT_PATH};

/// What a command says when there is nobody to talk to.
pub const NOT_RUNNING: &str = "Vigil is not running";

/// How long a command waits for the application, its activation included.
pub const PATIENCE: Duration = Duration::from_secs(25);

/// Whether a call may start the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Without the application there is nothing to do.
    Never,
    /// The bus may start it.
    Allowed,
}

/// The application, as seen from here.
pub struct Vigil(Proxy<'static>);

impl Vigil {
    /// Connects to the session bus. Whether the application is there shows at the first call.
    ///
    /// # Errors
    ///
    /// When there is no bus, or it does not let us in.
    pub async fn connect() -> zbus::Result<Self> {
        let mut failure = zbus::Error::Address("no address is given".into());
        for builder in addresses() {
            match builder.build().await {
                Ok(connection) => {
                    let proxy = proxy::Builder::new(&connection)
                        .destination(APP_ID)
                        .path(OBJECT_PATH)
                        .interface(INTERFACE)
                        .cache_properties(CacheProperties::No)
                        .build()
                        .await?;
                    return Ok(Self(proxy));
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// One acknowledged call.
    ///
    /// # Errors
    ///
    /// When the application is not there, or refuses.
    pub async fn call<B, R>(&self, member: &'static str, body: &B, activation: Activation) -> zbus::Result<R>
    where
        B: Serialize + DynamicType,
        R: for<'d> DynamicDeserialize<'d>,
    {
        let flags = match activation {
            Activation::Never => MethodFlags::NO_AUTO_START,
            Activation::Allowed => MethodFlags::empty(),
        };
        self.0.call_with_flags(member, flags, body).await?.ok_or(zbus::Error::InvalidReply)
    }

    /// The connection itself.
    pub fn connection(&self) -> &zbus::Connection {
        self.0.connection()
    }
}

/// The session bus: each address that the environment names, as libdbus reads it, else the usual place.
fn addresses() -> Vec<connection::Builder<'static>> {
    match std::env::var("DBUS_SESSION_BUS_ADDRESS") {
        Ok(list) if !list.is_empty() => {
            list.split(';').filter(|address| !address.is_empty()).map(connection::Builder::address).collect()
        }
        _ => {
            let directory = std::env::var("XDG_RUNTIME_DIR")
                .unwrap_or_else(|_| format!("/run/user/{}", rustix::process::geteuid().as_raw()));
            let address = format!("unix:path={directory}/bus").parse::<Address>();
            address.into_iter().map(connection::Builder::address).collect()
        }
    }
}

/// What is wrong, for a person to read.
pub fn explain(error: &zbus::Error) -> String {
    match error {
        zbus::Error::FDO(error) => match &**error {
            fdo::Error::ServiceUnknown(_) | fdo::Error::NameHasNoOwner(_) => NOT_RUNNING.into(),
            fdo::Error::NoReply(_) | fdo::Error::Disconnected(_) => "Vigil went away before it answered".into(),
            error => error.to_string(),
        },
        zbus::Error::MethodError(name, message, _) => match message {
            Some(message) if name.as_str().starts_with(ERROR_PREFIX) => message.clone(),
            Some(message) => format!("{}: {message}", name.as_str()),
            None => name.as_str().to_string(),
        },
        error => error.to_string(),
    }
}

/// Runs what a command has to say to the application, to its end or for as long as anyone would wait.
///
/// # Errors
///
/// What `conversation` fails with, or that there is no bus.
pub fn talk<T>(conversation: impl AsyncFnOnce(Vigil, &Deadline) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let deadline = Deadline::start(PATIENCE, || {
        super::line::complain("Vigil does not answer");
        1
    })?;
    zbus::block_on(async {
        match Vigil::connect().await {
            Ok(vigil) => conversation(vigil, &deadline).await,
            Err(error) => anyhow::bail!("{NOT_RUNNING}: there is no session bus ({})", explain(&error)),
        }
    })
}
