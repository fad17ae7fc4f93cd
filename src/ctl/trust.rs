// SPDX-License-Identifier: GPL-3.0-or-later
//! Trust in what was put in, for an agent that runs no hook without it (Codex): granted for our own entries only, when
//! the user says so, and by the agent itself, which alone writes what it trusts.
//!
//! The agent's server is started on its standard input and output for that, says what it makes of its hooks, is told
//! which are trusted, and is asked again. Seen with version 0.171.0; it keeps all else in the settings, comments and
//! links too.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value, json};

use crate::integration::{Integration, Surroundings, Untrusted};

/// How long the conversation may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A longer line is none of the server's.
const LINE_BYTES: u64 = 16 << 20;

/// Whether the user trusts those entries: said on the command line, or on a terminal when asked. Elsewhere nobody is
/// asked, and nothing is trusted.
pub(super) fn is_granted(name: &str, entries: &[Untrusted], said: bool) -> io::Result<bool> {
    if said || !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Ok(said);
    }
    let count = entries.len();
    write!(io::stdout(), "{name} runs a hook only once you trust it. Trust the {count} that run vigilctl? [y/N] ")?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Has the agent trust those entries. What it does not know as ours, it is not told to trust.
///
/// # Errors
///
/// When there is no program, or it does not do it.
pub(super) fn grant(
    integration: &Integration,
    surroundings: &Surroundings,
    program: Option<&Path>,
    entries: &[Untrusted],
) -> anyhow::Result<()> {
    let program = program.context("the program was not found")?;
    let mut server = Server::start(program)?;
    let folder = integration.files(surroundings).first().and_then(|file| file.parent().map(Path::to_path_buf));
    let folder = folder.context("there are no settings")?;
    server.ask("initialize", &json!({"clientInfo": {"name": "vigilctl", "version": env!("CARGO_PKG_VERSION")}}))?;
    server.say(&json!({"method": "initialized"}))?;
    let list = json!({"cwds": [folder]});
    let hashes: Map<String, Value> = hooks(&server.ask("hooks/list", &list)?)
        .filter(|hook| entries.iter().any(|entry| is(hook, entry)))
        .filter_map(|hook| {
            Some((hook.get("key")?.as_str()?.to_string(), json!({"trusted_hash": hook.get("currentHash")?})))
        })
        .collect();
    if hashes.len() < entries.len() {
        bail!("it does not list all of the hooks");
    }
    let edit = json!({"keyPath": "hooks.state", "value": hashes, "mergeStrategy": "upsert"});
    let write = json!({"edits": [edit], "filePath": null, "expectedVersion": null, "reloadUserConfig": true});
    server.ask("config/batchWrite", &write)?;
    let after = server.ask("hooks/list", &list)?;
    let trusted = |entry: &Untrusted| hooks(&after).any(|hook| is(hook, entry) && hook["trustStatus"] == "trusted");
    if entries.iter().all(trusted) { Ok(()) } else { bail!("it still does not trust the hooks") }
}

/// The hooks that an answer lists.
fn hooks(answer: &Value) -> impl Iterator<Item = &Value> {
    let lists = answer.get("data").and_then(Value::as_array).into_iter().flatten();
    lists.filter_map(|list| list.get("hooks")?.as_array()).flatten()
}

fn is(hook: &Value, entry: &Untrusted) -> bool {
    hook.get("key").and_then(Value::as_str) == Some(&entry.key)
        && hook.get("command").and_then(Value::as_str) == Some(&entry.command)
}

/// The agent's server, on its standard input and output, one JSON object a line.
struct Server {
    process: Child,
    lines: Receiver<Value>,
    until: Instant,
    asked: u64,
}

impl Server {
    fn start(program: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
        let (sender, lines) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                let mut line = Vec::new();
                // A server that hangs up or says too much has said all.
                while io::Read::take(&mut output, LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                    if let Ok(value) = serde_json::from_slice(&line)
                        && sender.send(value).is_err()
                    {
                        return;
                    }
                    line.clear();
                }
            });
        }
        Ok(Self { process, lines, until: Instant::now() + PATIENCE, asked: 0 })
    }

    fn say(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.process.stdin.as_mut().context("it does not listen")?;
        // Without its cause: that a pipe of ours is closed means something else to the command line.
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|_| anyhow!("it does not listen"))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({"id": id, "method": method, "params": parameters}))?;
        loop {
            let rest = self.until.saturating_duration_since(Instant::now());
            let mut answer = self.lines.recv_timeout(rest).with_context(|| format!("it does not answer {method}"))?;
            if answer.get("id").and_then(Value::as_u64) != Some(id) || answer.get("method").is_some() {
                continue;
            }
            if let Some(error) = answer.get("error") {
                let why = error.get("message").and_then(Value::as_str).unwrap_or("it does not say why");
                bail!("it refuses {method}: {why}");
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
