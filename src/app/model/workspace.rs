// SPDX-License-Identifier: GPL-3.0-or-later
//! One workspace: its own row, and the list of the rows beneath it.
//!
//! All its agents are here in the core's order; [`Workspace::rows`] holds those that are to be seen: without hidden
//! ones, none while folded, and with the quiet ones folded into one row where they are many.

use std::cell::{Cell, OnceCell, Ref, RefCell};

use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::splice::splice;
use super::workspace_face::{Inside, WorkspaceFace};
use super::{Agent, Fold};
use crate::snapshot::{WorkspaceView, row_order};
use crate::status::Attention;

/// So many quiet rows stay rows; more fold into one.
const MOST_QUIET_ROWS: usize = 3;

/// What the user wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Showing {
    /// Hidden agents too.
    pub hidden: bool,
    /// Whatever is searched for: nothing is folded.
    pub searching: bool,
    /// Quiet agents as one row where they are many.
    pub fold_quiet: bool,
}

impl Showing {
    fn shows(self, agent: &Agent) -> bool {
        self.hidden || !agent.view().hidden
    }
}

mod imp {
    use super::*;

    #[derive(glib::Properties)]
    #[properties(wrapper_type = super::Workspace)]
    pub struct Workspace {
        /// The title.
        #[property(name = "name", get, type = String, member = name)]
        /// Where it is, else the title, which may be cut.
        #[property(name = "name-tooltip", get, type = String, member = name_tooltip)]
        /// The branch.
        #[property(name = "branch", get, type = String, member = branch)]
        /// Whether there is one.
        #[property(name = "branch-visible", get, type = bool, member = branch_visible)]
        /// The branch, and whether there are changes.
        #[property(name = "branch-tooltip", get, type = String, member = branch_tooltip)]
        /// Whether the work tree differs from HEAD.
        #[property(name = "dirty", get, type = bool, member = dirty)]
        /// Ports that its processes listen on.
        #[property(name = "ports-label", get, type = String, member = ports_label)]
        /// The same, all of them.
        #[property(name = "ports-tooltip", get, type = String, member = ports_tooltip)]
        /// Whether there are any.
        #[property(name = "ports-visible", get, type = bool, member = ports_visible)]
        /// The icon of the strongest attention inside.
        #[property(name = "summary-icon", get, type = String, member = summary_icon)]
        /// How many rows have it.
        #[property(name = "summary-label", get, type = String, member = summary_label)]
        /// Whether the row is folded and something inside wants to be seen.
        #[property(name = "summary-visible", get, type = bool, member = summary_visible)]
        /// From 0 to 1.
        #[property(name = "progress", get, type = f64, member = progress)]
        /// What is being done, or how much of it.
        #[property(name = "progress-label", get, type = String, member = progress_label)]
        /// Whether there is progress.
        #[property(name = "progress-visible", get, type = bool, member = progress_visible)]
        /// The latest log line.
        #[property(name = "log", get, type = String, member = log)]
        /// The icon of its level.
        #[property(name = "log-icon", get, type = String, member = log_icon)]
        /// Whether the level has one.
        #[property(name = "log-icon-visible", get, type = bool, member = log_icon_visible)]
        /// The style classes of the line.
        #[property(name = "log-classes", get, type = Vec<String>, member = log_classes)]
        /// Whether there is a log line.
        #[property(name = "log-visible", get, type = bool, member = log_visible)]
        /// The row's style classes.
        #[property(name = "row-classes", get, type = Vec<String>, member = row_classes)]
        /// All of it in one sentence.
        #[property(name = "description", get, type = String, member = description)]
        pub(super) face: RefCell<WorkspaceFace>,
        /// Whether its rows are out of sight.
        #[property(get)]
        pub(super) folded: Cell<bool>,
        /// Whether the user has opened the row of quiet ones.
        pub(super) quiet_unfolded: Cell<bool>,
        pub(super) view: RefCell<WorkspaceView>,
        pub(super) agents: RefCell<Vec<Agent>>,
        pub(super) rows: gio::ListStore,
        pub(super) fold: OnceCell<Fold>,
    }

