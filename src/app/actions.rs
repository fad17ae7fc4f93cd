// SPDX-License-Identifier: GPL-3.0-or-later
//! The application's actions: reached from the menu, the keyboard, and any script through `gapplication action`.
//!
//! Those that change something send the same commands as the bus. An action has no answer: what is refused is logged,
//! without the payload, and changes nothing.

use gtk::gio::prelude::*;
use gtk::{gio, glib};

use super::application::VigilApplication;
use super::command::Command;
use super::edit::Edit;
use super::widget::Page;
use crate::protocol::{Origin, Refusal};
use crate::roster::StatusOptions;

/// What an action makes of its parameter.
#[derive(Clone, Copy)]
enum Effect {
    /// It does something here.
    Do(fn(&VigilApplication)),
    /// It does something here with its text.
    DoWith(fn(&VigilApplication, &str)),
    /// It sends a command.
    Send(fn(&glib::Variant) -> Option<Result<Command, Refusal>>),
}

/// Every action: its name, its parameter's type, and what it does.
const ACTIONS: &[(&str, Option<&str>, Effect)] = &[
    ("hook", Some("(sss)"), Effect::Send(hook)),
    ("set-status", Some("(ssss)"), Effect::Send(set_status)),
    ("clear-status", Some("(ss)"), Effect::Send(clear_status)),
    ("subagent-update", Some("(ssii)"), Effect::Send(subagent_update)),
    ("acknowledge", Some("s"), Effect::Send(|row| Some(Ok(Command::Acknowledge { row: row.get()? })))),
    ("dismiss", Some("s"), Effect::Send(|row| Some(Ok(Command::Dismiss { row: row.get()? })))),
    ("jump", Some("s"), Effect::Send(|row| Some(Ok(Command::Jump { row: row.get()? })))),
    ("next-attention", None, Effect::Do(VigilApplication::next_attention)),
    ("install", Some("s"), Effect::DoWith(|application, agent| application.edit(agent, Edit::Install))),
    ("repair", Some("s"), Effect::DoWith(|application, agent| application.edit(agent, Edit::Repair))),
    ("uninstall", Some("s"), Effect::DoWith(|application, agent| application.edit(agent, Edit::Remove))),
    ("preferences", None, Effect::Do(|application| application.preferences(Page::General))),
    ("integrations", None, Effect::Do(|application| application.preferences(Page::Integrations))),
    ("show", None, Effect::Do(VigilApplication::present)),
    ("about", None, Effect::Do(VigilApplication::about)),
    ("quit", None, Effect::Do(|application| application.quit())),
];

/// Adds all actions. Their keys are the window's list.
pub fn add(application: &VigilApplication) {
    for (name, parameter, effect) in ACTIONS {
        let parameter = parameter.map(|kind| glib::VariantTy::new(kind).expect("the list's types are types"));
        let effect = *effect;
        let entry = gio::ActionEntry::builder(name).parameter_type(parameter);
        let entry = entry.activate(move |application: &VigilApplication, _, parameter| match effect {
            Effect::Do(act) => act(application),
            Effect::DoWith(act) => act(application, parameter.and_then(|text| text.str()).unwrap_or_default()),
            Effect::Send(command) => send(application, parameter.and_then(command)),
        });
        application.add_action_entries([entry.build()]);
    }
}

/// GLib lets no parameter of another type through, so that there is always a command or a refusal.
fn send(application: &VigilApplication, command: Option<Result<Command, Refusal>>) {
    match command {
        Some(Ok(command)) => application.queue().tell(command),
        Some(Err(refusal)) => glib::g_warning!("vigil", "Refused: {refusal}"),
        None => {}
    }
}

fn hook(parameter: &glib::Variant) -> Option<Result<Command, Refusal>> {
    let (agent, event, payload): (String, String, String) = parameter.get()?;
    Some(Command::hook(&agent, &event, &payload, Origin::default()))
}

fn set_status(parameter: &glib::Variant) -> Option<Result<Command, Refusal>> {
    let (workspace, key, value, name): (String, String, String, String) = parameter.get()?;
    let options =
        StatusOptions { display_name: Some(name).filter(|name| !name.is_empty()), ..StatusOptions::default() };
    Some(Ok(Command::SetStatus { workspace, key, value, options }))
}

fn clear_status(parameter: &glib::Variant) -> Option<Result<Command, Refusal>> {
    let (workspace, key) = parameter.get()?;
    Some(Ok(Command::ClearStatus { workspace, key }))
}

fn subagent_update(parameter: &glib::Variant) -> Option<Result<Command, Refusal>> {
    let (workspace, key, subagents, background) = parameter.get()?;
    Some(Ok(Command::SetSubagentCounts { workspace, key, subagents, background }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_one() {
        for (name, parameter, _) in ACTIONS {
            assert!(parameter.is_none_or(|kind| glib::VariantTy::new(kind).is_ok()), "{name}");
        }
    }

    #[test]
    fn every_action_that_sends_makes_a_command() {
        let texts = |n: usize| glib::Variant::tuple_from_iter((0..n).map(|_| "{}".to_variant()));
        let parameters = [
            ("hook", ("codex", "stop", "{}").to_variant()),
            ("set-status", texts(4)),
            ("clear-status", texts(2)),
            ("subagent-update", ("demo", "codex", 2_i32, 1_i32).to_variant()),
            ("acknowledge", "1".to_variant()),
            ("dismiss", "1".to_variant()),
            ("jump", "1".to_variant()),
        ];
        for (name, kind, effect) in ACTIONS {
            let Effect::Send(command) = effect else { continue };
            let (_, parameter) = parameters.iter().find(|(known, _)| known == name).expect("every one is listed");
            assert_eq!(parameter.type_().as_str(), kind.unwrap(), "{name}");
            assert!(matches!(command(parameter), Some(Ok(_))), "{name}");
        }
    }
}
