// SPDX-License-Identifier: GPL-3.0-or-later
//! A walk through the window with the keyboard alone, as a user takes it.

use std::time::Instant;

use vigil::snapshot::RowView;
use vigil::status::Attention;

use crate::screen::{Node, Screen};
use crate::session::{PATIENCE, Session};

const SHOP: &str = "Workspace shop, 2 agents";
const CODEX: &str = "Codex in shop: Needs input, not seen yet, Deploy?";
const CLAUDE: &str = "Claude Code in shop: Running";
const DOCS: &str = "Workspace docs, 2 agents";
const OPENCODE: &str = "OpenCode in docs: Failed, not seen yet, No credit";
const OPENCODE_SEEN: &str = "OpenCode in docs: Failed, No credit";
const PI: &str = "Pi Agent in docs: Idle, Finished · All done";
const PI_SEEN: &str = "Pi Agent in docs: Idle, All done";

#[test]
fn the_keyboard_reaches_everything() {
    let walk = Walk::begin();
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE, PI]);
    walk.is_wanted(Some("2 need you"));

    // A search narrows the rows, and Escape gives them back; what was found keeps the focus.
    walk.press("ctrl+f");
    walk.focuses("Search agents");
    walk.types("codex");
    walk.sees(&[SHOP, CODEX]);
    walk.press("Escape");
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE, PI]);
    walk.press("ctrl+f");
    walk.types("open");
    walk.press("Return");
    walk.sees(&[DOCS, OPENCODE]);
    walk.focuses(OPENCODE);
    walk.press("Escape");
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE, PI]);
    walk.focuses(OPENCODE);

    // Arrows move over all rows, workspaces too.
    walk.press("Home");
    walk.focuses(SHOP);
    for row in [CODEX, CLAUDE, DOCS, OPENCODE, PI] {
        walk.press("Down");
        walk.focuses(row);
    }
    walk.press("Up");
    walk.focuses(OPENCODE);

    // Return says that it has been seen; the row stays, and so does the focus.
    walk.press("Down");
    walk.focuses(PI);
    assert_eq!(walk.row("docs", "pi").map(|row| row.attention), Some(Attention::Finished));
    walk.press("Return");
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE, PI_SEEN]);
    walk.focuses(PI_SEEN);
    assert_eq!(walk.row("docs", "pi").map(|row| row.attention), Some(Attention::None));

    // The Menu key opens the row's menu; its first entry does the same for a failure.
    walk.press("Up");
    walk.focuses(OPENCODE);
    walk.press("Menu");
    walk.offers(&["Mark as Seen", "Dismiss"]);
    walk.press("Escape");
    walk.offers(&[]);
    walk.focuses(OPENCODE);
    walk.press("Menu");
    walk.focuses("Mark as Seen");
    walk.press("Return");
    walk.offers(&[]);
    walk.focuses(OPENCODE_SEEN);
    walk.is_wanted(Some("1 needs you"));
    assert_eq!(walk.row("docs", "opencode").map(|row| row.attention), Some(Attention::None));

    // Ctrl+J goes to the one that wants somebody.
    walk.press("ctrl+j");
    walk.focuses(CODEX);

    // Return folds a workspace, which then speaks for what is inside; Ctrl+J reaches even there.
    let folded = "Workspace shop, 2 agents, folded, 1 needs input";
    walk.press("Up");
    walk.focuses(SHOP);
    walk.press("Return");
    walk.sees(&[folded, DOCS, OPENCODE_SEEN, PI_SEEN]);
    walk.focuses(folded);
    walk.press("Return");
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE_SEEN, PI_SEEN]);
    walk.press("Return");
    walk.sees(&[folded, DOCS, OPENCODE_SEEN, PI_SEEN]);
    walk.press("ctrl+j");
    walk.sees(&[SHOP, CODEX, CLAUDE, DOCS, OPENCODE_SEEN, PI_SEEN]);
    walk.focuses(CODEX);

    // Delete takes a row away, and the focus goes to the next.
    walk.press("Delete");
    let left = ["Workspace shop, 1 agent", CLAUDE, DOCS, OPENCODE_SEEN, PI_SEEN];
    walk.sees(&left);
    walk.focuses(CLAUDE);
    walk.is_wanted(None);
    assert_eq!(walk.row("shop", "codex"), None);

    // The window goes, the service stays, and the window that comes back shows the same.
    walk.press("ctrl+w");
    walk.session.wait_for("no window", || !walk.session.has_window());
    walk.session.wait_for("no list", || walk.screen.list("").is_none());
    assert!(walk.session.has_owner());
    assert_eq!(walk.session.snapshot().workspaces.len(), 2);
    let shown = walk.session.action("show", None);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    walk.sees(&left);
}

