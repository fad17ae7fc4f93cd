// SPDX-License-Identifier: GPL-3.0-or-later
//! Another program's settings file: read whole, changed whole, or not at all.
//!
//! The file behind a link is changed, and the link stays. Writers of ours wait for each other by a lock on the folder
//! (no file of ours stays there); those of others are noticed by reading again right before the new file takes the
//! place of the old. Mode, owner and extended attributes go over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

/// No settings are longer.
const MOST_BYTES: u64 = 64 << 20;

/// Longer ways are circles, for the kernel too.
const MOST_LINKS: usize = 40;

/// What is left of JSON settings that are to go and cannot, for a link leads to them.
pub const EMPTY: &str = "{}\n";

/// How often a file may change under our hands.
const ATTEMPTS: usize = 10;

/// How long another writer of ours is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file name's way to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file itself, behind all links.
    pub real: PathBuf,
    /// Whether the name is a link.
    pub is_link: bool,
    /// Whether there is a file.
    pub exists: bool,
}

/// Why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It cannot be what it should be, or not be read.
    Unfit(String),
    /// It may not be written.
    ReadOnly(String),
    /// What it holds is refused.
    Refused(String),
}

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
    Nothing,
    /// It gets this text.
    Write(String),
    /// It goes. Behind a link this text is left instead, so that the link leads somewhere.
    Remove(&'static str),
}

/// Follows a name to the file it stands for.
///
/// # Errors
///
/// When a link leads nowhere or in a circle, or to something that is no file.
pub fn resolve(path: &Path) -> Result<Target, Trouble> {
    let unfit = |why: &str| Err(Trouble::Unfit(format!("{} {why}", path.display())));
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink());
    match fs::canonicalize(path) {
        Ok(real) => match fs::metadata(&real) {
            Ok(found) if found.is_file() => Ok(Target { real, is_link, exists: true }),
            _ => unfit("is not a regular file"),
        },
        Err(error) if error.kind() == ErrorKind::NotFound && is_link => unfit("is a link that leads nowhere"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let real = missing(path).map_err(|why| Trouble::Unfit(format!("{} {why}", path.display())))?;
            Ok(Target { real, is_link, exists: false })
        }
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => unfit("is a link in a circle"),
        Err(error) => unfit(&format!("cannot be read: {error}")),
    }
}

/// Everything whose coming, going or changing may change what a name stands for: the name, what its links lead to, or
/// the first folder on the way that is not there.
pub fn way(path: &Path) -> Vec<PathBuf> {
    let mut way = Vec::new();
    let mut next = Some(path.to_path_buf());
    while let Some(mut step) = next.take().filter(|_| way.len() < MOST_LINKS) {
        while let Some(folder) = step.parent().filter(|folder| !folder.is_dir()) {
            step = folder.to_path_buf();
        }
        next = fs::read_link(&step).ok().and_then(|to| Some(step.parent()?.join(to)));
        way.push(step);
    }
    way
}

/// Where a file would be that is not there: below the nearest folder that is.
fn missing(path: &Path) -> Result<PathBuf, String> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Err("is no file".into()) };
    match fs::canonicalize(folder) {
        Ok(folder) => Ok(folder.join(name)),
        Err(_) if fs::symlink_metadata(folder).is_ok() => Err("is in a folder that is a link to nowhere".into()),
        Err(_) => Ok(missing(folder)?.join(name)),
    }
}

/// The text of a file, `None` if there is none.
///
/// # Errors
///
/// When there is something else than a text in a regular file.
pub fn read(path: &Path) -> Result<Option<String>, Trouble> {
    let target = resolve(path)?;
    Ok(if target.exists { Some(text(&target.real, open(&target.real)?.1)?) } else { None })
}

/// The files of a folder that end so, in order.
pub fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == ending)).collect();
    files.sort();
    files
}

/// A file and its bytes. Only a regular file is ever waited for.
fn open(real: &Path) -> Result<(File, Vec<u8>), Trouble> {
    let unfit = |why: &str| Trouble::Unfit(format!("{} {why}", real.display()));
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(real).map_err(|error| unfit(&format!("cannot be read: {error}")))?;
    let found = file.metadata().map_err(|error| unfit(&error.to_string()))?;
    if !found.is_file() {
        return Err(unfit("is not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = (&file).take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unfit(&format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unfit("is too long for settings"));
    }
    Ok((file, bytes))
}

fn text(real: &Path, bytes: Vec<u8>) -> Result<String, Trouble> {
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Trouble::Refused(format!("{} is no UTF-8 in line {line}", real.display()))
    })
}

