// SPDX-License-Identifier: GPL-3.0-or-later
//! The command line of people and their scripts: what can be asked, and how it ends.
//!
//! Errors go to standard error with exit 1, usage errors with 2; a reader that goes away is success.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use super::{commands, doctor, install, replay, status, watch};
use crate::{agent, integration, text};

const WORKSPACE: &str = "\
WORKSPACE is left out where --workspace is given; where there is neither, VIGIL_WORKSPACE_ID or SEANCE_WORKSPACE_ID \
says it.";

/// Tells Vigil's sidebar what your agents and scripts do, and tells you what it shows.
#[derive(Debug, Parser)]
#[command(name = "vigilctl", version, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// All of it, as `--help` tells it.
pub(super) fn description() -> clap::Command {
    Line::command()
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Deliver an agent's event; what agents' hooks call
    ///
    /// Reads one JSON payload from standard input. Exits 0 and prints nothing, whatever happens, unless VIGIL_DEBUG is
    /// set. `vigilctl AGENT-hook EVENT` is the same.
    Hook {
        /// The agent's id, such as `claude`
        agent: Option<String>,
        /// The event's name; the payload's own where it is left out
        event: Option<String>,
    },
    /// Set the status of a row
    #[command(override_usage = "vigilctl set-status [OPTIONS] [WORKSPACE] KEY VALUE", after_help = WORKSPACE)]
    SetStatus {
        /// The row's key, such as `claude` or `build`, and a status or any other text
        #[arg(num_args = 2..=3, required = true, value_names = ["WORKSPACE", "KEY", "VALUE"], hide = true)]
        words: Vec<String>,
        #[command(flatten)]
        place: Place,
        /// Where the row stands among its neighbours, highest first
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i32>,
        /// What to call the row
        #[arg(long)]
        display_name: Option<String>,
        /// What the row says
        #[arg(long)]
        message: Option<String>,
        /// The row is an agent's
        #[arg(long)]
        agent: bool,
    },
    /// Remove a row
    #[command(override_usage = "vigilctl clear-status [OPTIONS] [WORKSPACE] KEY", after_help = WORKSPACE)]
    ClearStatus {
        /// The row's key
        #[arg(num_args = 1..=2, required = true, value_names = ["WORKSPACE", "KEY"], hide = true)]
        words: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Show how far a workspace's work is: from 0 to 1, below 0 to clear
    #[command(override_usage = "vigilctl set-progress [OPTIONS] [WORKSPACE] VALUE [LABEL]", after_help = WORKSPACE)]
    SetProgress {
        /// The value, and what it is the progress of
        #[arg(num_args = 1..=3, required = true, allow_negative_numbers = true,
              value_names = ["WORKSPACE", "VALUE", "LABEL"], hide = true)]
        words: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Show a log line under a workspace
    #[command(alias = "log", override_usage = "vigilctl append-log [OPTIONS] [WORKSPACE] MESSAGE",
              after_help = WORKSPACE)]
    AppendLog {
        /// The line
        #[arg(num_args = 1..=2, required = true, value_names = ["WORKSPACE", "MESSAGE"], hide = true)]
        words: Vec<String>,
        #[command(flatten)]
        place: Place,
        /// How much it matters: info, warning or error
        #[arg(long, default_value = "info")]
        level: String,
    },
    /// Send a notification
    #[command(override_usage = "vigilctl notify [OPTIONS] [WORKSPACE] TITLE [BODY]", after_help = WORKSPACE)]
    Notify {
        /// The title, and what it says
        #[arg(num_args = 1..=3, required = true, value_names = ["WORKSPACE", "TITLE", "BODY"], hide = true)]
        words: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Print what the sidebar shows
    Status {
        /// Print the snapshot as JSON
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// With what the agents' tools work on
        #[arg(long)]
        details: bool,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: status::Format,
    },
    /// Print what the sidebar shows, then each change as it comes
    Watch {
        /// Print the snapshot, then each change, as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Put Vigil's hooks into an agent's settings
    ///
    /// Only entries of Vigil's own are added; everything else in the file stays as it is, byte for byte. Entries of an
    /// older form, or with a path that is no more, are brought up to date.
    Install {
        /// The agent's id, such as `claude`; `vigilctl doctor` lists all
        #[arg(required = true, value_name = "AGENT")]
        agents: Vec<String>,
        /// Print what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Tell an agent that asks for it (Codex) that you trust the hooks; on a terminal you are asked
        #[arg(long)]
        trust: bool,
        /// The vigilctl that the hooks run; without it the one that is called, if it will last
        #[arg(long, value_name = "PATH")]
        program: Option<PathBuf>,
    },
    /// Take Vigil's hooks out of an agent's settings
    Uninstall {
        /// The agent's id, such as `claude`; `vigilctl doctor` lists all
        #[arg(required = true, value_name = "AGENT")]
        agents: Vec<String>,
        /// Print what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Say how far Vigil is put into the agents, and what is to be done
    Doctor {
        /// The agents' ids; all of them where none is given
        #[arg(value_name = "AGENT")]
        agents: Vec<String>,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Play a recorded sequence of events into the running application
    ///
    /// The file has one JSON object a line: {"t_ms": 0, "event": "stop", "payload": {}, "agent": "claude", "env": {}}.
    /// Lines whose event starts with # are skipped.
    Replay {
        /// The file; - is standard input
        file: PathBuf,
        /// How many times faster than it was recorded
        #[arg(long, default_value_t = 1.0, value_parser = replay::parse_speed)]
        speed: f64,
        /// The agent of lines that name none
        #[arg(long)]
        agent: Option<String>,
    },
    /// Mark a row as seen
    Ack {
        /// The row's id, or ROW#SESSION
        row: String,
    },
    /// Remove a row
    Dismiss {
        /// The row's id, or ROW#SESSION
        row: String,
    },
    /// Go to the terminal of a row
    Jump {
        /// The row's id; without one, the row that wants you most
        #[arg(conflicts_with = "next")]
        row: Option<String>,
        /// The row that wants you most
        #[arg(long)]
        next: bool,
    },
    /// Answer
    #[command(hide = true)]
    Ping,
}

/// Séance's way to say where.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// The workspace: its id, or its path
    #[arg(long, value_name = "WORKSPACE")]
    workspace: Option<String>,
    /// Ignored: Séance's own socket
    #[arg(long, hide = true)]
    socket: Option<String>,
    /// Ignored: these commands are about workspaces
    #[arg(long, hide = true)]
    surface: Option<String>,
}

impl Place {
    /// The workspace, and the words after it. `needed` is how many words there are at least without the workspace.
    fn split(self, mut words: Vec<String>, needed: usize) -> Result<(String, Vec<String>), clap::Error> {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let workspace = match self.workspace {
            Some(workspace) => Some(workspace),
            None if words.len() > needed => Some(words.remove(0)),
            None => named("VIGIL_WORKSPACE_ID").or_else(|| named("SEANCE_WORKSPACE_ID")),
        };
        match workspace {
            Some(workspace) if words.len() >= needed => Ok((workspace, words)),
            Some(_) => Err(usage(ErrorKind::TooFewValues, "not enough arguments")),
            None => Err(usage(ErrorKind::MissingRequiredArgument, "no WORKSPACE is given")),
        }
    }
}

/// A mistake of the caller that the parser cannot see.
fn usage(kind: ErrorKind, message: &str) -> clap::Error {
    Line::command().error(kind, message)
}

/// Runs a command to its end.
pub fn run(words: Vec<String>) -> ExitCode {
    let line = match Line::try_parse_from(std::iter::once("vigilctl".to_string()).chain(words)) {
        Ok(line) => line,
        Err(error) => return refuse(&error),
    };
    match execute(line.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => match error.downcast::<clap::Error>() {
            Ok(error) => refuse(&error),
            Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&format!("{error:#}"));
                if let Some(integration::Refusal { snippet: Some(snippet), .. }) = error.downcast_ref() {
                    // As with all that is said there.
                    let _ = writeln!(io::stderr(), "{snippet}");
                }
                ExitCode::FAILURE
            }
        },
    }
}

fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        // Only its help comes here; all else is the guest's.
        Command::Hook { .. } => Ok(()),
        Command::SetStatus { words, place, priority, display_name, message, agent } => {
            let (workspace, words) = place.split(words, 2)?;
            let options = commands::StatusOptions { priority, display_name, message, agent };
            commands::set_status(&workspace, exactly(words)?, &options)
        }
        Command::ClearStatus { words, place } => {
            let (workspace, words) = place.split(words, 1)?;
            let [key] = exactly(words)?;
            commands::clear_status(&workspace, &key)
        }
        Command::SetProgress { words, place } => {
            let (workspace, mut words) = place.split(words, 1)?;
            words.resize(words.len().max(2), String::new());
            let [value, label] = exactly(words)?;
            let number = value.parse().map_err(|_| {
                usage(ErrorKind::ValueValidation, &format!("the progress `{}` is not a number", text::one_line(&value)))
            })?;
            commands::set_progress(&workspace, number, &label)
        }
        Command::AppendLog { words, place, level } => {
            let (workspace, words) = place.split(words, 1)?;
            let [message] = exactly(words)?;
            commands::append_log(&workspace, &level, &message)
        }
        Command::Notify { words, place } => {
            let (workspace, mut words) = place.split(words, 1)?;
            words.resize(words.len().max(2), String::new());
            let [title, body] = exactly(words)?;
            commands::notify(&workspace, &title, &body)
        }
        Command::Status { json, details, format } => status::run(json, details, format),
        Command::Watch { json } => watch::run(json),
        Command::Install { agents, dry_run, trust, program } => {
            let agents = integrations(&agents)?;
            install::install(&agents, program.as_deref(), install::Wish { dry_run, trust })
        }
        Command::Uninstall { agents, dry_run } => install::uninstall(&integrations(&agents)?, dry_run),
        Command::Doctor { agents, json } => doctor::run(&integrations(&agents)?, json),
        Command::Replay { file, speed, agent } => replay::run(&file, speed, agent.as_deref()),
        Command::Ack { row } => commands::acknowledge(&row),
        Command::Dismiss { row } => commands::dismiss(&row),
        Command::Jump { row, next: _ } => commands::jump(row),
        Command::Ping => Ok(writeln!(io::stdout(), "pong")?),
    }
}

