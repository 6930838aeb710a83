//! Containment of hostile targets: what they can see and change through the checker.

use super::support::{CliOutput, Folder, output_of, program};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const ISOLATIONS: [&str; 3] = ["none", "landlock", "auto"];

/// Checks the target `cli` in a folder with this isolation and these variables.
fn check(folder: &Folder, isolation: &str, variables: &[(&str, &Path)]) -> CliOutput {
    let args = ["check", "./cli", "--probe", "go", "--json", "--fast", "--isolation", isolation];
    output_of(program().args(args).envs(variables.iter().copied()).current_dir(folder.path()))
}

/// Contents of a file that a run in namespaces wrote; `None`, with a message, where the system has no namespaces.
fn read_if_in_namespaces(output: &CliOutput, folder: &Folder, name: &str) -> Option<String> {
    if output.data()["isolation"] != "namespaces" {
        eprintln!("skipped: this system has no namespaces");
        return None;
    }
    Some(fs::read_to_string(folder.path().join(name)).unwrap_or_default())
}

#[test]
fn cleanup_does_not_follow_links_that_a_run_created() {
    for isolation in ISOLATIONS {
        let victim = Folder::new();
        let kept = victim.write("kept", "of the user");
        fs::create_dir(victim.path().join("folder")).unwrap();
        let script = format!(
            "own=${{TMPDIR%/*}}; root=${{own%/*}}\n\
             for folder in \"$root\"/*; do\n\
             mv \"$folder\" \"$folder.moved\" && ln -s {victim} \"$folder\"\ndone 2>/dev/null\n\
             mv \"$own/home\" \"$own/gone\" 2>/dev/null && ln -s {victim} \"$own/home\"\n\
             ln -s {victim} \"$own/tmp/link\"\nexit 0\n",
            victim = victim.path().display()
        );
        let folder = Folder::with(&script);
        // The folders of runs are in the folder that runs start in.
        check(&folder, isolation, &[("TMPDIR", folder.path())]);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "of the user", "{isolation}");
        assert!(victim.path().join("folder").is_dir(), "{isolation}");
    }
}

#[test]
fn a_run_does_not_see_other_runs() {
    let folder = Folder::with(
        "own=${TMPDIR%/*}; root=${own%/*}\n\
         ls -A \"$root\" | grep -vxF \"${own##*/}\" | grep -vx trip >>seen\n\
         cat \"${root%/*}/agentnative-other/secret\" >>seen 2>/dev/null\n\
         (echo forged >\"$root/trip/less\") 2>/dev/null && echo written >>seen\nexit 0\n",
    );
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nwrites = true\n[[probe]]\nname = 'go'\nargs = ['go']\n",
    );
    // The folder of another check.
    fs::create_dir(folder.path().join("agentnative-other")).unwrap();
    folder.write("agentnative-other/secret", "of another");
    let args = ["check", "--json", "--fast"];
    let output = output_of(program().args(args).env("TMPDIR", folder.path()).current_dir(folder.path()));
    let Some(visible) = read_if_in_namespaces(&output, &folder, "seen") else { return };
    assert_eq!(visible, "");
}

