// SPDX-License-Identifier: GPL-3.0-or-later
//! The preferences, and the dialog of a refusal.

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::agent::CATALOGUE;
use vigil::app::model::{Connections, Integration};
use vigil::app::settings::Settings;
use vigil::app::widget::{self, IntegrationRow, Page, Preferences, RefusalDialog};
use vigil::integration::{Found, Refusal, Report, State, Version};

use super::bench::{Bench, all, find, settle, texts, wait_until};
use super::scenes::{self, incomplete};

const NAMES: [&str; 5] = ["Claude Code", "Codebuff", "Codex", "Hermes Agent", "OpenCode"];

struct Opened {
    bench: Bench,
    agents: gio::ListStore,
    settings: Settings,
    window: Preferences,
}

impl Opened {
    fn of(agents: gio::ListStore) -> Self {
        let bench = Bench::new(Vec::new());
        let settings = Settings::load();
        let window = Preferences::new(&settings, &Connections::new(&agents));
        window.set_application(Some(&bench.app));
        window.turn_to(Page::Integrations);
        window.present();
        wait_until("the preferences are on the screen", || window.is_mapped());
        settle();
        Self { bench, agents, settings, window }
    }

    fn scene() -> Self {
        Self::of(scenes::integrations())
    }

    /// One agent alone, whose program is there.
    fn claude() -> (Self, Integration) {
        let claude = Integration::new("claude");
        claude.set_found(found("2.1.332"));
        claude.set_files(vec!["/home/u/.claude/settings.json".into()], Some("/home/u".as_ref()));
        (Self::of([claude.clone()].into_iter().collect()), claude)
    }

    fn rows(&self) -> Vec<IntegrationRow> {
        all(self.window.upcast_ref())
    }

    fn row(&self, agent: &str) -> IntegrationRow {
        let row = self.rows().into_iter().find(|row| row.integration().unwrap().agent() == agent);
        row.unwrap_or_else(|| panic!("no row of {agent}"))
    }

    fn close(self) {
        self.window.destroy();
        self.bench.close();
    }
}

fn found(version: &str) -> Option<Found> {
    Some(Found { program: Some("/home/u/.local/bin/claude".into()), version: Version::parse(version) })
}

fn report(state: State, mends: bool, advice: Option<&str>) -> Report {
    Report { state, mends, advice: advice.map(ToOwned::to_owned), ..incomplete() }
}

fn buttons(row: &IntegrationRow) -> Vec<gtk::Button> {
    let mut buttons: Vec<gtk::Button> = all(row.upcast_ref());
    buttons.retain(|button| button.is_mapped() && button.has_css_class("text-button"));
    buttons
}

fn labels(row: &IntegrationRow) -> Vec<String> {
    buttons(row).iter().flat_map(texts).collect()
}

#[gtk::test]
fn each_agent_has_one_row_and_those_that_are_here_come_first() {
    let opened = Opened::scene();
    assert_eq!(opened.rows().len(), CATALOGUE.len());
    let shown = |row: &IntegrationRow| row.is_mapped();
    let names: Vec<String> = opened.rows().iter().filter(|row| shown(row)).map(|row| row.title().into()).collect();
    assert_eq!(names, NAMES);
    let said = texts(&opened.window);
    assert!(said.iter().any(|text| text.starts_with("Freebuff, Kilo Code, ")), "{said:?}");
    let toggles = all::<gtk::ToggleButton>(opened.window.upcast_ref());
    let toggle = toggles.into_iter().find(|toggle| toggle.has_css_class("row-expander")).unwrap();
    toggle.set_active(true);
    wait_until("the others are shown", || opened.rows().iter().all(shown));
    assert_eq!(opened.row("kilo").subtitle(), "Not found");
    assert_eq!(labels(&opened.row("kilo")), [] as [&str; 0], "nothing is put in for what is not there");
    opened.close();
}

#[gtk::test]
fn a_row_says_how_far_it_is() {
    let (opened, claude) = Opened::claude();
    let row = opened.row("claude");
    let icon = || {
        all::<gtk::Image>(row.upcast_ref())
            .iter()
            .any(|image| image.icon_name().is_some_and(|name| name == "dialog-warning-symbolic") && image.is_mapped())
    };
    assert_eq!((row.title().as_str(), row.subtitle().as_str()), ("Claude Code", "Looking for it…"));
    let put_in = Some("Run `vigilctl install claude`");
    for (state, mends, advice, says, offers, warns) in [
        (State::Missing, true, put_in, "Found, not connected", &["Install"][..], false),
        (State::Missing, false, Some("No JSON"), "Cannot be connected", &[], false),
        (State::Partial, true, Some("1 of 2"), "Incomplete", &["Repair"], true),
        (State::Stale, true, Some("Gone"), "Out of date", &["Repair"], true),
        (State::Stale, false, Some("Off"), "Switched off", &[], true),
        (State::Complete, false, None, "Connected · \u{2068}~/.claude/settings.json\u{2069}", &[], false),
    ] {
        claude.set_report(&report(state, mends, advice));
        settle();
        assert_eq!(row.subtitle(), says);
        assert_eq!(labels(&row), offers, "{says}");
        assert_eq!(icon(), warns, "{says}");
    }
    claude.set_found(Some(Found::default()));
    claude.set_report(&report(State::Missing, true, put_in));
    settle();
    assert!(opened.rows().iter().all(|row| !row.is_mapped()), "it has gone to the others");
    opened.close();
}

