// SPDX-License-Identifier: GPL-3.0-or-later
//! `vigilctl watch`: the snapshot, then each change as it comes, for as long as the application runs.

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;

use anyhow::{Context, bail};
use futures_core::Stream;
use serde_json::value::RawValue;
use zbus::message::Type;
use zbus::{Message, MessageStream};

use super::bus::{NOT_RUNNING, Vigil, explain, talk};
use super::status::{colours, heading, line, print, snapshot};
use crate::protocol::{APP_ID, INTERFACE, OBJECT_PATH};
use crate::snapshot::{Change, Snapshot};
use crate::text;

const BUS: &str = "org.freedesktop.DBus";

/// Prints until the application or the reader goes away.
pub(super) fn run(json: bool) -> anyhow::Result<()> {
    talk(async |vigil, deadline| {
        // Both before the snapshot is asked for, so that no change is missed between.
        let mut messages = MessageStream::from(vigil.connection());
        subscribe(&vigil).await.map_err(|error| anyhow::Error::msg(explain(&error)))?;
        let (text, snapshot) = snapshot(&vigil, false).await?;
        deadline.lift();
        print(&text, &snapshot, json)?;
        let mut copy = snapshot;
        while let Some(message) = poll_fn(|context| Pin::new(&mut messages).poll_next(context)).await {
            let message = message.context("The session bus went away")?;
            match news(&message) {
                Some(News::Changed(serial, changes)) if serial > copy.serial => {
                    show(&mut copy, serial, &changes, json)?;
                }
                Some(News::Gone) => bail!("{NOT_RUNNING} any more"),
                _ => {}
            }
        }
        bail!("The session bus went away")
    })
}

async fn subscribe(vigil: &Vigil) -> zbus::Result<()> {
    let changed =
        format!("type='signal',sender='{APP_ID}',path='{OBJECT_PATH}',interface='{INTERFACE}',member='Changed'");
    let owner = format!("type='signal',sender='{BUS}',interface='{BUS}',member='NameOwnerChanged',arg0='{APP_ID}'");
    for rule in [changed, owner] {
        vigil.connection().call_method(Some(BUS), "/org/freedesktop/DBus", Some(BUS), "AddMatch", &rule).await?;
    }
    Ok(())
}

/// What a message means here.
enum News {
    Changed(u64, String),
    Gone,
}

fn news(message: &Message) -> Option<News> {
    let header = message.header();
    if message.message_type() != Type::Signal {
        return None;
    }
    match (header.interface()?.as_str(), header.member()?.as_str()) {
        (INTERFACE, "Changed") => {
            let (serial, changes) = message.body().deserialize().ok()?;
            Some(News::Changed(serial, changes))
        }
        (BUS, "NameOwnerChanged") => {
            let (name, old, _): (String, String, String) = message.body().deserialize().ok()?;
            // A successor counts as gone too: the changes of one do not continue the snapshot of the other.
            (name == APP_ID && !old.is_empty()).then_some(News::Gone)
        }
        _ => None,
    }
}

/// Prints a line a change, and keeps the copy up to date.
fn show(copy: &mut Snapshot, serial: u64, changes: &str, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let changes: Vec<&RawValue> = serde_json::from_str(changes).context("A change cannot be read")?;
    for raw in changes {
        // One that a later version added is passed on, and changes nothing in the copy.
        let change: Option<Change> = serde_json::from_str(raw.get()).ok();
        if json {
            writeln!(out, "{raw}")?;
        } else if let Some(line) = change.as_ref().and_then(|change| describe(copy, change)) {
            writeln!(out, "{line}")?;
        }
        copy.apply(serial, change.as_slice());
    }
    copy.serial = serial;
    Ok(out.flush()?)
}

/// A change in one line, told before it is applied, while what is removed still has a name. Hidden rows are not told.
fn describe(copy: &Snapshot, change: &Change) -> Option<String> {
    let name = |id: &str| {
        let workspace = copy.workspaces.iter().find(|workspace| workspace.id == id);
        text::one_line(workspace.map_or(id, |workspace| &workspace.name))
    };
    match change {
        Change::Row(change) if change.row.hidden => None,
        Change::Row(change) => Some(format!("{}: {}", name(&change.workspace), line(&change.row, 0, colours()))),
        Change::Workspace(change) => Some(heading(&change.workspace, colours())),
        Change::Removed(removed) => {
            let mut rows = copy
                .workspaces
                .iter()
                .flat_map(|workspace| workspace.rows.iter().flatten().map(move |row| (workspace, row)));
            match rows.find(|(_, row)| row.id == removed.id) {
                Some((_, row)) if row.hidden => None,
                Some((workspace, row)) => Some(format!("{}: - {}", name(&workspace.id), text::one_line(&row.name))),
                None => Some(format!("- {}", name(&removed.id))),
            }
        }
    }
}
