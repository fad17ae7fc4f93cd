// SPDX-License-Identifier: GPL-3.0-or-later
//! What a hook can see of where it runs, while it lives: the origin block.
//!
//! Reading only. What follows from it is decided in the application ([`crate::origin`]).

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use rustix::time::{ClockId, clock_gettime};
use zbus::Variant;

use crate::proc;
use crate::protocol::{ENVIRONMENT, ORIGIN_VERSION, Origin};
use crate::text::ID_BYTES;
use crate::time::BootTime;

/// The boot clock.
pub fn boot_time() -> BootTime {
    let time = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    BootTime(seconds.unwrap_or_default().saturating_mul(1_000_000_000) + nanos.unwrap_or_default())
}

/// Where this process runs, without its ancestry and surroundings.
pub fn machine(at: BootTime) -> Origin {
    Origin {
        id: random_id(),
        version: ORIGIN_VERSION,
        at: Some(at.0),
        boot_id: word("/proc/sys/kernel/random/boot_id"),
        pidns: fs::metadata("/proc/self/ns/pid").ok().map(|namespace| namespace.ino()),
        host: rustix::system::uname().nodename().to_str().ok().map(ToString::to_string),
        ..Origin::default()
    }
}

/// All that can be seen, of a hook that started then.
pub fn surroundings(at: BootTime) -> Origin {
    let cwd = std::env::current_dir().ok().and_then(|cwd| cwd.into_os_string().into_string().ok());
    Origin {
        chain: proc::chain(std::os::unix::process::parent_id()),
        cwd: cwd.filter(|cwd| cwd.len() <= ID_BYTES),
        env: environment(|name| std::env::var(name).ok()),
        ..machine(at)
    }
}

/// The variables that are forwarded, and no others.
pub fn environment(variable: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let values = ENVIRONMENT.iter().filter_map(|name| Some(((*name).to_string(), variable(name)?)));
    values.filter(|(_, value)| value.len() <= ID_BYTES && !value.contains('\0')).collect()
}

/// The origin block as it goes over the bus; what is not known is left out.
pub fn block(origin: &Origin) -> HashMap<&'static str, Variant<'_>> {
    let chain: Vec<(u32, u64, &str, u32)> =
        origin.chain.iter().map(|link| (link.pid, link.start, link.comm.as_str(), link.tty)).collect();
    let env: HashMap<&str, &str> = origin.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut block: HashMap<&'static str, Variant<'_>> = HashMap::with_capacity(9);
    block.insert("version", origin.version.into());
    block.insert("chain", chain.into());
    block.insert("env", env.into());
    let texts = [("id", &origin.id), ("boot-id", &origin.boot_id), ("host", &origin.host), ("cwd", &origin.cwd)];
    block.extend(texts.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?.into()))));
    let numbers = [("at", origin.at), ("pidns", origin.pidns)];
    block.extend(numbers.into_iter().filter_map(|(key, number)| Some((key, number?.into()))));
    block
}

/// 128 random bits, so that an event that arrives twice is applied once.
fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom").ok()?.read_exact(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

fn word(path: &str) -> Option<String> {
    Some(proc::line(path)?.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_are_forwarded() {
        let env = environment(|name| Some(format!("value of {name}")));
        assert_eq!(env.len(), ENVIRONMENT.len());
        assert_eq!(environment(|_| Some("x".repeat(ID_BYTES + 1))), BTreeMap::new());
    }

    #[test]
    fn every_id_is_another() {
        let (one, other) = (random_id(), random_id());
        assert_eq!(one.as_ref().map(String::len), Some(32));
        assert_ne!(one, other);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let keys = |origin: &Origin| {
            let mut keys: Vec<_> = block(origin).into_keys().collect();
            keys.sort_unstable();
            keys
        };
        assert_eq!(keys(&Origin::default()), ["chain", "env", "version"]);
        let all = ["at", "boot-id", "chain", "cwd", "env", "host", "id", "pidns", "version"];
        assert_eq!(keys(&surroundings(boot_time())), all);
    }
}
