//! `--profile`: the configurations for known tools, and when they are used.

use super::support::{Folder, output_of, program};
use agentnative::check::load_config;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FAKE_JQ: &str = "case $* in --version) echo jq-1.9.2 ;; *) echo unknown >&2; exit 2 ;; esac\n";
const NOTE: &str = "note: the probes are those of the bundled profile `jq`; --profile none omits them\n";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Returns the files below a folder, by their paths relative to `root`.
fn files(folder: &Path, root: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, root, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
}

fn files_below(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    files(root, root, &mut found);
    found
}

/// Returns a folder with a program `jq`, and a check in it that finds this program on PATH.
fn folder_with_jq() -> (Folder, impl Fn(&[&str]) -> Command) {
    let folder = Folder::new();
    folder.script("jq", FAKE_JQ);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let root = folder.path().to_owned();
    let check = move |args: &[&str]| {
        let mut command = program();
        command.args(["check", "--check", "p2-exit-error,p2-exit-success"]).args(args);
        command.current_dir("/").env("PATH", &path).env("XDG_CACHE_HOME", root.join("cache"));
        command
    };
    (folder, check)
}

#[test]
fn all_examples_are_profiles_with_their_files() {
    let (folder, check) = folder_with_jq();
    let profiles = folder.path().join("cache/agentnative/profiles").join(env!("CARGO_PKG_VERSION"));

    let used = output_of(&mut check(&["--profile", "jq", "--command", "jq"]));
    assert!(used.out.contains(NOTE), "{used:?}");
    let mut expected = files_below(&examples());
    let is_tool = |path: &Path| {
        path.starts_with("workspaces")
            || path.parent() == Some(Path::new("")) && path.extension().is_some_and(|name| name == "toml")
    };
    expected.retain(|path, _| is_tool(path));
    assert_eq!(files_below(&profiles.join("tools")), expected);

    let nothing = folder.path().join("cache/agentnative");
    let unused = output_of(check(&["--profile", "claude", "--command", "/bin/true"]).env("PATH", &nothing));
    assert_eq!(unused.code, Some(78), "its service, reference-agent, is not on PATH: {unused:?}");
    assert!(unused.err.contains("reference-agent"), "{unused:?}");
    let mut expected = files_below(&examples().join("agents"));
    expected.retain(|path, _| path != Path::new("README.md"));
    assert_eq!(files_below(&profiles.join("agents")), expected);

    for (path, _) in files_below(&profiles).iter().filter(|(path, _)| path.components().count() == 2) {
        let config = load_config(&profiles.join(path)).unwrap();
        assert!(config.targets[0].conventions.version.is_some(), "{} has no version", path.display());
        assert!(!config.probes.is_empty(), "{} has no probe", path.display());
    }
}

#[test]
fn a_command_without_another_configuration_has_its_profile() {
    let (folder, check) = folder_with_jq();
    let report = |args: &[&str]| output_of(&mut check(args)).out;

    let used = report(&["--command", "jq"]);
    assert!(used.contains(NOTE), "{used}");
    assert!(used.contains("note: the configuration describes jq 1.6; this is 1.9.2\n"), "{used}");

    let recording = folder.path().join("recording.json");
    let recording = recording.to_str().unwrap();
    report(&["--command", "jq", "--record", recording]);
    assert!(report(&["--replay", recording]).contains(NOTE), "the recording contains the note");

    for others in [&["--profile", "none"][..], &["--probe", "."], &["--changes", "."], &["--explore"]] {
        let other = report(&[&["--command", "jq"], others].concat());
        assert!(!other.contains("profile"), "{others:?}: {other}");
    }
    folder.write("agentnative.toml", "[[probe]]\nname = 'empty'\nargs = []\n");
    let configured = report(&["--command", "jq"]);
    assert!(!configured.contains("profile"), "{configured}");
}

#[test]
fn a_profile_that_cannot_be_used_is_an_error_only_if_it_was_requested() {
    let (folder, check) = folder_with_jq();
    let blocked = folder.write("file", "");
    let run = |args: &[&str]| output_of(check(args).env("XDG_CACHE_HOME", &blocked));

    let automatic = run(&["--command", "jq"]);
    assert!(automatic.out.contains("the bundled profile `jq` was not used: cannot create"), "{automatic:?}");
    let requested = run(&["--command", "jq", "--profile", "jq"]);
    assert!(requested.err.contains("cannot create"), "{requested:?}");
    assert_eq!((requested.out.as_str(), requested.code), ("", Some(1)));

    let unknown = run(&["--command", "jq", "--profile", "jqq"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.err.contains("jq"), "{unknown:?}");
}
