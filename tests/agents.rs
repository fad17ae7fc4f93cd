// SPDX-License-Identifier: GPL-3.0-or-later
//! Recorded sessions of real agents, played through translation and roster, and judged line by line.

#[path = "support/claude_captures.rs"]
mod claude_captures;
#[path = "support/host.rs"]
mod host;
#[path = "support/labels.rs"]
mod labels;

#[path = "agents/claude.rs"]
mod claude;
#[path = "agents/codewhale.rs"]
mod codewhale;
#[path = "agents/codex.rs"]
mod codex;
#[path = "agents/hermes.rs"]
mod hermes;
#[path = "agents/opencode.rs"]
mod opencode;
#[path = "agents/pi.rs"]
mod pi;
#[path = "agents/play.rs"]
mod play;
#[path = "agents/pool.rs"]
mod pool;
#[path = "agents/vibe.rs"]
mod vibe;
