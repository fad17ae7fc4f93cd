// SPDX-License-Identifier: GPL-3.0-or-later
//! The real application on a private session bus and a virtual display, and what reaches it from outside.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gtk::gio;
use gtk::glib::{self, prelude::*};
use tempfile::TempDir;
use vigil::protocol::{APP_ID, INTERFACE, OBJECT_PATH};
use vigil::snapshot::{Change, RowView, Snapshot};

/// Nothing that is waited for takes longer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What starts the accessibility bus, next to the session's.
const ACCESSIBILITY: &str = "/usr/share/dbus-1/services/org.a11y.Bus.service";

/// Programs that a test started; dropped, they are killed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A failed call: the error's name and its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub name: String,
    pub message: String,
}

impl Failure {
    /// The last word of an error of ours.
    pub fn word(&self) -> &str {
        self.name.strip_prefix("dev.vigil.Vigil1.Error.").unwrap_or(&self.name)
    }
}

/// A signal of ours, as it came.
#[derive(Clone, Debug)]
pub struct Signal {
    pub member: String,
    pub body: glib::Variant,
}

/// The application, running.
pub struct Session {
    // In the order in which they end.
    app: Running,
    connection: gio::DBusConnection,
    _display: Running,
    _bus: Running,
    signals: Arc<Mutex<Vec<Signal>>>,
    environment: HashMap<&'static str, String>,
    home: TempDir,
}

