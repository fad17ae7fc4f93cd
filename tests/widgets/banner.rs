// SPDX-License-Identifier: GPL-3.0-or-later
//! The banner above the list, and the toasts.

use adw::prelude::*;
use vigil::app::model::Integration;
use vigil::integration::{Report, State};

use super::bench::{Bench, all, painted, texts, wait_until};
use super::scenes::incomplete;

const INCOMPLETE: &str = "Claude Code’s hooks are incomplete";

fn report(bench: &Bench, report: &Report) {
    bench.integrations.item(0).and_downcast::<Integration>().unwrap().set_report(report);
    painted(bench);
}

/// The banner, if there is one: its texts.
fn shown(bench: &Bench) -> Option<Vec<String>> {
    let boxes = all::<gtk::Box>(bench.window.upcast_ref());
    let banner = boxes.into_iter().find(|widget| widget.has_css_class("banner")).expect("it is in the template");
    banner.is_visible().then(|| texts(&banner))
}

#[gtk::test]
fn it_is_there_while_something_wants_repair() {
    let bench = Bench::picture("calm");
    assert_eq!(shown(&bench), None);
    report(&bench, &Report { state: State::Missing, ..incomplete() });
    assert_eq!(shown(&bench), None, "what was never put in is not broken");
    report(&bench, &incomplete());
    assert_eq!(shown(&bench).unwrap(), [INCOMPLETE, "Repair"]);
    report(&bench, &Report { state: State::Stale, ..incomplete() });
    assert_eq!(shown(&bench).unwrap(), ["Claude Code’s hooks are out of date", "Repair"]);
    let advice = Some("`disableAllHooks` in <b>\n/x</b> switches all hooks off; remove it".to_owned());
    report(&bench, &Report { state: State::Stale, mends: false, advice, ..incomplete() });
    let said = shown(&bench).unwrap();
    assert_eq!(said.len(), 1, "nothing is offered that would not help: {said:?}");
    assert!(said[0].starts_with("Claude Code: `disableAllHooks` in <b>") && !said[0].contains('\n'), "{said:?}");
    report(&bench, &Report { state: State::Complete, mends: false, advice: None, ..incomplete() });
    wait_until("the banner has gone", || shown(&bench).is_none());
    report(&bench, &incomplete());
    assert_eq!(shown(&bench).unwrap(), [INCOMPLETE, "Repair"]);
    bench.close();
}

#[gtk::test]
fn repair_asks_for_the_agent() {
    let bench = Bench::picture("calm");
    report(&bench, &incomplete());
    let buttons = all::<gtk::Button>(bench.window.upcast_ref());
    let repair = buttons.into_iter().find(|button| button.label().as_deref() == Some("Repair")).unwrap();
    repair.emit_clicked();
    assert_eq!(*bench.asked.borrow(), ["repair claude"]);
    bench.close();
}

#[gtk::test]
fn it_fits_the_narrowest_window() {
    let bench = Bench::picture("busy");
    let long = format!("`disableAllHooks` in /home/u/{}/settings.json", "x".repeat(200));
    let (before, ..) = bench.window.measure(gtk::Orientation::Horizontal, -1);
    for mends in [true, false] {
        report(&bench, &Report { state: State::Stale, mends, advice: Some(long.clone()), ..incomplete() });
        let (narrowest, ..) = bench.window.measure(gtk::Orientation::Horizontal, -1);
        assert_eq!(narrowest, before, "it takes no more than the list");
    }
    bench.close();
}

#[gtk::test]
fn a_toast_says_all_of_it() {
    let bench = Bench::picture("busy");
    let text = format!("/home/u/<{}>/settings.json cannot be written", "x".repeat(200));
    bench.window.toast(&text);
    painted(&bench);
    let labels = all::<gtk::Label>(bench.window.upcast_ref());
    let label = labels.into_iter().find(|label| label.label() == text).expect("it is shown as text");
    wait_until("it wraps", || label.layout().line_count() > 1);
    assert!(!label.layout().is_ellipsized());
    let (narrowest, ..) = bench.window.measure(gtk::Orientation::Horizontal, -1);
    assert!(narrowest <= 262, "{narrowest}");
    bench.close();
}
