// SPDX-License-Identifier: GPL-3.0-or-later
//! `vigilctl install` and `uninstall`: our entries in agents' settings, and what has come of it.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use similar::TextDiff;

use super::{running, trust};
use crate::integration::{Action, Found, Integration, Plan, Refusal, State, Surroundings, program};
use crate::{agent, text};

/// How an installation is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// Only what would change is printed.
    pub dry_run: bool,
    /// The user trusts what is put in.
    pub trust: bool,
}

/// Puts our entries in, and says where.
pub(super) fn install(agents: &[&Integration], named: Option<&Path>, wish: Wish) -> anyhow::Result<()> {
    let surroundings = Surroundings::here();
    let program = named.map_or_else(|| program::lasting(&surroundings), program::named);
    let program = program.map_err(|message| Refusal { message, snippet: None })?;
    for integration in agents {
        let found = integration.find_program(&surroundings);
        let action = Action::Install(&program);
        let name = agent::find(integration.agent).name;
        if wish.dry_run {
            integration.plan(&surroundings, &found, action)?.iter().try_for_each(show)?;
            continue;
        }
        let before = integration.inspect(&surroundings, found.version).state;
        let plans = integration.carry_out(&surroundings, &found, action)?;
        let done = match (plans.iter().any(Plan::changes), before) {
            (false, _) => "already installed",
            (true, State::Missing) => "installed",
            (true, _) => "brought up to date",
        };
        say(&format!("{name}: {done} in {}", files(&plans)))?;
        if found.program.is_none() {
            say(&format!("{name} itself was not found; the hooks are there for when it comes"))?;
        }
        let trusted = settle(integration, &surroundings, &found, wish.trust)?;
        if trusted || plans.iter().any(Plan::changes) {
            tell_running(integration)?;
        }
        let report = integration.inspect(&surroundings, found.version);
        if let (true, Some(advice)) = (report.state != State::Complete, report.advice) {
            say(&advice)?;
        }
    }
    Ok(())
}

/// Has the agent trust our entries, where it asks for that and the user does. Whether it came to that.
fn settle(integration: &Integration, surroundings: &Surroundings, found: &Found, said: bool) -> anyhow::Result<bool> {
    let name = agent::find(integration.agent).name;
    let entries = integration.untrusted(surroundings);
    if entries.is_empty() || (found.program.is_none() && !said) || !trust::is_granted(name, &entries, said)? {
        return Ok(false);
    }
    trust::grant(integration, surroundings, found.program.as_deref(), &entries).with_context(|| {
        format!("{name} could not be told to trust the hooks; trust them there, with its command /hooks")
    })?;
    say(&format!("{name}: trusts {} hooks", entries.len()))?;
    Ok(true)
}

/// Names the sessions that go on without what has been put in.
fn tell_running(integration: &Integration) -> io::Result<()> {
    let agent = agent::find(integration.agent);
    let running = if integration.is_live() { Vec::new() } else { running::of(&agent) };
    if running.is_empty() {
        return Ok(());
    }
    let sessions: Vec<String> = running.iter().map(|one| format!("{} on {}", one.pid, one.tty)).collect();
    say(&format!("{} that runs already goes on without; start it anew: {}", agent.name, sessions.join(", ")))
}

/// Takes our entries out, and says where from.
pub(super) fn uninstall(agents: &[&Integration], dry_run: bool) -> anyhow::Result<()> {
    let surroundings = Surroundings::here();
    for integration in agents {
        let name = agent::find(integration.agent).name;
        if dry_run {
            let plans = integration.plan(&surroundings, &Found::default(), Action::Uninstall)?;
            plans.iter().try_for_each(show)?;
            continue;
        }
        let plans = integration.carry_out(&surroundings, &Found::default(), Action::Uninstall)?;
        let done = if plans.iter().any(Plan::changes) { "removed from" } else { "was not installed in" };
        say(&format!("{name}: {done} {}", files(&plans)))?;
    }
    Ok(())
}

/// The files that were changed, or else all of them.
fn files(plans: &[Plan]) -> String {
    let changed = plans.iter().any(Plan::changes);
    let told = plans.iter().filter(|plan| plan.changes() == changed);
    told.map(|plan| plan.file.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn say(sentence: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{}", text::one_line(sentence))
}

/// Prints what would change, as `diff` writes it.
fn show(plan: &Plan) -> io::Result<()> {
    if !plan.changes() {
        return say(&format!("Nothing would change in {}", plan.file.display()));
    }
    let name = |side: &Option<String>| side.as_ref().map_or("/dev/null".into(), |_| plan.file.display().to_string());
    let (old, new) = (plan.before.as_deref().unwrap_or_default(), plan.after.as_deref().unwrap_or_default());
    let diff =
        TextDiff::from_lines(old, new).unified_diff().header(&name(&plan.before), &name(&plan.after)).to_string();
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        // What stands in a file may steer a terminal; a file or another program gets it as it is.
        let harmless = |c: &char| matches!(c, '\n' | '\t') || !text::is_invisible(*c);
        out.write_all(diff.chars().filter(harmless).collect::<String>().as_bytes())
    } else {
        out.write_all(diff.as_bytes())
    }
}
