// SPDX-License-Identifier: GPL-3.0-or-later
//! The flat list that the list view shows: each workspace, followed by its rows, of these the ones searched for.

use gtk::{gio, glib, glib::prelude::*, prelude::*};

use super::{Agent, Sidebar, Workspace};

/// Workspace, agent, agent, fold, workspace, … The list lets go of the sidebar when it is dropped.
pub fn rows(sidebar: &Sidebar) -> gtk::FilterListModel {
    let groups = gtk::MapListModel::new(Some(sidebar.workspaces().clone()), |item| {
        let workspace = item.downcast_ref::<Workspace>().expect("the store holds workspaces");
        let head = gio::ListStore::new::<Workspace>();
        head.append(workspace);
        let parts = gio::ListStore::new::<gio::ListModel>();
        parts.append(&head);
        parts.append(workspace.rows());
        gtk::FlattenListModel::new(Some(parts)).upcast()
    });
    let flat = gtk::FlattenListModel::new(Some(groups));
    let rows = gtk::FilterListModel::new(Some(flat), None::<gtk::Filter>);

    let filter = gtk::CustomFilter::new(glib::clone!(
        #[weak]
        sidebar,
        #[upgrade_or]
        true,
        move |item| matches(&sidebar, item)
    ));
    // A filter does not watch what it reads: it is told, and without a search there is none.
    let refilter = move |sidebar: &Sidebar, rows: &gtk::FilterListModel| {
        if !sidebar.is_searching() {
            rows.set_filter(None::<&gtk::Filter>);
        } else if rows.filter().is_none() {
            rows.set_filter(Some(&filter));
        } else {
            filter.changed(gtk::FilterChange::Different);
        }
    };
    refilter(sidebar, &rows);
    sidebar.connect_closure(
        "found",
        false,
        glib::closure_local!(
            #[watch]
            rows,
            move |sidebar: &Sidebar| refilter(sidebar, rows)
        ),
    );
    rows
}

fn matches(sidebar: &Sidebar, item: &glib::Object) -> bool {
    if let Some(agent) = item.downcast_ref::<Agent>() {
        sidebar.finds(agent)
    } else if let Some(workspace) = item.downcast_ref::<Workspace>() {
        workspace.rows().iter::<glib::Object>().flatten().any(|row| matches(sidebar, &row))
    } else {
        false
    }
}
