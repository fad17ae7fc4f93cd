// SPDX-License-Identifier: GPL-3.0-or-later
//! Workspaces (section 4): where they come from, what they are called, how long they live.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Outcome, Roster};
use crate::agent::Agent;
use crate::event::{Event, Kind, Place};
use crate::snapshot::{LogLevel, LogView, ProgressView, WorkspaceView};
use crate::status::Attention;
use crate::text;
use crate::time::{BootTime, Now};

/// The workspace of events that name none and have no folder.
pub(super) const UNPLACED: &str = "unplaced";

/// How many workspaces may live on progress or a log alone.
const ROWLESS: usize = 256;

/// How many parents a title may have before it.
const PARENTS: usize = 32;

/// A workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Workspace {
    pub(super) number: u64,
    pub(super) id: String,
    /// The project's root, or the first working directory.
    path: Option<String>,
    /// A linked worktree's own title.
    title: Option<String>,
    /// What it is called, among the others.
    name: String,
    branch: Option<String>,
    dirty: Option<bool>,
    progress: Option<(f64, String)>,
    log: Option<(LogLevel, String)>,
    touched: BootTime,
    #[serde(skip)]
    pub(super) rows: BTreeSet<u64>,
    /// Since when it is listed as one without rows.
    #[serde(skip)]
    rowless: Option<BootTime>,
}

impl Workspace {
    fn is_alive(&self) -> bool {
        !self.rows.is_empty() || self.progress.is_some() || self.log.is_some()
    }

    /// What it is called as long as no other is called so too.
    fn base_name(&self) -> &str {
        let folder = self.path.as_deref().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
        self.title
            .as_deref()
            .or(folder.filter(|folder| !folder.is_empty()))
            .or(self.path.as_deref())
            .unwrap_or(&self.id)
    }

    /// The name with so many parents before it.
    fn name_with(&self, parents: usize) -> String {
        let Some(path) = self.path.as_deref().filter(|_| self.title.is_none()) else {
            return self.base_name().to_string();
        };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return path.to_string();
        }
        parts[parts.len().saturating_sub(parents + 1)..].join("/")
    }

    /// Its name as it stands among those that are called alike: one with an id of its own in a place that it shares
    /// says which it is.
    fn title_among(&self, namesakes: &[&Self], name: &str) -> String {
        let shares =
            |other: &&&Self| other.number != self.number && (&other.path, &other.title) == (&self.path, &self.title);
        let shared =
            self.path.as_ref() != Some(&self.id) && self.path.is_some() && namesakes.iter().any(|other| shares(&other));
        let title = text::one_line(&if shared { format!("{name} ({})", self.id) } else { name.to_string() });
        // Nothing in it can be seen.
        if title.is_empty() { char::REPLACEMENT_CHARACTER.to_string() } else { title }
    }
}

impl Roster {
    /// Section 4: an explicit id, else the project's root, else the working directory.
    pub(super) fn workspace_of(&self, event: &Event) -> Option<String> {
        let place = &event.place;
        let explicit = place.workspace.clone().filter(|id| id.len() <= text::ID_BYTES);
        explicit.or_else(|| place.folder())
    }

