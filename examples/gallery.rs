// SPDX-License-Identifier: GPL-3.0-or-later
//! Shows the window with made-up agents, to be looked at: `gallery PICTURE [light|dark]`, where the picture is one of
//! banner, busy, calm, empty, many, question, sessions, states. Sizes and keys are set from outside, as on a real desktop.

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::app::model::{Banner, Integration, Sidebar};
use vigil::app::widget::{self, Window};
use vigil::time::WallTime;

#[path = "../tests/scenes/mod.rs"]
mod scenes;

fn main() -> glib::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let picture = arguments.next().unwrap_or_else(|| "busy".to_owned());
    let scheme = match arguments.next().as_deref() {
        Some("dark") => adw::ColorScheme::ForceDark,
        _ => adw::ColorScheme::ForceLight,
    };
    widget::register_resources();
    let app =
        adw::Application::builder().application_id("dev.vigil.Vigil").flags(gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_startup(move |app| {
        app.style_manager().set_color_scheme(scheme);
        for name in ["about", "preferences", "quit", "next-attention"] {
            app.add_action(&gio::SimpleAction::new(name, None));
        }
        for name in ["acknowledge", "dismiss", "repair"] {
            let action = gio::SimpleAction::new(name, Some(glib::VariantTy::STRING));
            action.connect_activate(|action, id| {
                println!("{} {}", action.name(), id.and_then(|id| id.str()).unwrap_or(""));
            });
            app.add_action(&action);
        }
    });
    app.connect_activate(move |app| {
        let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
        scenes::show(&sidebar, &picture);
        let integrations: gio::ListStore = [Integration::new("claude")].into_iter().collect();
        let window = Window::new(app, &sidebar, &Banner::new(&integrations));
        if picture == "banner" {
            integrations.iter::<Integration>().flatten().for_each(|claude| claude.set_report(&scenes::incomplete()));
        }
        // The text direction is the language's, and there is none here.
        if std::env::var_os("GALLERY_RTL").is_some() {
            gtk::Widget::set_default_direction(gtk::TextDirection::Rtl);
        }
        if let Some(width) = std::env::var("GALLERY_WIDTH").ok().and_then(|width| width.parse().ok()) {
            window.set_default_width(width);
        }
        if let Some(settings) = gtk::Settings::default() {
            settings
                .set_gtk_font_name(Some(&std::env::var("GALLERY_FONT").unwrap_or_else(|_| "Cantarell 11".to_owned())));
            settings.set_gtk_decoration_layout(Some(":close"));
            if let Some(dpi) = std::env::var("GALLERY_DPI").ok().and_then(|dpi| dpi.parse::<i32>().ok()) {
                settings.set_gtk_xft_dpi(dpi * 1024);
            }
        }
        window.present();
        // The frame that GTK draws where there is no window manager.
        window.remove_css_class("solid-csd");
        if let Ok(id) = std::env::var("GALLERY_SELECT") {
            window.set_focus_visible(true);
            window.select_row(&id);
        }
        if let Ok(text) = std::env::var("GALLERY_SEARCH") {
            window.search(&text);
        }
        if let Ok(text) = std::env::var("GALLERY_TOAST") {
            window.toast(&text);
        }
    });
    app.run_with_args::<&str>(&[])
}