impl Session {
    /// Starts all of it, and waits until the application answers.
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// The same, with these settings (`key=value`, a line each).
    pub fn start_with(settings: &str) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_vigil"));
        Self::start_among(program, "", settings, &[("GTK_A11Y", "none"), ("G_DEBUG", "fatal-criticals")])
    }

    /// The same with accessibility, so that the window can be read. A warning of the application is its end.
    pub fn start_readable() -> Self {
        Self::start_readable_as(Path::new(env!("CARGO_BIN_EXE_vigil")))
    }

    /// The same with the application of another place.
    pub fn start_readable_as(program: &Path) -> Self {
        Self::start_among(program, ACCESSIBILITY, "", &[("G_DEBUG", "fatal-warnings")])
    }

    fn start_among(program: &Path, service: &str, settings: &str, more: &[(&'static str, &str)]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (display, number) = start_display();
        compile_schema(home.path(), settings);
        let mut environment = environment(home.path(), &number);
        let (bus, address) = start_bus(home.path(), service, &environment);
        environment.insert("DBUS_SESSION_BUS_ADDRESS", address.clone());
        environment.extend(more.iter().map(|(name, value)| (*name, (*value).to_string())));
        let log = File::create(home.path().join("log")).expect("a log file");
        let mut command = Command::new(program);
        command.arg("--gapplication-service").env_clear().envs(&environment).current_dir(home.path());
        let app =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("the application starts");
        let (connection, signals) = connect(&address);
        let session = Self { app: Running(app), connection, _display: display, _bus: bus, signals, environment, home };
        session.wait_for("the application's name", || session.has_owner());
        session
    }

    /// A folder that goes with the session; the application's home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The application's process.
    pub fn pid(&self) -> u32 {
        self.app.0.id()
    }

    /// What the application has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).expect("the log")
    }

    /// Whether somebody owns the application's name.
    pub fn has_owner(&self) -> bool {
        let reply = self.bus("NameHasOwner", &(APP_ID,).to_variant()).expect("the bus answers");
        reply.child_value(0).get() == Some(true)
    }

    /// Whether the application has ended.
    pub fn has_ended(&mut self) -> bool {
        self.app.0.try_wait().expect("the application can be waited for").is_some()
    }

    /// Waits until the application has ended by itself.
    #[track_caller]
    pub fn ends_within(&mut self, limit: Duration) {
        let start = Instant::now();
        while !self.has_ended() {
            assert!(start.elapsed() < limit, "the application goes on; the log says:\n{}", self.log());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// A program in the session's environment, which holds nothing of the tester's.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.environment).current_dir(self.home.path()).stdin(Stdio::null());
        command
    }

    /// `vigilctl` with these words, and that on its standard input. It must succeed in silence or with output.
    pub fn vigilctl(&self, words: &[&str], stdin: &str) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_vigilctl"));
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("vigilctl starts");
        child.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("vigilctl reads");
        child.wait_with_output().expect("vigilctl ends")
    }

    /// `gapplication action`, as a script calls it.
    pub fn action(&self, name: &str, parameter: Option<&str>) -> Output {
        let mut command = self.command("gapplication");
        command.args(["action", APP_ID, name]).args(parameter).output().expect("gapplication is installed")
    }

    /// The names of the application's actions.
    pub fn actions(&self) -> Vec<String> {
        let reply = self.call_on(APP_ID, OBJECT_PATH, "org.gtk.Actions", "List", &().to_variant());
        reply.expect("actions are exported").child_value(0).get().expect("an array of names")
    }

    /// A call of a member of ours.
    pub fn call(&self, member: &str, arguments: &glib::Variant) -> Result<glib::Variant, Failure> {
        self.call_on(APP_ID, OBJECT_PATH, INTERFACE, member, arguments)
    }

    /// A call that must succeed.
    #[track_caller]
    pub fn must(&self, member: &str, arguments: &glib::Variant) -> glib::Variant {
        self.call(member, arguments).unwrap_or_else(|failure| panic!("{member}{arguments}: {failure:?}"))
    }

    /// A property of ours.
    pub fn property(&self, name: &str) -> glib::Variant {
        let get = (INTERFACE, name).to_variant();
        let reply = self.call_on(APP_ID, OBJECT_PATH, "org.freedesktop.DBus.Properties", "Get", &get);
        reply.expect("the property is there").child_value(0).as_variant().expect("a variant")
    }

    /// One event, without an origin.
    #[track_caller]
    pub fn hook(&self, agent: &str, event: &str, payload: &str) {
        self.must("Hook", &(agent, event, payload, empty()).to_variant());
    }

    /// Everything, as it is now.
    #[track_caller]
    pub fn snapshot(&self) -> Snapshot {
        let reply = self.must("GetSnapshot", &(empty(),).to_variant());
        serde_json::from_str(reply.child_value(0).str().expect("a text")).expect("a snapshot")
    }

    /// The rows of a workspace.
    #[track_caller]
    pub fn rows(&self, workspace: &str) -> Vec<RowView> {
        let found = self.snapshot().workspaces.into_iter().find(|candidate| candidate.id == workspace);
        found.and_then(|workspace| workspace.rows).unwrap_or_default()
    }

    /// The one row of a workspace.
    #[track_caller]
    pub fn row(&self, workspace: &str) -> RowView {
        let mut rows = self.rows(workspace);
        assert_eq!(rows.len(), 1, "rows of {workspace}: {rows:#?}");
        rows.remove(0)
    }

    /// Signals of that member, so far.
    pub fn signals(&self, member: &str) -> Vec<Signal> {
        let signals = self.signals.lock().expect("no test panics with it");
        signals.iter().filter(|signal| signal.member == member).cloned().collect()
    }

    /// The `Changed` signals so far: serials and changes.
    pub fn changes(&self) -> Vec<(u64, Vec<Change>)> {
        let read = |signal: Signal| {
            let (serial, json): (u64, String) = signal.body.get().expect("Changed is (ts)");
            (serial, serde_json::from_str(&json).expect("an array of changes"))
        };
        self.signals("Changed").into_iter().map(read).collect()
    }

    /// The `StateEvent` signals so far: names and rows.
    pub fn state_events(&self) -> Vec<(String, serde_json::Value)> {
        let read = |signal: Signal| {
            let (name, json): (String, String) = signal.body.get().expect("StateEvent is (ss)");
            (name, serde_json::from_str(&json).expect("a row"))
        };
        self.signals("StateEvent").into_iter().map(read).collect()
    }

    /// Waits until it holds; longer than [`PATIENCE`] is a failure.
    #[track_caller]
    pub fn wait_for(&self, what: &str, holds: impl FnMut() -> bool) {
        let log = || self.log();
        wait(what, PATIENCE, holds, log);
    }

    /// Waits until it holds, for so long at most.
    #[track_caller]
    pub fn wait_at_most(&self, limit: Duration, what: &str, holds: impl FnMut() -> bool) {
        wait(what, limit, holds, || self.log());
    }

    /// A program under another name, by which its processes go too.
    pub fn program(&self, name: &str, target: &str) -> PathBuf {
        let folder = self.home.path().join("bin");
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        if !path.exists() {
            std::os::unix::fs::symlink(target, &path).expect("the folder is ours");
        }
        path
    }

    /// Whether the application has a window on the display.
    pub fn has_window(&self) -> bool {
        !self.windows().is_empty()
    }

    /// The application's windows on the display, as `xdotool` numbers them.
    pub fn windows(&self) -> Vec<String> {
        let mut search = self.command("xdotool");
        search.args(["search", "--onlyvisible", "--class", "vigil"]);
        let found = search.output().expect("xdotool is installed").stdout;
        String::from_utf8_lossy(&found).lines().map(ToString::to_string).collect()
    }

    fn bus(&self, member: &str, arguments: &glib::Variant) -> Result<glib::Variant, Failure> {
        let name = "org.freedesktop.DBus";
        self.call_on(name, "/org/freedesktop/DBus", name, member, arguments)
    }

    fn call_on(
        &self,
        name: &str,
        path: &str,
        interface: &str,
        member: &str,
        arguments: &glib::Variant,
    ) -> Result<glib::Variant, Failure> {
        let timeout = i32::try_from(PATIENCE.as_millis()).expect("a few seconds");
        let flags = gio::DBusCallFlags::NO_AUTO_START;
        let cancellable = gio::Cancellable::NONE;
        self.connection
            .call_sync(Some(name), path, interface, member, Some(arguments), None, flags, timeout, cancellable)
            .map_err(|error| {
                // "GDBus.Error:NAME: MESSAGE"
                let text = error.message().strip_prefix("GDBus.Error:").unwrap_or(error.message()).to_string();
                let (name, message) = text.split_once(": ").unwrap_or(("", &text));
                Failure { name: name.to_string(), message: message.to_string() }
            })
    }
}

