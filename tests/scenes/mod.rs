// SPDX-License-Identifier: GPL-3.0-or-later
//! The scenes of the design's pictures, as published snapshots.

// Each user of this module takes a part of it.
#![allow(dead_code)]

use std::path::Path;

use gtk::gio;
use gtk::gio::prelude::*;
use vigil::agent::CATALOGUE;
use vigil::app::model::{Integration, Sidebar};
use vigil::integration::{Found, Report, State, Version};
use vigil::protocol::SNAPSHOT_VERSION;
use vigil::snapshot::{LogLevel, LogView, ProgressView, RowView, SessionView, Snapshot, WorkspaceView};
use vigil::status::{Attention, Counts, Status, indicator, priority};
use vigil::time::WallTime;

/// What time it is in all scenes, in milliseconds.
pub const NOW: i64 = 1_767_323_045_000;

/// Shows one scene, and folds and opens what its picture has folded and open.
pub fn show(sidebar: &Sidebar, picture: &str) {
    sidebar.reset(&snapshot(picture));
    for id in ["dotfiles", "infra", "website", "notes"] {
        if let Some(workspace) = sidebar.workspace(id) {
            sidebar.toggle_folded(&workspace);
        }
    }
    let opened: &[&str] = match picture {
        "question" => &["shop/Codex"],
        "sessions" => &["shop/Claude Code", "api/Claude Code"],
        _ => &[],
    };
    for agent in opened.iter().filter_map(|id| sidebar.agent(id)) {
        agent.set_expanded(true);
    }
}

/// The snapshot of one scene.
pub fn snapshot(picture: &str) -> Snapshot {
    let workspaces = match picture {
        "calm" | "banner" => calm(),
        "empty" => Vec::new(),
        "many" => many(),
        "sessions" => sessions(),
        "states" => states(),
        _ => busy(),
    };
    Snapshot { version: SNAPSHOT_VERSION, serial: 1, workspaces }
}

/// Claude Code's hooks, some of which are not there.
pub fn incomplete() -> Report {
    let advice = Some("1 of 17 hooks are not there (Stop)".to_owned());
    Report {
        agent: "claude",
        state: State::Partial,
        file: Some("/home/u/.claude/settings.json".into()),
        advice,
        mends: true,
    }
}

/// Every agent of the catalogue, some of them on this computer and in each of the states.
pub fn integrations() -> gio::ListStore {
    let states = [
        ("claude", State::Complete, "2.1.332", ".claude/settings.json", None),
        ("codex", State::Partial, "0.171.0", ".codex/hooks.json", Some("2 of 5 hooks are not there (Stop, Interrupt)")),
        (
            "opencode",
            State::Stale,
            "1.4.2",
            ".config/opencode/plugin/vigil.js",
            Some("It is of another version of Vigil"),
        ),
        (
            "hermes",
            State::Missing,
            "0.19.0",
            ".hermes/plugins/vigil/plugin.yaml",
            Some("Run `vigilctl install hermes`"),
        ),
    ];
    let list: gio::ListStore = CATALOGUE.iter().map(|agent| Integration::new(agent.id)).collect();
    for shown in list.iter::<Integration>().flatten() {
        let known = states.iter().find(|(agent, ..)| *agent == shown.agent());
        let program = known.map(|(agent, ..)| format!("/home/u/.local/bin/{agent}"));
        let program = program.or_else(|| (shown.agent() == "codebuff").then(|| "/usr/bin/codebuff".to_owned()));
        let version = known.and_then(|(_, _, version, ..)| Version::parse(version));
        shown.set_found(Some(Found { program: program.map(Into::into), version }));
        if let Some(&(agent, state, _, file, advice)) = known {
            let home = Path::new("/home/u");
            shown.set_files(vec![home.join(file)], Some(home));
            let (file, advice) = (Some(home.join(file)), advice.map(ToOwned::to_owned));
            shown.set_report(&Report { agent, state, file, advice, mends: state != State::Complete });
        }
    }
    list
}

