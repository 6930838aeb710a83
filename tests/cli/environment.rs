//! Environment of runs: home, workspaces, services, and the build before the first run.

use super::support::{CliOutput, Folder, output_of, within};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// A server that accepts connections on a port, prints the line `up`, and appends to the file `started`.
const SERVER: &str = r#"import os, signal, socket, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "started"), "a").write("x")
print("up", sys.argv[1], flush=True)
while True:
    listener.accept()[0].close()
"#;

/// Whether a process with this ID exists.
fn is_alive(pid: &str) -> bool {
    fs::exists(format!("/proc/{}", pid.trim())).unwrap()
}

const ASSERTING_CLI: &str = r#"
case $* in *--agentnative*) echo '{"error":"x","kind":"usage","message":"x"}' >&2; exit 2;; --*) exit 0;; esac
fail() { echo "$1 in $PWD" >&2; exit 9; }
[ "$(cat "$HOME/.tool/settings.json")" = "{\"url\": \"http://127.0.0.1:$PORT/v1\"}" ] || fail home
[ "$(cat "$HOME/plain")" = '{"url": "http://127.0.0.1:{port}/v1"}' ] && fail place
[ "$SERVER" = "127.0.0.1:$PORT" ] || fail env
[ "$2" = "--at=$PORT" ] || fail "$2"
[ "$(ls -A)" = "$3" ] || fail "$(ls -A)"
echo >made; [ "$4" != item ] || rm item || fail remove
exec 3<>"/dev/tcp/127.0.0.1/$PORT" || fail connect
echo '{"ok":true}'
"#;

