// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes a command of a call, and a call's answer of a command's.
//!
//! GDBus has checked the signatures against the XML before a call gets here; what is left to refuse is inside them.

use gtk::glib::{self, prelude::*};

use super::origin;
use crate::app::command::{Answer, Command};
use crate::protocol::{ErrorName, Refusal};
use crate::roster::StatusOptions;

/// The command of a method call.
///
/// # Errors
///
/// [`ErrorName::InvalidArgument`] or [`ErrorName::InvalidPayload`], with what was wrong.
pub fn command(method: &str, arguments: &glib::Variant) -> Result<Command, Refusal> {
    match method {
        "Hook" => {
            let (agent, event, payload): (String, String, String) =
                (get(arguments, 0)?, get(arguments, 1)?, get(arguments, 2)?);
            Command::hook(&agent, &event, &payload, origin::read(&arguments.child_value(3)))
        }
        "SetStatus" => Ok(Command::SetStatus {
            workspace: get(arguments, 0)?,
            key: get(arguments, 1)?,
            value: get(arguments, 2)?,
            options: status_options(&arguments.child_value(3))?,
        }),
        "ClearStatus" => Ok(Command::ClearStatus { workspace: get(arguments, 0)?, key: get(arguments, 1)? }),
        "SetSubagentCounts" => Ok(Command::SetSubagentCounts {
            workspace: get(arguments, 0)?,
            key: get(arguments, 1)?,
            subagents: get(arguments, 2)?,
            background: get(arguments, 3)?,
        }),
        "SetProgress" => Ok(Command::SetProgress {
            workspace: get(arguments, 0)?,
            value: get(arguments, 1)?,
            label: get(arguments, 2)?,
        }),
        "AppendLog" => Ok(Command::AppendLog {
            workspace: get(arguments, 0)?,
            level: get(arguments, 1)?,
            message: get(arguments, 2)?,
        }),
        "Notify" => {
            Ok(Command::Notify { workspace: get(arguments, 0)?, title: get(arguments, 1)?, body: get(arguments, 2)? })
        }
        "GetSnapshot" => {
            let options = arguments.child_value(0);
            Ok(Command::GetSnapshot { details: option(&options, "details")?.unwrap_or(false) })
        }
        "Acknowledge" => Ok(Command::Acknowledge { row: get(arguments, 0)? }),
        "Dismiss" => Ok(Command::Dismiss { row: get(arguments, 0)? }),
        "Jump" => Ok(Command::Jump { row: get(arguments, 0)? }),
        _ => Err(Refusal::new(ErrorName::NotAvailable, format!("There is no method {method}"))),
    }
}

/// What a method call returns.
pub fn answer(answer: Answer) -> Option<glib::Variant> {
    match answer {
        Answer::Done | Answer::Row(_) => None,
        Answer::Snapshot(json) => Some((json,).to_variant()),
        Answer::Jumped(reached, reason) => Some((reached, reason).to_variant()),
    }
}

/// One argument. GDBus lets no other types through, so that the refusal is for a mistake of ours.
fn get<T: glib::variant::FromVariant>(arguments: &glib::Variant, index: usize) -> Result<T, Refusal> {
    let value = (index < arguments.n_children()).then(|| arguments.child_value(index));
    value.and_then(|value| value.get()).ok_or_else(|| {
        let message = format!("The arguments are of type {}", arguments.type_());
        Refusal::new(ErrorName::InvalidArgument, message)
    })
}

fn status_options(options: &glib::Variant) -> Result<StatusOptions, Refusal> {
    // Séance's callers mark their agents; here a key says it.
    option::<bool>(options, "agent")?;
    Ok(StatusOptions {
        priority: option(options, "priority")?,
        display_name: option(options, "display-name")?,
        message: option(options, "message")?,
    })
}

/// One entry of the options; one of the wrong type is the caller's mistake, an unknown one is not read.
fn option<T: glib::variant::FromVariant>(options: &glib::Variant, key: &str) -> Result<Option<T>, Refusal> {
    let Some(value) = glib::VariantDict::new(Some(options)).lookup_value(key, None) else { return Ok(None) };
    value.get().map(Some).ok_or_else(|| {
        let wanted = T::static_variant_type();
        let message = format!("The option {key} is of type {}, not {}", value.type_(), wanted.as_str());
        Refusal::new(ErrorName::InvalidArgument, message)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn options(entries: &[(&str, glib::Variant)]) -> HashMap<String, glib::Variant> {
        entries.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
    }

    #[test]
    fn options_are_typed() {
        let call = |entries: &[(&str, glib::Variant)]| {
            command("SetStatus", &("w", "claude", "Idle", options(entries)).to_variant())
        };
        let entries = [("priority", 3_i32.to_variant()), ("agent", true.to_variant()), ("new", "x".to_variant())];
        let expected = StatusOptions { priority: Some(3), ..StatusOptions::default() };
        assert!(matches!(call(&entries), Ok(Command::SetStatus { options, .. }) if options == expected));
        for wrong in [("priority", "3".to_variant()), ("agent", 1_i32.to_variant()), ("message", true.to_variant())] {
            assert_eq!(call(std::slice::from_ref(&wrong)).unwrap_err().name, ErrorName::InvalidArgument, "{wrong:?}");
        }
    }

    #[test]
    fn details_are_asked_for() {
        let call = |entries: &[(&str, glib::Variant)]| command("GetSnapshot", &(options(entries),).to_variant());
        assert_eq!(call(&[]), Ok(Command::GetSnapshot { details: false }));
        assert_eq!(call(&[("details", true.to_variant())]), Ok(Command::GetSnapshot { details: true }));
        assert!(call(&[("details", "yes".to_variant())]).is_err());
    }
}
