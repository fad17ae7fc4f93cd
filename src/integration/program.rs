// SPDX-License-Identifier: GPL-3.0-or-later
//! Which `vigilctl` the hooks are to run, and which agents' programs are there.
//!
//! What is written into another program's settings has to be there tomorrow. So the path is the one by which we are
//! found, links and all (`/run/current-system/sw/bin/vigilctl`, not the store it leads to today), and paths that will
//! not last are refused: mounted images, build folders, temporary ones.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::command::PROGRAM;
use super::{Surroundings, Version};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// What only build folders hold, in one of the folders above a program.
const BUILD_MARKS: &[&str] = &["CACHEDIR.TAG", ".cargo-lock", "build.ninja", "meson-private", "CMakeCache.txt"];

/// The path by which this program will be found again.
///
/// # Errors
///
/// A sentence that says why there is none.
pub fn lasting(surroundings: &Surroundings) -> Result<String, String> {
    lasting_as(surroundings, &|running| running)
}

/// The path by which the `vigilctl` in this program's folder will be found again.
///
/// # Errors
///
/// A sentence that says why there is none.
pub fn lasting_beside(surroundings: &Surroundings) -> Result<String, String> {
    lasting_as(surroundings, &|running| running.with_file_name(PROGRAM))
}

fn lasting_as(surroundings: &Surroundings, meant: &dyn Fn(PathBuf) -> PathBuf) -> Result<String, String> {
    let running = std::env::current_exe().map_err(|error| format!("This program cannot be found again: {error}"))?;
    let running = meant(running);
    let running = std::fs::canonicalize(&running)
        .map_err(|error| format!("{} cannot be found again: {error}", running.display()))?;
    let mut paths = Vec::new();
    if let Some(called) = std::env::args_os().next().map(PathBuf::from) {
        if called.components().count() > 1 {
            paths.extend(std::path::absolute(called).ok().map(meant));
        } else {
            paths.extend(surroundings.search(&called).into_iter().map(meant));
        }
    }
    paths.extend(surroundings.search(OsStr::new(PROGRAM)));
    paths.retain(|path| std::fs::canonicalize(path).is_ok_and(|real| real == running));
    paths.push(running.clone());
    let lasts = |path: &&PathBuf| is_ours(path) && passing(path, surroundings, &|mark| mark.exists()).is_none();
    match paths.iter().find(lasts) {
        Some(path) => text(path),
        None => Err(match passing(&running, surroundings, &|mark| mark.exists()) {
            Some(why) => format!(
                "{} will not last: {why}. Install Vigil, and run the installed {PROGRAM}; or name one with --program",
                running.display()
            ),
            None => format!("{} is not called {PROGRAM}, and would not be known again", running.display()),
        }),
    }
}

/// A program that the user names, whatever becomes of it.
///
/// # Errors
///
/// A sentence that says what is wrong with it.
pub fn named(path: &Path) -> Result<String, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !is_ours(&path) {
        return Err(format!("{} is not called {PROGRAM}, and would not be known again", path.display()));
    }
    if !is_program(&path) {
        return Err(format!("{} is not a program", path.display()));
    }
    text(&path)
}

fn is_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROGRAM)
}

/// The path as it can stand in a settings file.
fn text(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_string()),
        _ => Err(format!("{} cannot be written in a settings file", path.display())),
    }
}

/// Whether there is a program.
pub fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Why a path will not last, if so. `exists` looks for what marks a build folder.
fn passing(path: &Path, surroundings: &Surroundings, exists: &dyn Fn(&Path) -> bool) -> Option<&'static str> {
    let temporary = surroundings.variable("TMPDIR").filter(|folder| *folder != "/").map(PathBuf::from);
    let folders = ["/tmp", "/var/tmp", "/dev"].into_iter().map(PathBuf::from).chain(temporary);
    let is_mount = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with(".mount_");
    let image = surroundings.variable("APPDIR").filter(|folder| *folder != "/").map(PathBuf::from);
    // What NixOS keeps under /run are links that lead to the system of the day.
    let kept = ["/run/current-system", "/run/wrappers"].iter().any(|folder| path.starts_with(folder));
    if path.components().any(is_mount) || image.is_some_and(|image| path.starts_with(image)) {
        Some("it is in an image that is mounted only while it runs")
    } else if path.starts_with("/app") && exists(&surroundings.root.join(".flatpak-info")) {
        Some("it is inside a Flatpak, where no agent can call it")
    } else if folders.into_iter().any(|folder| path.starts_with(folder)) {
        Some("it is in a temporary folder")
    } else if path.starts_with("/proc") || (path.starts_with("/run") && !kept) {
        Some("it goes with the session or the medium")
    } else if path.starts_with("/nix/store") || path.starts_with("/gnu/store") {
        Some("it is one generation of a store")
    } else if path.ancestors().skip(1).take(4).any(|folder| BUILD_MARKS.iter().any(|mark| exists(&folder.join(mark)))) {
        Some("it is in a build folder")
    } else {
        None
    }
}

