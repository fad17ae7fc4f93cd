// SPDX-License-Identifier: GPL-3.0-or-later
//! What follows from what a hook saw: the agent's process, its terminal pane, its workspace.
//!
//! Reading is apart from deciding: the hook reads `/proc` and the environment into an [`Origin`], the application adds
//! what it can see itself ([`Here`], [`Found`]), and [`place`] decides. The environment is a memory, not a truth
//! (status model, section 4): a pane's id counts where the process tree bears it out.

use std::collections::BTreeSet;

use crate::agent::Agent;
use crate::event::{Place, Process, Project};
use crate::protocol::{CHAIN_LENGTH, ChainLink, Origin};
use crate::text;
use crate::time::BootTime;

/// Where the application itself runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// The boot id.
    pub boot_id: String,
    /// Inode of the pid namespace.
    pub pidns: u64,
    /// The host's name.
    pub host: String,
}

/// What the application found out about an origin by looking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The project of the event's working directory.
    pub project: Option<Project>,
    /// Names of variables that a multiplexer's server of the chain has with the same value: they leaked into the pane
    /// from the terminal that started the server.
    pub leaked: BTreeSet<String>,
}

/// When the hook started, if its clock is ours.
pub fn at(origin: &Origin, here: &Here) -> Option<BootTime> {
    let at = origin.at?;
    let same_boot = origin.boot_id.as_ref().is_none_or(|id| *id == here.boot_id);
    let same_host = origin.host.as_ref().is_none_or(|host| *host == here.host);
    (same_boot && same_host).then_some(BootTime(at))
}

/// Whether the origin's processes are ours to watch.
pub fn is_local(origin: &Origin, here: &Here) -> bool {
    origin.pidns.is_none_or(|pidns| pidns == here.pidns)
        && origin.host.as_ref().is_none_or(|host| *host == here.host)
        && origin.boot_id.as_ref().is_none_or(|id| *id == here.boot_id)
}

/// Servers of multiplexers: processes whose environment tells what leaked into their panes.
pub fn multiplexer_servers(chain: &[ChainLink]) -> impl Iterator<Item = &ChainLink> {
    chain.iter().filter(|link| {
        link.comm.starts_with("tmux") || matches!(link.comm.as_str(), "zellij" | "screen" | "dtach" | "abduco")
    })
}

/// Where the event was seen. `workspace`, `surface` and `cwd` are those of the payload, which outrank the environment.
pub fn place(
    agent: &Agent<'_>,
    origin: &Origin,
    here: &Here,
    found: Found,
    workspace: Option<String>,
    surface: Option<String>,
    cwd: Option<String>,
) -> Place {
    let link = agent_link(agent, origin);
    let local = is_local(origin, here);
    let tty = link.and_then(|(_, link)| tty_name(link.tty));
    let explicit = surface.or_else(|| variable(origin, &["VIGIL_SURFACE_ID", "SEANCE_SURFACE_ID"]));
    let pane = explicit.or_else(|| pane(origin, &found.leaked));
    let surface_named = pane.is_some();
    let process = |link: &ChainLink| Process { pid: link.pid, start: link.start };
    Place {
        workspace: workspace.or_else(|| variable(origin, &["VIGIL_WORKSPACE_ID", "SEANCE_WORKSPACE_ID"])),
        project: found.project,
        cwd: cwd.or_else(|| origin.cwd.clone()).filter(|cwd| cwd.starts_with('/') && cwd.len() <= text::ID_BYTES),
        surface: pane.or_else(|| tty.as_ref().map(|tty| format!("tty:{tty}"))),
        surface_named,
        process: link.filter(|_| local).map(|(_, link)| process(link)),
        ancestors: match link {
            Some((index, _)) if local => origin.chain[index + 1..].iter().map(process).collect(),
            _ => Vec::new(),
        },
        pid: link.map(|(_, link)| link.pid),
        tty: tty.filter(|_| local),
        host: origin.host.as_deref().filter(|host| *host != here.host).map(text::one_line),
        served: false,
    }
}

/// The agent's own process: the nearest one of its names, else the one that the agent's environment names.
fn agent_link<'a>(agent: &Agent<'_>, origin: &'a Origin) -> Option<(usize, &'a ChainLink)> {
    let named = |link: &ChainLink| {
        comm_matches(&link.comm, agent.id) || agent.processes.iter().any(|name| comm_matches(&link.comm, name))
    };
    let claimed: Option<u32> =
        agent.pid_variable.and_then(|name| origin.env.get(name)).and_then(|pid| pid.parse().ok());
    let chain = || origin.chain.iter().enumerate();
    chain().find(|(_, link)| Some(link.pid) == claimed).or_else(|| chain().find(|(_, link)| named(link)))
}