/// Changes a file as `decide` says, which is asked again whenever the file has changed in the meantime.
///
/// # Errors
///
/// When the file cannot be read, `decide` refuses, or it cannot be written; then it is as it was.
pub fn update(path: &Path, mut decide: impl FnMut(Option<&str>) -> Result<Change, Trouble>) -> Result<Target, Trouble> {
    let mut lock = None;
    for _ in 0..ATTEMPTS {
        let target = resolve(path)?;
        let old = if target.exists { Some(open(&target.real)?) } else { None };
        let before = old.as_ref().map(|(_, bytes)| text(&target.real, bytes.clone())).transpose()?;
        let change = decide(before.as_deref())?;
        if change == Change::Nothing {
            return Ok(target);
        }
        let folder = target.real.parent().unwrap_or(Path::new("/"));
        if lock.is_none() {
            // Read again: what was read without the lock may be half of what another writer of ours does.
            lock = Some(lock_folder(folder)?);
            continue;
        }
        let fresh = match change {
            Change::Remove(_) if !target.is_link => None,
            Change::Remove(left) => Some(left.to_string()),
            Change::Write(text) => Some(text),
            Change::Nothing => return Ok(target),
        };
        match replace(&target.real, folder, old.as_ref(), fresh.as_deref()) {
            Ok(true) => return Ok(target),
            Ok(false) => {}
            Err(error) => return Err(refusal(&target.real, &error)),
        }
    }
    Err(Trouble::Unfit(format!("{} changes too often; try again", path.display())))
}

/// Takes a folder away that came with a file of ours, and what Python made of that file; not if something else is in it.
pub fn clear_folder(folder: &Path) {
    let made = folder.join("__pycache__");
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if is_folder(folder) && is_folder(&made) {
        for path in files_in(&made, "pyc") {
            // What cannot go stays, and so does the folder.
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_dir(&made);
    }
    let _ = fs::remove_dir(folder);
}

fn refusal(real: &Path, error: &io::Error) -> Trouble {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound => {
            Trouble::ReadOnly(format!("{} cannot be written: {error}", real.display()))
        }
        _ => Trouble::Unfit(format!("{} cannot be written: {error}", real.display())),
    }
}

/// Holds off other writers of ours until it is dropped. Some file systems have no locks; there the second reading has
/// to do.
fn lock_folder(folder: &Path) -> Result<Option<File>, Trouble> {
    fs::create_dir_all(folder).map_err(|error| refusal(folder, &error))?;
    let Ok(file) = File::open(folder) else { return Ok(None) };
    let start = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(file)),
            Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(Trouble::Unfit(format!("{} is locked by another program", folder.display())));
            }
            Err(_) => return Ok(None),
        }
    }
}

/// Puts a new file in the place of the old. `false`: the old has changed meanwhile, and nothing was done.
fn replace(real: &Path, folder: &Path, old: Option<&(File, Vec<u8>)>, fresh: Option<&str>) -> io::Result<bool> {
    if old.is_some() {
        // A file that its owner made read-only stays so, although its folder would let us replace it.
        rustix::fs::accessat(CWD, real, Access::WRITE_OK, AtFlags::EACCESS)?;
    }
    if let Some((file, _)) = old
        && file.metadata()?.nlink() > 1
    {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it has a second name, which would be left behind"));
    }
    let Some(fresh) = fresh else {
        let unchanged = is_unchanged(real, old);
        if unchanged {
            fs::remove_file(real)?;
        }
        return Ok(unchanged);
    };
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.vigil-{}", std::process::id()));
    let written = write(&beside, old.map(|(file, _)| file), fresh.as_bytes()).and_then(|()| {
        let unchanged = is_unchanged(real, old);
        if unchanged {
            fs::rename(&beside, real)?;
        }
        Ok(unchanged)
    });
    if !matches!(written, Ok(true)) {
        // It was not made, or is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    if let Ok(folder) = File::open(folder) {
        // Not every file system can; the new name then lasts a little later.
        let _ = folder.sync_all();
    }
    written
}

fn write(beside: &Path, old: Option<&File>, bytes: &[u8]) -> io::Result<()> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside);
    let mut file = match create() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // Left by one of ours that was killed: we hold the lock, and no process has our number.
            fs::remove_file(beside)?;
            create()
        }
        created => created,
    }?;
    if let Some(old) = old {
        let (was, is) = (old.metadata()?, file.metadata()?);
        if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
            rustix::fs::fchown(&file, Some(Uid::from_raw(was.uid())), Some(Gid::from_raw(was.gid())))?;
        }
        copy_attributes(old, &file);
        rustix::fs::fchmod(&file, Mode::from_raw_mode(was.mode()))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Access lists and labels go over where the file system lets us.
fn copy_attributes(old: &File, new: &File) {
    let mut names = vec![0; 64 << 10];
    let length = rustix::fs::flistxattr(old, &mut names).unwrap_or_default();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 64 << 10];
        if let Ok(length) = rustix::fs::fgetxattr(old, name, &mut value) {
            let _ = rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// Whether the file still is the one that was read, with what was read.
fn is_unchanged(real: &Path, old: Option<&(File, Vec<u8>)>) -> bool {
    match (open(real), old) {
        (Ok((now, bytes)), Some((then, old))) => {
            let id = |file: &File| file.metadata().map(|found| (found.dev(), found.ino())).ok();
            bytes == *old && id(&now) == id(then)
        }
        (Err(_), None) => fs::symlink_metadata(real).is_err_and(|error| error.kind() == ErrorKind::NotFound),
        _ => false,
    }
}
