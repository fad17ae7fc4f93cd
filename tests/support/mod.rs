// SPDX-License-Identifier: GPL-3.0-or-later
//! A private session bus, a stand-in for the application on it, and the built `vigilctl` as a process.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use vigil::protocol::{APP_ID, OBJECT_PATH};
use zbus::object_server::SignalEmitter;
use zbus::{OwnedVariant, interface};

/// A reply that takes longer than this never comes.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The program, in an environment that holds nothing else.
pub fn vigilctl(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigilctl"));
    command.args(words).env_clear().current_dir("/");
    command
}

/// How a process ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Outcome {
    /// What is asked of a guest: exit 0 and silence, in time.
    #[track_caller]
    pub fn assert_guest(&self, limit: Duration) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (Some(0), "", ""));
        assert!(self.took < limit, "took {:?}", self.took);
    }

    /// What a failed command says.
    #[track_caller]
    pub fn assert_error(&self, code: i32, says: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{self:?}");
        assert!(self.stderr.contains(says), "{self:?}");
    }
}

/// Runs a process with that on its standard input.
pub fn run(command: &mut Command, stdin: &[u8]) -> Outcome {
    let mut child = spawn(command.stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    let bytes = stdin.to_vec();
    // A process that does not read all of it breaks the pipe, which is for the caller to notice.
    let writer = thread::spawn(move || pipe.write_all(&bytes).is_ok());
    let outcome = end(child);
    assert!(writer.join().expect("the writer ends"), "standard input was not read to its end");
    outcome
}

/// Starts a process with both outputs caught.
pub fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits for the end of a process, as long as it may take.
pub fn end(mut child: Child) -> Outcome {
    let start = Instant::now();
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let code = loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            break status.code();
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the process hangs");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let took = start.elapsed();
    let text = |reader: Option<JoinHandle<String>>| reader.map(|reader| reader.join().unwrap()).unwrap_or_default();
    Outcome { code, stdout: text(stdout), stderr: text(stderr), took }
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        let _ = pipe.read_to_string(&mut text);
        text
    })
}

/// A session bus of our own. Its services are those of its folder, of which there is one: the application, as a
/// program that leaves a file and fails.
pub struct Bus {
    daemon: Child,
    address: String,
    folder: TempDir,
}

impl Bus {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let services = folder.path().join("data/dbus-1/services");
        std::fs::create_dir_all(&services).expect("a folder of services");
        let started = folder.path().join("started");
        let service =
            format!("[D-BUS Service]\nName={APP_ID}\nExec=/bin/sh -c \"touch {}; exit 1\"\n", started.display());
        std::fs::write(services.join("vigil.service"), service).expect("a service file");
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address"])
            .arg(format!("--address=unix:dir={}", folder.path().display()))
            .env("XDG_DATA_DIRS", folder.path().join("data"))
            .env("XDG_DATA_HOME", folder.path().join("none"))
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon is installed");
        let mut address = String::new();
        let stdout = daemon.stdout.as_mut().expect("its output is a pipe");
        BufReader::new(stdout).read_line(&mut address).expect("dbus-daemon prints its address");
        Self { daemon, address: address.trim().to_string(), folder }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether the bus has started the application.
    pub fn has_activated(&self) -> bool {
        self.folder.path().join("started").exists()
    }

