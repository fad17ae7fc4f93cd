// SPDX-License-Identifier: GPL-3.0-or-later
//! Data files are tested like code: each by its own validator where that is installed, and against what the
//! programs rely on. Each check that is ours is tried on a planted offence too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use vigil::protocol::{APP_ID, INTERFACE, OBJECT_PATH};

#[path = "data/agents.rs"]
mod agents;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files under those folders, as paths from the root.
fn files(folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_string());
            }
        }
    }
    found.sort();
    found
}

fn files_ending(folders: &[&str], ending: &str) -> Vec<String> {
    files(folders).into_iter().filter(|file| file.ends_with(ending)).collect()
}

/// Whether the validator accepts; `None` where it is not installed.
fn accepted(validator: &str, arguments: &[&str]) -> Option<Result<(), String>> {
    match Command::new(validator).args(arguments).current_dir(root()).output() {
        Ok(output) if output.status.success() => Some(Ok(())),
        Ok(output) => {
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            Some(Err(format!("{validator} {}\n{out}{err}", arguments.join(" "))))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("{validator}: {error}"),
    }
}

fn validate(validator: &str, options: &[&str], files: &[String]) {
    assert!(!files.is_empty(), "nothing for {validator}");
    for file in files {
        let arguments: Vec<&str> = options.iter().copied().chain([file.as_str()]).collect();
        match accepted(validator, &arguments) {
            Some(Ok(())) => {}
            Some(Err(complaint)) => panic!("{complaint}"),
            None => return eprintln!("{validator} is not installed: not checked"),
        }
    }
}

/// A tag of an XML text: its name and its attributes.
type Tag = (String, BTreeMap<String, String>);

/// The opening tags of an XML text, in order. For our own files, which have no `>` in an attribute and no CDATA.
fn tags(xml: &str) -> Vec<Tag> {
    let mut rest = xml.to_string();
    while let (Some(start), Some(end)) = (rest.find("<!--"), rest.find("-->")) {
        rest.replace_range(start..end + 3, "");
    }
    rest.split('<').skip(1).filter(|tag| !tag.starts_with(['/', '?', '!'])).map(tag).collect()
}

fn tag(text: &str) -> Tag {
    let text = text.split('>').next().unwrap().trim_end_matches('/');
    let (name, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut attributes = BTreeMap::new();
    while let Some((key, value)) = rest.split_once("=\"") {
        let (value, after) = value.split_once('"').expect("an attribute ends");
        attributes.insert(key.trim().to_string(), value.to_string());
        rest = after;
    }
    (name.to_string(), attributes)
}

/// What an introspection XML declares: `kind name in→out`, a property `kind name type access`.
fn members(xml: &str) -> Vec<String> {
    let (mut found, mut out): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, attributes) in tags(xml) {
        match name.as_str() {
            "method" | "signal" => {
                found.push(format!("{name} {} ", attributes["name"]));
                out.push(String::new());
            }
            "property" => {
                found.push(format!("{name} {} {} {}", attributes["name"], attributes["type"], attributes["access"]));
                out.push(String::new());
            }
            "arg" if attributes.get("direction").is_some_and(|direction| direction == "out") => {
                *out.last_mut().unwrap() += &attributes["type"];
            }
            "arg" => *found.last_mut().unwrap() += &attributes["type"],
            _ => {}
        }
    }
    found
        .iter()
        .zip(out)
        .map(|(member, out)| if out.is_empty() { member.clone() } else { format!("{member}→{out}") })
        .collect()
}

#[test]
fn the_interface_has_exactly_its_members() {
    let xml = read(&format!("data/dbus/{INTERFACE}.xml"));
    let of = |wanted: &str| -> Vec<String> {
        tags(&xml).iter().filter(|(name, _)| name == wanted).map(|(_, attributes)| attributes["name"].clone()).collect()
    };
    assert_eq!(of("node"), [OBJECT_PATH]);
    assert_eq!(of("interface"), [INTERFACE]);
    assert_eq!(
        members(&xml),
        [
            "method Hook sssa{sv}",
            "method SetStatus sssa{sv}",
            "method ClearStatus ss",
            "method SetSubagentCounts ssii",
            "method SetProgress sds",
            "method AppendLog sss",
            "method Notify sss",
            "method GetSnapshot a{sv}→s",
            "method Acknowledge s",
            "method Dismiss s",
            "method Jump s→bs",
            "signal Changed ts",
            "signal StateEvent ss",
            "property Version s read",
            "property Attention u read",
            "property Counts a{su} read",
        ]
    );
}

#[test]
fn the_schema_has_every_key() {
    let xml = read(&format!("data/{APP_ID}.gschema.xml"));
    let keys: Vec<String> = tags(&xml)
        .iter()
        .filter(|(name, _)| name == "key")
        .map(|(_, key)| format!("{} {}", key["name"], key.get("type").map_or("enum", String::as_str)))
        .collect();
    let defaults: Vec<&str> =
        xml.split("<default>").skip(1).map(|rest| rest.split("</default>").next().unwrap()).collect();
    let found: Vec<String> = keys.iter().zip(defaults).map(|(key, default)| format!("{key} {default}")).collect();
    assert_eq!(
        found,
        [
            "window-width i 360",
            "window-height i 720",
            "close-to-background b true",
            "workspace-order enum 'stable'",
            "show-hidden b false",
            "fold-idle b true",
            "error-grace u 6",
            "unwatched-hours u 12",
        ]
    );
    let order: Vec<String> =
        tags(&xml).iter().filter(|(name, _)| name == "value").map(|(_, value)| value["nick"].clone()).collect();
    assert_eq!(order, ["stable", "urgency"]);
}

#[test]
fn the_desktop_file_is_valid() {
    validate("desktop-file-validate", &[], &files_ending(&["data"], ".desktop"));
}

#[test]
fn the_metainfo_is_valid() {
    validate("appstreamcli", &["validate", "--no-net"], &files_ending(&["data"], ".metainfo.xml"));
}

#[test]
fn the_schema_is_valid() {
    validate("glib-compile-schemas", &["--strict", "--dry-run"], &["data".to_string()]);
}

#[test]
fn every_xml_is_well_formed() {
    for ending in [".xml", ".ui", ".svg"] {
        let files = files_ending(&["data", "resources", "src"], ending);
        if !files.is_empty() {
            validate("xmllint", &["--noout", "--nonet"], &files);
        }
    }
}

#[test]
fn the_man_pages_are_valid() {
    validate("mandoc", &["-T", "lint", "-W", "warning"], &files_ending(&["data/man"], ".1"));
}

#[test]
fn a_validator_can_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.xml");
    fs::write(&bad, "<a><b></a>").unwrap();
    assert!(!matches!(accepted("xmllint", &["--noout", bad.to_str().unwrap()]), Some(Ok(()))));
    assert_eq!(accepted("no-such-validator-anywhere", &[]), None);
}

