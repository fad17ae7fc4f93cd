// SPDX-License-Identifier: GPL-3.0-or-later
//! What an origin does, and what a hostile one does not.

use std::collections::HashMap;
use std::fs;

use gtk::glib::{self, prelude::*};
use vigil::status::Status;

use crate::session::Session;

fn origin(parts: &[(&str, glib::Variant)]) -> HashMap<String, glib::Variant> {
    parts.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect()
}

#[track_caller]
fn hook(session: &Session, event: &str, payload: &str, origin: HashMap<String, glib::Variant>) {
    session.must("Hook", &("codex", event, payload, origin).to_variant());
}

#[test]
fn an_event_is_applied_once() {
    let session = Session::start();
    let payload = r#"{"session_id":"s","workspace_id":"demo","task_id":"t"}"#;
    hook(&session, "stop", payload, origin(&[("id", "one".to_variant())]));
    session.hook("codex", "prompt-submit", payload);
    hook(&session, "stop", payload, origin(&[("id", "one".to_variant())]));
    assert_eq!(session.row("demo").status, Status::Running);
}

#[test]
fn a_hostile_origin_is_as_good_as_none() {
    let session = Session::start();
    let links: Vec<(u32, u64, String, u32)> = (1..5000).map(|pid| (pid, 1, "codex".repeat(100), 7)).collect();
    let variables: HashMap<String, String> = (0..5000).map(|n| (format!("V{n}"), "x".repeat(100))).collect();
    let bad = origin(&[
        ("id", 7_i32.to_variant()),
        ("version", "x".to_variant()),
        ("at", "now".to_variant()),
        ("boot-id", true.to_variant()),
        ("pidns", (-1_i64).to_variant()),
        ("host", vec!["box"].to_variant()),
        ("chain", links.to_variant()),
        ("cwd", "x".repeat(1 << 16).to_variant()),
        ("env", variables.to_variant()),
        ("more", vec![0_u8; 1 << 16].to_variant()),
    ]);
    hook(&session, "stop", r#"{"session_id":"s","workspace_id":"demo"}"#, bad);
    let row = session.row("demo");
    assert_eq!((row.host, row.surface, row.watched, row.pid), (None, None, false, None));
}

#[test]
fn a_folder_is_its_project() {
    let session = Session::start();
    let git = |folder: &std::path::Path, words: &[&str]| {
        let mut command = session.command("git");
        command.args(["-c", "user.name=v", "-c", "user.email=v@v", "-c", "init.defaultBranch=main", "-C"]).arg(folder);
        assert!(command.args(words).output().expect("git is installed").status.success(), "{words:?}");
    };
    let (shop, tree) = (session.home().join("shop"), session.home().join("tree"));
    fs::create_dir_all(shop.join("src/deep")).unwrap();
    git(&shop, &["init", "-q"]);
    fs::write(shop.join("a"), "a").unwrap();
    git(&shop, &["add", "."]);
    git(&shop, &["commit", "-qm", "a"]);
    git(&shop, &["worktree", "add", "-qb", "cart", tree.to_str().unwrap()]);

    let run = |id: &str, cwd: &std::path::Path| {
        let payload = serde_json::json!({"session_id": id, "cwd": cwd, "surface_id": id}).to_string();
        session.hook("codex", "prompt-submit", &payload);
    };
    run("1", &shop.join("src/deep"));
    run("2", &shop);
    run("3", &tree);
    let workspace = |name: &str| session.snapshot().workspaces.into_iter().find(|workspace| workspace.name == name);
    let named = workspace("shop").expect("the repository is a workspace");
    assert_eq!((named.path.as_deref(), named.rows.map(|rows| rows.len())), (shop.to_str(), Some(2)));
    let linked = workspace("shop · cart").expect("the worktree is one too");
    assert_eq!(linked.path.as_deref(), tree.to_str());

    let tree_of = |name: &str| workspace(name).map(|workspace| (workspace.branch, workspace.dirty));
    let is = |branch: &str, dirty: bool| Some((Some(branch.to_string()), Some(dirty)));
    session.wait_for("branch and mark", || tree_of("shop") == is("main", false));
    session.wait_for("branch and mark of the worktree", || tree_of("shop · cart") == is("cart", false));
    git(&shop, &["switch", "-qc", "next"]);
    session
        .wait_for("the other branch", || tree_of("shop").is_some_and(|(branch, _)| branch.as_deref() == Some("next")));
    fs::write(shop.join("b"), "b").unwrap();
    session.hook("codex", "stop", r#"{"session_id":"2"}"#);
    session.wait_at_most(std::time::Duration::from_secs(13), "the mark", || tree_of("shop") == is("next", true));
}

/// A repository's own configuration names a program for git to run: it is not run.
#[test]
fn a_repository_runs_nothing() {
    let session = Session::start();
    let trap = |name: &str, key: &str| {
        let top = session.home().join(name);
        fs::create_dir_all(&top).unwrap();
        let ran = session.home().join(format!("{name}-ran"));
        let git = |words: &[&str]| {
            assert!(session.command("git").arg("-C").arg(&top).args(words).status().unwrap().success());
        };
        git(&["init", "-q"]);
        fs::write(top.join(".gitattributes"), "* filter=trap\n").unwrap();
        fs::write(top.join("a"), "a").unwrap();
        git(&["add", "."]);
        fs::write(top.join("a"), "b").unwrap();
        git(&["config", key, &format!("touch {}; cat", ran.display())]);
        let payload = serde_json::json!({"session_id": name, "cwd": top, "workspace_id": null}).to_string();
        session.hook("codex", "prompt-submit", &payload);
        (name.to_string(), ran)
    };
    let traps = [trap("monitor", "core.fsmonitor"), trap("filter", "filter.trap.clean")];
    let dirty = |name: &str| {
        session.snapshot().workspaces.into_iter().find(|workspace| workspace.name == name).and_then(|it| it.dirty)
    };
    session.wait_for("the mark where only the monitor is a trap", || dirty("monitor") == Some(true));
    for (name, ran) in traps {
        assert!(!ran.exists(), "{name} ran");
    }
    assert_eq!(dirty("filter"), None, "one that brings filters is not asked");
}
