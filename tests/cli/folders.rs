//! The temporary folders of runs: whatever a target makes in them, they are gone afterwards.

use super::support::{CliOutput, Folder, output_of};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The program's folders begin so, and hold this file, which their owner has locked.
const PREFIX: &str = "agentnative-";
const OWNER: &str = ".agentnative-owner";

fn check_in(folder: &Folder, temporary: &Path) -> CliOutput {
    let args = ["check", "./cli", "--json", "--fast", "--check", "p2-exit-success", "--probe", "go"];
    output_of(folder.command().env("TMPDIR", temporary).args(args).args(["--timeout", "60"]))
}

fn left_in(temporary: &Path) -> Vec<String> {
    let entries = fs::read_dir(temporary).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Masked folders of the machine in which a folder can be made.
fn shared() -> impl Iterator<Item = TempDir> {
    ["/dev/shm", "/run"].into_iter().filter_map(|shared| {
        let made = tempfile::tempdir_in(shared);
        made.inspect_err(|_| eprintln!("skipped: no folder can be made in {shared}")).ok()
    })
}

#[test]
fn runs_may_have_their_folders_in_memory() {
    let folder = Folder::with("cd \"$HOME\" && : >\"$TMPDIR/file\" && echo '{}'\n");
    let elsewhere = check_in(&folder, Path::new(env!("CARGO_TARGET_TMPDIR"))).data();
    for temporary in shared() {
        let seen = check_in(&folder, temporary.path());
        assert_eq!(seen.status("p2-exit-success"), "pass", "{temporary:?}: {}{}", seen.out, seen.err);
        assert_eq!(seen.data()["isolation"], elsewhere["isolation"], "{temporary:?}: {}", seen.out);
    }
}

#[test]
fn runs_beside_their_target_see_nothing_of_each_other() {
    for temporary in shared() {
        // The folder of all runs is two above, and holds the file of its owner.
        let script = format!("[ ! -e \"$HOME/../../{OWNER}\" ] && echo '{{}}'\n");
        let folder = Folder::within(temporary.path(), &script);
        let seen = check_in(&folder, temporary.path());
        if seen.data()["isolation"] != "namespaces" {
            eprintln!("skipped: runs are not in namespaces here");
            return;
        }
        assert_eq!(seen.status("p2-exit-success"), "pass", "{temporary:?}: {}{}", seen.out, seen.err);
    }
}

#[test]
fn folders_of_any_depth_and_without_rights_are_removed() {
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
    let seen = check_in(&folder, temporary.path());
    assert_eq!((seen.code, seen.status("p2-exit-success").as_str()), (Some(0), "pass"), "{}", seen.err);
    assert_eq!(left_in(temporary.path()), [""; 0]);
}

#[test]
fn what_a_killed_program_left_is_removed_by_the_next_one() {
    let folder = Folder::demo("");
    let temporary = tempfile::tempdir().unwrap();
    let made = |name: &str, owner: bool| -> PathBuf {
        let path = temporary.path().join(format!("{PREFIX}{name}"));
        fs::create_dir_all(path.join("000001/home")).unwrap();
        if owner {
            File::create(path.join(OWNER)).unwrap();
        }
        path
    };
    let [left, alive, young] = ["left", "alive", "young"].map(|name| made(name, true));
    let foreign = made("of-a-user", false);
    let lock = File::open(alive.join(OWNER)).unwrap();
    lock.lock().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(600);
    for path in [&left, &alive, &foreign] {
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    check_in(&folder, temporary.path());
    assert_eq!(
        left_in(temporary.path()),
        ["alive", "of-a-user", "young"].map(|name| format!("{PREFIX}{name}"))
    );
    assert!(young.exists());
}

#[test]
fn what_cannot_be_removed_is_told() {
    let python = crate::interpreter::program();
    let folder = Folder::with(&format!(
        "case $* in *go*) '{}' \"${{0%/*}}/flag.py\" \"$HOME\" 16 ;; esac\necho '{{}}'\n",
        python.display()
    ));
    // The attribute of an immutable folder, which is root's to set, and not on every file system.
    let flag = [
        "import fcntl, os, struct, sys",
        "path, flags = sys.argv[1], int(sys.argv[2])",
        "try: fcntl.ioctl(os.open(path, os.O_RDONLY), 0x40086602, struct.pack('l', flags))",
        "except OSError: pass",
    ];
    folder.write("flag.py", flag.join("\n"));
    let temporary = tempfile::tempdir().unwrap();
    let seen = check_in(&folder, temporary.path());
    assert_eq!((seen.code, seen.status("p2-exit-success").as_str()), (Some(0), "pass"), "{}", seen.err);
    let notes = seen.data()["notes"].as_array().cloned().unwrap_or_default();
    let notes: Vec<&str> = notes.iter().filter_map(|note| note.as_str()).collect();
    let left: Vec<_> = left_in(temporary.path()).iter().map(|name| temporary.path().join(name)).collect();
    if left.is_empty() {
        eprintln!("skipped: no folder in {} can be made immutable", temporary.path().display());
    }
    for path in &left {
        let told = format!("{} could not be removed", path.display());
        assert!(notes.iter().any(|note| note.starts_with(&told)), "{notes:?}");
        for run in fs::read_dir(path).unwrap() {
            let home = run.unwrap().path().join("home");
            Command::new(&python).arg(folder.path().join("flag.py")).arg(home).arg("0").status().unwrap();
        }
    }
    assert_eq!(notes.iter().any(|note| note.contains("could not be removed")), !left.is_empty());
}
