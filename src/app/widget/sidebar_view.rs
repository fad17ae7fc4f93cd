// SPDX-License-Identifier: GPL-3.0-or-later
//! The list of workspaces and agents.
//!
//! A row that moves is, to a list, one that goes and one that comes: what was selected and focused before a change of
//! the model is selected and focused after it (the row, or what stands for it once it is folded away).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::subclass::prelude::*;
use gtk::{gdk, glib, prelude::*};

use super::{AgentRow, FoldRow, WorkspaceRow};
use crate::app::model::{self, Agent, Fold, Sidebar, Workspace};

mod menu;

/// How many rows the first frame is painted with: more than a window of usual height shows. Each frame after it adds as
/// many, until all are there.
const AT_ONCE: u32 = 32;

mod imp {
    use super::*;

    #[derive(Default, gtk::CompositeTemplate, glib::Properties)]
    #[template(file = "sidebar_view.ui")]
    #[properties(wrapper_type = super::SidebarView)]
    pub struct SidebarView {
        /// What is shown.
        #[property(get, set = Self::set_sidebar, nullable)]
        sidebar: RefCell<Option<Sidebar>>,
        #[template_child]
        pub(super) list: TemplateChild<gtk::ListView>,
        pub(super) selection: RefCell<Option<gtk::SingleSelection>>,
        /// The rows that the list has been given so far.
        given: RefCell<Option<gtk::SliceListModel>>,
        pub(super) menu: RefCell<Option<gtk::PopoverMenu>>,
        pub(super) menu_of: RefCell<Option<menu::MenuOf>>,
        kept: RefCell<Kept>,
        /// While it is set, the selection does not follow the focus.
        holds: Cell<bool>,
        focus_handler: RefCell<Option<(glib::WeakRef<gtk::Window>, glib::SignalHandlerId)>>,
    }

    /// What was selected and focused before a change.
    #[derive(Default)]
    struct Kept {
        selected: Option<glib::Object>,
        focused: Option<glib::Object>,
        position: u32,
        searching: bool,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for SidebarView {
        const NAME: &'static str = "VigilSidebarView";
        type Type = super::SidebarView;
        type ParentType = adw::Bin;

        fn class_init(klass: &mut Self::Class) {
            klass.bind_template();
            klass.bind_template_callbacks();

            klass.install_action("row.menu", None, |view, _, _| view.imp().show_menu_of_focused());
            klass.install_action("row.dismiss", None, |view, _, _| view.imp().dismiss_focused());
            let plain = gdk::ModifierType::empty();
            klass.add_binding_action(gdk::Key::Menu, plain, "row.menu");
            klass.add_binding_action(gdk::Key::F10, gdk::ModifierType::SHIFT_MASK, "row.menu");
            klass.add_binding_action(gdk::Key::Delete, plain, "row.dismiss");
            klass.add_binding_action(gdk::Key::KP_Delete, plain, "row.dismiss");
        }

        fn instance_init(obj: &glib::subclass::InitializingObject<Self>) {
            obj.init_template();
        }
    }

    #[glib::derived_properties]
    impl ObjectImpl for SidebarView {
        fn dispose(&self) {
            if let Some(menu) = self.menu.take() {
                menu.unparent();
            }
            self.dispose_template();
        }
    }

    impl WidgetImpl for SidebarView {
        fn root(&self) {
            self.parent_root();
            let view = self.obj();
            let Some(window) = view.root().and_downcast::<gtk::Window>() else { return };
            let handler = window.connect_focus_widget_notify(glib::clone!(
                #[weak]
                view,
                move |_| view.imp().select_focused()
            ));
            self.focus_handler.replace(Some((window.downgrade(), handler)));
        }

        fn unroot(&self) {
            if let Some((window, handler)) = self.focus_handler.take()
                && let Some(window) = window.upgrade()
            {
                window.disconnect(handler);
            }
            self.parent_unroot();
        }

