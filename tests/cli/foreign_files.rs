//! Configurations and manifests that another user may have written, and those that are no files.

use super::support::{CliOutput, Folder, output_of, run, within};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;

/// A user and a group that no system lists.
const OTHER: u32 = 70_001;
const THIRD: u32 = 70_002;

const CONFIG: &str = "[target]\ncommand = ['./tool']\nbuild = ['touch', 'built']\n";
const CHECK: [&str; 3] = ["check", "--check", "p2-exit-success"];

/// A repository with the folder `shared` and in it `own`, from where a tool is checked.
struct Tree(Folder);

impl Tree {
    fn new() -> Self {
        let tree = Self(Folder::new());
        fs::create_dir_all(tree.path("shared/own")).unwrap();
        tree.0.script("shared/own/tool", "echo '{}'\n");
        tree.set("", 0o755);
        tree.set("shared", 0o755);
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn set(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    fn own(&self, name: &str, user: u32) {
        chown(self.path(name), Some(user), Some(user)).unwrap();
    }

    fn check(&self, args: &[&str]) -> CliOutput {
        let mut command = self.0.command();
        command.current_dir(self.path("shared/own"));
        output_of(command.args(CHECK).args(["--json", "--isolation", "none"]).args(args))
    }

    /// Whether the build of the configuration in this folder was executed.
    fn was_built(&self, folder: &str) -> bool {
        fs::remove_file(self.path(folder).join("built")).is_ok()
    }

    /// Checks that the configuration in `shared` is refused for this reason, and used if it is named.
    fn is_refused(&self, why: &str) {
        let said = self.check(&["./tool"]);
        assert_eq!((said.code, said.error()["kind"].as_str()), (Some(78), Some("config")), "{said:?}");
        let message = said.error()["message"].to_string();
        assert!(
            message.contains("shared/agentnative.toml is not used: ") && message.contains(why),
            "{said:?}"
        );
        assert_eq!(said.error()["hint"], "--config FILE uses it all the same");
        assert!(!self.was_built("shared"));
        let named = self.check(&["--config", "../agentnative.toml", "./tool"]);
        assert!(named.code == Some(0) && self.was_built("shared"), "{named:?}");
    }

    fn is_used(&self) {
        let said = self.check(&["./tool"]);
        assert!(said.code == Some(0) && self.was_built("shared"), "{said:?}");
    }
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: only root makes files of other users");
    }
    root
}

#[test]
fn a_configuration_of_another_user_is_refused() {
    if !is_root() {
        return;
    }
    let tree = Tree::new();
    tree.0.write("shared/agentnative.toml", CONFIG);
    tree.is_used();
    tree.own("shared/agentnative.toml", OTHER);
    tree.is_refused(&format!("it belongs to the user {OTHER}"));
    tree.own("shared/agentnative.toml", 0);
    tree.own("shared", OTHER);
    tree.is_refused("its folder ");
    // For root, the owner of the folder that the search begins in counts, as in a container.
    tree.own("shared/agentnative.toml", OTHER);
    tree.own("shared/own", OTHER);
    tree.is_used();
    tree.own("shared/own", THIRD);
    tree.is_refused(&format!("belongs to the user {OTHER}"));
    // A table in a manifest is a configuration.
    fs::remove_file(tree.path("shared/agentnative.toml")).unwrap();
    tree.0.write("shared/package.json", r#"{"agentnative": {"target": {"command": ["./tool"]}}}"#);
    let said = tree.check(&["./tool"]);
    assert!(said.code == Some(78) && said.err.contains("package.json is not used"), "{said:?}");
    tree.0.write("shared/package.json", r#"{"name": "other", "bin": "own/tool"}"#);
    tree.own("shared/package.json", OTHER);
    assert_eq!(tree.check(&["./tool"]).code, Some(0));
    // A manifest without one counts where a project is searched.
    let said = tree.check(&["."]);
    assert!(said.code == Some(78) && said.err.contains("package.json is not used"), "{said:?}");
}

#[test]
fn a_folder_that_others_may_write_to_ends_the_search() {
    let tree = Tree::new();
    tree.0.write("agentnative.toml", CONFIG.replace("./tool", "shared/own/tool"));
    let said = tree.check(&["./tool"]);
    assert!(said.code == Some(0) && tree.was_built(""), "{said:?}");
    for folder in ["shared", "shared/own"] {
        tree.set(folder, 0o1777);
        let said = tree.check(&["./tool"]);
        assert!(said.code == Some(0) && !tree.was_built(""), "{folder}: {said:?}");
        tree.set(folder, 0o755);
    }
    tree.0.write("shared/agentnative.toml", CONFIG);
    tree.set("shared", 0o1777);
    tree.is_refused("everybody may write to its folder ");
    // So in the folder where the search begins.
    let mut command = tree.0.command();
    let said = output_of(command.args(CHECK).args(["own/tool"]).current_dir(tree.path("shared")));
    assert!(said.code == Some(78) && said.err.contains("agentnative.toml is not used"), "{said:?}");
    tree.set("shared", 0o755);
    tree.set("shared/agentnative.toml", 0o666);
    tree.is_refused("everybody may write to it");
}

#[test]
fn a_group_that_is_not_the_owners_alone_ends_the_search() {
    if !is_root() {
        return;
    }
    let tree = Tree::new();
    tree.0.write("shared/agentnative.toml", CONFIG);
    tree.set("shared", 0o775);
    for name in ["shared", "shared/agentnative.toml", "shared/own"] {
        tree.own(name, OTHER);
    }
    tree.is_used();
    chown(tree.path("shared"), None, Some(THIRD)).unwrap();
    tree.is_refused(&format!("the group {THIRD} may write to its folder "));
    tree.set("shared", 0o755);
    tree.is_used();
}

#[test]
fn an_ordinary_user_trusts_root_and_nobody_else() {
    if !is_root() {
        return;
    }
    let tree = Tree::new();
    tree.0.write("shared/agentnative.toml", CONFIG.replace("'touch', 'built'", "'touch', 'own/built'"));
    let check = || {
        tree.own("shared/own", OTHER);
        let mut command = tree.0.command();
        command.current_dir(tree.path("shared/own")).uid(OTHER).gid(OTHER).stdout(Stdio::piped());
        command.args(CHECK).args(["--isolation", "none", "./tool"]).stderr(Stdio::piped());
        command.spawn().ok().map(|child| {
            let said = child.wait_with_output().unwrap();
            (said.status.code(), String::from_utf8(said.stderr).unwrap(), tree.was_built("shared/own"))
        })
    };
    let Some(said) = check() else {
        eprintln!("skipped: nobody but root may start the program where it is");
        return;
    };
    assert!(said.0 == Some(0) && said.2, "{said:?}");
    for (file, owner) in [("shared/agentnative.toml", THIRD), ("shared", THIRD)] {
        tree.own(file, owner);
        let said = check().unwrap();
        let why = format!("belongs to the user {THIRD}");
        assert!(said.0 == Some(78) && said.1.contains(&why) && !said.2, "{said:?}");
        tree.own(file, 0);
    }
    // A folder that may not be entered is not left for the one above it.
    tree.own("shared/own", THIRD);
    tree.set("shared/own", 0o700);
    for args in [
        &["check", "own"][..],
        &["check", "own/tool"],
        &["init", "--print", "own"],
        &["check", "--all", "own"],
    ] {
        let mut command = tree.0.command();
        command.current_dir(tree.path("shared")).uid(OTHER).gid(OTHER);
        let said = output_of(command.args(args).arg("--json"));
        assert_eq!((said.code, said.error()["kind"].as_str()), (Some(77), Some("auth")), "{args:?} {said:?}");
        assert!(said.error()["message"].to_string().contains("own"), "{said:?}");
    }
    tree.own("shared/own", 0);
}

#[test]
fn several_configurations_of_others_are_refused_unless_they_are_named() {
    if !is_root() {
        return;
    }
    let tree = Tree::new();
    tree.0.write("shared/agentnative.toml", CONFIG.replace("./tool", "own/tool"));
    tree.0.write("shared/own/agentnative.toml", CONFIG);
    tree.own("shared/agentnative.toml", OTHER);
    let all =
        |args: &[&str]| tree.0.run(&[&CHECK[..], &["--json", "--isolation", "none", "--all"], args].concat());
    let said = all(&[]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let targets = said.data()["targets"].as_array().unwrap().clone();
    let errors: Vec<String> = targets.iter().map(|target| target["error"]["message"].to_string()).collect();
    assert!(errors[0].contains("shared/agentnative.toml is not used"), "{errors:?}");
    assert_eq!((errors[1].as_str(), errors.len()), ("null", 2));
    assert!(!tree.was_built("shared") && tree.was_built("shared/own"));
    let said = all(&["shared/agentnative.toml"]);
    assert!(said.code == Some(0) && tree.was_built("shared"), "{said:?}");
}

/// Puts in the place of a file what is none, or is far too large.
fn plant(path: &PathBuf, what: &str) {
    let _ = fs::remove_file(path);
    match what {
        "device" => symlink("/dev/zero", path).unwrap(),
        "pipe" => mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap(),
        "socket" => drop(UnixListener::bind(path).unwrap()),
        _ => File::create(path).unwrap().set_len(20 << 30).unwrap(),
    }
}

#[test]
fn manifests_are_regular_files_of_a_limited_size() {
    within("the end", || {
        let tree = Tree::new();
        let manifests = ["agentnative.toml", "Cargo.toml", "package.json", "pyproject.toml"];
        for (what, expected) in [
            ("device", "expected a regular file, found a device"),
            ("pipe", "expected a regular file, found a pipe"),
            ("socket", "expected a regular file, found a socket"),
            ("sparse", "expected at most 4 MiB"),
        ] {
            for file in manifests.iter().flat_map(|name| [(*name, true), (name, false)]) {
                let (name, above) = file;
                let path = tree.path(if above { "shared" } else { "shared/own" }).join(name);
                plant(&path, what);
                let said = tree.check(&["./tool"]);
                assert_eq!(said.code, Some(78), "{what} {name} {said:?}");
                let message = said.error()["message"].to_string();
                assert!(message.contains(name) && message.contains(expected), "{what} {name} {message}");
                fs::remove_file(&path).unwrap();
            }
            let path = tree.path("shared/own/go.mod");
            plant(&path, what);
            let said = tree.check(&["."]);
            assert!(said.code == Some(78) && said.err.contains(expected), "{what} {said:?}");
            fs::remove_file(&path).unwrap();
            // What is named is read in the same way.
            let path = tree.path("named.toml");
            plant(&path, what);
            let said = tree.check(&["--config", "../../named.toml", "./tool"]);
            assert!(said.code == Some(78) && said.err.contains(expected), "{what} {said:?}");
        }
    });
}

#[test]
fn what_version_control_ignores_is_read_from_regular_files() {
    within("the end", || {
        let tree = Tree::new();
        tree.0.write("shared/own/main.py", "import sys\nprint('a')\n");
        for what in ["device", "pipe", "socket", "sparse"] {
            for folder in ["shared", "shared/own"] {
                let path = tree.path(folder).join(".gitignore");
                plant(&path, what);
                let mut command = tree.0.command();
                command.current_dir(tree.path("shared/own"));
                let said = output_of(command.args(["check", "--layer", "source", "--json", "."]));
                assert!(
                    said.code.is_some_and(|code| code < 2) && said.out.contains("main.py"),
                    "{what} {said:?}"
                );
                fs::remove_file(&path).unwrap();
            }
        }
    });
}

#[test]
fn a_temporary_folder_for_everybody_needs_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    let tool = folder.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho '{}'\n").unwrap();
    fs::set_permissions(&tool, Permissions::from_mode(0o755)).unwrap();
    let said = run(&[&CHECK[..], &["--json", tool.to_str().unwrap()]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
}