#[test]
fn the_files_agree_on_the_name() {
    let desktop = read(&format!("data/{APP_ID}.desktop"));
    assert!(desktop.contains(&format!("\nIcon={APP_ID}\n")) && desktop.contains("\nDBusActivatable=true\n"));
    assert!(read(&format!("data/{APP_ID}.metainfo.xml")).contains(&format!("<id>{APP_ID}</id>")));
    assert!(read(&format!("data/{APP_ID}.gschema.xml")).contains(&format!("<schema id=\"{APP_ID}\"")));
    assert!(read(&format!("data/{APP_ID}.service.in")).contains("/vigil --gapplication-service\n"));
    assert!(read("meson.build").contains(&format!("application_id = '{APP_ID}'")));
    assert!(read("meson.build").contains(&format!("version: '{}'", env!("CARGO_PKG_VERSION"))));
    for file in ["scalable/apps/{}.svg", "symbolic/apps/{}-symbolic.svg"] {
        read(&format!("data/icons/hicolor/{}", file.replace("{}", APP_ID)));
    }
}

/// What is wrong with a symbolic icon, which GTK recolours and scales.
fn icon_faults(svg: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, attributes) in tags(svg) {
        if name == "svg" && (attributes["width"].as_str(), attributes["height"].as_str()) != ("16", "16") {
            faults.push("not of 16 by 16".to_string());
        }
        if attributes.get("fill").is_some_and(|fill| fill != "#2e3436") {
            faults.push(format!("a colour of its own: {}", attributes["fill"]));
        }
        if attributes.contains_key("stroke") || attributes.contains_key("style") {
            faults.push(format!("{name} has a stroke or a style"));
        }
    }
    faults
}

