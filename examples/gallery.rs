// SPDX-License-Identifier: GPL-3.0-or-later
//! Shows the window with made-up agents, to be looked at: `gallery PICTURE [light|dark]`, where the picture is one of
//! banner, busy, calm, empty, many, question, sessions, states, or preferences, integrations, refusal. Sizes and keys are set from outside, as on a real desktop.

use adw::prelude::*;
use gtk::{gio, glib};
use vigil::app::model::{Banner, Connections, Integration, Sidebar};
use vigil::app::settings::Settings;
use vigil::app::widget::{self, Page, Preferences, RefusalDialog, Window};
use vigil::integration::Refusal;
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
        for name in ["about", "integrations", "preferences", "quit", "next-attention"] {
            app.add_action(&gio::SimpleAction::new(name, None));
        }
        for name in ["acknowledge", "dismiss", "install", "repair", "uninstall"] {
            let action = gio::SimpleAction::new(name, Some(glib::VariantTy::STRING));
            action.connect_activate(|action, id| {
                println!("{} {}", action.name(), id.and_then(|id| id.str()).unwrap_or(""));
            });
            app.add_action(&action);
        }
    });
    app.connect_activate(move |app| {
        if ["preferences", "integrations", "refusal"].contains(&picture.as_str()) {
            return show_preferences(app, &picture);
        }
        let sidebar = Sidebar::new(|| WallTime(scenes::NOW));
        scenes::show(&sidebar, &picture);
        let integrations: gio::ListStore = [Integration::new("claude")].into_iter().collect();
        let window = Window::new(app, &sidebar, &Banner::new(&integrations));
        if picture == "banner" {
            integrations.iter::<Integration>().flatten().for_each(|claude| claude.set_report(&scenes::incomplete()));
        }
        dress(window.upcast_ref());
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

fn show_preferences(app: &adw::Application, picture: &str) {
    let agents = scenes::integrations();
    let preferences = Preferences::new(&Settings::load(), &Connections::new(&agents));
    preferences.set_application(Some(app));
    preferences.turn_to(if picture == "preferences" { Page::General } else { Page::Integrations });
    dress(preferences.upcast_ref());
    preferences.present();
    preferences.remove_css_class("solid-csd");
    if let Ok(open) = std::env::var("GALLERY_SELECT") {
        agents.iter::<Integration>().flatten().for_each(|shown| shown.set_expanded(shown.agent() == open));
    }
    if picture == "refusal" {
        let message = "/home/u/.claude/settings.json cannot be written: Read-only file system (os error 30)";
        let snippet = Some("{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n".repeat(5));
        let refusal = Refusal { message: message.to_owned(), snippet };
        RefusalDialog::new(&preferences, "Claude Code Was Not Connected", &refusal).present();
    }
}

/// Gives a window the size, the font and the direction that are asked for.
fn dress(window: &gtk::Window) {
    // The text direction is the language's, and there is none here.
    if std::env::var_os("GALLERY_RTL").is_some() {
        gtk::Widget::set_default_direction(gtk::TextDirection::Rtl);
    }
    if let Some(width) = std::env::var("GALLERY_WIDTH").ok().and_then(|width| width.parse().ok()) {
        window.set_default_width(width);
    }
    if let Some(height) = std::env::var("GALLERY_HEIGHT").ok().and_then(|height| height.parse().ok()) {
        window.set_default_height(height);
    }
    if let Some(settings) = gtk::Settings::default() {
        settings.set_gtk_font_name(Some(&std::env::var("GALLERY_FONT").unwrap_or_else(|_| "Cantarell 11".to_owned())));
        settings.set_gtk_decoration_layout(Some(":close"));
        if let Some(dpi) = std::env::var("GALLERY_DPI").ok().and_then(|dpi| dpi.parse::<i32>().ok()) {
            settings.set_gtk_xft_dpi(dpi * 1024);
        }
    }
}
