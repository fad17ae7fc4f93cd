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

/// No more is read at once.
pub const PART_BYTES: usize = 64 << 10;

/// A longer line is passed over.
pub const LINE_BYTES: usize = 256 << 10;

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

/// A small file as a whole; `None` for one of more than so many bytes.
pub fn read_small(file: &File, most: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() <= most).then_some(text)
}

/// A file that is appended to, and how far its lines have been read.
#[derive(Debug)]
pub struct Tail {
    file: File,
    offset: u64,
    /// The beginning of a line that is not whole yet.
    partial: Vec<u8>,
    /// Whether what comes up to the next line's end is of no interest.
    skips: bool,
}

impl Tail {
    /// From its beginning.
    pub fn new(file: File) -> Self {
        Self { file, offset: 0, partial: Vec::new(), skips: false }
    }

    /// From its end, or from the first whole line within so many bytes before it.
    pub fn at_end(file: File, back: u64) -> Option<Self> {
        let offset = file.metadata().ok()?.len().saturating_sub(back);
        let mut tail = Self { offset, ..Self::new(file) };
        if offset > 0 {
            // It may be that a line begins right there.
            let mut before = [0];
            tail.skips = tail.file.read_at(&mut before, offset - 1).ok()? == 1 && before != *b"\n";
        }
        Some(tail)
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads the whole lines up to the present end, a part at a time. `false` when the file has become shorter: it was
    /// written anew, and goes on from its end.
    pub fn read(&mut self, mut line: impl FnMut(&[u8])) -> bool {
        let Ok(length) = self.file.metadata().map(|metadata| metadata.len()) else { return true };
        if length < self.offset {
            (self.offset, self.skips) = (length, false);
            self.partial = Vec::new();
            return false;
        }
        let mut part = vec![0; PART_BYTES];
        while self.offset < length {
            let read = match self.file.read_at(&mut part, self.offset) {
                Ok(read) if read > 0 => read,
                _ => break,
            };
            self.offset += read as u64;
            for piece in part[..read].split_inclusive(|byte| *byte == b'\n') {
                self.take(piece, &mut line);
            }
        }
        self.partial.shrink_to_fit();
        true
    }

    fn take(&mut self, piece: &[u8], line: &mut impl FnMut(&[u8])) {
        let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
        self.skips |= self.partial.len() + text.len() > LINE_BYTES;
        if self.skips {
            self.partial.clear();
            self.skips = !ends;
        } else if !ends {
            self.partial.extend_from_slice(text);
        } else if self.partial.is_empty() {
            line(text);
        } else {
            self.partial.extend_from_slice(text);
            line(&std::mem::take(&mut self.partial));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn text(top: &Path, name: &str) -> Option<Vec<u8>> {
        read_small(&open_file(top, Path::new(name))?, PART_BYTES)
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
        for (length, read) in [(PART_BYTES, true), (PART_BYTES + 1, false)] {
            fs::write(home.path().join("file"), vec![b' '; length]).unwrap();
            assert_eq!(text(home.path(), "file").is_some(), read, "{length}");
        }
    }

    /// What is appended, and the lines that are then read.
    fn appended(writer: &mut tempfile::NamedTempFile, tail: &mut Tail, text: &[u8]) -> Vec<String> {
        writer.write_all(text).unwrap();
        let mut lines = Vec::new();
        assert!(tail.read(|line| lines.push(String::from_utf8_lossy(line).into_owned())));
        lines
    }

    #[test]
    fn whole_lines_are_read_as_they_are_appended() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        let mut tail = Tail::new(File::open(writer.path()).unwrap());
        let mut lines = |text: &[u8]| appended(&mut writer, &mut tail, text);
        assert_eq!(lines(b"one\ntw"), ["one"]);
        assert!(lines(b"o").is_empty());
        assert_eq!(lines(b"\n"), ["two"]);
        let long = [vec![b'x'; LINE_BYTES], vec![b'\n']].concat();
        assert_eq!(lines(&long).iter().map(String::len).collect::<Vec<_>>(), [LINE_BYTES]);
        assert!(lines(&vec![b'x'; 3 * LINE_BYTES]).is_empty());
        assert_eq!(lines(b"\nthree\n"), ["three"], "behind the line that was too long");
        let flood = lines(&b"0123456\n".repeat(PART_BYTES));
        assert_eq!(flood.len(), PART_BYTES, "nothing is lost");
        assert!(flood.iter().all(|line| line == "0123456"));
    }

    #[test]
    fn what_has_become_shorter_goes_on_from_its_end() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        let mut tail = Tail::new(File::open(writer.path()).unwrap());
        assert_eq!(appended(&mut writer, &mut tail, b"one\ntwo, half"), ["one"]);
        writer.as_file().set_len(2).unwrap();
        assert!(!tail.read(|_| panic!("no line")));
        std::io::Seek::seek(&mut writer, std::io::SeekFrom::End(0)).unwrap();
        assert_eq!(appended(&mut writer, &mut tail, b"new\n"), ["new"]);
    }

    #[test]
    fn it_may_begin_before_the_end_at_a_whole_line() {
        let mut writer = tempfile::NamedTempFile::new().unwrap();
        writer.write_all(b"one\ntwo\n").unwrap();
        for (back, lines) in [(0, &["new"][..]), (3, &["new"]), (4, &["two", "new"]), (5, &["two", "new"])] {
            let mut tail = Tail::at_end(File::open(writer.path()).unwrap(), back).unwrap();
            assert_eq!(appended(&mut writer, &mut tail, b"new\n"), lines, "{back}");
            writer.as_file().set_len(8).unwrap();
            std::io::Seek::seek(&mut writer, std::io::SeekFrom::End(0)).unwrap();
        }
        let mut whole = Tail::at_end(File::open(writer.path()).unwrap(), 100).unwrap();
        assert_eq!(appended(&mut writer, &mut whole, b""), ["one", "two"]);
    }
}