#[test]
fn every_symbolic_icon_can_be_recoloured() {
    let icons = files_ending(&["resources/icons", "data/icons"], "-symbolic.svg");
    for icon in &icons {
        assert_eq!(icon_faults(&read(icon)), [] as [&str; 0], "{icon}");
    }
    for name in [
        "content-loading",
        "radio",
        "emblem-ok",
        "dialog-question",
        "dialog-error",
        "system-run",
        "media-playback-start",
    ] {
        let file = format!("resources/icons/scalable/actions/{name}-symbolic.svg");
        assert!(icons.contains(&file), "{file} is missing");
    }
    assert_eq!(icon_faults(r##"<svg width="24" height="16"><path fill="#ff0000"/></svg>"##).len(), 2);
}

/// The potfiles that a folder should have.
fn potfiles(folder: &Path) -> String {
    let output = Command::new(root().join("build-aux/potfiles")).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_potfiles_are_complete() {
    assert_eq!(read("po/POTFILES.in"), potfiles(root()), "build-aux/potfiles > po/POTFILES.in");
}

#[test]
fn a_file_with_a_planted_text_belongs_to_the_potfiles() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["data", "resources", "src"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("src/a.rs", r#"let title = gettext("Idle");"#);
    write("src/b.rs", r#"let title = gettext_f("{n} idle", &[]);"#);
    write("src/c.rs", "fn nothing() {}");
    write("src/d.ui", r#"<property name="label" translatable="yes">Idle</property>"#);
    write("data/e.desktop", "Name=E");
    let made = potfiles(folder.path());
    let files: Vec<&str> = made.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(files, ["data/e.desktop", "src/a.rs", "src/b.rs", "src/d.ui"]);
}

#[test]
fn every_file_names_its_licence() {
    let endings = [".rs", ".xml", ".ui", ".svg", ".css", ".desktop", ".py", ".sh", ".build", ".in", ".1"];
    let mut sources = files(&["src", "tests", "data", "resources", "po", "build-aux"]);
    sources.retain(|file| endings.iter().any(|ending| file.ends_with(ending)));
    sources.extend(["dev", ".ci/run", "build-aux/potfiles", "meson.build", "meson_options.txt"].map(String::from));
    let without: Vec<String> = sources.into_iter().filter(|file| !names_its_licence(&read(file))).collect();
    assert_eq!(without, [] as [&str; 0]);
    assert!(!names_its_licence("fn main() {}"));
}

fn names_its_licence(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains(concat!("SPDX-License", "-Identifier: GPL-3.0-or-later")))
}

#[test]
fn the_demo_day_can_be_played() {
    let mut last = 0;
    let mut owners = BTreeMap::new();
    for (index, line) in read("demo/day.jsonl").lines().enumerate() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", index + 1));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let at = event["t_ms"].as_u64().expect("each line has its time");
        assert!(at >= last, "line {} goes back in time", index + 1);
        last = at;
        if text(&event["event"]).starts_with('#') {
            continue;
        }
        let agent = text(&event["agent"]);
        assert!(!agent.is_empty() && !text(&event["event"]).is_empty(), "line {}", index + 1);
        let payload = event["payload"].as_object().expect("each event has a payload");
        for key in ["session_id", "surface_id"] {
            if let Some(id) = payload.get(key) {
                let owner = owners.entry(text(id)).or_insert_with(|| (agent.clone(), text(&payload["session_id"])));
                assert_eq!(*owner, (agent.clone(), text(&payload["session_id"])), "line {}", index + 1);
            }
        }
        let cwd = payload.get("cwd").map(text);
        assert!(cwd.is_none_or(|cwd| cwd == "@SHOP@" || cwd == "@PAYMENTS@"), "line {}", index + 1);
    }
    assert!(last <= 25_000, "the day is long: {last} ms");
}

#[test]
fn the_completions_are_those_of_the_command_line() {
    use clap_complete::Shell;
    for (shell, file) in [(Shell::Bash, "vigilctl.bash"), (Shell::Zsh, "_vigilctl"), (Shell::Fish, "vigilctl.fish")] {
        let mut made = Vec::new();
        clap_complete::generate(shell, &mut vigil::ctl::description(), "vigilctl", &mut made);
        let file = format!("data/completions/{file}");
        assert_eq!(read(&file), String::from_utf8(made).unwrap(), "{file}: cargo run --example completions");
    }
}

#[test]
fn every_translation_is_installed() {
    let listed: BTreeSet<String> =
        read("po/LINGUAS").lines().filter(|line| !line.starts_with('#')).map(ToString::to_string).collect();
    let there: BTreeSet<String> = fs::read_dir(root().join("po"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".po").map(ToString::to_string))
        .collect();
    assert!(!there.is_empty());
    assert_eq!(listed, there);
}