#[gtk::test]
fn an_open_row_says_all_that_is_known() {
    let (opened, claude) = Opened::claude();
    let row = opened.row("claude");
    claude.set_report(&report(State::Partial, true, Some("<b>1 of 2</b> hooks")));
    claude.set_expanded(true);
    wait_until("it is open", || labels(&row) == ["Repair", "Remove"]);
    let said = texts(&row);
    for text in [
        "<b>1 of 2</b> hooks",
        "\u{2068}~/.local/bin/claude\u{2069} · version 2.1.332",
        "\u{2068}~/.claude/settings.json\u{2069}",
    ] {
        assert!(said.iter().any(|label| label == text), "{text}: {said:?}");
    }
    assert!(
        !said.contains(&"What It Cannot Tell".to_owned()) && !said.contains(&"Restart Needed".to_owned()),
        "{said:?}"
    );
    claude.set_report(&report(State::Missing, true, Some("Run `vigilctl install claude`")));
    wait_until("there is nothing to remove", || labels(&row) == ["Install"]);
    assert!(!texts(&row).contains(&"What to Do".to_owned()), "the button says it");
    opened.close();
}

#[gtk::test]
fn a_gap_and_what_needs_no_installation_are_said() {
    let opened = Opened::scene();
    let codebuff = opened.row("codebuff");
    assert_eq!(codebuff.subtitle(), "Nothing to install, its session log is read");
    assert!(texts(&codebuff).contains(&"Automatic".to_owned()));
    assert_eq!(labels(&codebuff), [] as [&str; 0]);
    codebuff.integration().unwrap().set_expanded(true);
    wait_until("it is open", || texts(&codebuff).contains(&"What It Cannot Tell".to_owned()));
    assert!(texts(&codebuff).iter().any(|text| text.contains("• That it asks you something\n")));
    opened.close();
}

#[gtk::test]
fn the_buttons_ask_for_what_they_say() {
    let (opened, claude) = Opened::claude();
    let row = opened.row("claude");
    claude.set_expanded(true);
    for (state, mends) in [(State::Missing, true), (State::Partial, true), (State::Complete, false)] {
        claude.set_report(&report(state, mends, None));
        settle();
        wait_until("the details are open", || state == State::Missing || labels(&row).contains(&"Remove".into()));
        buttons(&row).iter().for_each(ButtonExt::emit_clicked);
    }
    let asked = opened.bench.asked.borrow().clone();
    assert_eq!(asked, ["install claude", "repair claude", "uninstall claude", "uninstall claude"]);
    opened.close();
}

#[gtk::test]
fn a_button_that_goes_leaves_the_focus_in_its_row() {
    let (opened, claude) = Opened::claude();
    let row = opened.row("claude");
    claude.set_report(&report(State::Missing, true, None));
    settle();
    assert!(buttons(&row)[0].grab_focus());
    claude.set_report(&report(State::Complete, false, None));
    settle();
    let focus = GtkWindowExt::focus(&opened.window).expect("something has the focus");
    assert!(focus.is_ancestor(&row) || focus == *row.upcast_ref::<gtk::Widget>(), "{focus:?}");
    opened.close();
}

#[gtk::test]
fn an_agent_that_comes_moves_no_other_row() {
    let opened = Opened::scene();
    let before: Vec<IntegrationRow> = opened.rows().into_iter().filter(WidgetExt::is_mapped).collect();
    let vibe = opened.agents.iter::<Integration>().flatten().find(|agent| agent.agent() == "vibe").unwrap();
    vibe.set_found(found("3.0.2"));
    settle();
    let after: Vec<IntegrationRow> = opened.rows().into_iter().filter(WidgetExt::is_mapped).collect();
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|row| after.contains(row)), "rows are kept");
    let names: Vec<String> = after.iter().map(|row| row.title().into()).collect();
    assert_eq!(names, ["Claude Code", "Codebuff", "Codex", "Hermes Agent", "Mistral Vibe", "OpenCode"]);
    assert_eq!(opened.rows().len(), CATALOGUE.len());
    opened.close();
}