fn folder_with_service(more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("server.py", SERVER);
    folder.write("cli", format!("#!/bin/bash\n{ASSERTING_CLI}"));
    fs::set_permissions(folder.path().join("cli"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("settings.json", r#"{"url": "http://127.0.0.1:{port}/v1"}"#);
    fs::create_dir(folder.path().join("shop")).unwrap();
    folder.write("shop/item", "1");
    let toml = r#"
[target]
command = ["./cli"]
home = { ".tool/settings.json" = "settings.json", "plain" = "./settings.json" }
[[service]]
command = ["/usr/bin/python3", "server.py", "{port}"]
ready = { port = "{port}" }
env = { SERVER = "127.0.0.1:{port}" }
[[probe]]
name = "copy"
args = ["list", "--at={port}", "item", "item"]
formats = ["json"]
env = { PORT = "{port}" }
workspace = "shop"
[[probe]]
name = "empty"
args = ["list", "--at={port}", ""]
formats = ["json"]
env = { PORT = "{port}" }
workspace = true
"#;
    folder.write("agentnative.toml", format!("{toml}{more}"));
    folder
}

#[test]
fn runs_have_the_configured_home_workspace_and_services() {
    let folder = folder_with_service("");
    let checks =
        ["--check", "p2-exit-success", "--check", "p2-output-stable", "--check", "p2-output-complete"];
    let output = folder.run(&[&["check", "--json", "--record", "seen"][..], &checks].concat());
    for id in ["p2-exit-success", "p2-output-stable", "p2-output-complete"] {
        assert_eq!(output.status(id), "pass", "{}{}", output.out, output.err);
    }
    // The service starts once per check, and the folder is unchanged by the runs.
    assert_eq!(folder.read("started"), "x");
    assert!(fs::exists(folder.path().join("shop/item")).unwrap());
    assert!(!fs::exists(folder.path().join("shop/made")).unwrap());
    // Without a run of a declared probe no service is started.
    let help = folder.run(&["check", "--json", "--check", "p2-exit-documented"]);
    assert!(help.data()["runs"].as_u64() >= Some(1), "{help:?}");
    assert_eq!(folder.read("started"), "x");
    // A recording contains no port, and its replay needs no service.
    let recording = folder.read("seen");
    assert!(recording.lines().next().unwrap().contains("--at={port}"), "{recording}");
    fs::remove_dir_all(folder.path().join("shop")).unwrap();
    fs::remove_file(folder.path().join("server.py")).unwrap();
    let again = folder.run(&[&["check", "--replay", "seen", "--json"][..], &checks].concat());
    assert_eq!((again.out, again.code), (output.out, output.code));
}

#[test]
fn a_service_that_does_not_run_is_a_configuration_error() {
    let folder = folder_with_service("");
    // The last target below looks for the process of the service.
    let toml = folder.read("agentnative.toml").replace("[target]", "[target]\nisolation = 'none'");
    let check_with = |command: &str, ready: &str| {
        let text = toml
            .replace(r#"["/usr/bin/python3", "server.py", "{port}"]"#, command)
            .replace(r#"{ port = "{port}" }"#, ready);
        folder.write("agentnative.toml", text);
        folder.run(&["check", "--json", "--check", "p2-exit-success"])
    };
    let fails = r#"["sh", "-c", "echo starting; printf '\\033[31mno licence\\033[0m\\nbye\\n' >&2; exit 3"]"#;
    let output = check_with(fails, r#"{ port = "{port}" }"#);
    assert_eq!((output.code, output.out.as_str()), (Some(78), ""), "{output:?}");
    let error = output.error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("ended before it was ready: exit code 3"), "{message}");
    let all = error.to_string();
    assert!(all.contains("no licence") && all.contains("bye") && !all.contains("\\u001b"), "{all}");

    let output = check_with(r#"["./no-such-server"]"#, r#"{ line = "up" }"#);
    assert_eq!((output.code, output.out.as_str()), (Some(78), ""));
    assert!(output.error()["message"].as_str().unwrap().contains("no-such-server"), "{output:?}");

    // A service that ends while the probes run is an error.
    folder.script("cli", "while kill -0 $(cat \"${0%/*}/pid\"); do sleep 0.01; done 2>&-; echo '{}'\n");
    let output =
        check_with(r#"["sh", "-c", "echo $$ >pid; echo up; sleep 0.1; exit 5"]"#, r#"{ line = "up" }"#);
    assert_eq!((output.code, output.out.as_str()), (Some(78), ""), "{output:?}");
    let message = output.error()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("ended while the probes ran: exit code 5"), "{message}");
}

#[test]
fn a_signal_also_ends_services() {
    let folder = folder_with_service("");
    let never_ending =
        "echo $$ >pid; trap '' TERM; sleep 1000 & setsid sleep 1000 & echo $! >>pid; echo >told; wait";
    let toml = folder.read("agentnative.toml").replace(
        r#"["/usr/bin/python3", "server.py", "{port}"]"#,
        &format!(r#"["sh", "-c", "{never_ending}"]"#),
    );
    folder.write("agentnative.toml", toml);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("told"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut check = folder.command();
    check.args(["check", "--check", "p2-exit-success"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = check.spawn().unwrap();
    let pipe = folder.path().join("told");
    within("the start of the service", move || fs::read(pipe)).unwrap();
    let pids = folder.read("pid");
    assert!(pids.lines().count() == 2 && pids.lines().all(is_alive), "{pids}");
    let kill = output_of(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]));
    assert_eq!(kill.code, Some(0));
    let output = within("the end", move || child.wait_with_output()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(!pids.lines().any(is_alive), "{pids}");
}

#[test]
fn a_target_is_built_before_its_first_run_with_the_output_on_stderr() {
    let folder = Folder::new();
    folder.script("make", "echo x >>built; echo compiling; echo warning >&2; cp cli.sh cli; exit ${FAIL:-0}");
    folder.script("cli.sh", "echo '{}'\n");
    let toml = "[target]\ncommand = ['./cli']\nbuild = ['./make']\n[[probe]]\nname = 'a'\nargs = []\n";
    folder.write("agentnative.toml", toml);
    let check = ["check", "--json", "--check", "p2-output-json", "--record", "seen"];
    let output = folder.run(&check);
    assert_eq!(output.status("p2-output-json"), "pass", "{output:?}");
    assert_eq!((output.err.as_str(), folder.read("built").as_str()), ("compiling\nwarning\n", "x\n"));
    // The build runs only before runs.
    let again = folder.run(&["check", "--json", "--check", "p2-output-json", "--replay", "seen"]);
    assert_eq!((again.out, again.err.as_str()), (output.out, ""));
    folder.run(&["list"]);
    folder.run(&["check", "--layer", "source"]);
    assert_eq!(folder.read("built"), "x\n");
    // A failing build, which has the environment of the caller.
    let failed = output_of(folder.command().args(check).env("FAIL", "3"));
    assert_eq!((failed.code, failed.out.as_str()), (Some(78), ""));
    let (shown, error) = failed.err.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(shown, "compiling\nwarning");
    assert!(error.contains("the build `./make` failed: exit code 3"), "{error}");
}

#[test]
fn a_program_that_is_older_than_its_code_is_noted() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::create_dir_all(folder.path().join("dist")).unwrap();
    folder.write("package.json", r#"{"name": "mycli", "bin": "dist/cli.js"}"#);
    folder.write("src/cli.ts", "export {};\n");
    folder.script("dist/cli.js", "echo '{}'\n");
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./dist/cli.js']\n[[probe]]\nname = 'a'\nargs = []\n",
    );
    let age = |file: &str, seconds: u64| {
        let then =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000 - seconds);
        fs::File::open(folder.path().join(file)).unwrap().set_modified(then).unwrap();
    };
    let notes = || {
        let args = [
            "check",
            "--json",
            "--check",
            "p2-output-json",
            "--check",
            "p2-src-stray-print",
            "--record",
            "seen",
        ];
        let data = folder.run(&args).data();
        let notes = data["notes"].as_array().cloned().unwrap_or_default();
        notes.into_iter().filter(|note| note.as_str().unwrap().contains("newer")).collect::<Vec<_>>()
    };
    age("src/cli.ts", 10);
    age("dist/cli.js", 5);
    assert_eq!(notes(), Vec::<serde_json::Value>::new());
    age("src/cli.ts", 1);
    let expected = "src/cli.ts is newer than the checked program dist/cli.js, which may be outdated; \
                    build it, or declare `build` under [target]";
    assert_eq!(notes(), [expected]);
    // The recording contains the times.
    age("src/cli.ts", 20);
    let again = folder.run(&["check", "--json", "--check", "p2-output-json", "--replay", "seen"]).out;
    assert!(again.contains("is newer than the checked program"), "{again}");
}

#[test]
fn a_cargo_project_that_changed_after_its_build_is_noted_or_built() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::create_dir_all(folder.path().join("target/debug")).unwrap();
    folder.write("Cargo.toml", "[package]\nname = \"mycli\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    folder.write("src/main.rs", "fn main() { println!(\"{{}}\") }\n");
    folder.script("target/debug/mycli", "echo '{}'\n");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let program = fs::File::open(folder.path().join("target/debug/mycli")).unwrap();
    program.set_modified(long_ago).unwrap();
    let notes = || {
        let output = folder.run(&[
            "check",
            "--json",
            "--check",
            "p2-output-json,p2-src-stray-print",
            "--probe",
            "list",
        ]);
        assert_eq!(output.status("p2-output-json"), "pass", "{output:?}");
        let notes = output.data()["notes"].as_array().cloned().unwrap_or_default();
        notes.into_iter().filter(|note| note.as_str().unwrap().contains("newer")).collect::<Vec<_>>()
    };
    let [note] = &notes()[..] else { panic!("one note") };
    let note = note.as_str().unwrap();
    assert!(note.starts_with("src/main.rs is newer than the checked program target/debug/mycli"), "{note}");
    // With `build` nothing is noted, however old the program is.
    folder.write(
        "agentnative.toml",
        "[target]\nbuild = ['touch', '-d', '2001-01-01', 'made', 'target/debug/mycli']\n",
    );
    assert_eq!(notes(), Vec::<serde_json::Value>::new());
    assert!(folder.path().join("made").exists());
}

/// Writes whether it can read environment and memory of itself, of its supervisor and of the checker.
const READS_CHECKER: &str = r#"
supervisor=$PPID
checker=$(awk '/^PPid/ { print $2 }' /proc/$supervisor/status)
for process in self $supervisor $checker; do
    for file in environ mem; do
        if head -c 0 /proc/$process/$file 2>/dev/null; then echo open; else echo closed; fi
    done
done | tr '\n' ' ' >"${0%/*}/found"
echo '{}'
"#;

#[test]
fn a_run_cannot_read_memory_or_environment_of_the_checker() {
    let folder = Folder::with(READS_CHECKER);
    let output = check_unprivileged(&folder, "none");
    assert_eq!((output.code, output.status("p2-completes").as_str()), (Some(0), "pass"), "{}", output.err);
    let found = fs::read_to_string(folder.path().join("found")).unwrap();
    assert_eq!(found, "open open closed closed closed closed ");
}

#[test]
fn the_helper_has_no_variables_of_the_caller() {
    let folder = Folder::with("cat /proc/$PPID/environ >\"${0%/*}/found\" 2>/dev/null\necho '{}'\n");
    let build = "[target]\ncommand = ['./cli']\nisolation = 'none'\nbuild = ['sh', '-c', 'echo \"$CI_SECRET\" >built']\n";
    folder.write("agentnative.toml", build);
    let mut command = folder.command();
    command.args(["check", "--json", "--check", "p2-completes", "--probe", "go"]);
    let output = output_of(
        command.env_remove("LD_LIBRARY_PATH").env("CI_SECRET", "0123456789").env("TMPDIR", folder.path()),
    );
    assert_eq!(output.code, Some(0), "{}", output.err);
    let built = fs::read_to_string(folder.path().join("built")).unwrap();
    assert_eq!(built, "0123456789\n", "a build has all variables");
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can read the environment of that process");
        return;
    }
    let found = fs::read_to_string(folder.path().join("found")).unwrap();
    assert_eq!(found, format!("TMPDIR={}\0", folder.path().display()));
}

/// Leaves a process of root, if the setuid program `other` runs as root.
const LEAVES_ROOT_PROCESS: &str = r#"
work='import os, time; os.setresuid(0, 0, 0); time.sleep(600)'
setsid "${0%/*}/other" -I -c "$work" </dev/null >/dev/null 2>&1 &
echo '{}'
"#;

#[test]
fn a_process_that_cannot_be_killed_is_reported() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can make a program that this user may not end");
        return;
    }
    let folder = Folder::with(LEAVES_ROOT_PROCESS);
    fs::copy(crate::interpreter::program(), folder.path().join("other")).unwrap();
    fs::set_permissions(folder.path().join("other"), fs::Permissions::from_mode(0o4755)).unwrap();
    let output = check_unprivileged(&folder, "none");
    let program = folder.path().join("other").canonicalize().unwrap();
    let is_left = |number: &i32| fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|exe| exe == program);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let left: Vec<i32> = numbers.filter(is_left).collect();
    for number in &left {
        kill_process(Pid::from_raw(*number).unwrap(), Signal::KILL).unwrap();
    }
    if left.is_empty() {
        eprintln!("skipped: setuid programs in {} have no effect", folder.path().display());
        return;
    }
    assert_eq!((output.code, output.status("p2-completes").as_str()), (Some(1), "fail"), "{}", output.err);
    let message = output.data()["results"][0]["message"].as_str().unwrap().to_owned();
    let is_reported =
        |number: &i32| message.contains(&format!("(other, which could not be killed: process {number})"));
    assert!(left.iter().any(is_reported), "{message}: {left:?}");
}

/// A command that runs as an unprivileged user, because root can read everything.
fn unprivileged(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    command
}

/// Checks the target of a folder as an unprivileged user.
fn check_unprivileged(folder: &Folder, isolation: &str) -> CliOutput {
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.path().join("agentnative");
    fs::copy(env!("CARGO_BIN_EXE_agentnative"), &program).unwrap();
    let args =
        ["check", "./cli", "--json", "--isolation", isolation, "--check", "p2-completes", "--probe", "go"];
    output_of(unprivileged(&program).args(args).current_dir(folder.path()))
}

#[test]
fn namespaces_need_no_privileges() {
    let possible = unprivileged("unshare").args(["--user", "--mount", "true"]).status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: an ordinary user has no namespaces here");
        return;
    }
    let folder = Folder::with("grep -q '^CapPrm:\t0*$' /proc/self/status && echo '{}'\n");
    let output = check_unprivileged(&folder, "require");
    assert_eq!((output.code, output.status("p2-completes").as_str()), (Some(0), "pass"), "{}", output.err);
    assert_eq!(output.data()["isolation"], "namespaces");
}
