// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks up what an event's origin only names: its project, and which variables leaked into its pane.
//!
//! Looking is off the main thread and bounded in time; who waits for it holds up the queue. What was not found in time
//! counts as not there: the folder stands for its project, the environment for the truth.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::{gio, glib};

use super::{proc, project};
use crate::event::{Process, Project};
use crate::origin::{Found, Here, is_local, multiplexer_servers};
use crate::protocol::{ChainLink, Origin};

/// How long an event waits for all that is looked up for it.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long an answer holds. A folder may become a work tree, and a worktree may change its branch.
const FRESH: Duration = Duration::from_secs(60);

/// So many answers are kept.
const KEPT: usize = 4096;

/// So many looks may hang (in a network's folder, say) before no more are taken.
const HANGING: u32 = 4;

/// Projects and leaked variables, with what was found before.
#[derive(Debug)]
pub struct Finder {
    here: Here,
    projects: RefCell<HashMap<String, (Instant, Project)>>,
    /// The first way by which the user came to a project.
    roots: RefCell<HashMap<PathBuf, String>>,
    servers: RefCell<HashMap<Process, BTreeMap<&'static str, String>>>,
    looking: Rc<Cell<u32>>,
}

impl Finder {
    /// Nothing found yet.
    pub fn new(here: Here) -> Self {
        Self {
            here,
            projects: RefCell::default(),
            roots: RefCell::default(),
            servers: RefCell::default(),
            looking: Rc::default(),
        }
    }

    /// What can be found of where an event comes from that names that working directory of its own.
    pub async fn find(&self, own: Option<&str>, origin: &Origin) -> Found {
        let until = Instant::now() + PATIENCE;
        let cwd = own.or(origin.cwd.as_deref()).filter(|cwd| cwd.starts_with('/'));
        let same_host = origin.host.as_ref().is_none_or(|host| *host == self.here.host);
        let project = match cwd {
            Some(cwd) if same_host => Some(self.project(cwd, until).await),
            // Another machine's paths say nothing about ours.
            Some(cwd) => Some(project::unseen(cwd)),
            None => None,
        };
        let mut leaked = BTreeSet::new();
        if is_local(origin, &self.here) && !origin.env.is_empty() {
            for server in multiplexer_servers(&origin.chain) {
                let theirs = self.server(server, until).await;
                let same = origin.env.iter().filter(|(name, value)| theirs.get(name.as_str()) == Some(value));
                leaked.extend(same.map(|(name, _)| name.clone()));
            }
        }
        Found { project, leaked }
    }

    async fn project(&self, cwd: &str, until: Instant) -> Project {
        let known = self.projects.borrow().get(cwd).filter(|(at, _)| at.elapsed() < FRESH).map(|(_, it)| it.clone());
        if let Some(project) = known {
            return project;
        }
        let asked = cwd.to_string();
        let project = match self.look(until, move || project::resolve(&asked)).await {
            Some(resolved) => self.unite(resolved),
            None => project::unseen(cwd),
        };
        let mut projects = self.projects.borrow_mut();
        if projects.len() >= KEPT {
            projects.clear();
        }
        projects.insert(cwd.to_string(), (Instant::now(), project.clone()));
        project
    }

    /// Two ways to one project are the first one's.
    fn unite(&self, resolved: project::Resolved) -> Project {
        let mut roots = self.roots.borrow_mut();
        if roots.len() >= KEPT {
            roots.clear();
        }
        let root = roots.entry(resolved.canonical).or_insert(resolved.project.root).clone();
        Project { root, ..resolved.project }
    }