/// Whether a process's `comm` is that name, of which the kernel keeps 15 bytes.
pub fn comm_matches(comm: &str, name: &str) -> bool {
    comm == name || (name.len() > 15 && name.is_char_boundary(15) && comm == &name[..15])
}

fn variable(origin: &Origin, names: &[&str]) -> Option<String> {
    let usable = |value: &&String| !value.is_empty() && value.len() <= text::ID_BYTES;
    names.iter().filter_map(|name| origin.env.get(*name)).find(usable).cloned()
}

/// A pane that the environment tells of.
struct Candidate {
    surface: String,
    /// Whether that process holds the pane.
    holds: Box<dyn Fn(&ChainLink) -> bool>,
}

/// The terminal pane: the nearest process that holds one of those the environment tells of. With a chain that was cut
/// short, or none, the environment decides, a multiplexer's pane before the outer terminal's.
fn pane(origin: &Origin, leaked: &BTreeSet<String>) -> Option<String> {
    let candidates = candidates(origin, leaked);
    let held = origin
        .chain
        .iter()
        .find_map(|link| candidates.iter().find(|candidate| (candidate.holds)(link)))
        .map(|candidate| candidate.surface.clone());
    let whole = !origin.chain.is_empty() && origin.chain.len() < CHAIN_LENGTH;
    if held.is_some() || whole { held } else { candidates.into_iter().next().map(|candidate| candidate.surface) }
}

fn candidates(origin: &Origin, leaked: &BTreeSet<String>) -> Vec<Candidate> {
    let get = |name: &str| {
        origin.env.get(name).filter(|value| !value.is_empty() && !leaked.contains(name)).map(String::as_str)
    };
    let mut found = Vec::new();
    if let (Some(tmux), Some(pane)) = (get("TMUX"), get("TMUX_PANE")) {
        // TMUX is "socket,server pid,session".
        let mut parts = tmux.rsplitn(3, ',');
        let server: Option<u32> = parts.nth(1).and_then(|pid| pid.parse().ok());
        let socket = parts.next().unwrap_or(tmux);
        found.push(Candidate {
            surface: format!("tmux:{socket}:{pane}"),
            holds: Box::new(move |link| server.is_some_and(|server| server == link.pid)),
        });
    }
    if let (Some(session), Some(pane)) = (get("ZELLIJ_SESSION_NAME"), get("ZELLIJ_PANE_ID")) {
        found.push(Candidate {
            surface: format!("zellij:{session}:{pane}"),
            holds: Box::new(|link| link.comm == "zellij"),
        });
    }
    if let Some(window) = get("KITTY_WINDOW_ID") {
        let pid: Option<u32> = get("KITTY_PID").and_then(|pid| pid.parse().ok());
        let kitty = pid.map(|pid| pid.to_string()).unwrap_or_default();
        found.push(Candidate {
            surface: format!("kitty:{kitty}:{window}"),
            holds: Box::new(move |link| pid.map_or(link.comm == "kitty", |pid| pid == link.pid)),
        });
    }
    if let Some(pane) = get("WEZTERM_PANE") {
        let socket = get("WEZTERM_UNIX_SOCKET").unwrap_or_default();
        found.push(Candidate {
            surface: format!("wezterm:{socket}:{pane}"),
            holds: Box::new(|link| link.comm.starts_with("wezterm-")),
        });
    }
    if let Some(session) = get("KONSOLE_DBUS_SESSION") {
        let service = get("KONSOLE_DBUS_SERVICE").unwrap_or_default();
        found.push(Candidate {
            surface: format!("konsole:{service}:{session}"),
            holds: Box::new(|link| link.comm == "konsole"),
        });
    }
    found.retain(|candidate| candidate.surface.len() <= text::ID_BYTES);
    found
}

