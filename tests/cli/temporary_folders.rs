//! Temporary folders of runs: they are removed, whatever a target creates in them.

use super::support::{CliOutput, Folder, output_of};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Prefix of the names of temporary folders.
const PREFIX: &str = "agentnative-";
/// File in each temporary folder that its owner has locked.
const OWNER_FILE: &str = ".agentnative-owner";

fn check_in(folder: &Folder, temporary: &Path) -> CliOutput {
    let args = ["check", "./cli", "--json", "--fast", "--check", "p2-exit-success", "--probe", "go"];
    output_of(folder.command().env("TMPDIR", temporary).args(args).args(["--timeout", "60"]))
}

fn entries_of(temporary: &Path) -> Vec<String> {
    let entries = fs::read_dir(temporary).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Temporary folders in folders of the machine that confined runs do not see.
fn shared_folders() -> impl Iterator<Item = TempDir> {
    ["/dev/shm", "/run"].into_iter().filter_map(|shared| {
        let made = tempfile::tempdir_in(shared);
        made.inspect_err(|_| eprintln!("skipped: no folder can be made in {shared}")).ok()
    })
}

#[test]
fn the_folders_of_runs_can_be_in_memory() {
    let folder = Folder::with("cd \"$HOME\" && : >\"$TMPDIR/file\" && echo '{}'\n");
    let elsewhere = check_in(&folder, Path::new(env!("CARGO_TARGET_TMPDIR"))).data();
    for temporary in shared_folders() {
        let output = check_in(&folder, temporary.path());
        assert_eq!(output.status("p2-exit-success"), "pass", "{temporary:?}: {}{}", output.out, output.err);
        assert_eq!(output.data()["isolation"], elsewhere["isolation"], "{temporary:?}: {}", output.out);
    }
}

#[test]
fn runs_in_the_same_folder_as_their_target_do_not_see_each_other() {
    for temporary in shared_folders() {
        // The folder of all runs is two levels up and contains the file of its owner.
        let script = format!("[ ! -e \"$HOME/../../{OWNER_FILE}\" ] && echo '{{}}'\n");
        let folder = Folder::within(temporary.path(), &script);
        let output = check_in(&folder, temporary.path());
        if output.data()["isolation"] != "namespaces" {
            eprintln!("skipped: runs are not in namespaces here");
            return;
        }
        assert_eq!(output.status("p2-exit-success"), "pass", "{temporary:?}: {}{}", output.out, output.err);
    }
}

#[test]
fn deep_and_inaccessible_folders_are_removed() {
    let folder = Folder::with(&format!(
        "case $* in *go*) exec '{}' \"${{0%/*}}/deep.py\" ;; esac\necho ok\n",
        crate::interpreter::program().display()
    ));
    let deep = [
        "import os",
        "os.chdir(os.environ['HOME'])",
        "os.makedirs('a/0/b'); os.mkdir('0'); os.symlink('/', 'a/1'); os.symlink('..', 'a/0/link')",
        "os.mkdir('closed'); open('closed/file', 'w').close(); os.chmod('closed', 0)",
        "for _ in range(4000):",
        "    os.mkdir('d'); os.chdir('d')",
        "print('{}')",
    ];
    folder.write("deep.py", deep.join("\n"));
    let temporary = tempfile::tempdir().unwrap();
    let output = check_in(&folder, temporary.path());
    assert_eq!((output.code, output.status("p2-exit-success").as_str()), (Some(0), "pass"), "{}", output.err);
    assert_eq!(entries_of(temporary.path()), [""; 0]);
}

#[test]
fn folders_of_a_killed_checker_are_removed_by_the_next_one() {
    let folder = Folder::demo("");
    let temporary = tempfile::tempdir().unwrap();
    let make = |name: &str, owner: bool| -> PathBuf {
        let path = temporary.path().join(format!("{PREFIX}{name}"));
        fs::create_dir_all(path.join("000001/home")).unwrap();
        if owner {
            File::create(path.join(OWNER_FILE)).unwrap();
        }
        path
    };
    let [leftover, owned, recent] = ["left", "alive", "young"].map(|name| make(name, true));
    let foreign = make("of-a-user", false);
    let lock = File::open(owned.join(OWNER_FILE)).unwrap();
    lock.lock().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(600);
    for path in [&leftover, &owned, &foreign] {
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    check_in(&folder, temporary.path());
    assert_eq!(
        entries_of(temporary.path()),
        ["alive", "of-a-user", "young"].map(|name| format!("{PREFIX}{name}"))
    );
    assert!(recent.exists());
}

#[test]
fn folders_that_cannot_be_removed_are_reported() {
    let python = crate::interpreter::program();
    let folder = Folder::with(&format!(
        "case $* in *go*) '{}' \"${{0%/*}}/flag.py\" \"$HOME\" 16 ;; esac\necho '{{}}'\n",
        python.display()
    ));
    // Sets the immutable attribute, which only root can do, and not on every file system.
    let flag = [
        "import fcntl, os, struct, sys",
        "path, flags = sys.argv[1], int(sys.argv[2])",
        "try: fcntl.ioctl(os.open(path, os.O_RDONLY), 0x40086602, struct.pack('l', flags))",
        "except OSError: pass",
    ];
    folder.write("flag.py", flag.join("\n"));
    let temporary = tempfile::tempdir().unwrap();
    let output = check_in(&folder, temporary.path());
    assert_eq!((output.code, output.status("p2-exit-success").as_str()), (Some(0), "pass"), "{}", output.err);
    let notes = output.data()["notes"].as_array().cloned().unwrap_or_default();
    let notes: Vec<&str> = notes.iter().filter_map(|note| note.as_str()).collect();
    let left: Vec<_> = entries_of(temporary.path()).iter().map(|name| temporary.path().join(name)).collect();
    if left.is_empty() {
        eprintln!("skipped: no folder in {} can be made immutable", temporary.path().display());
    }
    for path in &left {
        let expected = format!("cannot remove {}: ", path.display());
        assert!(notes.iter().any(|note| note.starts_with(&expected)), "{notes:?}");
        for run in fs::read_dir(path).unwrap() {
            let home = run.unwrap().path().join("home");
            Command::new(&python).arg(folder.path().join("flag.py")).arg(home).arg("0").status().unwrap();
        }
    }
    assert_eq!(notes.iter().any(|note| note.starts_with("cannot remove ")), !left.is_empty());
}