        fn map(&self) {
            self.parent_map();
            // Else a new window would focus the first of its buttons.
            if self.obj().root().is_some_and(|root| root.focus().is_none()) {
                self.focus_first();
            }
            self.give_frame_by_frame();
        }

        fn size_allocate(&self, width: i32, height: i32, baseline: i32) {
            self.parent_size_allocate(width, height, baseline);
            // A popover is placed by the widget that holds it.
            if let Some(menu) = &*self.menu.borrow() {
                menu.present();
            }
        }
    }

    impl BinImpl for SidebarView {}

    #[gtk::template_callbacks]
    impl SidebarView {
        /// Keeps the child if it is of the right kind: a new one at each bind (GTK 4.8 binds rows anew whenever the
        /// selection moves) would lose the focus inside the row and the click that is just going on.
        #[template_callback]
        fn on_bind(&self, item: &gtk::ListItem) {
            let object = item.item();
            if let Some(agent) = object.and_downcast_ref::<Agent>() {
                child::<AgentRow>(item).set_agent(Some(agent));
            } else if let Some(workspace) = object.and_downcast_ref::<Workspace>() {
                child::<WorkspaceRow>(item).set_workspace(Some(workspace));
            } else if let Some(fold) = object.and_downcast_ref::<Fold>() {
                child::<FoldRow>(item).set_fold(Some(fold));
            }
        }

        #[template_callback]
        fn on_unbind(&self, item: &gtk::ListItem) {
            let child = item.child();
            if let Some(row) = child.and_downcast_ref::<AgentRow>() {
                row.set_agent(None::<Agent>);
            } else if let Some(row) = child.and_downcast_ref::<WorkspaceRow>() {
                row.set_workspace(None::<Workspace>);
            } else if let Some(row) = child.and_downcast_ref::<FoldRow>() {
                row.set_fold(None::<Fold>);
            }
        }

        #[template_callback]
        fn on_activate(&self, position: u32) {
            let (Some(item), Some(sidebar)) = (self.item(position), self.obj().sidebar()) else { return };
            if let Some(agent) = item.downcast_ref::<Agent>() {
                super::super::activate(&*self.obj(), "app.acknowledge", &agent.id());
            } else if let Some(workspace) = item.downcast_ref::<Workspace>() {
                sidebar.toggle_folded(workspace);
            } else if let Some(fold) = item.downcast_ref::<Fold>() {
                sidebar.unfold(fold);
            }
        }

        #[template_callback]
        fn on_secondary_pressed(&self, _presses: i32, x: f64, y: f64, gesture: &gtk::GestureClick) {
            if self.show_menu_at(x, y) {
                gesture.set_state(gtk::EventSequenceState::Claimed);
            }
        }

        #[template_callback]
        fn on_long_pressed(&self, x: f64, y: f64, gesture: &gtk::GestureLongPress) {
            if self.show_menu_at(x, y) {
                gesture.set_state(gtk::EventSequenceState::Claimed);
            }
        }
    }

    impl SidebarView {
        fn set_sidebar(&self, sidebar: Option<Sidebar>) {
            self.sidebar.replace(sidebar.clone());
            let Some(sidebar) = sidebar else {
                self.selection.take();
                self.given.take();
                return self.list.set_model(None::<&gtk::SingleSelection>);
            };
            // By itself the selection would take the first row, a workspace.
            let selection = gtk::SingleSelection::builder().autoselect(false).can_unselect(true).build();
            let given = gtk::SliceListModel::new(Some(model::rows(&sidebar)), 0, AT_ONCE);
            selection.set_model(Some(&given));
            self.given.replace(Some(given));
            self.list.set_model(Some(&selection));
            self.selection.replace(Some(selection));

            let view = self.obj();
            sidebar.connect_closure(
                "about-to-change",
                false,
                glib::closure_local!(
                    #[watch]
                    view,
                    move |_: &Sidebar| view.imp().keep()
                ),
            );
            sidebar.connect_closure(
                "changed",
                false,
                glib::closure_local!(
                    #[watch]
                    view,
                    move |_: &Sidebar| view.imp().put_back()
                ),
            );
        }