    impl Default for Workspace {
        fn default() -> Self {
            Self {
                face: RefCell::default(),
                folded: Cell::default(),
                quiet_unfolded: Cell::default(),
                view: RefCell::default(),
                agents: RefCell::default(),
                rows: gio::ListStore::new::<glib::Object>(),
                fold: OnceCell::default(),
            }
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Workspace {
        const NAME: &'static str = "VigilWorkspace";
        type Type = super::Workspace;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Workspace {}

    impl Workspace {
        /// Takes the new face and tells of each property that is another one.
        pub(super) fn set_face(&self, face: WorkspaceFace) {
            let old = self.face.replace(face.clone());
            let obj = self.obj();
            let _queue = obj.freeze_notify();
            super::super::notify_changed! {
                obj, old, face,
                name => notify_name,
                name_tooltip => notify_name_tooltip,
                branch => notify_branch,
                branch_visible => notify_branch_visible,
                branch_tooltip => notify_branch_tooltip,
                dirty => notify_dirty,
                ports_label => notify_ports_label,
                ports_tooltip => notify_ports_tooltip,
                ports_visible => notify_ports_visible,
                summary_icon => notify_summary_icon,
                summary_label => notify_summary_label,
                summary_visible => notify_summary_visible,
                progress => notify_progress,
                progress_label => notify_progress_label,
                progress_visible => notify_progress_visible,
                log => notify_log,
                log_icon => notify_log_icon,
                log_icon_visible => notify_log_icon_visible,
                log_classes => notify_log_classes,
                log_visible => notify_log_visible,
                row_classes => notify_row_classes,
                description => notify_description,
            }
        }
    }
}

glib::wrapper! {
    /// One workspace. Made and changed by the [`Sidebar`](super::Sidebar) alone.
    pub struct Workspace(ObjectSubclass<imp::Workspace>);
}

impl Workspace {
    pub(super) fn new(view: &WorkspaceView) -> Self {
        let workspace: Self = glib::Object::new();
        workspace.set_view(view);
        workspace
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.imp().view.borrow().id.clone()
    }

    /// The published workspace, without its rows.
    pub fn view(&self) -> Ref<'_, WorkspaceView> {
        self.imp().view.borrow()
    }

    /// The rows beneath its own: agents, then perhaps a fold. The same list for good.
    pub fn rows(&self) -> &gio::ListStore {
        &self.imp().rows
    }

    /// All its agents, shown or not, in the core's order.
    pub fn agents(&self) -> Vec<Agent> {
        self.imp().agents.borrow().clone()
    }

    pub(super) fn set_view(&self, view: &WorkspaceView) {
        let view = WorkspaceView { rows: None, ..view.clone() };
        let renamed = view.name != self.imp().view.borrow().name;
        self.imp().view.replace(view);
        if renamed {
            for agent in self.agents() {
                agent.set_workspace(self);
            }
        }
    }

    /// Puts an agent in its place among the others.
    pub(super) fn put(&self, agent: &Agent) {
        self.take(agent);
        let view = agent.view();
        let mut agents = self.imp().agents.borrow_mut();
        let place = agents.partition_point(|other| row_order(&other.view(), &view).is_lt());
        agents.insert(place, agent.clone());
    }

    /// Takes an agent out.
    pub(super) fn take(&self, agent: &Agent) {
        self.imp().agents.borrow_mut().retain(|other| other != agent);
    }

    /// Folds or unfolds its rows. Unfolded anew, its quiet ones are one row again.
    pub(super) fn set_folded(&self, folded: bool) {
        if self.imp().folded.replace(folded) != folded {
            self.imp().quiet_unfolded.set(false);
            self.notify_folded();
        }
    }

    /// Shows the quiet rows one by one.
    pub(super) fn unfold_quiet(&self) {
        self.imp().quiet_unfolded.set(true);
    }

    /// Whether there is anything to show of it.
    pub(super) fn is_shown(&self, showing: Showing) -> bool {
        let view = self.view();
        let any = || self.imp().agents.borrow().iter().any(|agent| showing.shows(agent));
        view.progress.is_some() || view.log.is_some() || any()
    }

    /// The agents that the user wants to see, folded or not.
    pub(super) fn shown_agents(&self, showing: Showing) -> Vec<Agent> {
        self.imp().agents.borrow().iter().filter(|agent| showing.shows(agent)).cloned().collect()
    }

    /// The strongest attention of the agents that are to be seen.
    pub(super) fn attention(&self, showing: Showing) -> Attention {
        strongest(&self.shown_agents(showing))
    }

    /// Brings its own row and the list beneath it up to date.
    pub(super) fn refresh(&self, showing: Showing) {
        let imp = self.imp();
        let agents = self.shown_agents(showing);
        let folded = imp.folded.get() && !showing.searching;
        let attention = strongest(&agents);
        let wanting = agents.iter().filter(|agent| agent.view().attention == attention).count();
        let inside = Inside { folded, agents: to_u32(agents.len()), attention, wanting: to_u32(wanting) };
        let face = WorkspaceFace::of(&imp.view.borrow(), inside);
        imp.set_face(face);
        let rows = if folded { Vec::new() } else { self.fold_quiet(agents, showing) };
        splice(&imp.rows, &rows);
    }

    fn fold_quiet(&self, agents: Vec<Agent>, showing: Showing) -> Vec<glib::Object> {
        let imp = self.imp();
        let quiet: Vec<Agent> = agents.iter().filter(|agent| agent.is_quiet()).cloned().collect();
        if quiet.len() <= MOST_QUIET_ROWS {
            imp.quiet_unfolded.set(false);
        }
        let folds = quiet.len() > MOST_QUIET_ROWS && showing.fold_quiet && !showing.searching;
        if !folds || imp.quiet_unfolded.get() {
            return agents.into_iter().map(Cast::upcast).collect();
        }
        let fold = imp.fold.get_or_init(|| Fold::new(self));
        fold.set_agents(&quiet);
        let mut rows = Vec::with_capacity(agents.len() - quiet.len() + 1);
        for agent in agents {
            if !quiet.contains(&agent) {
                rows.push(agent.upcast());
            } else if agent == quiet[0] {
                // Quiet rows are neighbours but for the odd one that has work in the background.
                rows.push(fold.clone().upcast());
            }
        }
        rows
    }
}

fn strongest(agents: &[Agent]) -> Attention {
    agents.iter().map(|agent| agent.view().attention).max().unwrap_or_default()
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
