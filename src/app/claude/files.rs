// SPDX-License-Identifier: GPL-3.0-or-later
//! Opens and reads what an agent has written: regular files below its own folder, and a bounded part of them.
//!
//! Whoever can write there could put a link, a pipe or a device in a file's place. All of this may block where the
//! folder is a network's; it runs off the main thread.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};

use crate::agent::claude::status::MOST_BYTES;

/// The path by which what is open can be opened again, whatever has become of its name.
pub fn by_descriptor(fd: &impl AsRawFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_raw_fd()).into()
}

/// A folder's own folder, to be watched; no link is followed but those on the way to `top`.
pub fn open_folder(top: &Path, name: &Path) -> Option<OwnedFd> {
    let (fd, kind) = walk(top, name)?;
    (kind == FileType::Directory).then_some(fd)
}

/// A regular file below `top`; no link is followed but those on the way to `top`.
pub fn open_file(top: &Path, name: &Path) -> Option<File> {
    let (fd, kind) = walk(top, name)?;
    // Only now that it is known to be one is it opened in earnest: opening a pipe waits, opening a device may do more.
    (kind == FileType::RegularFile).then_some(())?;
    File::open(by_descriptor(&fd)).ok()
}

fn walk(top: &Path, name: &Path) -> Option<(OwnedFd, FileType)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let mut fd = open(top, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let mut kind = FileType::Directory;
    for component in name.components() {
        let Component::Normal(name) = component else { return None };
        fd = openat(&fd, name, flags | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        kind = FileType::from_raw_mode(fstat(&fd).ok()?.st_mode);
    }
    Some((fd, kind))
}

/// A small file as a whole; `None` for a larger one.
pub fn read_small(file: &File) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() <= MOST_BYTES).then_some(text)
}

/// The whole lines behind `offset`, of the last [`MOST_BYTES`] only, and the offset behind them.
pub fn read_appended(file: &File, offset: u64) -> Option<(Vec<u8>, u64)> {
    let length = file.metadata().ok()?.len();
    // What has become shorter was written anew: it is followed from its end, as at first.
    let offset = if length < offset { length } else { offset };
    let start = offset.max(length.saturating_sub(MOST_BYTES as u64));
    let mut text = vec![0; usize::try_from(length - start).ok()?];
    let read = file.read_at(&mut text, start).ok()?;
    text.truncate(read);
    match text.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => {
            text.truncate(end + 1);
            let offset = start + text.len() as u64;
            Some((text, offset))
        }
        // A line that is not whole yet, or one too long to be of interest.
        None => Some((Vec::new(), if read < MOST_BYTES { start } else { length })),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn text(top: &Path, name: &str) -> Option<Vec<u8>> {
        read_small(&open_file(top, Path::new(name))?)
    }

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().join("top");
        fs::create_dir_all(top.join("sessions")).unwrap();
        fs::write(top.join("sessions/1.json"), "one").unwrap();
        fs::write(home.path().join("outside"), "outside").unwrap();
        symlink("1.json", top.join("sessions/2.json")).unwrap();
        symlink("sessions", top.join("linked")).unwrap();
        symlink(&top, home.path().join("link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            top.join("sessions/3.json"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(text(&top, "sessions/1.json").as_deref(), Some(&b"one"[..]));
        assert_eq!(text(&home.path().join("link"), "sessions/1.json").as_deref(), Some(&b"one"[..]), "the user's link");
        for name in ["sessions/2.json", "sessions/3.json", "sessions/4.json", "linked/1.json", "sessions", ""] {
            assert_eq!(text(&top, name), None, "{name}");
        }
        for name in ["../outside", "sessions/../../outside", home.path().join("outside").to_str().unwrap()] {
            assert_eq!(text(&top, name), None, "{name}");
        }
        assert!(open_folder(&top, Path::new("sessions")).is_some());
        assert!(open_folder(&top, Path::new("linked")).is_none());
        assert!(open_folder(&top, Path::new("sessions/1.json")).is_none());
    }

    #[test]
    fn what_is_large_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        for (length, read) in [(MOST_BYTES, true), (MOST_BYTES + 1, false)] {
            fs::write(home.path().join("file"), vec![b' '; length]).unwrap();
            assert_eq!(text(home.path(), "file").is_some(), read, "{length}");
        }
    }

    #[test]
    fn whole_lines_are_read_as_they_are_appended() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        let file = File::open(writer.path()).unwrap();
        let mut offset = 0;
        let mut appended = |text: &[u8]| {
            writer.write_all(text).unwrap();
            let (lines, behind) = read_appended(&file, offset).unwrap();
            offset = behind;
            lines
        };
        assert_eq!(appended(b"one\ntw"), b"one\n");
        assert_eq!(appended(b"o"), b"");
        assert_eq!(appended(b"\n"), b"two\n");
        assert_eq!(appended(&vec![b'x'; 2 * MOST_BYTES]), b"");
        assert_eq!(appended(b"\nthree\n"), b"\nthree\n", "behind the line that was too long");
        let flood = appended(&b"0123456\n".repeat(MOST_BYTES));
        assert_eq!(flood.len(), MOST_BYTES, "of much only the end");
        writer.as_file().set_len(3).unwrap();
        assert_eq!(read_appended(&file, offset), Some((Vec::new(), 3)));
    }
}