        /// A list makes two hundred rows where twenty can be seen: those that can are painted first.
        fn give_frame_by_frame(&self) {
            let Some(clock) = self.obj().frame_clock() else { return };
            let handler = Rc::new(Cell::new(None));
            let own = handler.clone();
            handler.set(Some(clock.connect_after_paint(glib::clone!(
                #[weak(rename_to = view)]
                self.obj(),
                move |clock| {
                    if view.imp().give_more()
                        && let Some(handler) = own.take()
                    {
                        clock.disconnect(handler);
                    }
                }
            ))));
        }

        /// Whether the list has them all now.
        fn give_more(&self) -> bool {
            let Some(given) = self.given.borrow().clone() else { return true };
            let all = given.model().map_or(0, |rows| rows.n_items());
            if given.size() < all {
                given.set_size(given.size() + AT_ONCE);
            }
            if given.size() >= all {
                self.give_all();
            }
            given.size() == u32::MAX
        }

        /// For whoever looks for a row that may be any of them.
        pub(super) fn give_all(&self) {
            if let Some(given) = self.given.borrow().clone() {
                given.set_size(u32::MAX);
            }
        }

        fn item(&self, position: u32) -> Option<glib::Object> {
            self.selection.borrow().as_ref()?.item(position)
        }

        fn keep(&self) {
            let selected = self.selection.borrow().as_ref().and_then(|selection| selection.selected_item());
            let focused = self.focused_item();
            let position = focused.as_ref().and_then(|item| self.position(item)).unwrap_or(0);
            if selected.is_some() || focused.is_some() {
                // The change may move it to any place.
                self.give_all();
            }
            let searching = self.obj().sidebar().is_some_and(|sidebar| sidebar.is_searching());
            self.kept.replace(Kept { selected, focused, position, searching });
            self.holds.set(true);
        }

        fn put_back(&self) {
            let Kept { selected, focused, position, searching } = self.kept.take();
            let (Some(sidebar), Some(selection)) = (self.obj().sidebar(), self.selection.borrow().clone()) else {
                return;
            };
            // What was found and selected is not hidden again.
            if searching
                && !sidebar.is_searching()
                && let Some(agent) = selected.and_downcast_ref::<Agent>()
                && self.position(agent.upcast_ref()).is_none()
            {
                sidebar.reveal(&agent.id());
                self.holds.set(true);
            }
            let place = |item: &glib::Object| self.position(item).or_else(|| self.position(&sidebar.stand_in(item)?));
            if let Some(selected) = &selected
                && selection.selected_item().as_ref() != Some(selected)
                && let Some(place) = place(selected)
            {
                selection.set_selected(place);
            }
            if let Some(focused) = focused
                && self.focused_item().as_ref() != Some(&focused)
            {
                // A row that is gone leaves the focus to the one that took its place.
                self.focus(place(&focused).unwrap_or(position));
            }
            self.holds.set(false);
            if selected.is_some() {
                self.select_focused();
            }
        }

        /// What the keyboard acts on is what looks selected, however the focus got there or into the row.
        fn select_focused(&self) {
            let Some(selection) = self.selection.borrow().clone().filter(|_| !self.holds.get()) else { return };
            if let Some(position) = self.focused_item().and_then(|item| self.position(&item)) {
                selection.set_selected(position);
            }
        }

        /// Focuses the first row. Nobody has chosen it, and so it is not selected.
        fn focus_first(&self) {
            self.holds.set(true);
            self.focus(0);
            self.holds.set(false);
        }

        pub(super) fn position(&self, item: &glib::Object) -> Option<u32> {
            let selection = self.selection.borrow().clone()?;
            (0..selection.n_items()).find(|position| selection.item(*position).as_ref() == Some(item))
        }