/// An idle agent that has been seen.
pub fn row(workspace: &str, name: &str, status: Status, attention: Attention, seconds: i64) -> RowView {
    let id = format!("{workspace}/{name}");
    let session = session(&format!("session-{name}"), status, attention, None);
    let agent = name.split(' ').next().unwrap_or(name).to_lowercase();
    let mut row = RowView {
        id,
        agent,
        name: name.to_owned(),
        status,
        label: status.label().to_owned(),
        icon: String::new(),
        subagents: 0,
        background: 0,
        hidden: false,
        nested: false,
        watched: true,
        attention,
        message: None,
        tool: None,
        questions: session.questions,
        surface: None,
        pid: None,
        host: None,
        since: WallTime(NOW - seconds * 1000).to_rfc3339(),
        priority: 0,
        sessions: vec![session],
        detail: None,
        question: None,
        cwd: None,
    };
    settle(&mut row);
    row
}

/// One session of a row.
pub fn session(id: &str, status: Status, attention: Attention, surface: Option<&str>) -> SessionView {
    SessionView {
        id: id.to_owned(),
        status,
        attention,
        subagents: 0,
        background: 0,
        questions: u32::from(status == Status::NeedsInput),
        surface: surface.map(str::to_owned),
        pid: None,
    }
}

/// A shared row of these sessions that shows the first; its attention is the strongest of them.
pub fn shared(workspace: &str, sessions: Vec<SessionView>) -> RowView {
    let attention = sessions.iter().map(|session| session.attention).max().unwrap_or_default();
    let mut row = row(workspace, "Claude Code", sessions[0].status, attention, 240);
    row.surface = sessions[0].surface.clone();
    row.sessions = sessions;
    row
}

/// Sets what follows from status, attention and counts.
pub fn settle(row: &mut RowView) {
    let counts = Counts { subagents: row.subagents, background: row.background };
    row.icon = indicator(row.status, row.attention, counts).to_owned();
    row.priority = priority(row.status, counts);
}

trait With: Sized {
    fn with(self, change: impl FnOnce(&mut Self)) -> Self;
}

impl With for RowView {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        settle(&mut self);
        self
    }
}

/// A workspace on a branch.
pub fn workspace(name: &str, branch: &str, rows: Vec<RowView>) -> WorkspaceView {
    WorkspaceView {
        id: name.to_owned(),
        name: name.to_owned(),
        path: Some(format!("/home/u/src/{name}")),
        branch: Some(branch.to_owned()),
        dirty: Some(false),
        attention: rows.iter().map(|row| row.attention).max().unwrap_or_default(),
        rows: Some(rows),
        ..WorkspaceView::default()
    }
}

fn idle(workspace: &str, name: &str, seconds: i64) -> RowView {
    row(workspace, name, Status::Idle, Attention::None, seconds)
}