/// The project, the program and the files that the configuration names are visible.
#[test]
fn a_run_sees_only_the_needed_files_of_the_home() {
    let home = Folder::new();
    fs::remove_dir(home.path().join(".git")).unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for name in [
        ".pgpass",
        ".vault-token",
        ".config/rclone/rclone.conf",
        ".ssh/id",
        "notes/private",
        ".cargo/credentials.toml",
    ] {
        write(name, "secret");
    }
    write(".cargo/registry/crate", "public");
    write("shown/file", "public");
    write("kube", "secret");
    write("project/.git/config", "[http]\n\textraheader = AUTHORIZATION: basic secret\n");
    write("project/.git/HEAD", "ref: refs/heads/main\n");
    write("project/data", "public");
    // The program is in a versioned folder, as with many version managers.
    write("tools/1.0/lib/part", "public");
    symlink("tools/1.0", home.path().join("tool")).unwrap();
    write("helper/lib/part", "public");
    write("helper/bin/helper", "public");
    let script = home.path().join("tool/bin/cli");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::create_dir_all(home.path().join(".local/bin")).unwrap();
    let program_folder = Folder::with(&format!(
        "cd {home}; grep -rls secret . >seen.secret; grep -rls public . | sort >seen.public\n\
         cat project/.git/HEAD >>seen.public; cat seen.public; cat seen.secret >&2; exit 0\n",
        home = home.path().display()
    ));
    fs::copy(program_folder.path().join("cli"), &script).unwrap();
    symlink("../../tool/bin/cli", home.path().join(".local/bin/cli")).unwrap();
    let project = home.path().join("project");
    let config = format!(
        "[target]\ncommand = ['{}']\nreadable = ['~/shown']\n[[probe]]\nname = 'go'\nargs = ['go']\n",
        home.path().join(".local/bin/cli").display()
    );
    fs::write(project.join("agentnative.toml"), config).unwrap();
    let record = project.join("recording.json");
    for caller_home in [Some(home.path()), None, Some(Path::new(""))] {
        let mut command = program();
        command.args(["check", "--json", "--fast", "--record"]).arg(&record).current_dir(&project);
        command.env_remove("HOME").env("KUBECONFIG", home.path().join("kube"));
        let path = format!("{}:{}", home.path().join("helper/bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
        if let Some(caller_home) = caller_home {
            command.env("HOME", caller_home);
        }
        let output = output_of(&mut command);
        if output.code == Some(78) || output.data()["isolation"] != "namespaces" {
            eprintln!("skipped: this system has no namespaces, or the home is unknown: {}", output.err);
            continue;
        }
        if caller_home != Some(home.path()) {
            // `HOME` is not the home of this user: only the files that variables name are hidden.
            continue;
        }
        let recording = fs::read_to_string(&record).unwrap();
        for visible in [
            "./.cargo/registry/crate",
            "./project/data",
            "./shown/file",
            "./helper/lib/part",
            "./tools/1.0/lib/part",
            "refs/heads/main",
        ] {
            assert!(recording.contains(visible), "{visible} is not visible: {recording}");
        }
        for hidden in [
            ".pgpass",
            ".vault-token",
            "rclone.conf",
            ".ssh/id",
            "notes/private",
            "credentials.toml",
            "./kube",
            ".git/config",
        ] {
            assert!(!recording.contains(hidden), "{hidden} is visible");
        }
    }
}

/// A target that has only the text format.
const TEXT_TARGET: &str =
    "[target]\ncommand = ['./cli']\nformats.text = []\nformats.json = false\nformats.jsonl = false\n";
const GO_PROBE: &str = "[[probe]]\nname = 'go'\nargs = ['go']\n";

/// Writes `cache` to the folder that it starts in, and `installed` for each unknown option.
const WRITING_SCRIPT: &str = r#"
[ "$1" != --quiet ] || shift
case "$1" in
    --help | -h) echo 'Usage: cli [go]'; exit 0 ;;
    --version) echo 1.0.0; exit 0 ;;
    -*) echo installed >installed; echo "unknown option $1" >&2; exit 2 ;;
esac
echo cached >cache && cat cache || exit 3
"#;

#[test]
fn a_target_that_writes_to_its_folder_is_judged_and_leaves_nothing() {
    for isolation in ISOLATIONS {
        let folder = Folder::with(WRITING_SCRIPT);
        folder.write("agentnative.toml", format!("{TEXT_TARGET}{GO_PROBE}"));
        let output = folder.run(&["check", "--json", "--fast", "--isolation", isolation]);
        for id in ["p2-exit-success", "p2-exit-usage"] {
            assert_eq!(output.status(id), "pass", "{isolation} {id}: {}", output.out);
        }
        assert!(!folder.path().join("installed").exists(), "{isolation}");
        // Declared calls may write anywhere without confinement.
        assert_eq!(folder.path().join("cache").exists(), isolation == "none", "{isolation}");
    }
}

#[test]
fn a_folder_that_can_be_neither_overlaid_nor_copied_leaves_checks_unverified() {
    let folder = Folder::with(WRITING_SCRIPT);
    fs::create_dir(folder.path().join("many")).unwrap();
    for number in 0..20_001 {
        fs::write(folder.path().join(format!("many/{number}")), "").unwrap();
    }
    folder.write("agentnative.toml", format!("{TEXT_TARGET}{GO_PROBE}"));
    let check = |isolation| folder.run(&["check", "--json", "--fast", "--isolation", isolation]);
    let output = check("landlock");
    if output.data()["isolation"] != "landlock" {
        eprintln!("skipped: this system has no Landlock");
        return;
    }
    assert_eq!(output.status("p2-exit-success"), "unverified", "{}", output.out);
    assert!(output.out.contains("`writes = true`") && output.out.contains("`workspace`"), "{}", output.out);
    // Without confinement, derived calls are not made.
    let output = check("none");
    assert_eq!(output.status("p2-exit-usage"), "unverified", "{}", output.out);
    assert!(!folder.path().join("installed").exists());
}