/// The name under `/dev` of a terminal by its device number; `None` for no terminal and for kinds that do not vanish.
fn tty_name(device: u32) -> Option<String> {
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
    match major {
        136..=143 => Some(format!("pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("tty{minor}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent;

    fn link(pid: u32, comm: &str, tty: u32) -> ChainLink {
        ChainLink { pid, start: u64::from(pid) * 10, comm: comm.into(), tty }
    }

    fn origin(env: &[(&str, &str)], chain: Vec<ChainLink>) -> Origin {
        Origin {
            chain,
            env: env.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect(),
            ..Origin::default()
        }
    }

    fn decide(origin: &Origin) -> Place {
        place(&agent::find("claude"), origin, &Here::default(), Found::default(), None, None, None)
    }

    const PTS3: u32 = (136 << 8) | 3;

    #[test]
    fn the_agents_process_is_found_by_walking_up() {
        let chain = vec![link(30, "sh", 0), link(20, "claude", PTS3), link(10, "bash", PTS3), link(1, "systemd", 0)];
        let place = decide(&origin(&[], chain));
        assert_eq!(place.process, Some(Process { pid: 20, start: 200 }));
        assert_eq!(place.surface.as_deref(), Some("tty:pts/3"));
        assert!(!place.surface_named);
        assert_eq!(place.tty.as_deref(), Some("pts/3"));
        assert_eq!(place.ancestors.len(), 2);
    }

    #[test]
    fn an_agent_may_say_which_process_it_is() {
        let chain = vec![link(30, "sh", 0), link(20, "node", 0), link(10, "claude", 0), link(1, "systemd", 0)];
        assert_eq!(decide(&origin(&[("CLAUDE_PID", "20")], chain)).process, Some(Process { pid: 20, start: 200 }));
    }

    #[test]
    fn a_process_of_elsewhere_is_shown_and_not_watched() {
        let mut far = origin(&[], vec![link(20, "claude", PTS3)]);
        far.pidns = Some(7);
        far.host = Some("box".into());
        let place = decide(&far);
        assert_eq!((place.process, place.pid, place.tty), (None, Some(20), None));
        assert_eq!(place.host.as_deref(), Some("box"));
    }

    #[test]
    fn times_of_another_boot_are_not_compared() {
        let here = Here { boot_id: "a".into(), ..Here::default() };
        let mut event = Origin { at: Some(5), boot_id: Some("a".into()), ..Origin::default() };
        assert_eq!(at(&event, &here), Some(BootTime(5)));
        event.boot_id = Some("b".into());
        assert_eq!(at(&event, &here), None);
    }

    #[test]
    fn a_multiplexers_pane_outranks_the_terminals() {
        let env = [
            ("TMUX", "/tmp/tmux-1000/default,77,0"),
            ("TMUX_PANE", "%3"),
            ("KITTY_WINDOW_ID", "2"),
            ("KITTY_PID", "9"),
        ];
        let chain =
            vec![link(20, "claude", 0), link(15, "bash", 0), link(77, "tmux: server", 0), link(1, "systemd", 0)];
        assert_eq!(decide(&origin(&env, chain)).surface.as_deref(), Some("tmux:/tmp/tmux-1000/default:%3"));
        assert_eq!(decide(&origin(&env, Vec::new())).surface.as_deref(), Some("tmux:/tmp/tmux-1000/default:%3"));
    }

    #[test]
    fn a_terminal_started_inside_a_multiplexer_is_the_nearer_truth() {
        let env = [("TMUX", "/tmp/s,77,0"), ("TMUX_PANE", "%3"), ("KITTY_WINDOW_ID", "2"), ("KITTY_PID", "60")];
        let chain = vec![link(20, "claude", 0), link(60, "kitty", 0), link(50, "bash", 0), link(77, "tmux: server", 0)];
        assert_eq!(decide(&origin(&env, chain)).surface.as_deref(), Some("kitty:60:2"));
    }

    #[test]
    fn a_pane_that_the_process_tree_denies_is_only_a_memory() {
        let env = [("TMUX", "/tmp/s,77,0"), ("TMUX_PANE", "%3")];
        let chain = vec![link(20, "claude", PTS3), link(60, "gnome-terminal-", 0), link(1, "systemd", 0)];
        let place = decide(&origin(&env, chain));
        assert_eq!(place.surface.as_deref(), Some("tty:pts/3"));
    }

    #[test]
    fn a_leaked_variable_does_not_count() {
        let env = [("KITTY_WINDOW_ID", "2")];
        let leaked = Found { leaked: BTreeSet::from(["KITTY_WINDOW_ID".to_string()]), ..Found::default() };
        let place = place(&agent::find("codex"), &origin(&env, Vec::new()), &Here::default(), leaked, None, None, None);
        assert_eq!(place.surface, None);
    }

    #[test]
    fn explicit_ids_come_first() {
        let env = [("VIGIL_SURFACE_ID", "s1"), ("SEANCE_SURFACE_ID", "s2"), ("SEANCE_WORKSPACE_ID", "7")];
        let place = decide(&origin(&env, Vec::new()));
        assert_eq!((place.surface.as_deref(), place.workspace.as_deref()), (Some("s1"), Some("7")));
        assert!(place.surface_named);
    }
}
