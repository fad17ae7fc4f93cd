// SPDX-License-Identifier: GPL-3.0-or-later
//! What the user may want done with an agent's settings, and what is said when it is done.

use super::i18n::{gettext, gettext_f};
use crate::agent;
use crate::integration::{Action, Found, Integration, Plan, Refusal, Surroundings, program};

/// Something to be done with an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Put us in, with the program beside this one.
    Install,
    /// Complete what is there.
    Repair,
    /// Take us out.
    Remove,
}

impl Edit {
    /// Does it. It reads and writes files, and waits for the agent's program: not for the main thread.
    ///
    /// # Errors
    ///
    /// When the settings are left alone; with what the user can do.
    pub fn carry_out(self, integration: &Integration, surroundings: &Surroundings) -> Result<Vec<Plan>, Refusal> {
        match self {
            Self::Install => {
                let program = program::lasting_beside(surroundings);
                let program = program.map_err(|message| Refusal { message, snippet: None })?;
                let found = integration.find_program(surroundings);
                integration.carry_out(surroundings, &found, Action::Install(&program))
            }
            Self::Repair => integration.repair(surroundings),
            Self::Remove => integration.carry_out(surroundings, &Found::default(), Action::Uninstall),
        }
    }

    /// What is said when it is done.
    pub fn outcome(self, integration: &Integration, plans: &[Plan]) -> String {
        let name = agent::find(integration.agent).name;
        let done = if plans.iter().any(Plan::changes) {
            let place = [("agent", name)];
            match self {
                // Translators: {agent} is an agent's name.
                Self::Install => gettext_f("{agent} is connected", &place),
                // Translators: {agent} is an agent's name.
                Self::Repair => gettext_f("{agent} is connected again", &place),
                // Translators: {agent} is an agent's name.
                Self::Remove => gettext_f("{agent} is not connected any more", &place),
            }
        } else {
            return gettext("Nothing had to be changed");
        };
        if integration.is_live() || self == Self::Remove {
            return done;
        }
        // Translators: {done} is a sentence without its full stop.
        gettext_f("{done}. Start its running sessions anew", &[("done", &done)])
    }

    /// The heading above the reason why it was not done.
    pub fn refused(self, integration: &Integration) -> String {
        let place = [("agent", agent::find(integration.agent).name)];
        match self {
            // Translators: {agent} is an agent's name.
            Self::Install => gettext_f("{agent} Was Not Connected", &place),
            // Translators: {agent} is an agent's name.
            Self::Repair => gettext_f("{agent} Was Not Repaired", &place),
            // Translators: {agent} is an agent's name.
            Self::Remove => gettext_f("Vigil Was Not Removed from {agent}", &place),
        }
    }
}
