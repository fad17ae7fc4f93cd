// SPDX-License-Identifier: GPL-3.0-or-later
//! What of a hook arrives in the application, and that a hook never starts it.

use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use vigil::agent::CATALOGUE;
use zbus::{OwnedVariant, Variant};

use crate::support::{Application, Bus, Call, HANG, end, run, spawn};

const LIMIT: Duration = Duration::from_secs(3);

fn payload(call: &Call) -> Value {
    serde_json::from_str(&call.words[2]).expect("the payload is JSON")
}

fn text(dict: &HashMap<String, OwnedVariant>, key: &str) -> String {
    String::try_from(dict[key].try_clone().expect("a copy")).unwrap_or_else(|_| panic!("{key} is a text"))
}

#[test]
fn the_reduced_payload_arrives() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let given = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "permission_mode": "default",
        "tool_input": {"command": "x".repeat(600), "timeout": 5}, "message": "\u{0}é",
    });
    run(&mut bus.vigilctl(&["hook", "claude"]), given.to_string().as_bytes()).assert_guest(LIMIT);
    let call = application.next_call();
    assert_eq!((call.member, &call.words[..2]), ("Hook", &["claude".to_string(), String::new()][..]));
    let mut payload = payload(&call);
    let hash = payload.as_object_mut().and_then(|payload| payload.remove("vigil_input_hash"));
    assert_eq!(hash.and_then(|hash| hash.as_str().map(str::len)), Some(16));
    let wanted = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "x".repeat(512)}, "message": "\u{fffd}é",
    });
    assert_eq!(payload, wanted);
    assert!(application.is_quiet());
}

#[test]
fn the_origin_tells_where_it_comes_from() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let before = boot_nanos();
    let mut hook = bus.vigilctl(&["hook", "claude", "Stop"]);
    hook.env("TMUX_PANE", "%3").env("VIGIL_WORKSPACE_ID", "7").env("SECRET_TOKEN", "x").current_dir("/usr");
    run(&mut hook, b"{}").assert_guest(LIMIT);
    let mut origin = application.next_call().dict;
    let mut keys: Vec<_> = origin.keys().cloned().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["at", "boot-id", "chain", "cwd", "env", "host", "id", "pidns", "version"]);
    let signature = |key: &str| origin[key].value_signature().to_string();
    assert_eq!(
        keys.iter().map(|key| signature(key)).collect::<Vec<_>>(),
        ["t", "s", "a(utsu)", "s", "a{ss}", "s", "s", "t", "u"]
    );

    let id = text(&origin, "id");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!(text(&origin, "cwd"), "/usr");
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id");
    assert_eq!(text(&origin, "boot-id"), boot_id.trim());
    let mut take = |key: &str| Variant::from(origin.remove(key).expect("a key"));
    let at = u64::try_from(take("at")).expect("a time");
    assert!((before..=boot_nanos()).contains(&at));
    let pidns = std::fs::metadata("/proc/self/ns/pid").expect("a namespace").ino();
    assert_eq!(take("pidns"), Variant::from(pidns));
    assert_eq!(take("version"), Variant::from(1_u32));
    let env = HashMap::<String, String>::try_from(take("env")).expect("variables");
    assert_eq!(env, HashMap::from([("TMUX_PANE".into(), "%3".into()), ("VIGIL_WORKSPACE_ID".into(), "7".into())]));
    let chain = Vec::<(u32, u64, String, u32)>::try_from(take("chain")).expect("a chain");
    assert_eq!(chain[0].0, std::process::id(), "the hook's parent comes first");
    assert!(chain[0].1 > 0 && chain.len() <= 16);
}

fn boot_nanos() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
}

#[test]
fn an_application_that_hangs_holds_nobody() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    run(&mut bus.vigilctl(&["hook", "claude", HANG]), b"{}").assert_guest(Duration::from_millis(1000));
    assert_eq!(application.next_call().words[1], HANG);
}

#[test]
fn a_hook_never_starts_the_application() {
    let bus = Bus::start();
    run(&mut bus.vigilctl(&["hook", "claude", "Stop"]), b"{}").assert_guest(LIMIT);
    run(&mut bus.vigilctl(&["ctl", "codex-hook", "stop"]), b"{}").assert_guest(LIMIT);
    for words in [&["status"][..], &["watch"], &["jump"], &["jump", "r1"], &["ack", "r1"]] {
        run(&mut bus.vigilctl(words), b"").assert_error(1, "Vigil is not running");
    }
    thread::sleep(Duration::from_millis(200));
    assert!(!bus.has_activated());
    // The service file is one that works: whoever may start the application does.
    assert_eq!(run(&mut bus.vigilctl(&["set-status", "shop", "build", "Running"]), b"").code, Some(1));
    assert!(bus.has_activated());
}