impl Surroundings {
    /// The programs of that name on the path.
    pub fn search(&self, name: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(&name)).filter(|path| is_program(path)).collect()
    }

    /// The program of an agent: on the path, else in one of those folders of the home.
    pub fn find(&self, names: &[&str], folders: &[&str]) -> Option<PathBuf> {
        let known = folders.iter().filter_map(|folder| Some(self.home.as_ref()?.join(folder)));
        let elsewhere: Vec<PathBuf> =
            known.flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect();
        names
            .iter()
            .find_map(|name| self.search(name).into_iter().next())
            .or_else(|| elsewhere.into_iter().find(|path| is_program(path)))
    }
}

/// The version that a program says it has. It is asked with nothing on its input, and ended if it does not answer.
pub fn version(program: &Path) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if started.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            Ok(Some(status)) if status.success() => break,
            _ => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    // Pi 0.74.2 says it on standard error (seen).
    first_words(child.stdout.take()).or_else(|| first_words(child.stderr.take()))
}

/// The version that a program's first words say.
fn first_words(stream: Option<impl Read>) -> Option<Version> {
    let mut said = [0; 256];
    let length = stream?.read(&mut said).ok()?;
    Version::parse(&String::from_utf8_lossy(&said[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(path: &str, marks: &[&str]) -> Option<&'static str> {
        let surroundings = Surroundings { root: "/".into(), ..Surroundings::default() };
        passing(Path::new(path), &surroundings, &|mark| marks.iter().any(|known| mark == Path::new(known)))
    }

    #[test]
    fn what_lasts() {
        for path in [
            "/usr/bin/vigilctl",
            "/home/u/.local/bin/vigilctl",
            "/home/u/target/bin/vigilctl",
            "/nix/var/nix/profiles/default/bin/vigilctl",
            "/run/current-system/sw/bin/vigilctl",
            "/opt/vigil/bin/vigilctl",
            "/home/u/tmp/vigilctl",
            "/app/bin/vigilctl",
        ] {
            assert_eq!(why(path, &[]), None, "{path}");
        }
    }

    #[test]
    fn what_does_not_last() {
        let says = |path, marks: &[&str], part| {
            assert!(why(path, marks).is_some_and(|why| why.contains(part)), "{path}");
        };
        says("/tmp/.mount_VigilXy/usr/bin/vigilctl", &[], "image");
        says("/home/u/.mount_x/vigilctl", &[], "image");
        says("/tmp/v/vigilctl", &[], "temporary");
        says("/dev/shm/vigilctl", &[], "temporary");
        says("/proc/self/exe", &[], "session");
        says("/run/user/1000/doc/vigilctl", &[], "session");
        says("/run/media/u/stick/vigilctl", &[], "medium");
        says("/nix/store/abc-vigil/bin/vigilctl", &[], "store");
        says("/app/bin/vigilctl", &["/.flatpak-info"], "Flatpak");
        says("/home/u/vigil/target/debug/vigilctl", &["/home/u/vigil/target/CACHEDIR.TAG"], "build");
        says("/home/u/vigil/build/src/vigilctl", &["/home/u/vigil/build/build.ninja"], "build");
    }

    #[test]
    fn temporary_folders_are_also_those_of_the_environment() {
        let mut surroundings = Surroundings::default();
        surroundings.variables.insert("TMPDIR".into(), "/scratch".into());
        surroundings.variables.insert("APPDIR".into(), "/mnt/image".into());
        let passes = |path| passing(Path::new(path), &surroundings, &|_| false).is_some();
        assert!(passes("/scratch/vigilctl") && passes("/mnt/image/usr/bin/vigilctl") && !passes("/usr/bin/vigilctl"));
    }
}
