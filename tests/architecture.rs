// SPDX-License-Identifier: GPL-3.0-or-later
//! The dependency rule, read from the sources: the core knows no toolkit, the command line knows no window, and
//! widgets know no roster.
//!
//! Comments and texts are free to speak of anything; only code counts. Each check is tried on a planted offence too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules that are the core, each with the folder of its name.
const CORE: &[&str] = &[
    "agent",
    "event",
    "forward",
    "integration",
    "origin",
    "policy",
    "proc",
    "protocol",
    "roster",
    "snapshot",
    "status",
    "text",
    "time",
];

/// What the core does without.
const TOOLKITS: &[&str] = &["adw", "clap", "gdk", "gio", "glib", "gtk", "zbus"];

/// Those of them that only the window may use.
const WINDOW_TOOLKITS: &[&str] = &["adw", "gdk", "gio", "glib", "gtk"];

/// Modules whose rules get the time as an argument, and who touch no file and no process.
const PURE: &[&str] = &["event", "policy", "roster", "snapshot", "status"];

/// A word or a sign of the source, without comments, texts and characters.
fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match c {
            '/' if next == Some('/') => at = position(&chars, at, |c| c == '\n'),
            '/' if next == Some('*') => at = after_block_comment(&chars, at),
            '"' => at = after_text(&chars, at),
            'r' if matches!(next, Some('"' | '#')) && after_raw_text(&chars, at).is_some() => {
                at = after_raw_text(&chars, at).unwrap();
            }
            '\'' if next == Some('\\') => at = position(&chars, at + 3, |c| c == '\'') + 1,
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            c if c.is_alphanumeric() || c == '_' => {
                let end = position(&chars, at, |c| !(c.is_alphanumeric() || c == '_'));
                found.push(chars[at..end].iter().collect());
                at = end;
            }
            ':' if next == Some(':') => {
                found.push("::".to_string());
                at += 2;
            }
            c => {
                if !c.is_whitespace() {
                    found.push(c.to_string());
                }
                at += 1;
            }
        }
    }
    found
}

/// The first place from there on where that holds, else the end.
fn position(chars: &[char], from: usize, holds: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&at| holds(chars[at])).unwrap_or(chars.len())
}

