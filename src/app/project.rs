// SPDX-License-Identifier: GPL-3.0-or-later
//! Which project a folder belongs to, read from the file system (status model, section 4).
//!
//! Blocking: to be called off the main thread.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::event::Project;

/// A folder's project, and what tells it from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The project.
    pub project: Project,
    /// Its root without links: two ways to one folder are one project.
    pub canonical: PathBuf,
}

/// Where git keeps a work tree's own files and the repository's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDir {
    /// The work tree's: HEAD and index.
    pub own: PathBuf,
    /// The repository's, if this is a linked work tree.
    pub common: Option<PathBuf>,
}

/// The project of a working directory: the top of its git work tree, else the folder itself.
pub fn resolve(cwd: &str) -> Resolved {
    let given = clean(cwd);
    let canonical = given.canonicalize().ok();
    // The way the user came decides how the project is called; only if no work tree lies on it, links are followed.
    let found = work_tree(&given).or_else(|| work_tree(canonical.as_deref()?));
    let (root, title) = match found {
        Some((root, git)) => {
            let title = git.common.as_ref().and_then(|common| worktree_title(&git.own, common));
            (root, title)
        }
        None => (given, None),
    };
    let canonical = root.canonicalize().unwrap_or_else(|_| root.clone());
    // A root that is not text comes from behind a link: the way the user came is text.
    let root = root.to_str().map_or_else(|| cwd.to_string(), ToString::to_string);
    Resolved { project: Project { root, title }, canonical }
}

/// The project of a working directory that cannot be looked at.
pub fn unseen(cwd: &str) -> Project {
    let root: PathBuf = Path::new(cwd).components().collect();
    Project { root: root.to_string_lossy().into_owned(), title: None }
}

/// The git folder of a work tree's top, whose `.git` is a folder or a file that names one.
pub fn git_dir(root: &Path) -> Option<GitDir> {
    let dot_git = root.join(".git");
    let kind = std::fs::metadata(&dot_git).ok()?;
    let own = if kind.is_dir() { dot_git } else { root.join(read(&dot_git)?.strip_prefix("gitdir: ")?) };
    own.join("HEAD").symlink_metadata().ok()?;
    let common = read(&own.join("commondir")).map(|common| own.join(common));
    Some(GitDir { own, common })
}

/// The branch that a HEAD names, or the commit in seven digits.
pub fn head_name(head: &str) -> Option<String> {
    let head = head.trim_end();
    if let Some(name) = head.strip_prefix("ref: ") {
        let name = name.trim_start();
        return Some(
            name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/")).unwrap_or(name).to_string(),
        );
    }
    let is_commit = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| head[..7].to_string())
}

fn work_tree(folder: &Path) -> Option<(PathBuf, GitDir)> {
    folder.ancestors().find_map(|root| Some((root.to_path_buf(), git_dir(root)?)))
}

/// `repo · branch`, or the worktree's name where no branch is checked out.
fn worktree_title(own: &Path, common: &Path) -> Option<String> {
    let common = common.canonicalize().ok()?;
    let name = common.file_name()?.to_str()?;
    let repository = match name {
        ".git" => common.parent()?.file_name()?.to_str()?,
        bare => bare.strip_suffix(".git").unwrap_or(bare),
    };
    let head = read(&own.join("HEAD"))?;
    let branch = head.starts_with("ref: ").then(|| head_name(&head)).flatten();
    let name = branch.or_else(|| own.file_name()?.to_str().map(ToString::to_string))?;
    Some(format!("{repository} · {name}"))
}

/// Without `.`, doubled and trailing slashes. `..` has a meaning only behind links.
fn clean(path: &str) -> PathBuf {
    let path = Path::new(path);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if let Some(canonical) = climbs.then(|| path.canonicalize().ok()).flatten() {
        return canonical;
    }
    path.components().collect()
}

/// A small file's text, without the line's end. Only of regular files: a pipe in the place of one would never end.
fn read(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(8192).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn repository(top: &Path) {
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn worktree(top: &Path, repository: &Path, head: &str) {
        let own = repository.join(".git/worktrees").join(top.file_name().unwrap());
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(top).unwrap();
        fs::write(own.join("HEAD"), head).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(top.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    }

    fn project(cwd: &Path) -> (String, Option<String>) {
        let resolved = resolve(cwd.to_str().unwrap());
        (resolved.project.root, resolved.project.title)
    }

    #[test]
    fn a_project_is_the_top_of_its_work_tree() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().join("shop");
        repository(&top);
        fs::create_dir_all(top.join("src/deep")).unwrap();
        let expected = (top.to_str().unwrap().to_string(), None);
        assert_eq!(project(&top.join("src/deep")), expected);
        assert_eq!(project(&top.join("src//./deep/")), expected);
        assert_eq!(project(&top.join("src/../src")), expected);
    }

    #[test]
    fn a_folder_outside_of_git_is_its_own_project() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("notes");
        fs::create_dir_all(folder.join(".git")).unwrap();
        assert_eq!(project(&folder), (folder.to_str().unwrap().to_string(), None), "an empty .git is none");
        let missing = home.path().join("gone");
        assert_eq!(project(&missing), (missing.to_str().unwrap().to_string(), None));
    }

    #[test]
    fn a_linked_worktree_is_its_own_project() {
        let home = tempfile::tempdir().unwrap();
        let (main, linked, loose) = (home.path().join("shop"), home.path().join("wt-a"), home.path().join("wt-b"));
        repository(&main);
        worktree(&linked, &main, "ref: refs/heads/feature/cart\n");
        worktree(&loose, &main, &format!("{}\n", "a".repeat(40)));
        assert_eq!(project(&linked).1.as_deref(), Some("shop · feature/cart"));
        assert_eq!(project(&loose).1.as_deref(), Some("shop · wt-b"));
        assert_eq!(project(&linked).0, linked.to_str().unwrap());
    }

    #[test]
    fn a_submodule_is_a_project_without_a_title() {
        let home = tempfile::tempdir().unwrap();
        let (main, module) = (home.path().join("shop"), home.path().join("shop/lib"));
        repository(&main);
        fs::create_dir_all(main.join(".git/modules/lib")).unwrap();
        fs::write(main.join(".git/modules/lib/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/lib\n").unwrap();
        assert_eq!(project(&module), (module.to_str().unwrap().to_string(), None));
    }

    #[test]
    fn a_link_keeps_its_name_and_finds_its_project() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().join("shop");
        repository(&top);
        fs::create_dir_all(top.join("src")).unwrap();
        let (whole, part) = (home.path().join("whole"), home.path().join("part"));
        symlink(&top, &whole).unwrap();
        symlink(top.join("src"), &part).unwrap();
        let by_link = resolve(whole.join("src").to_str().unwrap());
        assert_eq!(by_link.project.root, whole.to_str().unwrap());
        assert_eq!(by_link.canonical, top.canonicalize().unwrap());
        assert_eq!(resolve(part.to_str().unwrap()).canonical, top.canonicalize().unwrap());
    }

    #[test]
    fn heads() {
        assert_eq!(head_name("ref: refs/heads/feature/x\n").as_deref(), Some("feature/x"));
        assert_eq!(head_name("ref: refs/remotes/o/x\n").as_deref(), Some("remotes/o/x"));
        assert_eq!(head_name(&"0123456789".repeat(4)).as_deref(), Some("0123456"));
        assert_eq!(head_name("garbage\n"), None);
        assert_eq!(head_name(""), None);
    }
}