fn says(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn busy() -> Vec<WorkspaceView> {
    let command = "rm -rf build && cargo build --release --target x86_64-unknown-linux-musl";
    let shop = vec![
        row("shop", "Codex", Status::NeedsInput, Attention::NeedsInput, 12).with(|row| {
            row.message = Some(format!("Run “{command}”?"));
            row.tool = says("Bash");
            row.question = says(command);
            row.cwd = glib_home("src/shop");
        }),
        row("shop", "Claude Code", Status::Running, Attention::None, 240).with(|row| {
            row.tool = says("Bash");
            row.detail = says("cargo test --workspace");
            row.subagents = 2;
            row.background = 1;
        }),
        row("shop", "OpenCode", Status::Idle, Attention::Finished, 130)
            .with(|row| row.message = says("Added the cart badge and its tests")),
    ];
    let payments = vec![
        row("payments-api", "Mistral Vibe", Status::Failed, Attention::Failed, 70)
            .with(|row| row.message = says("Authentication failed: the API key was refused")),
        row("payments-api", "Claude Code", Status::Running, Attention::None, 38).with(|row| {
            row.tool = says("Edit");
            row.detail = says("src/webhooks/refund.rs");
        }),
        idle("payments-api", "Pi Agent", 3700).with(|row| {
            row.message = says("Waiting for you");
            row.background = 1;
        }),
    ];
    vec![
        WorkspaceView {
            dirty: Some(true),
            ports: vec![3000],
            progress: Some(ProgressView { value: 3.0 / 7.0, label: "3 of 7 tasks".to_owned() }),
            log: Some(LogView { level: LogLevel::Info, message: "build: compiled in 2.3 s".to_owned() }),
            ..workspace("shop", "main", shop)
        },
        WorkspaceView { ports: vec![8080, 5432], ..workspace("payments-api", "feature/refund-webhooks", payments) },
        workspace("docs", "draft", vec![idle("docs", "Hermes Agent", 11_000)]),
    ]
}

fn calm() -> Vec<WorkspaceView> {
    let shop = ["Claude Code", "Codex", "OpenCode", "Pi Agent", "Hermes Agent"];
    vec![
        WorkspaceView {
            ports: vec![3000],
            ..workspace("shop", "main", shop.map(|name| idle("shop", name, 600)).to_vec())
        },
        workspace(
            "payments-api",
            "feature/refund-webhooks",
            vec![idle("payments-api", "Claude Code", 3700), idle("payments-api", "Mistral Vibe", 7300)],
        ),
        workspace("docs", "draft", vec![idle("docs", "Hermes Agent", 11_000)]),
        workspace("dotfiles", "main", vec![idle("dotfiles", "Codex", 11_000)]),
    ]
}

fn states() -> Vec<WorkspaceView> {
    let mobile = vec![
        row("mobile", "Claude Code", Status::NeedsInput, Attention::NeedsInput, 8).with(|row| {
            row.message = says("Which of the two migrations should go first?");
            row.subagents = 2;
        }),
        row("mobile", "Codex", Status::Failed, Attention::None, 300)
            .with(|row| row.message = says("Billing: the account is out of credit")),
        row("mobile", "A Home-Made Agent With a Long Name", Status::Running, Attention::None, 3590).with(|row| {
            row.tool = says("Read");
            row.detail = says("a/very/long/path/to/some/file/that/does/not/fit.rs");
            row.subagents = 12;
            row.background = 3;
        }),
        row("mobile", "OpenCode", Status::Idle, Attention::Finished, 360).with(|row| {
            row.message = says("the dev server is still up");
            row.background = 1;
        }),
        row("mobile", "Kilo Code", Status::Running, Attention::None, 190)
            .with(|row| row.message = says("Rate limited, tries again in 20 s")),
        row("mobile", "Nested Agent", Status::Idle, Attention::None, 190).with(|row| row.nested = true),
    ];
    let failed = |name| row("website", name, Status::Failed, Attention::Failed, 60);
    let api = ["Codex", "Hermes Agent", "Pi Agent", "OpenCode"];
    vec![
        WorkspaceView {
            dirty: Some(true),
            ports: vec![3000, 5173, 9229],
            ..workspace("mobile-client-next", "feature/one-page-checkout", mobile)
        },
        workspace("infra", "main", vec![row("infra", "Codex", Status::NeedsInput, Attention::NeedsInput, 60)]),
        workspace("website", "main", vec![failed("Codex"), failed("Pi Agent")]),
        workspace("notes", "main", vec![row("notes", "Codex", Status::Idle, Attention::Finished, 60)]),
        WorkspaceView {
            progress: Some(ProgressView { value: 1.0, label: "7 of 7 tasks".to_owned() }),
            log: Some(LogView {
                level: LogLevel::Warning,
                message: "deploy: certificate expires in 3 days".to_owned(),
            }),
            ..workspace("api", "v2", api.map(|name| idle("api", name, 600)).to_vec())
        },
    ]
}

fn sessions() -> Vec<WorkspaceView> {
    use Attention as A;
    use Status as S;
    let tmux = |pane: &str| format!("tmux:/tmp/tmux-1000/default:{pane}");
    let mut busy = session("9f0c52d1-aaaa", S::Running, A::None, Some("tty:pts/5"));
    busy.subagents = 2;
    let asks = vec![
        session("1b6e2a90-bbbb", S::NeedsInput, A::NeedsInput, Some(&tmux("%3"))),
        busy,
        session("77d00f13-cccc", S::Idle, A::Finished, Some("kitty:4242:2")),
        session("c4a1be55-dddd", S::Failed, A::None, None),
    ];
    let shop = shared("shop", asks).with(|row| {
        row.tool = says("Bash");
        row.question = says("git push --force-with-lease origin main");
        row.message = says("Permission for Bash");
        row.cwd = glib_home("src/shop");
    });
    let works = vec![
        session("a", S::Running, A::None, Some("tty:pts/1")),
        session("b", S::Failed, A::Failed, Some("tty:pts/2")),
        session("c", S::Running, A::Finished, Some("zellij:work:4")),
    ];
    let edits = |row: &mut RowView| (row.tool, row.detail) = (says("Edit"), says("src/webhooks/refund.rs"));
    let two = |one, other| vec![session("a", one, A::None, None), other];
    vec![
        workspace("shop", "main", vec![shop]),
        workspace("api", "v2", vec![shared("api", works).with(edits)]),
        workspace(
            "docs",
            "draft",
            vec![
                shared("docs", two(S::Idle, session("b", S::Running, A::None, None)))
                    .with(|row| row.message = says("Wrote the chapter")),
                row("docs", "Codex", S::Running, A::Finished, 30).with(|row| row.message = says("Wakes up")),
                idle("docs", "Pi Agent", 190).with(|row| row.nested = true),
            ],
        ),
        workspace("tools", "main", vec![shared("tools", two(S::Running, session("b", S::Failed, A::Failed, None)))]),
        workspace("notes", "main", vec![shared("notes", two(S::Running, session("b", S::Running, A::None, None)))]),
    ]
}

/// Sixty agents, and texts of every length and direction.
fn many() -> Vec<WorkspaceView> {
    let states = [
        (Status::Running, Attention::None),
        (Status::Idle, Attention::Finished),
        (Status::NeedsInput, Attention::NeedsInput),
        (Status::Failed, Attention::Failed),
        (Status::Idle, Attention::None),
        (Status::Running, Attention::Failed),
    ];
    let names = [
        "Claude Code",
        "Codex",
        "سایدبار هوشمند",
        "An agent whose name does not end where it should",
        "日本語のエージェント",
        "x",
    ];
    let workspaces = (0..10).map(|number| {
        let id = format!("w{number}");
        let rows = states.iter().zip(names).enumerate().map(|(place, ((status, attention), name))| {
            row(&id, name, *status, *attention, number as i64 * 400 + 3).with(|row| {
                row.id = format!("{id}/{place}");
                row.tool = says("Bash");
                row.detail = says(&"cargo test --workspace ".repeat(place));
                row.message = says(&"האם להמשיך? Really? ".repeat(place));
                row.subagents = 120 * u32::from(place == 0);
                row.background = 3 * u32::from(place < 2);
            })
        });
        let mut view = workspace(&id, "feature/the-branch-that-nobody-wants-to-type", rows.collect());
        view.name = ["shop", "a-workspace-with-a-very-long-name-indeed", "مشروع"][number % 3].to_owned();
        view.ports = [3000, 5173, 9229, 65535][..number % 5].to_vec();
        view.dirty = Some(number % 2 == 1);
        view
    });
    workspaces.collect()
}

fn glib_home(folder: &str) -> Option<String> {
    Some(gtk::glib::home_dir().join(folder).to_str()?.to_owned())
}