struct Walk {
    session: Session,
    screen: Screen,
}

impl Walk {
    /// Four agents in two workspaces, each in another state, and the window with the keyboard's focus.
    fn begin() -> Self {
        let session = Session::start_readable();
        let screen = Screen::open(&session);
        session.hook("claude", "prompt-submit", r#"{"workspace_id":"shop","session_id":"s"}"#);
        session.hook("codex", "approval-request", r#"{"workspace_id":"shop","message":"Deploy?"}"#);
        session.hook("opencode", "error", r#"{"workspace_id":"docs","recoverable":false,"message":"No credit"}"#);
        session.hook("pi", "stop", r#"{"workspace_id":"docs","message":"All done"}"#);
        let walk = Self { session, screen };
        walk.session.wait_for("a window", || walk.session.has_window());
        // There is no window manager that would do it.
        let window = walk.session.windows().remove(0);
        walk.xdotool(&["windowfocus", "--sync", &window]);
        walk
    }

    fn press(&self, key: &str) {
        self.xdotool(&["key", "--clearmodifiers", key]);
    }

    fn types(&self, text: &str) {
        self.xdotool(&["type", text]);
    }

    fn xdotool(&self, words: &[&str]) {
        let mut command = self.session.command("xdotool");
        let outcome = command.args(words).output().expect("xdotool is installed");
        assert!(outcome.status.success(), "{words:?}: {}", String::from_utf8_lossy(&outcome.stderr));
    }

    /// The rows are these, in this order.
    #[track_caller]
    fn sees(&self, expected: &[&str]) {
        self.reads("rows", expected, || self.screen.names());
    }

    /// That has the keyboard's focus, and nothing else has.
    #[track_caller]
    fn focuses(&self, name: &str) {
        self.reads("focus", &[name], || self.nodes(|node| node.focused));
    }

    /// An open menu has these entries; no menu is open if there are none.
    #[track_caller]
    fn offers(&self, expected: &[&str]) {
        self.reads("menu", expected, || self.nodes(|node| node.role == "menu item"));
    }

    /// The header says so, in the title's place.
    #[track_caller]
    fn is_wanted(&self, expected: Option<&str>) {
        let is_pill = |node: &Node| node.name.ends_with(" needs you") || node.name.ends_with(" need you");
        // Newer releases of the accessibility bus say "button".
        let is_button = |node: &Node| matches!(node.role.as_str(), "push button" | "button");
        self.reads("header", expected.as_slice(), || self.nodes(|node| is_button(node) && is_pill(node)));
    }

    /// Waits until the window says exactly that.
    #[track_caller]
    fn reads(&self, what: &str, expected: &[&str], read: impl Fn() -> Vec<String>) {
        let start = Instant::now();
        loop {
            let found = read();
            if found == expected {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{what}: {found:#?} instead of {expected:#?}");
        }
    }

    /// The names of those in the window.
    fn nodes(&self, filter: impl Fn(&Node) -> bool) -> Vec<String> {
        self.screen.nodes().into_iter().filter(|node| filter(node)).map(|node| node.name).collect()
    }

    /// The agent's row in the snapshot.
    fn row(&self, workspace: &str, agent: &str) -> Option<RowView> {
        self.session.rows(workspace).into_iter().find(|row| row.agent == agent)
    }
}
