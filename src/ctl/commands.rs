// SPDX-License-Identifier: GPL-3.0-or-later
//! Commands that are one call each.

use std::collections::HashMap;

use anyhow::{Context, bail};
use serde::Serialize;
use zbus::wire::DynamicDeserialize;
use zbus::{DynamicType, Variant};

use super::bus::{Activation, explain, talk};
use super::status;
use crate::snapshot::Snapshot;
use crate::status::Attention;

/// What may be said of a row beside its status.
#[derive(Clone, Debug, Default)]
pub struct StatusOptions {
    /// Its order among its neighbours.
    pub priority: Option<i32>,
    /// What to call it.
    pub display_name: Option<String>,
    /// What it says.
    pub message: Option<String>,
    /// Whether it is an agent's.
    pub agent: bool,
}

/// Makes one call, and fails with what the application answers.
fn call<R>(member: &'static str, body: &(impl Serialize + DynamicType), activation: Activation) -> anyhow::Result<R>
where
    R: for<'d> DynamicDeserialize<'d>,
{
    talk(async |vigil, _| {
        vigil.call(member, body, activation).await.map_err(|error| anyhow::Error::msg(explain(&error)))
    })
}

pub(super) fn set_status(workspace: &str, words: [String; 2], options: &StatusOptions) -> anyhow::Result<()> {
    let [key, value] = &words;
    let mut dict: HashMap<&str, Variant<'_>> = HashMap::new();
    dict.extend(options.priority.map(|priority| ("priority", priority.into())));
    dict.extend(options.display_name.as_deref().map(|name| ("display-name", name.into())));
    dict.extend(options.message.as_deref().map(|message| ("message", message.into())));
    dict.extend(options.agent.then_some(("agent", true.into())));
    call("SetStatus", &(workspace, key, value, dict), Activation::Allowed)
}

pub(super) fn clear_status(workspace: &str, key: &str) -> anyhow::Result<()> {
    call("ClearStatus", &(workspace, key), Activation::Allowed)
}

pub(super) fn set_progress(workspace: &str, value: f64, label: &str) -> anyhow::Result<()> {
    call("SetProgress", &(workspace, value, label), Activation::Allowed)
}

pub(super) fn append_log(workspace: &str, level: &str, message: &str) -> anyhow::Result<()> {
    call("AppendLog", &(workspace, level, message), Activation::Allowed)
}

pub(super) fn notify(workspace: &str, title: &str, body: &str) -> anyhow::Result<()> {
    call("Notify", &(workspace, title, body), Activation::Allowed)
}

pub(super) fn acknowledge(row: &str) -> anyhow::Result<()> {
    call("Acknowledge", &row, Activation::Never)
}

pub(super) fn dismiss(row: &str) -> anyhow::Result<()> {
    call("Dismiss", &row, Activation::Never)
}

/// Goes to that row, else to the one that wants the user most.
pub(super) fn jump(row: Option<String>) -> anyhow::Result<()> {
    let row = match row {
        Some(row) => row,
        None => most_wanted(&status::fetch(false)?.1).context("No agent wants you")?,
    };
    let (reached, why): (bool, String) = call("Jump", &row, Activation::Never)?;
    if !reached {
        bail!("{why}");
    }
    Ok(())
}

/// The first of the rows with the strongest attention.
fn most_wanted(snapshot: &Snapshot) -> Option<String> {
    let rows = snapshot.workspaces.iter().flat_map(|workspace| workspace.rows.iter().flatten());
    let mut wanting: Vec<_> = rows.filter(|row| row.attention != Attention::None && !row.hidden).collect();
    wanting.sort_by_key(|row| std::cmp::Reverse(row.attention));
    wanting.first().map(|row| row.id.clone())
}