#[test]
fn only_declared_calls_write_to_the_folder_of_a_target_that_writes() {
    for isolation in ["landlock", "auto"] {
        let folder = Folder::with(WRITING_SCRIPT);
        folder.write("agentnative.toml", format!("{TEXT_TARGET}writes = true\n{GO_PROBE}"));
        let output = folder.run(&["check", "--json", "--fast", "--isolation", isolation]);
        assert_eq!(output.status("p2-exit-success"), "pass", "{isolation}: {}", output.out);
        assert!(folder.path().join("cache").exists(), "{isolation}");
        assert!(!folder.path().join("installed").exists(), "{isolation}");
    }
}

#[test]
fn derived_calls_start_in_the_folder_of_the_probes() {
    let folder = Folder::with(
        "test -f here || { echo 'no project here' >&2; exit 1; }\n\
         case \"$1\" in --help) echo 'Usage: cli [go]' ;; -*) echo \"unknown option $1\" >&2; exit 2 ;; *) echo ok ;; esac\n",
    );
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/here"), "").unwrap();
    folder.write("agentnative.toml", format!("{TEXT_TARGET}{GO_PROBE}cwd = 'sub'\n"));
    let output = folder.run(&["check", "--json", "--fast"]);
    for id in ["p2-exit-success", "p2-exit-usage"] {
        assert_eq!(output.status(id), "pass", "{id}: {}", output.out);
    }
}

#[test]
fn linked_worktrees_and_submodules_are_visible_with_their_repository() {
    let home = Folder::new();
    fs::remove_dir(home.path().join(".git")).unwrap();
    let git = |folder: &str, args: &[&str]| {
        let identity =
            ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "protocol.file.allow=always"];
        let mut command = std::process::Command::new("git");
        command.args(identity).args(args).current_dir(home.path().join(folder)).env("HOME", home.path());
        command.output().is_ok_and(|output| output.status.success())
    };
    fs::create_dir(home.path().join("main")).unwrap();
    let made = git("main", &["init", "-q"])
        && git("main", &["commit", "-q", "--allow-empty", "-m", "unmistakable"])
        && git("main", &["worktree", "add", "-q", "../linked"])
        && git("main", &["submodule", "add", "-q", "../main", "part"]);
    if !made {
        eprintln!("skipped: there is no git for this test");
        return;
    }
    for folder in ["linked", "main/part"] {
        let start = home.path().join(folder);
        let record = home.path().join("recording.json");
        let mut command = program();
        command.args([
            "check",
            "--command",
            "git",
            "--probe",
            "log --format=%s",
            "--fast",
            "--json",
            "--record",
        ]);
        let output = output_of(command.arg(&record).env("HOME", home.path()).current_dir(start));
        if output.data()["isolation"] != "namespaces" {
            eprintln!("skipped: this system has no namespaces");
            return;
        }
        let recording = fs::read_to_string(&record).unwrap();
        assert!(recording.contains("unmistakable"), "{folder}: {recording}");
    }
}

/// The folder that such a run starts in is not in the project.
#[test]
fn a_run_with_a_workspace_sees_its_program() {
    let home = Folder::new();
    let project = home.path().join("project");
    fs::create_dir_all(project.join("lib")).unwrap();
    fs::write(project.join("lib/part.py"), "print('{}')\n").unwrap();
    let script = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__) + '/lib')\nimport part\n";
    fs::write(project.join("cli.py"), script).unwrap();
    let target =
        TEXT_TARGET.replace("'./cli'", &format!("'python3', '{}'", project.join("cli.py").display()));
    fs::write(project.join("agentnative.toml"), format!("{target}{GO_PROBE}workspace = true\n")).unwrap();
    let mut command = program();
    command.args(["check", "--json", "--fast"]).env("HOME", home.path()).current_dir(&project);
    let output = output_of(&mut command);
    assert_eq!(output.status("p2-exit-success"), "pass", "{}", output.out);
}
