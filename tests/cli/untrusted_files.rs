//! Configurations and manifests that another user may have written, or that are no regular files.

use super::support::{CliOutput, Folder, output_of, run, within};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;

/// Numbers of users and groups that do not exist.
const OTHER: u32 = 70_001;
const THIRD: u32 = 70_002;

const CONFIG: &str = "[target]\ncommand = ['./tool']\nbuild = ['touch', 'built']\n";
const CHECK: [&str; 3] = ["check", "--check", "p2-exit-success"];

/// A repository with the folder `shared`, which contains `own`, in which a tool is checked.
struct Repository(Folder);

impl Repository {
    fn new() -> Self {
        let repository = Self(Folder::new());
        fs::create_dir_all(repository.path("shared/own")).unwrap();
        repository.0.script("shared/own/tool", "echo '{}'\n");
        repository.set_mode("", 0o755);
        repository.set_mode("shared", 0o755);
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    fn set_owner(&self, name: &str, user: u32) {
        chown(self.path(name), Some(user), Some(user)).unwrap();
    }

    fn check(&self, args: &[&str]) -> CliOutput {
        let mut command = self.0.command();
        command.current_dir(self.path("shared/own"));
        output_of(command.args(CHECK).args(["--json", "--isolation", "none"]).args(args))
    }

    /// Removes the file that the build in this folder creates. Returns whether it existed.
    fn take_build_marker(&self, folder: &str) -> bool {
        fs::remove_file(self.path(folder).join("built")).is_ok()
    }

    /// Asserts that the configuration in `shared` is refused for this reason, and used if it is named.
    fn assert_refused(&self, why: &str) {
        let output = self.check(&["./tool"]);
        assert_eq!((output.code, output.error()["kind"].as_str()), (Some(78), Some("config")), "{output:?}");
        let message = output.error()["message"].to_string();
        assert!(
            message.contains("shared/agentnative.toml is not trusted: ") && message.contains(why),
            "{output:?}"
        );
        assert_eq!(output.error()["hint"], "use it anyway with --config FILE");
        assert!(!self.take_build_marker("shared"));
        let named = self.check(&["--config", "../agentnative.toml", "./tool"]);
        assert!(named.code == Some(0) && self.take_build_marker("shared"), "{named:?}");
    }

    fn assert_used(&self) {
        let output = self.check(&["./tool"]);
        assert!(output.code == Some(0) && self.take_build_marker("shared"), "{output:?}");
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
    let repository = Repository::new();
    repository.0.write("shared/agentnative.toml", CONFIG);
    repository.assert_used();
    repository.set_owner("shared/agentnative.toml", OTHER);
    repository.assert_refused(&format!("it belongs to the user {OTHER}"));
    repository.set_owner("shared/agentnative.toml", 0);
    repository.set_owner("shared", OTHER);
    repository.assert_refused("its folder ");
    // Root also trusts the owner of the folder in which the search begins, as in a container.
    repository.set_owner("shared/agentnative.toml", OTHER);
    repository.set_owner("shared/own", OTHER);
    repository.assert_used();
    repository.set_owner("shared/own", THIRD);
    repository.assert_refused(&format!("belongs to the user {OTHER}"));
    // A table in a manifest is a configuration.
    fs::remove_file(repository.path("shared/agentnative.toml")).unwrap();
    repository.0.write("shared/package.json", r#"{"agentnative": {"target": {"command": ["./tool"]}}}"#);
    let output = repository.check(&["./tool"]);
    assert!(output.code == Some(78) && output.err.contains("package.json is not trusted"), "{output:?}");
    repository.0.write("shared/package.json", r#"{"name": "other", "bin": "own/tool"}"#);
    repository.set_owner("shared/package.json", OTHER);
    assert_eq!(repository.check(&["./tool"]).code, Some(0));
    // A manifest without a table matters only if a project is searched for.
    let output = repository.check(&["."]);
    assert!(output.code == Some(78) && output.err.contains("package.json is not trusted"), "{output:?}");
}

#[test]
fn a_folder_that_others_can_write_to_ends_the_search() {
    let repository = Repository::new();
    repository.0.write("agentnative.toml", CONFIG.replace("./tool", "shared/own/tool"));
    let output = repository.check(&["./tool"]);
    assert!(output.code == Some(0) && repository.take_build_marker(""), "{output:?}");
    for folder in ["shared", "shared/own"] {
        repository.set_mode(folder, 0o1777);
        let output = repository.check(&["./tool"]);
        assert!(output.code == Some(0) && !repository.take_build_marker(""), "{folder}: {output:?}");
        repository.set_mode(folder, 0o755);
    }
    repository.0.write("shared/agentnative.toml", CONFIG);
    repository.set_mode("shared", 0o1777);
    repository.assert_refused("all users can write to its folder ");
    // The same applies to the folder in which the search begins.
    let mut command = repository.0.command();
    let output = output_of(command.args(CHECK).args(["own/tool"]).current_dir(repository.path("shared")));
    assert!(output.code == Some(78) && output.err.contains("agentnative.toml is not trusted"), "{output:?}");
    repository.set_mode("shared", 0o755);
    repository.set_mode("shared/agentnative.toml", 0o666);
    repository.assert_refused("all users can write to it");
}

#[test]
fn a_folder_that_another_group_can_write_to_ends_the_search() {
    if !is_root() {
        return;
    }
    let repository = Repository::new();
    repository.0.write("shared/agentnative.toml", CONFIG);
    repository.set_mode("shared", 0o775);
    for name in ["shared", "shared/agentnative.toml", "shared/own"] {
        repository.set_owner(name, OTHER);
    }
    repository.assert_used();
    chown(repository.path("shared"), None, Some(THIRD)).unwrap();
    repository.assert_refused(&format!("the group {THIRD} can write to its folder "));
    repository.set_mode("shared", 0o755);
    repository.assert_used();
}

#[test]
fn an_ordinary_user_trusts_only_their_own_files_and_those_of_root() {
    if !is_root() {
        return;
    }
    let repository = Repository::new();
    repository.0.write("shared/agentnative.toml", CONFIG.replace("'touch', 'built'", "'touch', 'own/built'"));
    let check = || {
        repository.set_owner("shared/own", OTHER);
        let mut command = repository.0.command();
        command.current_dir(repository.path("shared/own")).uid(OTHER).gid(OTHER).stdout(Stdio::piped());
        command.args(CHECK).args(["--isolation", "none", "./tool"]).stderr(Stdio::piped());
        command.spawn().ok().map(|child| {
            let output = child.wait_with_output().unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stderr).unwrap(),
                repository.take_build_marker("shared/own"),
            )
        })
    };
    let Some(output) = check() else {
        eprintln!("skipped: nobody but root may start the program where it is");
        return;
    };
    assert!(output.0 == Some(0) && output.2, "{output:?}");
    for (file, owner) in [("shared/agentnative.toml", THIRD), ("shared", THIRD)] {
        repository.set_owner(file, owner);
        let output = check().unwrap();
        let reason = format!("belongs to the user {THIRD}");
        assert!(output.0 == Some(78) && output.1.contains(&reason) && !output.2, "{output:?}");
        repository.set_owner(file, 0);
    }
    // An inaccessible folder is an error; the search does not continue in its parent.
    repository.set_owner("shared/own", THIRD);
    repository.set_mode("shared/own", 0o700);
    for args in [
        &["check", "own"][..],
        &["check", "own/tool"],
        &["init", "--print", "own"],
        &["check", "--all", "own"],
    ] {
        let mut command = repository.0.command();
        command.current_dir(repository.path("shared")).uid(OTHER).gid(OTHER);
        let output = output_of(command.args(args).arg("--json"));
        assert_eq!(
            (output.code, output.error()["kind"].as_str()),
            (Some(77), Some("auth")),
            "{args:?} {output:?}"
        );
        assert!(output.error()["message"].to_string().contains("own"), "{output:?}");
    }
    repository.set_owner("shared/own", 0);
}

#[test]
fn check_all_refuses_configurations_of_others_unless_they_are_named() {
    if !is_root() {
        return;
    }
    let repository = Repository::new();
    repository.0.write("shared/agentnative.toml", CONFIG.replace("./tool", "own/tool"));
    repository.0.write("shared/own/agentnative.toml", CONFIG);
    repository.set_owner("shared/agentnative.toml", OTHER);
    let all = |args: &[&str]| {
        repository.0.run(&[&CHECK[..], &["--json", "--isolation", "none", "--all"], args].concat())
    };
    let output = all(&[]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let targets = output.data()["targets"].as_array().unwrap().clone();
    let errors: Vec<String> = targets.iter().map(|target| target["error"]["message"].to_string()).collect();
    assert!(errors[0].contains("shared/agentnative.toml is not trusted"), "{errors:?}");
    assert_eq!((errors[1].as_str(), errors.len()), ("null", 2));
    assert!(!repository.take_build_marker("shared") && repository.take_build_marker("shared/own"));
    let output = all(&["shared/agentnative.toml"]);
    assert!(output.code == Some(0) && repository.take_build_marker("shared"), "{output:?}");
}

/// Replaces a file by a special file, or by one that is too large.
fn create_special_file(path: &PathBuf, what: &str) {
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
        let repository = Repository::new();
        let manifests = ["agentnative.toml", "Cargo.toml", "package.json", "pyproject.toml"];
        for (what, expected) in [
            ("device", "expected a regular file, found a device"),
            ("pipe", "expected a regular file, found a pipe"),
            ("socket", "expected a regular file, found a socket"),
            ("sparse", "expected at most 4 MiB"),
        ] {
            for file in manifests.iter().flat_map(|name| [(*name, true), (name, false)]) {
                let (name, above) = file;
                let path = repository.path(if above { "shared" } else { "shared/own" }).join(name);
                create_special_file(&path, what);
                let output = repository.check(&["./tool"]);
                assert_eq!(output.code, Some(78), "{what} {name} {output:?}");
                let message = output.error()["message"].to_string();
                assert!(message.contains(name) && message.contains(expected), "{what} {name} {message}");
                fs::remove_file(&path).unwrap();
            }
            let path = repository.path("shared/own/go.mod");
            create_special_file(&path, what);
            let output = repository.check(&["."]);
            assert!(output.code == Some(78) && output.err.contains(expected), "{what} {output:?}");
            fs::remove_file(&path).unwrap();
            // The same applies to a named file.
            let path = repository.path("named.toml");
            create_special_file(&path, what);
            let output = repository.check(&["--config", "../../named.toml", "./tool"]);
            assert!(output.code == Some(78) && output.err.contains(expected), "{what} {output:?}");
        }
    });
}

#[test]
fn ignore_files_are_read_only_if_they_are_regular_files() {
    within("the end", || {
        let repository = Repository::new();
        repository.0.write("shared/own/main.py", "import sys\nprint('a')\n");
        for what in ["device", "pipe", "socket", "sparse"] {
            for folder in ["shared", "shared/own"] {
                let path = repository.path(folder).join(".gitignore");
                create_special_file(&path, what);
                let mut command = repository.0.command();
                command.current_dir(repository.path("shared/own"));
                let output = output_of(command.args(["check", "--layer", "source", "--json", "."]));
                assert!(
                    output.code.is_some_and(|code| code < 2) && output.out.contains("main.py"),
                    "{what} {output:?}"
                );
                fs::remove_file(&path).unwrap();
            }
        }
    });
}

#[test]
fn a_target_in_a_world_writable_folder_needs_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    let tool = folder.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho '{}'\n").unwrap();
    fs::set_permissions(&tool, Permissions::from_mode(0o755)).unwrap();
    let output = run(&[&CHECK[..], &["--json", tool.to_str().unwrap()]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
}
