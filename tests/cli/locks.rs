//! Files of `contract lock`: symbolic links, and failed writes.

use super::support::{CliOutput, Folder, output_of};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

const PROBE: &str = "[[probe]]\nname = 'NAME'\nargs = ['NAME']\nformats = ['json']\n";

/// A tool with a lock of its probe `list`.
fn folder_with_lock() -> Folder {
    let folder = Folder::with("echo '{\"a\": 1}'\n");
    folder.write("agentnative.toml", config(&["list"]));
    let output = folder.run(&["contract", "lock"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(lock_path(&folder, "list.json.json").is_file());
    folder
}

fn config(probes: &[&str]) -> String {
    let probes = probes.iter().map(|name| PROBE.replace("NAME", name));
    format!("[target]\ncommand = ['./cli']\n{}", probes.collect::<String>())
}

fn lock_path(folder: &Folder, file: &str) -> PathBuf {
    folder.path().join("agentnative.lock/cli").join(file)
}

/// Changes the output of the tool and updates the lock.
fn update_lock(folder: &Folder) -> CliOutput {
    folder.script("cli", "echo '{\"$(reboot)\": 1}'\n");
    folder.run(&["contract", "lock", "--update", "--json"])
}

#[test]
fn a_lock_replaces_links_to_files() {
    let folder = folder_with_lock();
    let precious = folder.write("precious", "precious");
    for file in ["list.json.json", "lock.json"] {
        fs::remove_file(lock_path(&folder, file)).unwrap();
        symlink(&precious, lock_path(&folder, file)).unwrap();
    }
    folder.write("precious", r#"{"lock": 1, "target": "cli"}"#);
    fs::remove_file(lock_path(&folder, "list.json.json")).unwrap();
    symlink(folder.path().join("absent"), lock_path(&folder, "list.json.json")).unwrap();
    let output = folder.run(&["contract", "lock", "--update"]);
    assert_eq!(output.code, Some(78), "{output:?}");
    let empty = folder.write("empty.json", r#"{"probe": "list", "format": "json"}"#);
    fs::remove_file(lock_path(&folder, "list.json.json")).unwrap();
    symlink(&empty, lock_path(&folder, "list.json.json")).unwrap();
    let output = update_lock(&folder);
    assert_eq!(output.code, Some(0), "{output:?}");
    for (file, kept) in [
        ("precious", r#"{"lock": 1, "target": "cli"}"#),
        ("empty.json", r#"{"probe": "list", "format": "json"}"#),
    ] {
        assert_eq!(folder.read(file), kept);
    }
    assert!(
        !lock_path(&folder, "lock.json").is_symlink() && !lock_path(&folder, "list.json.json").is_symlink()
    );
    assert!(fs::read_to_string(lock_path(&folder, "list.json.json")).unwrap().contains("$(reboot)"));
    // A dangling link is replaced as well.
    fs::remove_dir_all(lock_path(&folder, "")).unwrap();
    fs::create_dir(lock_path(&folder, "")).unwrap();
    symlink(folder.path().join("made"), lock_path(&folder, "lock.json")).unwrap();
    assert_eq!(folder.run(&["contract", "lock"]).code, Some(0));
    assert!(lock_path(&folder, "lock.json").is_file() && !folder.path().join("made").exists());
}

#[test]
fn a_lock_does_not_follow_links_to_folders() {
    for place in ["agentnative.lock", "agentnative.lock/cli"] {
        let folder = folder_with_lock();
        fs::rename(folder.path().join(place), folder.path().join("elsewhere")).unwrap();
        symlink(folder.path().join("elsewhere"), folder.path().join(place)).unwrap();
        let real = fs::canonicalize(lock_path(&folder, "")).unwrap();
        let stale = real.join("other.json.json");
        fs::copy(real.join("list.json.json"), &stale).unwrap();
        let before = fs::read_to_string(real.join("list.json.json")).unwrap();
        let output = update_lock(&folder);
        assert_eq!((output.code, output.error()["kind"].as_str()), (Some(78), Some("config")), "{output:?}");
        let message = output.error()["message"].to_string();
        assert!(message.contains(&format!("{place} is a link; expected a folder")), "{message}");
        assert_eq!(fs::read_to_string(real.join("list.json.json")).unwrap(), before);
        assert!(stale.is_file());
    }
}

#[test]
fn a_lock_that_cannot_be_written_leaves_the_old_one_unchanged() {
    let folder = folder_with_lock();
    let files = || {
        let mut names: Vec<_> =
            fs::read_dir(lock_path(&folder, "")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = fs::read_to_string(lock_path(&folder, "list.json.json")).unwrap();
    // The name of the file is longer than a file system allows.
    folder.write("agentnative.toml", config(&["list", &"x".repeat(300)]));
    let output = update_lock(&folder);
    assert_eq!((output.code, output.error()["kind"].as_str()), (Some(1), Some("write")), "{output:?}");
    assert_eq!(fs::read_to_string(lock_path(&folder, "list.json.json")).unwrap(), before);
    assert_eq!(files(), ["list.json.json", "lock.json"]);
    // An update removes the files of removed probes.
    folder.write("agentnative.toml", config(&["other"]));
    assert_eq!(update_lock(&folder).code, Some(0));
    assert_eq!(files(), ["lock.json", "other.json.json"]);
}

/// Runs in a small file system in memory, in a separate mount namespace.
#[test]
fn a_full_disk_leaves_the_old_lock_unchanged() {
    let folder = Folder::new();
    let mut command = Command::new("unshare");
    let mounted = command.args(["--mount", "sh", "-c", "mount -t tmpfs -o size=64k none \"$0\""]);
    if !mounted.arg(folder.path()).output().is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let script = r##"
        mount -t tmpfs -o size=1m,mode=755 none "$0" && cd "$0" && mkdir .git || exit 99
        printf '%s\n' '#!/bin/sh' "echo '{\"a\": 1}'" >cli && chmod +x cli
        printf '%s\n' "[target]" "command = ['./cli']" "[[probe]]" "name = 'a'" "args = []" \
            "formats = ['json']" "[[probe]]" "name = 'b'" "args = []" "formats = ['json']" >agentnative.toml
        "$1" contract lock >&2 || exit 98
        cat agentnative.lock/cli/* >/dev/shm/before-$$
        # The new lock of each probe needs two pages of memory, the old one needs one, and one is left.
        keys=; for i in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
            keys="$keys\"word_$i\": \"x\", \"number_$i\": 1, "
        done
        printf '%s\n' '#!/bin/sh' "echo '{$keys\"a\": 1}'" >cli
        dd if=/dev/zero of=fill bs=4k 2>/dev/null
        truncate -s -4k fill
        "$1" contract lock --update; code=$?
        cat agentnative.lock/cli/* | cmp - /dev/shm/before-$$ >&2 || code=97
        rm -f /dev/shm/before-$$
        ls -A agentnative.lock/cli
        exit $code
    "##;
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(folder.path()).arg(env!("CARGO_BIN_EXE_agentnative"));
    let output = output_of(&mut command);
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(1), "a.json.json\nb.json.json\nlock.json\n"),
        "{output:?}"
    );
    assert!(output.err.contains("No space left on device"), "{output:?}");
}
