// SPDX-License-Identifier: GPL-3.0-or-later
//! Objects that the list widgets bind to: properties only, no decisions.
//!
//! [`Sidebar`] takes the published changes and turns them into the fewest signals: a change of one row notifies that
//! row's properties and nothing else, a row that comes or moves is one item that comes or moves. What is shown of a
//! row, a workspace and all together are plain functions ([`AgentFace`], [`WorkspaceFace`], [`SidebarFace`]). All that
//! the user opens or folds is kept here, never in a widget.

/// Tells of each property of `$object` whose field differs between the two faces.
macro_rules! notify_changed {
    ($object:expr, $old:expr, $new:expr, $($field:ident => $notify:ident),+ $(,)?) => {
        $(if $old.$field != $new.$field {
            $object.$notify();
        })+
    };
}
use notify_changed;

mod agent;
mod agent_face;
mod banner;
mod bidi;
mod connections;
mod counting;
mod elapsed;
mod fold;
mod integration;
mod integration_face;
mod rows;
mod session;
mod session_face;
mod sidebar;
mod sidebar_face;
mod splice;
mod workspace;
mod workspace_face;

pub use agent::Agent;
pub use agent_face::{AgentFace, status_label};
pub use banner::{Banner, BannerFace};
pub use connections::Connections;
pub use elapsed::{elapsed, next_tick};
pub use fold::Fold;
pub use integration::Integration;
pub use integration_face::{Facts, IntegrationFace, Way, sentence};
pub use rows::rows;
pub use session::Session;
pub use session_face::SessionFace;
pub use sidebar::Sidebar;
pub use sidebar_face::{SidebarFace, Totals};
pub use splice::splice;
pub use workspace::Workspace;
pub use workspace_face::{Inside, WorkspaceFace};