/// An empty `a{sv}`.
pub fn empty() -> HashMap<String, glib::Variant> {
    HashMap::new()
}

#[track_caller]
fn wait(what: &str, limit: Duration, mut holds: impl FnMut() -> bool, log: impl Fn() -> String) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "{what} did not come about in {limit:?}; the log says:\n{}", log());
        thread::sleep(Duration::from_millis(2));
    }
}

/// A bus that starts no services but that one, and knows no limits but its own.
fn start_bus(home: &Path, service: &str, environment: &HashMap<&'static str, String>) -> (Running, String) {
    let services = home.join("services");
    std::fs::create_dir(&services).expect("a folder");
    if !service.is_empty() {
        let from = Path::new(service);
        let copied = std::fs::copy(from, services.join(from.file_name().expect("a file")));
        copied.unwrap_or_else(|error| panic!("{service}: {error}; ./dev test installs what the tests need"));
    }
    let config = home.join("bus.conf");
    let text = format!(
        "<busconfig><type>session</type><listen>unix:dir={}</listen><servicedir>{}</servicedir><auth>EXTERNAL</auth>\
         <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>\
         <allow own=\"*\"/></policy>\
         </busconfig>",
        home.display(),
        services.display()
    );
    std::fs::write(&config, text).expect("a configuration");
    let mut command = Command::new("dbus-daemon");
    command.env_clear().envs(environment);
    command.arg(format!("--config-file={}", config.display())).args(["--nofork", "--nopidfile", "--print-address"]);
    let bus = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut bus = Running(bus.expect("dbus-daemon is installed"));
    let address = first_line(&mut bus);
    (bus, address)
}

