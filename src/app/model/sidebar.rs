// SPDX-License-Identifier: GPL-3.0-or-later
//! All workspaces and agents, kept in step with the roster by its published changes.
//!
//! Every change runs between the signals `about-to-change` and `changed`, so that the list view can put selection and
//! focus back on a row that moved (to a list, a moved row is one that went and one that came).

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use gtk::glib::subclass::Signal;
use gtk::{gio, glib, prelude::*, subclass::prelude::*};

use super::sidebar_face::{SidebarFace, Totals};
use super::splice::splice;
use super::workspace::Showing;
use super::{Agent, Fold, Workspace};
use crate::status::{Attention, Status};
use crate::time::WallTime;

mod changes;
mod ticking;

type Clock = Box<dyn Fn() -> WallTime>;

mod imp {
    use super::*;

    #[derive(glib::Properties)]
    #[properties(wrapper_type = super::Sidebar)]
    pub struct Sidebar {
        /// How many agents are shown.
        #[property(name = "agents", get, type = u32, member = agents)]
        /// How many of them work.
        #[property(name = "running", get, type = u32, member = running)]
        /// How many want the user.
        #[property(name = "wanted", get, type = u32, member = wanted)]
        /// The same, on the pill.
        #[property(name = "wanted-label", get, type = String, member = wanted_label)]
        /// Whether the pill stands in the title's place.
        #[property(name = "wanted-visible", get, type = bool, member = wanted_visible)]
        /// The pill's style classes.
        #[property(name = "wanted-classes", get, type = Vec<String>, member = wanted_classes)]
        /// The line below the title.
        #[property(name = "summary", get, type = String, member = summary)]
        pub(super) face: RefCell<SidebarFace>,
        /// Which page the window shows: `list`, `empty` or `nothing-found`.
        #[property(get)]
        pub(super) page: RefCell<String>,
        /// What is searched for.
        #[property(get, set = Self::set_search, explicit_notify)]
        pub(super) search: RefCell<String>,
        /// Whether hidden agents are shown too.
        #[property(get, set = Self::set_show_hidden, explicit_notify)]
        pub(super) show_hidden: Cell<bool>,
        /// Whether quiet agents fold into one row where they are many.
        #[property(get, set = Self::set_fold_idle, explicit_notify)]
        pub(super) fold_idle: Cell<bool>,
        /// Whether the workspaces that want the user most come first.
        #[property(get, set = Self::set_by_urgency, explicit_notify)]
        pub(super) by_urgency: Cell<bool>,
        /// Whether the list is on a screen: only then do the times tick.
        #[property(get, set = Self::set_mapped, explicit_notify)]
        pub(super) mapped: Cell<bool>,
        pub(super) words: RefCell<Vec<String>>,
        pub(super) clock: OnceCell<Clock>,
        pub(super) all: RefCell<Vec<Workspace>>,
        pub(super) shown: gio::ListStore,
        pub(super) by_id: RefCell<HashMap<String, Agent>>,
        pub(super) timer: RefCell<Option<Timer>>,
        pub(super) depth: Cell<u32>,
    }

    /// A running timer, and whether it waits for the next second.
    pub struct Timer {
        pub source: glib::SourceId,
        pub seconds: bool,
    }

    impl Default for Sidebar {
        fn default() -> Self {
            Self {
                face: RefCell::new(SidebarFace::of(Totals::default())),
                page: RefCell::new("empty".to_owned()),
                search: RefCell::default(),
                show_hidden: Cell::default(),
                fold_idle: Cell::new(true),
                by_urgency: Cell::default(),
                mapped: Cell::default(),
                words: RefCell::default(),
                clock: OnceCell::default(),
                all: RefCell::default(),
                shown: gio::ListStore::new::<Workspace>(),
                by_id: RefCell::default(),
                timer: RefCell::default(),
                depth: Cell::default(),
            }
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Sidebar {
        const NAME: &'static str = "VigilSidebar";
        type Type = super::Sidebar;
    }

    #[glib::derived_properties]
    impl ObjectImpl for Sidebar {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                ["about-to-change", "found", "changed"].map(|name| Signal::builder(name).build()).into()
            })
        }