        /// Focuses the row of that position, or the last one if there are not so many.
        pub(super) fn focus(&self, position: u32) {
            let items = self.selection.borrow().as_ref().map_or(0, ListModelExt::n_items);
            let Some(last) = items.checked_sub(1) else { return };
            let position = position.min(last);
            if self.row(position).is_none() {
                // The way that works on 4.8 for rows that are far away, which have no widget yet.
                self.scroll_to(position);
            }
            if let Some(row) = self.row(position) {
                row.grab_focus();
            }
        }

        pub(super) fn scroll_to(&self, position: u32) {
            let found = self.list.activate_action("list.scroll-to-item", Some(&position.to_variant()));
            debug_assert!(found.is_ok(), "every list view has this action");
        }

        /// The row widget of that item, if it has one.
        fn row(&self, position: u32) -> Option<gtk::Widget> {
            let item = self.item(position)?;
            let mut holder = self.list.first_child();
            while let Some(current) = holder {
                let row = current.first_child();
                if row.as_ref().and_then(shown_item).as_ref() == Some(&item) {
                    return row;
                }
                holder = current.next_sibling();
            }
            None
        }

        /// The item whose row has the focus, or holds it.
        fn focused_item(&self) -> Option<glib::Object> {
            let focus = self.obj().root()?.focus()?;
            row_above(&focus).as_ref().and_then(shown_item)
        }
    }

    /// The list item's child, made if it is not of that kind.
    fn child<T: IsA<gtk::Widget> + Default>(item: &gtk::ListItem) -> T {
        item.child().and_downcast::<T>().unwrap_or_else(|| {
            let child = T::default();
            item.set_child(Some(&child));
            child
        })
    }

    /// The row that holds the widget, or is it.
    pub(super) fn row_above(widget: &gtk::Widget) -> Option<gtk::Widget> {
        let mut widget = Some(widget.clone());
        while let Some(current) = widget {
            if shown_item(&current).is_some() {
                return Some(current);
            }
            widget = current.parent();
        }
        None
    }

    /// What a row shows; `None` for anything else.
    fn shown_item(widget: &gtk::Widget) -> Option<glib::Object> {
        if let Some(row) = widget.downcast_ref::<AgentRow>() {
            row.agent().map(Cast::upcast)
        } else if let Some(row) = widget.downcast_ref::<WorkspaceRow>() {
            row.workspace().map(Cast::upcast)
        } else {
            widget.downcast_ref::<FoldRow>()?.fold().map(Cast::upcast)
        }
    }
}

glib::wrapper! {
    /// The list of workspaces and agents.
    pub struct SidebarView(ObjectSubclass<imp::SidebarView>)
        @extends adw::Bin, gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget;
}

impl SidebarView {
    /// Brings the row into view, selects and focuses it. Whether there is such a row.
    pub fn select_row(&self, id: &str) -> bool {
        let imp = self.imp();
        imp.give_all();
        let position = || imp.position(self.sidebar()?.reveal(id)?.upcast_ref());
        let (Some(position), Some(selection)) = (position(), imp.selection.borrow().clone()) else { return false };
        imp.scroll_to(position);
        selection.set_selected(position);
        imp.focus(position);
        true
    }

    /// The id of the row that is selected, if it is an agent's.
    pub fn selected_row(&self) -> Option<String> {
        let selected = self.imp().selection.borrow().as_ref()?.selected_item();
        selected.and_downcast::<Agent>().map(|agent| agent.id())
    }

    /// Focuses the first agent that is shown.
    pub fn focus_first_agent(&self) {
        let imp = self.imp();
        let Some(selection) = imp.selection.borrow().clone() else { return };
        let first =
            (0..selection.n_items()).find(|position| selection.item(*position).is_some_and(|item| item.is::<Agent>()));
        if let Some(position) = first {
            selection.set_selected(position);
            imp.focus(position);
        }
    }
}