#[test]
fn seance_spellings_are_hooks() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let seance = bus.folder().join("seance");
    symlink(env!("CARGO_BIN_EXE_vigilctl"), &seance).expect("a link");
    for agent in CATALOGUE.iter().map(|agent| agent.id).chain(["home-made"]) {
        let command = format!("{agent}-hook");
        run(&mut bus.vigilctl(&[&command, "stop"]), b"{}").assert_guest(LIMIT);
        let mut script = Command::new(&seance);
        script.args(["ctl", &command, "stop", "--workspace", "7", "--surface", "s", "--socket", "/x"]);
        script.env_clear().env("DBUS_SESSION_BUS_ADDRESS", bus.address());
        run(&mut script, br#"{"session_id":"1","workspace_id":"8"}"#).assert_guest(LIMIT);
        let (plain, placed) = (application.next_call(), application.next_call());
        assert_eq!(plain.words, [agent, "stop", "{}"]);
        assert_eq!(placed.words[..2], [agent, "stop"]);
        assert_eq!(payload(&placed), json!({"session_id": "1", "workspace_id": "7", "surface_id": "s"}));
    }
    let ping = run(Command::new(&seance).args(["ctl", "ping"]), b"");
    assert_eq!((ping.code, ping.stdout.as_str()), (Some(0), "pong\n"));
}

#[test]
fn what_arrives_of_odd_payloads() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let big = format!(r#"{{"tool_response":"{}","cwd":"/w"}}"#, "x".repeat(8 << 20));
    let deep = format!(r#"{{"tool_response":{}{},"cwd":"/w"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for (stdin, arrives) in [
        (&b""[..], json!({})),
        (b"{\"cwd\":\"/w\xff\"}", json!({"cwd": "/w\u{fffd}"})),
        (br#"{"cwd":"/\ud800\u0000"}"#, json!({"cwd": "/\u{fffd}\u{fffd}"})),
        (big.as_bytes(), json!({"cwd": "/w"})),
        (deep.as_bytes(), json!({"cwd": "/w"})),
    ] {
        run(&mut bus.vigilctl(&["hook", "claude", "Stop"]), stdin).assert_guest(LIMIT);
        assert_eq!(payload(&application.next_call()), arrives);
    }
    for refused in [&b"[]"[..], b"{} x", b"{\"cwd\":"] {
        run(&mut bus.vigilctl(&["hook", "claude", "Stop"]), refused).assert_guest(LIMIT);
    }
    run(&mut bus.vigilctl(&["hook", "claude", r#"{"hook_event_name":"Stop"}"#]), b"{}").assert_guest(LIMIT);
    assert_eq!(application.next_call().words, ["claude", "", "{}"], "nothing of the refused ones came first");
}

/// Somebody tries the command out: the terminal is not read, and nothing is waited for.
#[test]
fn a_terminal_is_not_read() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let shell = format!("{} hook claude Stop", env!("CARGO_BIN_EXE_vigilctl"));
    let mut script = Command::new("script");
    script.args(["-qec", &shell, "/dev/null"]).env("DBUS_SESSION_BUS_ADDRESS", bus.address()).stdin(Stdio::piped());
    let mut child = spawn(&mut script);
    let pipe = child.stdin.take();
    let outcome = end(child);
    drop(pipe);
    outcome.assert_guest(Duration::from_millis(1900));
    assert_eq!(payload(&application.next_call()), json!({}));
}

/// What was read until then is delivered, late as it is.
#[test]
fn an_unclosed_payload_is_delivered_all_the_same() {
    use std::io::Write;
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let mut child = spawn(bus.vigilctl(&["hook", "claude"]).stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(br#"{"hook_event_name":"Stop"}"#).expect("it is read");
    end(child).assert_guest(Duration::from_millis(3300));
    drop(pipe);
    assert_eq!(payload(&application.next_call()), json!({"hook_event_name": "Stop"}));
}

/// Both programs that an address list names are tried, as libdbus does.
#[test]
fn the_second_address_of_a_list_serves_too() {
    let bus = Bus::start();
    let application = Application::start(&bus, "{}");
    let mut hook = bus.vigilctl(&["hook", "claude", "Stop"]);
    hook.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path=/nonexistent;{}", bus.address()));
    run(&mut hook, b"{}").assert_guest(LIMIT);
    assert_eq!(application.next_call().member, "Hook");
}