    /// The variables of a multiplexer's server. They are those of its start and never change.
    async fn server(&self, link: &ChainLink, until: Instant) -> BTreeMap<&'static str, String> {
        let process = Process { pid: link.pid, start: link.start };
        let known = self.servers.borrow().get(&process).cloned();
        if let Some(known) = known {
            return known;
        }
        let asked = process.clone();
        let read = move || {
            let same = proc::stat(asked.pid).is_some_and(|stat| stat.start == asked.start);
            if same { proc::environment(asked.pid) } else { BTreeMap::new() }
        };
        let Some(found) = self.look(until, read).await else { return BTreeMap::new() };
        let mut servers = self.servers.borrow_mut();
        if servers.len() >= KEPT {
            servers.clear();
        }
        servers.insert(process, found.clone());
        found
    }

    /// Runs something that may block, elsewhere, and waits for it until then.
    async fn look<T: Send + 'static>(&self, until: Instant, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() || self.looking.get() >= HANGING {
            return None;
        }
        self.looking.set(self.looking.get() + 1);
        let looking = self.looking.clone();
        // Spawned, so that one that nobody waits for any more still counts until it ends.
        let look = glib::spawn_future_local(async move {
            let found = gio::spawn_blocking(look).await;
            looking.set(looking.get() - 1);
            found.ok()
        });
        glib::future_with_timeout(rest, look).await.ok()?.ok()?
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn find(finder: &Finder, cwd: Option<&str>, origin: Origin) -> Found {
        let context = glib::MainContext::new();
        context.with_thread_default(|| context.block_on(finder.find(cwd, &origin))).unwrap()
    }

    /// A multiplexer's server, as far as can be seen.
    struct Server(Child);

    impl Server {
        fn start(variable: (&str, &str)) -> Self {
            let server = Self(Command::new("sleep").arg("60").env_clear().envs([variable]).spawn().unwrap());
            // Between fork and exec it has our environment.
            while std::fs::read_to_string(format!("/proc/{}/comm", server.0.id())).unwrap() != "sleep\n" {
                std::thread::yield_now();
            }
            server
        }

        fn link(&self) -> ChainLink {
            let pid = self.0.id();
            ChainLink { pid, start: proc::stat(pid).unwrap().start, comm: "tmux: server".into(), tty: 0 }
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_servers_own_variables_have_leaked() {
        let finder = Finder::new(proc::here());
        let server = Server::start(("KITTY_WINDOW_ID", "2"));
        let env = [("KITTY_WINDOW_ID", "2"), ("TMUX_PANE", "%3")];
        let env: BTreeMap<String, String> = env.map(|(name, value)| (name.to_string(), value.to_string())).into();
        let origin = |link: ChainLink, window: &str| {
            let mut env = env.clone();
            env.insert("KITTY_WINDOW_ID".into(), window.into());
            Origin { chain: vec![link], env, ..Origin::default() }
        };
        let leaked = find(&finder, None, origin(server.link(), "2")).leaked;
        assert_eq!(leaked, BTreeSet::from(["KITTY_WINDOW_ID".to_string()]));
        assert!(find(&finder, None, origin(server.link(), "5")).leaked.is_empty(), "a window of its own");
        let reused = ChainLink { start: 1, ..server.link() };
        assert!(find(&finder, None, origin(reused, "2")).leaked.is_empty(), "another process");
        let far = Origin { host: Some("box".into()), ..origin(server.link(), "2") };
        assert!(find(&finder, None, far).leaked.is_empty(), "another machine");
    }

    #[test]
    fn what_takes_too_long_is_not_waited_for() {
        let finder = Finder::new(proc::here());
        let context = glib::MainContext::new();
        let (release, hold) = std::sync::mpsc::channel::<()>();
        let hold = std::sync::Arc::new(std::sync::Mutex::new(hold));
        context
            .with_thread_default(|| {
                for _ in 0..HANGING + 2 {
                    let (start, hold) = (Instant::now(), hold.clone());
                    let look = finder.look(start + Duration::from_millis(20), move || {
                        let _ = hold.lock().map(|hold| hold.recv());
                    });
                    assert_eq!(context.block_on(look), None);
                    assert!(start.elapsed() < PATIENCE);
                }
                assert_eq!(finder.looking.get(), HANGING, "no more are begun");
                drop(release);
                while finder.looking.get() > 0 {
                    context.iteration(true);
                }
                let look = finder.look(Instant::now() + PATIENCE, || 5);
                assert_eq!(context.block_on(look), Some(5), "and then they are again");
            })
            .unwrap();
    }

    #[test]
    fn two_ways_to_one_project_are_the_first() {
        let home = tempfile::tempdir().unwrap();
        let (top, link) = (home.path().join("shop"), home.path().join("link"));
        std::fs::create_dir(&top).unwrap();
        std::os::unix::fs::symlink(&top, &link).unwrap();
        let finder = Finder::new(proc::here());
        let root = |cwd: &std::path::Path, host: Option<&str>| {
            let origin = Origin { host: host.map(ToString::to_string), ..Origin::default() };
            find(&finder, cwd.to_str(), origin).project.unwrap().root
        };
        assert_eq!(root(&link, None), link.to_str().unwrap());
        assert_eq!(root(&top, None), link.to_str().unwrap());
        assert_eq!(root(&top, Some("box")), top.to_str().unwrap(), "another machine's folder");
        assert_eq!(find(&finder, Some("relative"), Origin::default()).project, None);
    }
}