        fn dispose(&self) {
            self.stop();
        }
    }

    impl Sidebar {
        fn set_search(&self, text: String) {
            let words = text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
            if self.search.replace(text.clone()) == text {
                return;
            }
            let obj = self.obj();
            if *self.words.borrow() != words {
                obj.change(|| {
                    self.words.replace(words);
                    obj.refresh_all();
                });
            }
            obj.notify_search();
        }

        fn set_show_hidden(&self, show: bool) {
            if self.show_hidden.replace(show) != show {
                let obj = self.obj();
                obj.change(|| obj.refresh_all());
                obj.notify_show_hidden();
            }
        }

        fn set_fold_idle(&self, fold: bool) {
            if self.fold_idle.replace(fold) != fold {
                let obj = self.obj();
                obj.change(|| obj.refresh_all());
                obj.notify_fold_idle();
            }
        }

        fn set_by_urgency(&self, by_urgency: bool) {
            if self.by_urgency.replace(by_urgency) != by_urgency {
                let obj = self.obj();
                obj.change(|| obj.refresh(HashSet::new()));
                obj.notify_by_urgency();
            }
        }

        fn set_mapped(&self, mapped: bool) {
            if self.mapped.replace(mapped) == mapped {
                return;
            }
            if mapped {
                self.obj().tick();
            }
            self.obj().wind();
            self.obj().notify_mapped();
        }

        pub(super) fn stop(&self) {
            if let Some(timer) = self.timer.take() {
                timer.source.remove();
            }
        }

        pub(super) fn set_face(&self, face: SidebarFace) {
            let old = self.face.replace(face.clone());
            let obj = self.obj();
            super::super::notify_changed! {
                obj, old, face,
                agents => notify_agents,
                running => notify_running,
                wanted => notify_wanted,
                wanted_label => notify_wanted_label,
                wanted_visible => notify_wanted_visible,
                wanted_classes => notify_wanted_classes,
                summary => notify_summary,
            }
        }
    }
}

glib::wrapper! {
    /// All workspaces and agents.
    pub struct Sidebar(ObjectSubclass<imp::Sidebar>);
}

impl Sidebar {
    /// An empty sidebar whose times go by `clock`.
    pub fn new(clock: impl Fn() -> WallTime + 'static) -> Self {
        let sidebar: Self = glib::Object::new();
        let set = sidebar.imp().clock.set(Box::new(clock));
        assert!(set.is_ok(), "a new object has no clock");
        sidebar
    }

    /// The workspaces that are shown, in the core's order or by urgency. The same list for good.
    pub fn workspaces(&self) -> &gio::ListStore {
        &self.imp().shown
    }

    /// The agent of that row, shown or not.
    pub fn agent(&self, id: &str) -> Option<Agent> {
        self.imp().by_id.borrow().get(id).cloned()
    }

    /// The workspace of that id, shown or not.
    pub fn workspace(&self, id: &str) -> Option<Workspace> {
        self.imp().all.borrow().iter().find(|workspace| workspace.view().id == id).cloned()
    }

    /// Folds the rows of a workspace away, or brings them back. A search looks into all of them, so that there is
    /// nothing to fold.
    pub fn toggle_folded(&self, workspace: &Workspace) {
        if !self.is_searching() {
            self.change(|| {
                workspace.set_folded(!workspace.folded());
                self.refresh(HashSet::from([workspace.id()]));
            });
        }
    }

    /// Shows the quiet rows of a fold one by one.
    pub fn unfold(&self, fold: &Fold) {
        if let Some(workspace) = fold.workspace() {
            self.change(|| {
                workspace.unfold_quiet();
                self.refresh(HashSet::from([workspace.id()]));
            });
        }
    }

    /// Brings the row into the list, out of whatever fold or search hides it. `None` if there is no such row, or if
    /// it is a hidden one and those are not shown.
    pub fn reveal(&self, id: &str) -> Option<Agent> {
        let agent = self.agent(id).filter(|agent| self.show_hidden() || !agent.view().hidden)?;
        let workspace = self.workspace(&agent.workspace_id())?;
        self.change(|| {
            if self.is_searching() && !self.finds(&agent) {
                self.set_search("");
            }
            if workspace.folded() {
                workspace.set_folded(false);
            }
            self.refresh(HashSet::from([workspace.id()]));
            if !has(workspace.rows(), &agent) {
                workspace.unfold_quiet();
                self.refresh(HashSet::from([workspace.id()]));
            }
        });
        Some(agent)
    }

