// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads the origin block of a call.
//!
//! Every part of it is optional and a claim. A part of the wrong type or size is left out, for an event with half an
//! origin is worth more than none; nothing in it can cost more than its bounded size.

use std::collections::BTreeMap;

use gtk::glib;

use crate::protocol::{CHAIN_LENGTH, ChainLink, ENVIRONMENT, Origin};
use crate::text::ID_BYTES;

/// Names of hosts, boots, processes and the like are short.
const NAME_BYTES: usize = 256;

/// So many variables are looked at; a hook sends [`ENVIRONMENT`] at most.
const VARIABLES: usize = 256;

/// The origin in an `a{sv}`.
pub fn read(origin: &glib::Variant) -> Origin {
    let dict = glib::VariantDict::new(Some(origin));
    let part = |key: &str| dict.lookup_value(key, None);
    let name = |key: &str| part(key).and_then(|value| text(&value, NAME_BYTES));
    Origin {
        id: name("id"),
        version: part("version").and_then(|value| value.get()).unwrap_or_default(),
        at: part("at").and_then(|value| value.get()),
        boot_id: name("boot-id"),
        pidns: part("pidns").and_then(|value| value.get()),
        host: name("host"),
        chain: part("chain").map(|value| chain(&value)).unwrap_or_default(),
        cwd: part("cwd").and_then(|value| text(&value, ID_BYTES)),
        env: part("env").map(|value| env(&value)).unwrap_or_default(),
    }
}

fn text(value: &glib::Variant, bytes: usize) -> Option<String> {
    value.str().filter(|text| !text.is_empty() && text.len() <= bytes).map(ToString::to_string)
}

/// The parents, nearest first. One bad link ends the chain: what is behind it may not be its parent.
fn chain(value: &glib::Variant) -> Vec<ChainLink> {
    if value.type_() != "a(utsu)" {
        return Vec::new();
    }
    let links = value.iter().take(CHAIN_LENGTH).map_while(|link| link.get());
    links.map_while(|(pid, start, comm, tty)| link(pid, start, comm, tty)).collect()
}

fn link(pid: u32, start: u64, comm: String, tty: u32) -> Option<ChainLink> {
    (pid > 0 && comm.len() <= NAME_BYTES).then_some(ChainLink { pid, start, comm, tty })
}

/// The variables that a hook forwards, and no others.
fn env(value: &glib::Variant) -> BTreeMap<String, String> {
    if value.type_() != "a{ss}" {
        return BTreeMap::new();
    }
    value.iter().take(VARIABLES).filter_map(|entry| variable(&entry)).collect()
}

fn variable(entry: &glib::Variant) -> Option<(String, String)> {
    let (name, value) = (entry.child_value(0), entry.child_value(1));
    let name = ENVIRONMENT.iter().find(|known| name.str() == Some(known))?;
    Some(((*name).to_string(), text(&value, ID_BYTES)?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use gtk::glib::prelude::*;

    use super::*;

    fn block(parts: &[(&str, glib::Variant)]) -> Origin {
        let parts: HashMap<String, glib::Variant> =
            parts.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect();
        read(&parts.to_variant())
    }

    #[test]
    fn a_whole_origin_is_read() {
        let origin = block(&[
            ("id", "i".to_variant()),
            ("version", 1_u32.to_variant()),
            ("at", 5_u64.to_variant()),
            ("boot-id", "b".to_variant()),
            ("pidns", 7_u64.to_variant()),
            ("host", "box".to_variant()),
            ("chain", vec![(20_u32, 200_u64, "claude".to_string(), 34819_u32)].to_variant()),
            ("cwd", "/home/u".to_variant()),
            ("env", HashMap::from([("TMUX_PANE", "%3"), ("PATH", "/bin")]).to_variant()),
        ]);
        let link = ChainLink { pid: 20, start: 200, comm: "claude".into(), tty: 34819 };
        let expected = Origin {
            id: Some("i".into()),
            version: 1,
            at: Some(5),
            boot_id: Some("b".into()),
            pidns: Some(7),
            host: Some("box".into()),
            chain: vec![link],
            cwd: Some("/home/u".into()),
            env: BTreeMap::from([("TMUX_PANE".to_string(), "%3".to_string())]),
        };
        assert_eq!(origin, expected);
    }

    #[test]
    fn a_bad_part_is_left_out() {
        let origin = block(&[
            ("id", 1_i32.to_variant()),
            ("version", "1".to_variant()),
            ("at", (-1_i64).to_variant()),
            ("chain", vec!["claude"].to_variant()),
            ("cwd", "x".repeat(5000).to_variant()),
            ("env", HashMap::from([("TMUX", 3_u32)]).to_variant()),
            ("host", "".to_variant()),
            ("unheard-of", true.to_variant()),
        ]);
        assert_eq!(origin, Origin::default());
    }

    #[test]
    fn a_chain_is_bounded() {
        let links: Vec<(u32, u64, String, u32)> = (1..1000).map(|pid| (pid, 1, "sh".to_string(), 0)).collect();
        assert_eq!(block(&[("chain", links.to_variant())]).chain.len(), CHAIN_LENGTH);
    }
}
