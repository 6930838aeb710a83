//! No harm: what hostile targets try to do to the machine through the checker.

use super::support::{CliOutput, Folder, output_of, program};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const WAYS: [&str; 3] = ["none", "landlock", "auto"];

/// Checks the target `cli` in a folder, in a way of confinement and with these variables.
fn check(folder: &Folder, isolation: &str, variables: &[(&str, &Path)]) -> CliOutput {
    let args = ["check", "./cli", "--probe", "go", "--json", "--fast", "--isolation", isolation];
    output_of(program().args(args).envs(variables.iter().copied()).current_dir(folder.path()))
}

/// What a run in namespaces printed; none, and a word about it, where this system has none.
fn printed(output: &CliOutput, folder: &Folder, name: &str) -> Option<String> {
    if output.data()["isolation"] != "namespaces" {
        eprintln!("skipped: this system has no namespaces");
        return None;
    }
    Some(fs::read_to_string(folder.path().join(name)).unwrap_or_default())
}

#[test]
fn clean_up_follows_no_link_that_a_run_made() {
    for isolation in WAYS {
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
        // The folders of runs lie in the folder that runs start in.
        check(&folder, isolation, &[("TMPDIR", folder.path())]);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "of the user", "{isolation}");
        assert!(victim.path().join("folder").is_dir(), "{isolation}");
    }
}

#[test]
fn a_run_sees_nothing_of_the_others() {
    let folder = Folder::with(
        "own=${TMPDIR%/*}; root=${own%/*}\n\
         ls -A \"$root\" | grep -vxF \"${own##*/}\" | grep -vx trip >>seen\n\
         (echo forged >\"$root/trip/less\") 2>/dev/null && echo written >>seen\nexit 0\n",
    );
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nwrites = true\n[[probe]]\nname = 'go'\nargs = ['go']\n",
    );
    let args = ["check", "--json", "--fast"];
    let output = output_of(program().args(args).env("TMPDIR", folder.path()).current_dir(folder.path()));
    let Some(seen) = printed(&output, &folder, "seen") else { return };
    assert_eq!(seen, "");
}

/// The project, the program, and what the configuration names; nothing else.
#[test]
fn a_run_sees_of_the_home_what_it_needs() {
    let home = Folder::new();
    fs::remove_dir(home.path().join(".git")).unwrap();
    let place = |name: &str, text: &str| {
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
        place(name, "secret");
    }
    place(".cargo/registry/crate", "public");
    place("shown/file", "public");
    place("kube", "secret");
    place("project/.git/config", "[http]\n\textraheader = AUTHORIZATION: basic secret\n");
    place("project/.git/HEAD", "ref: refs/heads/main\n");
    place("project/data", "public");
    place("tool/lib/part", "public");
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
    for caller in [Some(home.path()), None, Some(Path::new(""))] {
        let mut command = program();
        command.args(["check", "--json", "--fast", "--record"]).arg(&record).current_dir(&project);
        command.env_remove("HOME").env("KUBECONFIG", home.path().join("kube"));
        if let Some(caller) = caller {
            command.env("HOME", caller);
        }
        let output = output_of(&mut command);
        if output.code == Some(78) || output.data()["isolation"] != "namespaces" {
            eprintln!("skipped: this system has no namespaces, or the home is unknown: {}", output.err);
            continue;
        }
        if caller != Some(home.path()) {
            // It is not the home of this user: only what variables name is hidden.
            continue;
        }
        let recording = fs::read_to_string(&record).unwrap();
        for seen in [
            "./.cargo/registry/crate",
            "./project/data",
            "./shown/file",
            "./tool/lib/part",
            "refs/heads/main",
        ] {
            assert!(recording.contains(seen), "{seen} is not visible: {recording}");
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