fn start_display() -> (Running, String) {
    let mut command = Command::new("Xvfb");
    command.args(["-displayfd", "1", "-screen", "0", "800x900x24", "-nolisten", "tcp", "-noreset"]);
    let display = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut display = Running(display.expect("Xvfb is installed"));
    let number = first_line(&mut display);
    (display, number)
}

fn first_line(running: &mut Running) -> String {
    let mut line = String::new();
    let stdout = running.0.stdout.as_mut().expect("its output is a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
    line.trim().to_string()
}

fn environment(home: &Path, display: &str) -> HashMap<&'static str, String> {
    let runtime = home.join("runtime");
    std::fs::create_dir(&runtime).expect("a folder");
    std::fs::set_permissions(&runtime, PermissionsExt::from_mode(0o700)).expect("it is ours");
    let path = |name: &str| home.join(name).display().to_string();
    HashMap::from([
        ("PATH", std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into())),
        ("HOME", path("")),
        ("XDG_CONFIG_HOME", path("config")),
        ("XDG_STATE_HOME", path("state")),
        ("XDG_CACHE_HOME", path("cache")),
        ("XDG_DATA_HOME", path("data")),
        ("XDG_RUNTIME_DIR", path("runtime")),
        ("DISPLAY", format!(":{display}")),
        ("GDK_BACKEND", "x11".into()),
        ("GSK_RENDERER", "cairo".into()),
        ("ADW_DISABLE_PORTAL", "1".into()),
        ("GSETTINGS_BACKEND", "memory".into()),
        ("GSETTINGS_SCHEMA_DIR", path("schemas")),
        ("LC_ALL", "C.UTF-8".into()),
    ])
}

/// The settings' schema, with other defaults: what is set in memory cannot be set from outside.
fn compile_schema(home: &Path, settings: &str) {
    let schemas = home.join("schemas");
    std::fs::create_dir(&schemas).expect("a folder");
    let schema = include_str!("../../data/dev.vigil.Vigil.gschema.xml");
    std::fs::write(schemas.join("dev.vigil.Vigil.gschema.xml"), schema).expect("the folder is ours");
    let settings = format!("[dev.vigil.Vigil]\n{settings}\n");
    std::fs::write(schemas.join("test.gschema.override"), settings).expect("the folder is ours");
    let compiled = Command::new("glib-compile-schemas").arg("--strict").arg(&schemas).status();
    assert!(compiled.expect("glib-compile-schemas is installed").success());
}

/// Connects as a client of its own, and listens to all signals of ours from the start.
fn connect(address: &str) -> (gio::DBusConnection, Arc<Mutex<Vec<Signal>>>) {
    let flags = gio::DBusConnectionFlags::AUTHENTICATION_CLIENT | gio::DBusConnectionFlags::MESSAGE_BUS_CONNECTION;
    let connection = gio::DBusConnection::for_address_sync(address, flags, None, gio::Cancellable::NONE);
    let connection = connection.expect("the bus takes us in");
    let signals = Arc::new(Mutex::new(Vec::new()));
    // A filter runs on the connection's own thread, so that no main loop has to turn.
    connection.add_filter({
        let signals = signals.clone();
        move |_, message, incoming| {
            let ours = incoming && message.message_type() == gio::DBusMessageType::Signal;
            if let (true, Some(member), Some(body)) = (ours, message.member(), message.body()) {
                let signal = Signal { member: member.to_string(), body };
                signals.lock().expect("no test panics with it").push(signal);
            }
            Some(message.clone())
        }
    });
    let rule = format!("type='signal',path='{OBJECT_PATH}'");
    let name = "org.freedesktop.DBus";
    let timeout = i32::try_from(PATIENCE.as_millis()).expect("a few seconds");
    let flags = gio::DBusCallFlags::NONE;
    let (path, rule, none) = ("/org/freedesktop/DBus", (rule,).to_variant(), gio::Cancellable::NONE);
    connection
        .call_sync(Some(name), path, name, "AddMatch", Some(&rule), None, flags, timeout, none)
        .expect("the bus sends us signals");
    (connection, signals)
}