/// The integrations of those agents, all of them where none is named.
fn integrations(ids: &[String]) -> anyhow::Result<Vec<&'static integration::Integration>> {
    if ids.is_empty() {
        return Ok(integration::INTEGRATIONS.iter().collect());
    }
    ids.iter()
        .map(|id| match (integration::find(id), agent::CATALOGUE.iter().find(|agent| agent.id == id)) {
            (Some(integration), _) => Ok(integration),
            (None, Some(agent)) => anyhow::bail!("Vigil cannot be put into {} yet", agent.name),
            (None, None) => {
                let known: Vec<&str> = integration::INTEGRATIONS.iter().map(|known| known.agent).collect();
                let message = format!("there is no agent `{}`, only {}", text::one_line(id), known.join(", "));
                Err(usage(ErrorKind::ValueValidation, &message).into())
            }
        })
        .collect()
}

/// Words of which no more can be left.
fn exactly<const N: usize>(words: Vec<String>) -> Result<[String; N], clap::Error> {
    words.try_into().map_err(|_| usage(ErrorKind::TooManyValues, "too many arguments"))
}

/// Prints what the parser says: help and version to standard output with 0, the rest to standard error with 2.
fn refuse(error: &clap::Error) -> ExitCode {
    // Nobody is left to be told when that fails.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Says on standard error what went wrong. A closed one is no reason to fail differently.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "vigilctl: {}", text::one_line(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(workspace: Option<&str>) -> Place {
        Place { workspace: workspace.map(ToString::to_string), socket: None, surface: None }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_line_is_sound() {
        Line::command().debug_assert();
    }

    #[test]
    fn the_workspace_comes_first_unless_it_is_an_option() {
        let split = |workspace, given: &[&str]| place(workspace).split(words(given), 2).expect("a workspace");
        assert_eq!(split(None, &["shop", "claude", "Idle"]), ("shop".into(), words(&["claude", "Idle"])));
        assert_eq!(split(Some("7"), &["claude", "Idle"]), ("7".into(), words(&["claude", "Idle"])));
        assert!(place(Some("7")).split(words(&["claude"]), 2).is_err());
    }
}