#[gtk::test]
fn what_is_switched_is_set() {
    let opened = Opened::of(gio::ListStore::new::<Integration>());
    assert!(texts(&opened.window).contains(&"No agent that Vigil knows was found.".to_owned()));
    opened.window.turn_to(Page::General);
    let switches: Vec<gtk::Switch> = all(opened.window.upcast_ref());
    let states = |settings: &Settings| [settings.close_to_background(), settings.fold_idle(), settings.show_hidden()];
    let shown: Vec<bool> = switches.iter().map(gtk::Switch::is_active).collect();
    assert_eq!(shown, states(&opened.settings));
    assert!(opened.settings.is_stored(), "the schema is compiled");
    for switch in &switches {
        switch.set_active(!switch.is_active());
    }
    assert_eq!(states(&opened.settings).map(|on| !on).to_vec(), shown);
    let order: adw::ComboRow = find(opened.window.upcast_ref()).unwrap();
    let before = opened.settings.workspace_order();
    order.set_selected(1 - order.selected());
    assert_ne!(opened.settings.workspace_order(), before);
    let grace: gtk::SpinButton = find(opened.window.upcast_ref()).unwrap();
    grace.set_value(17.);
    assert_eq!(opened.settings.roster().error_grace.as_secs(), 17);
    opened.close();
}

#[gtk::test]
fn a_row_that_goes_is_let_go() {
    let (opened, claude) = Opened::claude();
    claude.set_report(&report(State::Complete, false, None));
    let row = opened.row("claude").downgrade();
    claude.set_report(&report(State::Missing, true, None));
    claude.set_found(None);
    wait_until("the row has gone", || row.upgrade().is_none());
    assert_eq!(opened.rows().len(), 1, "another one is among those that were not found");
    opened.close();
}

/// AdwPreferencesWindow 1.2 never lets go of what it has shown: so there is one, which comes again.
#[gtk::test]
fn a_closed_window_comes_again() {
    let (opened, claude) = Opened::claude();
    let rows = opened.rows();
    opened.window.close();
    wait_until("it has gone", || !opened.window.is_mapped());
    claude.set_report(&report(State::Complete, false, None));
    opened.window.present();
    wait_until("it is there again", || opened.window.is_mapped());
    assert_eq!(opened.rows(), rows);
    assert!(rows[0].subtitle().starts_with("Connected · "), "it was kept in step");
    opened.close();
}

#[gtk::test]
fn it_fits_a_narrow_window() {
    let opened = Opened::scene();
    opened.agents.iter::<Integration>().flatten().for_each(|agent| {
        let long = format!("/home/u/{}/x", "y".repeat(200));
        agent.set_files(vec![long.into()], None);
        agent.set_expanded(true);
    });
    settle();
    for row in opened.rows() {
        let (narrowest, ..) = row.measure(gtk::Orientation::Horizontal, -1);
        assert!(narrowest <= 336, "{}: {narrowest}, of 360 with a margin of 12", row.title());
    }
    opened.close();
}

#[gtk::test]
fn a_refusal_is_said_and_its_snippet_can_be_copied() {
    widget::register_resources();
    let bench = Bench::picture("calm");
    let message = "<b>/x</b> cannot be written".to_owned();
    let refusal = Refusal { message: message.clone(), snippet: Some("{\n  \"hooks\": {}\n}\n".to_owned()) };
    let dialog = RefusalDialog::new(&bench.window, "Claude Code Was Not Connected", &refusal);
    dialog.present();
    wait_until("it is on the screen", || dialog.is_mapped());
    settle();
    let said = texts(&dialog);
    assert!(said.contains(&message), "as text, not as markup: {said:?}");
    let text: gtk::TextView = find(dialog.upcast_ref()).unwrap();
    assert!(text.is_mapped() && !text.is_editable());
    let copy =
        all::<gtk::Button>(dialog.upcast_ref()).into_iter().find(|button| button.label().as_deref() == Some("Co_py"));
    copy.expect("it can be copied").emit_clicked();
    settle();
    let clipboard = bench.window.clipboard();
    let copied = glib::MainContext::default().block_on(clipboard.read_text_future()).unwrap();
    assert_eq!(copied.as_deref(), refusal.snippet.as_deref());

    let plain = RefusalDialog::new(&bench.window, "x", &Refusal { message, snippet: None });
    plain.present();
    wait_until("it is on the screen", || plain.is_mapped());
    assert!(!plain.has_response("copy"), "there is nothing to copy");
    assert!(!find::<gtk::TextView>(plain.upcast_ref()).unwrap().is_mapped());
    plain.close();
    settle();
    // A dialog asks its parent until its end.
    drop((dialog, plain));
    bench.close();
}
