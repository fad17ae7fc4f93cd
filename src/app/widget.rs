// SPDX-License-Identifier: GPL-3.0-or-later
//! Widgets: templates and bindings, no state.
//!
//! Properties come down from the model's objects, by bindings in the templates; actions go up by name, with a row's
//! id as parameter. A widget never calls the roster and never keeps what the user has opened.

use gtk::{gio, glib, pango, prelude::*};

mod agent_aside;
mod agent_details;
mod agent_row;
mod fold_row;
mod integration_row;
mod part;
mod preferences;
mod refusal;
pub mod row_menu;
mod session_line;
mod session_list;
mod sidebar_view;
mod window;
mod workspace_row;

pub use agent_aside::AgentAside;
pub use agent_details::AgentDetails;
pub use agent_row::AgentRow;
pub use fold_row::FoldRow;
pub use integration_row::IntegrationRow;
pub use part::Part;
pub use preferences::{Page, Preferences};
pub use refusal::RefusalDialog;
pub use session_line::SessionLine;
pub use session_list::SessionList;
pub use sidebar_view::SidebarView;
pub use window::{ACCELERATORS, Window};
pub use workspace_row::WorkspaceRow;

/// Where the resources are. `AdwApplication` looks there by itself (the path follows from the application's id) for
/// `style.css`, `style-hc.css` and `icons`.
pub const RESOURCE_PATH: &str = "/dev/vigil/Vigil";

/// Makes style sheets and icons known. Call it once, before the application starts up.
pub fn register_resources() {
    // The macro reads the folder without telling cargo; these two change often enough to tell it by hand.
    const _: [&[u8]; 2] = [include_bytes!("../../resources/style.css"), include_bytes!("../../resources/style-hc.css")];
    static DATA: &[u8] = gvdb_macros::include_gresource_from_dir!("/dev/vigil/Vigil", "resources");
    let resource = gio::Resource::from_data(&glib::Bytes::from_static(DATA)).expect("built by the compiler");
    gio::resources_register(&resource);
}

/// Activates an action of the application or the window with a row's id.
fn activate(widget: &impl IsA<gtk::Widget>, action: &str, row: &str) {
    if widget.activate_action(action, Some(&row.to_variant())).is_err() {
        glib::g_debug!("vigil", "No action {action}");
    }
}

/// A toast that says something in passing.
fn toast(text: &str) -> adw::Toast {
    // A toast's own title takes markup, and the text may be another program's; nor does it wrap. AdwToast 1.2 gives
    // a title of its own what it would like, not what there is: that has to fit the narrowest window.
    let label = gtk::Label::builder().label(text).wrap(true).wrap_mode(pango::WrapMode::WordChar).xalign(0.);
    let label = label.max_width_chars(20).build();
    label.add_css_class("heading");
    adw::Toast::builder().custom_title(&label).build()
}

/// Answers `query-tooltip` of a label: a text that is cut can be read whole; one that is not need not be said twice.
fn tooltip_if_cut(tooltip: &gtk::Tooltip, label: &gtk::Label) -> bool {
    tooltip.set_text(Some(&label.label()));
    label.layout().is_ellipsized()
}
