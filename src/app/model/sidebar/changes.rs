// SPDX-License-Identifier: GPL-3.0-or-later
//! The published changes, and what each does to the objects.

use std::collections::{HashMap, HashSet};

use gtk::subclass::prelude::*;

use super::super::{Agent, Workspace};
use super::Sidebar;
use crate::snapshot::{Change, Removed, RowView, Snapshot, ThingKind, WorkspaceView};

impl Sidebar {
    /// Takes what the roster has published, with details.
    pub fn apply(&self, changes: &[Change]) {
        self.change(|| {
            let mut touched = HashSet::new();
            for change in changes {
                match change {
                    Change::Row(change) => self.put_row(&change.workspace, &change.row, &mut touched),
                    Change::Workspace(change) => self.put_workspace(&change.workspace, &mut touched),
                    Change::Removed(removed) => self.remove(removed, &mut touched),
                }
            }
            self.refresh(touched);
        });
    }

    /// Takes a whole snapshot, with details, in place of all that was.
    pub fn reset(&self, snapshot: &Snapshot) {
        let mut changes = Vec::new();
        let mut rows = HashSet::new();
        for workspace in &snapshot.workspaces {
            changes.push(Change::workspace(workspace.clone()));
            for row in workspace.rows.iter().flatten() {
                rows.insert(row.id.clone());
                changes.push(Change::row(&workspace.id, row.clone()));
            }
        }
        let places: HashMap<&str, usize> =
            snapshot.workspaces.iter().enumerate().map(|(place, workspace)| (workspace.id.as_str(), place)).collect();
        let gone = self.imp().by_id.borrow().keys().filter(|id| !rows.contains(*id)).cloned().collect::<Vec<_>>();
        changes.extend(gone.into_iter().map(|id| Change::removed(ThingKind::Row, id)));
        let gone = self.imp().all.borrow().iter().map(Workspace::id).collect::<Vec<_>>();
        let gone = gone.into_iter().filter(|id| !places.contains_key(id.as_str()));
        changes.extend(gone.map(|id| Change::removed(ThingKind::Workspace, id)));
        self.change(|| {
            self.apply(&changes);
            self.imp().all.borrow_mut().sort_by_key(|workspace| places.get(workspace.view().id.as_str()).copied());
            self.refresh(HashSet::new());
        });
    }

    fn put_row(&self, workspace_id: &str, view: &RowView, touched: &mut HashSet<String>) {
        let Some(workspace) = self.workspace(workspace_id) else {
            return self.remove_row(&view.id, touched);
        };
        let agent = match self.agent(&view.id) {
            Some(agent) => {
                let old = agent.workspace_id();
                if let Some(old) = (old != workspace_id).then(|| self.workspace(&old)).flatten() {
                    old.take(&agent);
                    touched.insert(old.id());
                }
                agent.set_workspace(&workspace);
                agent.set_view(view);
                agent
            }
            None => {
                let agent = Agent::new(view, &workspace);
                self.imp().by_id.borrow_mut().insert(view.id.clone(), agent.clone());
                agent
            }
        };
        agent.set_now(self.now());
        workspace.put(&agent);
        touched.insert(workspace.id());
    }

    fn put_workspace(&self, view: &WorkspaceView, touched: &mut HashSet<String>) {
        touched.insert(view.id.clone());
        match self.workspace(&view.id) {
            Some(workspace) => workspace.set_view(view),
            None => self.imp().all.borrow_mut().push(Workspace::new(view)),
        }
    }

    fn remove(&self, removed: &Removed, touched: &mut HashSet<String>) {
        if removed.kind != Some(ThingKind::Workspace) {
            self.remove_row(&removed.id, touched);
        }
        if removed.kind == Some(ThingKind::Row) {
            return;
        }
        if let Some(workspace) = self.workspace(&removed.id) {
            self.imp().all.borrow_mut().retain(|other| *other != workspace);
            for agent in workspace.agents() {
                self.imp().by_id.borrow_mut().remove(&agent.id());
            }
        }
    }

    fn remove_row(&self, id: &str, touched: &mut HashSet<String>) {
        let Some(agent) = self.imp().by_id.borrow_mut().remove(id) else { return };
        if let Some(workspace) = self.workspace(&agent.workspace_id()) {
            workspace.take(&agent);
            touched.insert(workspace.id());
        }
    }
}
