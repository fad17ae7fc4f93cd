// SPDX-License-Identifier: GPL-3.0-or-later
//! The flat list that the list view shows: each workspace, followed by its rows, of these the ones searched for.

use gtk::{gio, glib, glib::prelude::*, prelude::*};

use super::{Agent, Sidebar, Workspace};

/// Workspace, agent, agent, fold, workspace, … The list lets go of the sidebar when it is dropped.
pub fn rows(sidebar: &Sidebar) -> gtk::FilterListModel {
    // Not a GtkMapListModel: that of GTK 4.8 gives the wrong items once one has been put between others.
    let groups = gio::ListStore::new::<gio::ListModel>();
    let workspaces = sidebar.workspaces();
    groups.splice(0, 0, &between(workspaces, 0, workspaces.n_items()));
    workspaces.connect_closure(
        "items-changed",
        false,
        glib::closure_local!(
            #[watch]
            groups,
            move |workspaces: &gio::ListStore, position: u32, removed: u32, added: u32| {
                groups.splice(position, removed, &between(workspaces, position, added));
            }
        ),
    );
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

/// The groups of so many workspaces: each followed by its rows.
fn between(workspaces: &gio::ListStore, position: u32, count: u32) -> Vec<gio::ListModel> {
    let items = (position..position + count).filter_map(|place| workspaces.item(place).and_downcast::<Workspace>());
    let group = |workspace: Workspace| {
        let head = gio::ListStore::new::<Workspace>();
        head.append(&workspace);
        let parts = gio::ListStore::new::<gio::ListModel>();
        parts.append(&head);
        parts.append(workspace.rows());
        gtk::FlattenListModel::new(Some(parts)).upcast()
    };
    items.map(group).collect()
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
