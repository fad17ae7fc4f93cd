// SPDX-License-Identifier: GPL-3.0-or-later
//! Whatever is wrong around it, the guest exits 0, says nothing and is gone in time.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{end, run, spawn, vigilctl};

/// What a guest may take when nothing holds it up, on a busy machine.
const SOON: Duration = Duration::from_millis(1000);

/// The end of reading, of delivering, and a busy machine.
const LATE: Duration = Duration::from_millis(3300);

fn guest(words: &[&str], stdin: &[u8]) {
    run(vigilctl(words).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus"), stdin).assert_guest(SOON);
}

#[test]
fn no_bus_no_home_no_runtime_directory() {
    run(&mut vigilctl(&["hook", "claude", "Stop"]), b"{}").assert_guest(SOON);
}

#[test]
fn a_runtime_directory_without_a_bus() {
    let folder = tempfile::tempdir().expect("a folder");
    run(vigilctl(&["hook", "claude"]).env("XDG_RUNTIME_DIR", folder.path()), b"{}").assert_guest(SOON);
}

#[test]
fn a_bus_socket_that_nobody_listens_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bus");
    drop(UnixListener::bind(&path).expect("a socket"));
    let address = format!("unix:path={}", path.display());
    run(vigilctl(&["hook", "claude"]).env("DBUS_SESSION_BUS_ADDRESS", address), b"{}").assert_guest(SOON);
}

#[test]
fn addresses_that_are_none() {
    let garbage = [
        "",
        " ",
        ";",
        ";;",
        "garbage",
        "unix:",
        "unix:path=",
        "tcp:host=,port=x",
        "unix:path=/a\u{fffd}%zz",
        "😀:=,;=",
    ];
    for address in garbage.into_iter().map(ToString::to_string).chain(["x".repeat(100_000)]) {
        run(vigilctl(&["hook", "claude"]).env("DBUS_SESSION_BUS_ADDRESS", &address), b"{}").assert_guest(SOON);
    }
}

/// Accepted by the kernel, never by anybody else.
#[test]
fn a_bus_that_never_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bus");
    let listener = UnixListener::bind(&path).expect("a socket");
    let address = format!("unix:path={}", path.display());
    let hook =
        || run(vigilctl(&["hook", "claude"]).env("DBUS_SESSION_BUS_ADDRESS", &address), b"{}").assert_guest(SOON);
    hook();
    // One that is accepted and stays silent, and one that says something else.
    let talker = std::thread::spawn(move || {
        use std::io::Write;
        let (_first, _) = listener.accept().expect("a connection");
        let (_second, _) = listener.accept().expect("a connection");
        let (mut third, _) = listener.accept().expect("a connection");
        let _ = third.write_all(&[b'x'; 100_000]);
        std::thread::sleep(LATE);
    });
    hook();
    hook();
    drop(talker);
}

#[test]
fn nothing_on_standard_input() {
    guest(&["hook", "claude", "Stop"], b"");
    guest(&["hook", "claude", "Stop"], b" \n");
}

#[test]
fn garbage_on_standard_input() {
    for stdin in [&b"garbage"[..], b"[1,2", b"{\"a\":", b"{}{}", b"\xff\xfe\x00", b"\0", b"\"x\"", b"nul"] {
        guest(&["hook", "claude", "Stop"], stdin);
    }
}

#[test]
fn text_that_is_none() {
    guest(&["hook", "claude"], br#"{"hook_event_name":"Stop","message":"\ud800 \udc00","\ud800":"x"}"#);
    guest(&["hook", "claude"], b"{\"hook_event_name\":\"Stop\",\"message\":\"\\u0000 \0\",\"\\u0000\":1}");
    guest(&["hook", "claude"], b"{\"hook_event_name\":\"Stop\",\"message\":\"\xff\xc0\xaf\",\"\xff\":1}");
}

#[test]
fn eight_mebibytes() {
    let big = format!(r#"{{"session_id":"s","tool_response":"{}","message":"m"}}"#, "x".repeat(8 << 20));
    guest(&["hook", "claude", "Stop"], big.as_bytes());
    guest(&["hook", "claude", "Stop"], &[b'['; 8 << 20]);
    guest(&["hook"], &[b'x'; 8 << 20]);
}

#[test]
fn a_hundred_thousand_levels() {
    let deep = format!(r#"{{"tool_response":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    guest(&["hook", "claude", "Stop"], deep.as_bytes());
    guest(&["hook", "claude", "Stop"], "{\"a\":".repeat(100_000).as_bytes());
}

#[test]
fn any_arguments() {
    let long = "x".repeat(100_000);
    for words in [
        &["hook"][..],
        &["hook", ""],
        &["hook", "", ""],
        &["hook", "--"],
        &["hook", "--workspace"],
        &["hook", "claude", "--help"],
        &["hook", "claude", "{\"type\":\"turn\"}"],
        &["hook", "../../etc", "\u{1b}[2J"],
        &["hook", "claude", &long],
        &["hook", &long, &long, &long, &long, &long, &long, &long, &long],
        &["ctl", "hook"],
        &["ctl", "claude-hook"],
        &["claude-hook", "stop", "--workspace", &long, "--surface", &long, "--socket"],
    ] {
        guest(words, b"{}");
    }
}

#[test]
fn arguments_that_are_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut command = vigilctl(&["hook"]);
    run(command.arg(OsStr::from_bytes(b"\xff")).arg(OsStr::from_bytes(b"\xfe\xff")), b"{}").assert_guest(SOON);
}

#[test]
fn standard_input_that_is_never_closed() {
    let mut child = spawn(vigilctl(&["hook", "claude", "Stop"]).stdin(Stdio::piped()));
    let pipe = child.stdin.take();
    let outcome = end(child);
    drop(pipe);
    outcome.assert_guest(LATE);
    assert!(outcome.took > Duration::from_millis(1500), "took {:?}", outcome.took);
}

#[test]
fn standard_input_that_cannot_be_read() {
    let folder = File::open("/").expect("a folder");
    let child = spawn(vigilctl(&["hook", "claude", "Stop"]).stdin(folder));
    end(child).assert_guest(SOON);
    for closed in ["<&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full </dev/null"] {
        let shell = format!("{} hook claude Stop {closed}", env!("CARGO_BIN_EXE_vigilctl"));
        let child = spawn(Command::new("/bin/sh").args(["-c", &shell]).env_clear().stdin(Stdio::null()));
        end(child).assert_guest(SOON);
    }
}

#[test]
fn a_working_directory_that_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let shell =
        format!("cd {0} && rmdir {0} && {1} hook claude Stop", folder.path().display(), env!("CARGO_BIN_EXE_vigilctl"));
    let child = spawn(Command::new("/bin/sh").args(["-c", &shell]).stdin(Stdio::null()));
    end(child).assert_guest(SOON);
}

/// Only whoever asks for it hears why nothing was delivered.
#[test]
fn debugging_speaks_on_standard_error() {
    let mut command = vigilctl(&["hook", "claude", "Stop"]);
    let outcome = run(command.env("VIGIL_DEBUG", "1"), b"[]");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    assert!(outcome.stderr.contains("not one complete JSON object"), "{outcome:?}");
}