    /// What stands in the list for that object: itself, the fold it is in, or its workspace.
    pub fn stand_in(&self, item: &glib::Object) -> Option<glib::Object> {
        let (workspace, agent) = match item.downcast_ref::<Agent>() {
            Some(agent) => (self.workspace(&agent.workspace_id())?, self.agent(&agent.view().id)),
            None => (item.downcast_ref::<Fold>()?.workspace()?, None),
        };
        if has(workspace.rows(), item) {
            return Some(item.clone());
        }
        let fold = workspace.rows().iter::<glib::Object>().flatten().find(|row| {
            let fold = row.downcast_ref::<Fold>();
            fold.is_some_and(|fold| agent.as_ref().is_some_and(|agent| fold.contains(agent)))
        });
        fold.or_else(|| workspace.folded().then(|| workspace.upcast()))
    }

    /// Whether there is anything searched for.
    pub fn is_searching(&self) -> bool {
        !self.imp().words.borrow().is_empty()
    }

    /// Whether the search finds that agent.
    pub fn finds(&self, agent: &Agent) -> bool {
        let branch = self.workspace(&agent.workspace_id()).map(|workspace| workspace.branch()).unwrap_or_default();
        agent.matches(&self.imp().words.borrow(), &branch)
    }

    fn now(&self) -> WallTime {
        self.imp().clock.get().map(|clock| clock()).unwrap_or_default()
    }

    /// The agents in the list: not folded away.
    fn listed(&self) -> Vec<Agent> {
        let workspaces = self.imp().shown.iter::<Workspace>().flatten();
        let rows =
            workspaces.flat_map(|workspace| workspace.rows().iter::<glib::Object>().flatten().collect::<Vec<_>>());
        rows.filter_map(|row| row.downcast().ok()).collect()
    }

    fn change(&self, change: impl FnOnce()) {
        let depth = &self.imp().depth;
        if depth.get() == 0 {
            self.emit_by_name::<()>("about-to-change", &[]);
        }
        depth.set(depth.get() + 1);
        change();
        depth.set(depth.get() - 1);
        if depth.get() == 0 {
            self.emit_by_name::<()>("found", &[]);
            self.turn_page();
            self.wind();
            self.emit_by_name::<()>("changed", &[]);
        }
    }

    fn turn_page(&self) {
        let page = if self.imp().shown.n_items() == 0 {
            "empty"
        } else if self.is_searching() && !self.listed().iter().any(|agent| self.finds(agent)) {
            "nothing-found"
        } else {
            "list"
        };
        if *self.imp().page.borrow() != page {
            self.imp().page.replace(page.to_owned());
            self.notify_page();
        }
    }

    fn showing(&self) -> Showing {
        Showing { hidden: self.show_hidden(), searching: self.is_searching(), fold_quiet: self.fold_idle() }
    }

    fn refresh_all(&self) {
        let all = self.imp().all.borrow().iter().map(Workspace::id).collect();
        self.refresh(all);
    }

    /// Brings the lists of these workspaces, the list of workspaces and the totals up to date.
    fn refresh(&self, touched: HashSet<String>) {
        let imp = self.imp();
        let showing = self.showing();
        let all = imp.all.borrow().clone();
        for workspace in all.iter().filter(|workspace| touched.contains(&workspace.view().id)) {
            workspace.refresh(showing);
        }
        let mut shown: Vec<&Workspace> = all.iter().filter(|workspace| workspace.is_shown(showing)).collect();
        if self.by_urgency() {
            shown.sort_by_cached_key(|workspace| Reverse(workspace.attention(showing)));
        }
        let shown: Vec<glib::Object> = shown.into_iter().map(|workspace| workspace.clone().upcast()).collect();
        splice(&imp.shown, &shown);
        self.count(&all);
    }

    fn count(&self, workspaces: &[Workspace]) {
        let mut totals = Totals::default();
        for agent in workspaces.iter().flat_map(|workspace| workspace.shown_agents(self.showing())) {
            let view = agent.view();
            totals.agents += 1;
            totals.running += u32::from(view.status == Status::Running);
            totals.asking += u32::from(view.attention == Attention::NeedsInput);
            totals.failed += u32::from(view.attention == Attention::Failed);
        }
        self.imp().set_face(SidebarFace::of(totals));
    }
}

fn has(rows: &gio::ListStore, item: &impl IsA<glib::Object>) -> bool {
    rows.find(item).is_some()
}