    /// The rows of a workspace.
    pub(super) fn rows_of(&self, id: &str) -> impl Iterator<Item = u64> + '_ {
        let workspace = self.workspace_ids.get(id).and_then(|number| self.workspaces.get(number));
        workspace.into_iter().flat_map(|workspace| workspace.rows.iter().copied())
    }

    /// Section 3: later events fill in missing facts once. A row that had no folder moves to that of its agent's first
    /// one; an explicit workspace without a path gets it.
    pub(super) fn locate(&mut self, number: u64, place: &Place, now: Now) {
        let Some(row) = self.rows.get(&number) else { return };
        let workspace = self.workspace_ids.get(&row.workspace).and_then(|number| self.workspaces.get(number));
        if workspace.is_none_or(|workspace| workspace.path.is_some()) {
            return;
        }
        let Some(folder) = place.folder() else { return };
        if row.workspace != UNPLACED {
            let id = row.workspace.clone();
            self.make_workspace(&id, Some(place), now);
            return;
        }
        let (old, key) = ((row.workspace.clone(), row.key.clone()), row.key.clone());
        if place.workspace.is_some() || self.keys.contains_key(&(folder.clone(), key.clone())) {
            return;
        }
        self.make_workspace(&folder, Some(place), now);
        if let Some(row) = self.rows.get_mut(&number) {
            row.workspace.clone_from(&folder);
        }
        self.keys.remove(&old);
        self.keys.insert((folder.clone(), key), number);
        self.add_to_workspace(&folder, number);
        self.remove_from_workspace(&old.0, number, now);
        self.dirty.workspaces.insert(folder);
    }

    /// Events that speak of the workspace alone: progress and log. `None` for all others.
    pub(super) fn apply_to_workspace(&mut self, agent: &Agent<'_>, event: &Event, now: Now) -> Option<Outcome> {
        let (Kind::Progress(..) | Kind::Log(..)) = event.kind else { return None };
        let known = event.session.as_ref().and_then(|id| self.sessions.get(&(agent.id.to_string(), id.clone())));
        let workspace = match known.and_then(|number| self.rows.get(number)) {
            Some(row) => row.workspace.clone(),
            None => match self.workspace_of(event).filter(|_| event.names_something()) {
                Some(workspace) => workspace,
                None => return Some(Outcome::Homeless),
            },
        };
        match &event.kind {
            Kind::Progress(value, label) => self.put_progress(&workspace, Some(&event.place), *value, label, now),
            Kind::Log(level, message) => self.put_log(&workspace, Some(&event.place), *level, message, now),
            _ => {}
        }
        Some(Outcome::Applied)
    }

    pub(super) fn put_progress(&mut self, id: &str, place: Option<&Place>, value: Option<f64>, label: &str, now: Now) {
        let progress = value.map(|value| (value, text::one_line(label)));
        self.put(id, place, progress.is_some(), now, |workspace| workspace.progress = progress);
    }

    /// The latest log line; an empty one takes it away.
    pub(super) fn put_log(&mut self, id: &str, place: Option<&Place>, level: LogLevel, message: &str, now: Now) {
        let log = Some((level, text::one_line(message))).filter(|(_, message)| !message.is_empty());
        self.put(id, place, log.is_some(), now, |workspace| workspace.log = log);
    }

    fn put(&mut self, id: &str, place: Option<&Place>, makes: bool, now: Now, write: impl FnOnce(&mut Workspace)) {
        if makes {
            self.make_workspace(id, place, now);
        }
        let Some(number) = self.workspace_ids.get(id).copied() else { return };
        if let Some(workspace) = self.workspaces.get_mut(&number) {
            write(workspace);
            workspace.touched = now.boot;
            self.dirty.workspaces.insert(id.to_string());
        }
        self.drop_workspace_if_dead(number);
        self.watch_rowless(number);
    }

    /// Makes a workspace of that id, if there is none. The first place decides where it is, once.
    pub(super) fn make_workspace(&mut self, id: &str, place: Option<&Place>, now: Now) {
        let project = place.and_then(|place| place.project.clone());
        let cwd = place.and_then(|place| place.cwd.clone());
        let path = project.as_ref().map(|project| project.root.clone()).or(cwd);
        let title = project.and_then(|project| project.title);
        if let Some(workspace) = self.workspace_ids.get(id).and_then(|number| self.workspaces.get_mut(number)) {
            workspace.touched = now.boot;
            if workspace.path.is_none() && path.is_some() {
                let (number, old) = (workspace.number, workspace.base_name().to_string());
                self.refolder = true;
                (workspace.path, workspace.title) = (path, title.map(|title| text::one_line(&title)));
                self.dirty.workspaces.insert(id.to_string());
                self.leave_namesakes(number, &old);
                self.join_namesakes(number);
            }
            return;
        }
        self.made += 1;
        let number = self.made;
        let path = path.or_else(|| id.starts_with('/').then(|| id.to_string()));
        self.refolder = true;
        self.workspaces.insert(
            number,
            Workspace {
                number,
                id: id.to_string(),
                path,
                title: title.map(|title| text::one_line(&title)),
                name: String::new(),
                branch: None,
                dirty: None,
                progress: None,
                log: None,
                touched: now.boot,
                rows: BTreeSet::new(),
                rowless: None,
            },
        );
        self.workspace_ids.insert(id.to_string(), number);
        self.dirty.workspaces.insert(id.to_string());
        self.join_namesakes(number);
    }

    fn join_namesakes(&mut self, number: u64) {
        let Some(base) = self.workspaces.get(&number).map(|workspace| workspace.base_name().to_string()) else {
            return;
        };
        self.namesakes.entry(base.clone()).or_default().insert(number);
        self.rename(&base);
    }

    fn leave_namesakes(&mut self, number: u64, base: &str) {
        let Some(group) = self.namesakes.get_mut(base) else { return };
        group.remove(&number);
        if group.is_empty() {
            self.namesakes.remove(base);
        }
        self.rename(base);
    }

    /// The folder's name; for those alike the shortest parent that tells them apart, where one does.
    fn rename(&mut self, base: &str) {
        let group = self.namesakes.get(base).into_iter().flatten();
        let members: Vec<&Workspace> = group.filter_map(|number| self.workspaces.get(number)).collect();
        let names_at =
            |parents: usize| members.iter().map(|workspace| workspace.name_with(parents)).collect::<Vec<_>>();
        let places = members.iter().map(|workspace| (&workspace.path, &workspace.title)).collect::<BTreeSet<_>>().len();
        let distinct = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == places;
        let names = (0..PARENTS).map(names_at).find(|names| distinct(names)).unwrap_or_else(|| names_at(PARENTS));
        let renamed: Vec<(u64, String)> = members
            .iter()
            .zip(names)
            .map(|(workspace, name)| (workspace, workspace.title_among(&members, &name)))
            .filter(|(workspace, name)| workspace.name != *name)
            .map(|(workspace, name)| (workspace.number, name))
            .collect();
        for (number, name) in renamed {
            if let Some(workspace) = self.workspaces.get_mut(&number) {
                workspace.name = name;
                self.dirty.workspaces.insert(workspace.id.clone());
            }
        }
    }

    pub(super) fn add_to_workspace(&mut self, id: &str, row: u64) {
        let Some(number) = self.workspace_ids.get(id).copied() else { return };
        if let Some(workspace) = self.workspaces.get_mut(&number) {
            workspace.rows.insert(row);
        }
        self.watch_rowless(number);
    }

    pub(super) fn remove_from_workspace(&mut self, id: &str, row: u64, now: Now) {
        let Some(number) = self.workspace_ids.get(id).copied() else { return };
        if let Some(workspace) = self.workspaces.get_mut(&number) {
            workspace.rows.remove(&row);
            workspace.touched = now.boot;
        }
        self.drop_workspace_if_dead(number);
        self.watch_rowless(number);
    }

    /// A workspace lives while it has a row, progress or a log.
    fn drop_workspace_if_dead(&mut self, number: u64) {
        if self.workspaces.get(&number).is_some_and(|workspace| !workspace.is_alive())
            && let Some(workspace) = self.workspaces.remove(&number)
        {
            self.refolder = true;
            self.workspace_ids.remove(&workspace.id);
            self.leave_namesakes(number, workspace.base_name());
            self.unlist(workspace.rowless, number);
            self.dirty.workspaces.insert(workspace.id);
        }
    }

    fn unlist(&mut self, listed: Option<BootTime>, number: u64) {
        if let Some(since) = listed {
            self.rowless.remove(&(since, number));
        }
    }

    /// Workspaces without rows age like unwatched rows; the deadline of number 0 is theirs.
    fn watch_rowless(&mut self, number: u64) {
        if let Some(workspace) = self.workspaces.get_mut(&number) {
            let since = workspace.rows.is_empty().then_some(workspace.touched);
            let old = std::mem::replace(&mut workspace.rowless, since);
            self.unlist(old, number);
            self.rowless.extend(since.map(|since| (since, number)));
        }
        while self.rowless.len() > ROWLESS
            && let Some((_, oldest)) = self.rowless.first().copied()
        {
            self.drop_rowless(oldest);
        }
        let deadline = self.rowless.first().map(|(since, _)| *since + self.settings.unwatched);
        if let Some(old) = std::mem::replace(&mut self.rowless_deadline, deadline) {
            self.deadlines.remove(&(old, 0));
        }
        self.deadlines.extend(deadline.map(|deadline| (deadline, 0)));
    }

    pub(super) fn drop_stale_workspaces(&mut self, now: Now) {
        let age = self.settings.unwatched;
        while let Some((_, number)) = self.rowless.first().copied().filter(|(since, _)| *since + age <= now.boot) {
            self.drop_rowless(number);
        }
        self.watch_rowless(0);
    }

    /// All that is derived from the workspaces and not written down with them.
    pub(super) fn index_workspaces(&mut self) {
        self.workspace_ids = self.workspaces.values().map(|w| (w.id.clone(), w.number)).collect();
        for workspace in self.workspaces.values() {
            self.namesakes.entry(workspace.base_name().to_string()).or_default().insert(workspace.number);
        }
    }

    /// The same of those that have no rows, once the rows have found their places.
    pub(super) fn index_rowless(&mut self) {
        let numbers: Vec<u64> = self.workspaces.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.watch_rowless(number));
    }

    fn drop_rowless(&mut self, number: u64) {
        if let Some(workspace) = self.workspaces.get_mut(&number) {
            (workspace.progress, workspace.log) = (None, None);
        }
        self.drop_workspace_if_dead(number);
    }

    /// What a workspace's work tree looks like.
    pub fn set_git(&mut self, id: &str, branch: Option<String>, dirty: Option<bool>) {
        let Some(workspace) = self.workspace_ids.get(id).and_then(|number| self.workspaces.get_mut(number)) else {
            return;
        };
        let branch = branch.map(|branch| text::one_line(&branch));
        if (&workspace.branch, workspace.dirty) != (&branch, dirty) {
            (workspace.branch, workspace.dirty) = (branch, dirty);
            self.dirty.workspaces.insert(id.to_string());
        }
    }

    /// Ids of workspaces, and the folder that each works in, if that has changed since the last call.
    pub fn take_folders(&mut self) -> Option<Vec<(String, String)>> {
        let folders = || self.workspaces.values().filter_map(|w| Some((w.id.clone(), w.path.clone()?))).collect();
        std::mem::take(&mut self.refolder).then(folders)
    }

    /// A workspace without its rows.
    pub fn workspace_view(&self, id: &str) -> Option<WorkspaceView> {
        let number = self.workspace_ids.get(id)?;
        self.workspaces.get(number).map(|workspace| self.view_of(workspace))
    }

    pub(super) fn view_of(&self, workspace: &Workspace) -> WorkspaceView {
        let rows = || workspace.rows.iter().filter_map(|number| self.rows.get(number));
        WorkspaceView {
            id: workspace.id.clone(),
            name: workspace.name.clone(),
            path: workspace.path.clone(),
            branch: workspace.branch.clone(),
            dirty: workspace.dirty,
            attention: rows().map(super::row::Row::attention).max().unwrap_or(Attention::None),
            progress: self.progress_of(workspace),
            log: workspace.log.clone().map(|(level, message)| LogView { level, message }),
            ports: Vec::new(),
            rows: None,
        }
    }

    /// What was set outright, else how much of its latest session's task list is done.
    fn progress_of(&self, workspace: &Workspace) -> Option<ProgressView> {
        if let Some((value, label)) = &workspace.progress {
            return Some(ProgressView { value: *value, label: label.clone() });
        }
        let rows = workspace.rows.iter().filter_map(|number| self.rows.get(number)).filter(|row| !row.is_hidden());
        let session = rows.map(super::row::Row::face).filter(|s| !s.tasks.is_empty()).max_by_key(|s| s.updated)?;
        let (done, all) = (session.tasks.values().filter(|done| **done).count(), session.tasks.len());
        #[allow(clippy::cast_precision_loss, reason = "a task list has at most 1024 entries")]
        let value = done as f64 / all as f64;
        Some(ProgressView { value, label: format!("{done} of {all} tasks") })
    }
}