    /// The program, on this bus.
    pub fn vigilctl(&self, words: &[&str]) -> Command {
        let mut command = vigilctl(words);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// One call that arrived.
#[derive(Debug)]
pub struct Call {
    pub member: &'static str,
    pub words: Vec<String>,
    pub dict: HashMap<String, OwnedVariant>,
}

/// The event that the stand-in never answers.
pub const HANG: &str = "hang";

/// What the stand-in is told to do.
enum Order {
    Emit(u64, String),
    Stop,
}

/// A stand-in for the application: it owns the name, remembers what it is called with, and shows one snapshot.
pub struct Application {
    calls: Receiver<Call>,
    orders: async_channel::Sender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Application {
    pub fn start(bus: &Bus, snapshot: &str) -> Self {
        let (sender, calls) = mpsc::channel();
        let (orders, receiver) = async_channel::unbounded();
        let (ready, is_ready) = mpsc::channel();
        let interface = Interface { calls: sender, snapshot: snapshot.to_string() };
        let address = bus.address().to_string();
        let thread = thread::spawn(move || {
            zbus::block_on(async {
                let connection = zbus::connection::Builder::address(address.as_str())
                    .serve_at(OBJECT_PATH, interface)
                    .name(APP_ID)
                    .build()
                    .await
                    .expect("the stand-in gets its name");
                ready.send(()).expect("the test waits");
                while let Ok(Order::Emit(serial, changes)) = receiver.recv().await {
                    let emitter = SignalEmitter::new(&connection, OBJECT_PATH).expect("a path");
                    Interface::changed(&emitter, serial, &changes).await.expect("a signal");
                }
                let _ = connection.close().await;
            });
        });
        is_ready.recv_timeout(PATIENCE).expect("the stand-in starts");
        Self { calls, orders, thread: Some(thread) }
    }

    /// The next call that arrives.
    #[track_caller]
    pub fn next_call(&self) -> Call {
        self.calls.recv_timeout(PATIENCE).expect("a call arrives")
    }

    /// Whether nothing has arrived that nobody asked for.
    pub fn is_quiet(&self) -> bool {
        self.calls.try_recv().is_err()
    }

    pub fn emit(&self, serial: u64, changes: &str) {
        self.orders.send_blocking(Order::Emit(serial, changes.to_string())).expect("the stand-in lives");
    }

    pub fn stop(&mut self) {
        let _ = self.orders.send_blocking(Order::Stop);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the stand-in ends");
        }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The errors that the tests provoke.
#[derive(Debug, zbus::DBusError)]
#[zbus(prefix = "dev.vigil.Vigil1.Error")]
enum Refused {
    #[zbus(error)]
    ZBus(zbus::Error),
    UnknownRow(String),
    NotAvailable(String),
}

struct Interface {
    calls: mpsc::Sender<Call>,
    snapshot: String,
}

impl Interface {
    fn note(&self, member: &'static str, words: &[&str], dict: HashMap<String, OwnedVariant>) {
        let words = words.iter().map(ToString::to_string).collect();
        let _ = self.calls.send(Call { member, words, dict });
    }
}

#[interface(name = "dev.vigil.Vigil1")]
impl Interface {
    /// Answers, but for one event.
    async fn hook(&self, agent: &str, event: &str, payload: &str, origin: HashMap<String, OwnedVariant>) {
        self.note("Hook", &[agent, event, payload], origin);
        if event == HANG {
            std::future::pending::<()>().await;
        }
    }

    fn set_status(&self, workspace: &str, key: &str, value: &str, options: HashMap<String, OwnedVariant>) {
        self.note("SetStatus", &[workspace, key, value], options);
    }

    fn clear_status(&self, workspace: &str, key: &str) {
        self.note("ClearStatus", &[workspace, key], HashMap::new());
    }

    fn set_progress(&self, workspace: &str, value: f64, label: &str) {
        self.note("SetProgress", &[workspace, &value.to_string(), label], HashMap::new());
    }

    fn append_log(&self, workspace: &str, level: &str, message: &str) {
        self.note("AppendLog", &[workspace, level, message], HashMap::new());
    }

    fn notify(&self, workspace: &str, title: &str, body: &str) -> Result<(), Refused> {
        self.note("Notify", &[workspace, title, body], HashMap::new());
        Err(Refused::NotAvailable("Notifications come later".into()))
    }

    fn acknowledge(&self, row: &str) -> Result<(), Refused> {
        self.note("Acknowledge", &[row], HashMap::new());
        if row == "r1" { Ok(()) } else { Err(Refused::UnknownRow(format!("There is no row {row}"))) }
    }

    fn dismiss(&self, row: &str) {
        self.note("Dismiss", &[row], HashMap::new());
    }

    fn jump(&self, row: &str) -> Result<(bool, String), Refused> {
        self.note("Jump", &[row], HashMap::new());
        Ok((false, "The terminal is not known".into()))
    }

    fn get_snapshot(&self, options: HashMap<String, OwnedVariant>) -> String {
        self.note("GetSnapshot", &[], options);
        self.snapshot.clone()
    }

    #[zbus(signal)]
    async fn changed(emitter: &SignalEmitter<'_>, serial: u64, changes: &str) -> zbus::Result<()>;
}