fn after_block_comment(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn after_text(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn after_raw_text(chars: &[char], from: usize) -> Option<usize> {
    let quote = position(chars, from + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - from - 1;
    let ends = |at: usize| chars[at] == '"' && chars[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    Some((quote + 1..chars.len()).find(|&at| ends(at)).map_or(chars.len(), |at| at + 1 + hashes))
}

/// The words among these that the code uses.
fn words_used(source: &str, words: &[&str]) -> Vec<String> {
    let mut used: Vec<String> = tokens(source).into_iter().filter(|token| words.contains(&token.as_str())).collect();
    used.sort();
    used.dedup();
    used
}

/// The modules of our own library that the code names: the `m` of `crate::m`, `vigil::m`, `crate::{a::b, m}`.
fn modules_used(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let mut used = Vec::new();
    for at in 0..tokens.len() {
        if !matches!(tokens[at].as_str(), "crate" | "vigil") || tokens.get(at + 1).is_none_or(|sign| sign != "::") {
            continue;
        }
        match tokens.get(at + 2).map(String::as_str) {
            Some("{") => used.extend(heads_of_group(&tokens[at + 2..])),
            Some(module) => used.push(module.to_string()),
            None => {}
        }
    }
    used.sort();
    used.dedup();
    used
}

/// The first word of each branch of `{a::b, m}`.
fn heads_of_group(tokens: &[String]) -> Vec<String> {
    let (mut depth, mut heads) = (0, Vec::new());
    for pair in tokens.windows(2) {
        match pair[0].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(pair[0].as_str(), "{" | ",") && pair[1] != "}" {
            heads.push(pair[1].clone());
        }
    }
    heads
}

/// A module's files: `src/NAME.rs` and everything in `src/NAME/`.
fn files_of(module: &str) -> Vec<PathBuf> {
    let stem = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(module);
    let mut files = vec![stem.with_extension("rs")];
    assert!(files[0].is_file(), "there is no {}", files[0].display());
    let mut folders = vec![stem];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Fails with every file of those modules in which the check finds something.
fn forbid(modules: &[&str], what: &str, offences: impl Fn(&str) -> Vec<String>) {
    let mut found = String::new();
    for file in modules.iter().flat_map(|module| files_of(module)) {
        let source = fs::read_to_string(&file).unwrap();
        let offences = offences(&source);
        if !offences.is_empty() {
            found += &format!("{}: {}\n", file.display(), offences.join(", "));
        }
    }
    assert!(found.is_empty(), "{what}:\n{found}");
}

fn only(used: Vec<String>, forbidden: &[&str]) -> Vec<String> {
    used.into_iter().filter(|module| forbidden.contains(&module.as_str())).collect()
}

/// What a pure module would need to look at the world by itself.
fn impurities(source: &str) -> Vec<String> {
    let mut found = words_used(source, &["SystemTime", "Instant"]);
    for path in tokens(source).windows(3) {
        if path[0] == "std" && path[1] == "::" && matches!(path[2].as_str(), "env" | "fs" | "net" | "process") {
            found.push(path.concat());
        }
    }
    found
}

#[test]
fn the_core_knows_no_toolkit() {
    forbid(CORE, "the core names a toolkit", |source| words_used(source, TOOLKITS));
}

#[test]
fn the_core_knows_neither_shell() {
    forbid(CORE, "the core uses a shell", |source| only(modules_used(source), &["app", "ctl"]));
}

#[test]
fn the_rules_look_at_no_clock_and_no_file() {
    forbid(PURE, "a rule looks at the world by itself", impurities);
}

#[test]
fn the_command_line_knows_no_window() {
    forbid(&["ctl"], "ctl uses app", |source| only(modules_used(source), &["app"]));
    forbid(&["ctl"], "ctl names a toolkit of the window", |source| words_used(source, WINDOW_TOOLKITS));
}

#[test]
fn the_window_knows_no_command_line() {
    forbid(&["app"], "app uses ctl", |source| only(modules_used(source), &["ctl"]));
}

#[test]
fn widgets_know_no_roster() {
    forbid(&["app/widget"], "a widget uses the roster", |source| only(modules_used(source), &["roster"]));
}

/// The libraries among those listed by `ldd` that belong to the window.
fn window_libraries(listing: &str) -> Vec<String> {
    let names = ["gtk", "adwaita", "gdk", "gio", "gobject", "glib"];
    let is_theirs = |line: &&str| names.iter().any(|name| line.trim_start().starts_with(&format!("lib{name}-")));
    listing.lines().filter(is_theirs).map(|line| line.trim().to_string()).collect()
}

#[test]
fn the_hook_program_links_no_toolkit() {
    let output = Command::new("ldd").arg(env!("CARGO_BIN_EXE_vigilctl")).output().expect("ldd comes with libc");
    let listing = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && listing.contains("libc"), "ldd says:\n{listing}");
    assert_eq!(window_libraries(&listing), [] as [&str; 0]);
}

// That the checks can fail.

#[test]
fn a_planted_toolkit_is_found() {
    assert_eq!(words_used("use gtk::glib;", TOOLKITS), ["glib", "gtk"]);
    assert_eq!(words_used("use {serde, zbus::Connection};", TOOLKITS), ["zbus"]);
    assert_eq!(words_used("fn now() -> gio::Settings { todo }", TOOLKITS), ["gio"]);
    assert_eq!(words_used("let c = '\"'; gtk::init(); let s = \"\";", TOOLKITS), ["gtk"]);
    assert_eq!(words_used("fn f<'a>(a: &'a str) { gtk::init() }", TOOLKITS), ["gtk"]);
    assert_eq!(words_used(r##"let s = r#"a " b"#; gtk::init();"##, TOOLKITS), ["gtk"]);
}

#[test]
fn words_in_comments_and_texts_are_free() {
    let source = r##"
        //! No GTK: gtk, glib.
        /* gtk /* gio */ zbus */
        const A: &str = "gtk \" glib"; const B: &str = r#"gio " clap"#; const C: char = '\''; // adw
        fn clapping(gtk_like: u8) {}
    "##;
    assert_eq!(words_used(source, TOOLKITS), [] as [&str; 0]);
}

#[test]
fn a_planted_use_of_a_module_is_found() {
    assert_eq!(modules_used("use crate::app;"), ["app"]);
    assert_eq!(modules_used("fn f() { vigil::app::main() }"), ["app"]);
    assert_eq!(modules_used("use crate::{text::{cut, app}, roster::Roster, app};"), ["app", "roster", "text"]);
    assert_eq!(modules_used("use clap::app; let app = crate::status::Status::Idle;"), ["status"]);
}

#[test]
fn a_planted_look_at_the_world_is_found() {
    assert_eq!(impurities("let now = std::time::Instant::now();"), ["Instant"]);
    assert_eq!(impurities("std::fs::read(path)"), ["std::fs"]);
    assert_eq!(impurities("use std::collections::BTreeMap;"), [] as [&str; 0]);
}

#[test]
fn a_planted_library_is_found() {
    let listing = "\tlibc.so.6 => /lib/libc.so.6\n\tlibgtk-4.so.1 => /lib/libgtk-4.so.1 (0x00)\n";
    assert_eq!(window_libraries(listing), ["libgtk-4.so.1 => /lib/libgtk-4.so.1 (0x00)"]);
}
