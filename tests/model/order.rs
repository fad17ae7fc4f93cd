// SPDX-License-Identifier: GPL-3.0-or-later
//! The settings that arrange the list: workspaces by urgency, and whether quiet rows fold.

use gtk::prelude::*;
use vigil::app::model::{Sidebar, Workspace};
use vigil::snapshot::{Change, RowView};
use vigil::status::{Attention, Status};

use super::scenes::{row, workspace};
use super::{Notified, Signals, idle, names, one, sidebar};

fn agent(id: &str, attention: Attention) -> RowView {
    let status = match attention {
        Attention::None | Attention::Finished => Status::Idle,
        Attention::Failed => Status::Failed,
        Attention::NeedsInput => Status::NeedsInput,
    };
    row(id, "A", status, attention, 600)
}

fn five() -> Sidebar {
    let attentions = [
        ("a", Attention::None),
        ("b", Attention::Finished),
        ("c", Attention::NeedsInput),
        ("d", Attention::Finished),
        ("e", Attention::Failed),
    ];
    sidebar(attentions.map(|(id, attention)| workspace(id, "main", vec![agent(id, attention)])).to_vec())
}

fn order(sidebar: &Sidebar) -> String {
    sidebar.workspaces().iter::<Workspace>().map(|workspace| workspace.unwrap().id()).collect()
}

#[test]
fn workspaces_keep_their_places_unless_urgency_is_wanted() {
    let sidebar = five();
    assert_eq!(order(&sidebar), "abcde");
    sidebar.set_by_urgency(true);
    assert_eq!(order(&sidebar), "cebda", "what asks, what failed, what finished, the rest; in each as they came");
    sidebar.set_by_urgency(false);
    assert_eq!(order(&sidebar), "abcde");
}

#[test]
fn only_the_workspace_whose_urgency_changes_moves() {
    let sidebar = five();
    sidebar.set_by_urgency(true);
    let signals = Signals::of(sidebar.workspaces());
    sidebar.apply(&[Change::row("d", agent("d", Attention::NeedsInput))]);
    assert_eq!((order(&sidebar).as_str(), signals.take()), ("cdeba", vec![(3, 1, 0), (1, 0, 1)]));
    sidebar.apply(&[Change::row("c", agent("c", Attention::None))]);
    assert_eq!((order(&sidebar).as_str(), signals.take()), ("debac", vec![(0, 1, 0), (4, 0, 1)]));
    let mut talks = agent("b", Attention::Finished);
    talks.message = Some("more".to_owned());
    sidebar.apply(&[Change::row("b", talks)]);
    assert!(signals.take().is_empty(), "the same urgency is no move");
}

#[test]
fn a_hidden_agent_makes_no_workspace_urgent() {
    let sidebar = five();
    sidebar.set_by_urgency(true);
    let mut hidden = agent("a", Attention::NeedsInput);
    (hidden.id, hidden.hidden) = ("a/H".to_owned(), true);
    sidebar.apply(&[Change::row("a", hidden)]);
    assert_eq!(order(&sidebar), "cebda");
    sidebar.set_show_hidden(true);
    assert_eq!(order(&sidebar), "acebd");
}

#[test]
fn quiet_rows_stand_alone_where_folding_is_not_wanted() {
    let (sidebar, workspace) = one(["A", "B", "C", "D"].map(idle).to_vec());
    assert_eq!(names(&workspace), ["4 idle"]);
    sidebar.set_fold_idle(false);
    assert_eq!(names(&workspace), ["A", "B", "C", "D"]);
    sidebar.set_fold_idle(true);
    assert_eq!(names(&workspace), ["4 idle"]);
}

#[test]
fn one_row_of_sixty_that_changes_touches_one_row() {
    let sidebar = sidebar(super::scenes::snapshot("many").workspaces);
    assert_eq!(sidebar.agents(), 60);
    sidebar.set_by_urgency(true);
    let mut view = sidebar.agent("w4/1").unwrap().view().clone();
    let ids: Vec<String> = (0..10).flat_map(|w| (0..6).map(move |place| format!("w{w}/{place}"))).collect();
    let agents: Vec<Notified> = ids.iter().map(|id| Notified::of(&sidebar.agent(id).unwrap())).collect();
    let workspaces: Vec<Workspace> = sidebar.workspaces().iter().map(Result::unwrap).collect();
    let heads: Vec<Notified> = workspaces.iter().map(Notified::of).collect();
    let lists: Vec<Signals> = workspaces.iter().map(|workspace| Signals::of(workspace.rows())).collect();
    let (order, header) = (Signals::of(sidebar.workspaces()), Notified::of(&sidebar));

    view.message = Some("something else".to_owned());
    sidebar.apply(&[Change::row("w4", view)]);
    for (id, notified) in ids.iter().zip(&agents) {
        let expected: &[&str] = if id == "w4/1" { &["description", "message"] } else { &[] };
        assert_eq!(notified.take(), expected, "{id}");
    }
    assert!(heads.iter().all(|head| head.take().is_empty()) && header.take().is_empty());
    assert!(lists.iter().all(|list| list.take().is_empty()) && order.take().is_empty());
}
