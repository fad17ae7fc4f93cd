// SPDX-License-Identifier: GPL-3.0-or-later
//! `vigilctl doctor`: how far Vigil is put into the agents, whether it is there, and what is to be done.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::bus::{NOT_RUNNING, Vigil};
use super::deadline::Deadline;
use super::status;
use crate::integration::{Found, Integration, Report, Surroundings};
use crate::{agent, text};

/// How long Vigil may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What `--json` prints. Keys are only added within a version.
#[derive(Serialize)]
struct Page<'a> {
    version: u32,
    integrations: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    agent: &'a str,
    state: &'a str,
    file: Option<String>,
    advice: Option<&'a str>,
}

/// Looks at the agents, and says what was found. That something is to be done is no failure.
pub(super) fn run(agents: &[&Integration], json: bool) -> anyhow::Result<()> {
    let surroundings = Surroundings::here();
    let seen: Vec<(Found, Report)> = agents
        .iter()
        .map(|integration| {
            let found = integration.find_program(&surroundings);
            let report = integration.inspect(&surroundings, found.version);
            (found, report)
        })
        .collect();
    let mut out = io::stdout();
    if json {
        let integrations = seen.iter().map(|(_, report)| line(report)).collect();
        writeln!(out, "{}", serde_json::to_string(&Page { version: 1, integrations })?)?;
    } else {
        for (found, report) in &seen {
            out.write_all(plain(found, report).as_bytes())?;
        }
        writeln!(out, "Vigil: {}", text::one_line(&ask()))?;
    }
    Ok(out.flush()?)
}

fn line(report: &Report) -> Line<'_> {
    Line {
        agent: report.agent,
        state: report.state.word(),
        file: report.file.as_ref().map(|file| file.to_string_lossy().into_owned()),
        advice: report.advice.as_deref(),
    }
}

fn plain(found: &Found, report: &Report) -> String {
    let mut page = format!("{}: {}\n", agent::find(report.agent).name, report.state.word());
    if let Some(file) = &report.file {
        let _ = writeln!(page, "  settings  {}", text::one_line(&file.to_string_lossy()));
    }
    let program = match (&found.program, found.version) {
        (Some(program), Some(version)) => format!("{}, version {version}", program.display()),
        (Some(program), None) => format!("{}, which does not say its version", program.display()),
        (None, _) => "not found".into(),
    };
    let _ = writeln!(page, "  program   {}", text::one_line(&program));
    if let Some(advice) = &report.advice {
        let _ = writeln!(page, "  advice    {}", text::one_line(advice));
    }
    page
}

/// Whether Vigil answers, as the end of a sentence.
fn ask() -> String {
    let expired = || {
        let said = writeln!(io::stdout(), "Vigil: runs, but does not answer");
        i32::from(said.is_err())
    };
    if Deadline::start(PATIENCE, expired).is_err() {
        return "cannot be asked".into();
    }
    zbus::block_on(async {
        let Ok(vigil) = Vigil::connect().await else { return "cannot be asked: there is no session bus".into() };
        match status::snapshot(&vigil, false).await {
            Ok(_) => "runs, and answers".into(),
            Err(error) if error.to_string() == NOT_RUNNING => "does not run".into(),
            Err(error) => format!("runs, but answers: {error:#}"),
        }
    })
}
