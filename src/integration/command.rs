// SPDX-License-Identifier: GPL-3.0-or-later
//! The command that an agent's hooks run: how it is written, and how ours is known again.
//!
//! It is guarded: `[ -x '/usr/bin/vigilctl' ] && '/usr/bin/vigilctl' hook claude || :` costs the agent one test of a
//! file when `vigilctl` has been removed, says nothing, and succeeds. Ours is what has this form, or is a bare call
//! written by hand, whatever the folder of `vigilctl`; the same words with another program are somebody else's. Where an
//! agent's payloads do not name their event, the command does: `hook codewhale session_idle`.

use std::path::Path;

/// The name without which a program is not ours.
pub const PROGRAM: &str = "vigilctl";

/// A command of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ours {
    /// The program it runs.
    pub program: String,
    /// Whether it is written as we write it.
    pub guarded: bool,
}

/// The command that runs that program for an agent.
pub fn write(program: &str, agent: &str) -> String {
    guard(program, &format!("hook {agent}"))
}

/// The command that runs that program for one event of an agent.
pub fn write_event(program: &str, agent: &str, event: &str) -> String {
    guard(program, &format!("hook {agent} {event}"))
}

fn guard(program: &str, words: &str) -> String {
    let program = quote(program);
    format!("[ -x {program} ] && {program} {words} || :")
}

/// Reads a command without an event; `None` for what is not ours.
pub fn read(command: &str, agent: &str) -> Option<Ours> {
    parse(command, agent).filter(|(_, event)| event.is_empty()).map(|(ours, _)| ours)
}

/// Reads a command and the event that it names; `None` for what is not ours.
pub fn read_event(command: &str, agent: &str) -> Option<(Ours, String)> {
    parse(command, agent).filter(|(_, event)| !event.is_empty())
}

/// Reads a command of ours, with its event or the empty text.
fn parse(command: &str, agent: &str) -> Option<(Ours, String)> {
    let guarded = command.strip_prefix("[ -x ").and_then(word).and_then(|(program, rest)| {
        let (again, rest) = word(rest.strip_prefix(" ] && ")?)?;
        let words = rest.strip_prefix(' ')?.strip_suffix(" || :")?;
        (again == program).then_some((program, words))
    });
    let (program, words) = match &guarded {
        Some((program, words)) => (program.clone(), *words),
        None => {
            let (program, rest) = word(command.trim())?;
            (program, rest.strip_prefix(' ')?)
        }
    };
    let event = match words.strip_prefix("hook ")?.strip_prefix(agent)? {
        "" => "",
        rest => rest.strip_prefix(' ').filter(|event| is_event(event))?,
    };
    let ours = Ours { guarded: guarded.is_some() && guard(&program, words) == command, program };
    Path::new(&ours.program).file_name().is_some_and(|name| name == PROGRAM).then(|| (ours, event.to_string()))
}

/// Whether a word may name an event: one that the shell takes as it stands.
fn is_event(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// One word for the shell, whatever is in it.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The shell's first word, without its quotes, and what follows it. Whatever the shell would do more with it than
/// take it as it stands makes it no word of ours.
fn word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            Some('\'') => {
                let (quoted, after) = chars.as_str().split_once('\'')?;
                word.push_str(quoted);
                rest = after;
            }
            Some('"') => {
                let (quoted, after) = chars.as_str().split_once('"')?;
                if quoted.contains(['$', '`', '\\']) {
                    return None;
                }
                word.push_str(quoted);
                rest = after;
            }
            Some('\\') => {
                word.push(chars.next()?);
                rest = chars.as_str();
            }
            Some(' ') | None => return (!word.is_empty()).then_some((word, rest)),
            Some(c) if c.is_alphanumeric() || "/._-+@%:,=".contains(c) => {
                word.push(c);
                rest = chars.as_str();
            }
            Some(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &str) -> Option<(String, bool)> {
        read(command, "claude").map(|ours| (ours.program, ours.guarded))
    }

    #[test]
    fn what_is_written_is_read() {
        for path in ["/usr/bin/vigilctl", "/home/o'neil/my apps/$x`y`/vigilctl", "/ü/\"/\\/vigilctl"] {
            assert_eq!(program(&write(path, "claude")), Some((path.to_string(), true)), "{path}");
        }
    }

    #[test]
    fn a_call_by_hand_is_ours_too() {
        for command in [
            "vigilctl hook claude",
            "'/o p/vigilctl' hook claude",
            "\"/o p/vigilctl\" hook claude",
            "[ -x /o/vigilctl ] && /o/vigilctl hook claude || :",
        ] {
            assert!(matches!(program(command), Some((_, false))), "{command}");
        }
    }

    #[test]
    fn a_command_may_name_its_event() {
        let read =
            |command: &str| read_event(command, "codewhale").map(|(ours, event)| (ours.program, ours.guarded, event));
        for path in ["/usr/bin/vigilctl", "/home/o'neil/my apps/$x`y`/vigilctl"] {
            let command = write_event(path, "codewhale", "turn_end");
            assert_eq!(read(&command), Some((path.to_string(), true, "turn_end".into())), "{path}");
        }
        let by_hand = Some(("vigilctl".to_string(), false, "turn_end".to_string()));
        assert_eq!(read("vigilctl hook codewhale turn_end"), by_hand);
        for command in [
            write("/o/vigilctl", "codewhale").as_str(),
            "vigilctl hook codewhale",
            "vigilctl hook codewhale ",
            "vigilctl hook codewhaler turn_end",
            "vigilctl hook codewhale turn_end more",
            "vigilctl hook codewhale turn_end; rm x",
            "vigilctl hook codewhale $(rm x)",
            "vigilctl  hook codewhale turn_end",
            "[ -x '/a/vigilctl' ] && '/a/vigilctl' hook codewhale turn_end",
            "[ -x '/a/vigilctl' ] && '/b/vigilctl' hook codewhale turn_end || :",
            "/usr/bin/other hook codewhale turn_end",
        ] {
            assert_eq!(read(command), None, "{command}");
        }
    }

    #[test]
    fn others_stay_theirs() {
        for command in [
            "",
            "vigilctl",
            "vigilctl hook codex",
            "vigilctl hook claude stop",
            "vigilctl hook claude; rm x",
            "$HOME/vigilctl hook claude",
            "my-vigilctl hook claude",
            "/usr/bin/other hook claude",
            "[ -x '/usr/bin/other' ] && '/usr/bin/other' hook claude || :",
            "[ -x '/a/vigilctl' ] && '/b/vigilctl' hook claude || :",
            "[ -x '/a/vigilctl' ] && '/a/vigilctl' hook claude",
            "'/a/vigilctl hook claude",
        ] {
            assert_eq!(program(command), None, "{command}");
        }
    }
}
