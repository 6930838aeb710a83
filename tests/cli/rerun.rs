//! Repeated checks: `--fast`, `--failed`, `--watch`, and skipped checks.

use super::support::{CliOutput, Folder, output_of, run, within};
use agentnative::model::{CheckId, Variant};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};

fn check_ids(output: &CliOutput) -> Vec<String> {
    let data = output.data();
    data["results"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_fast_check_makes_only_plain_runs_and_names_what_it_leaves_out() {
    // Each plain run of `status` has a problem.
    let folder = Folder::demo("status() { echo '{'; }");
    let toml = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n\
                [[probe]]\nname = 'status'\nargs = ['status']\nformats = ['json']\n\
                [[waiver]]\ncheck = 'p2-broken-pipe'\nreason = 'known'\n";
    folder.write("agentnative.toml", toml);
    let all = ["check", "--json", "--layer", "behavioral"];
    let output = folder.run(&[&all[..], &["--fast", "--record", "seen"]].concat());
    assert_eq!(output.code, Some(1));
    assert_eq!(output.status("p2-output-json"), "fail");
    for id in ["p2-output-jsonl", "p2-output-pure", "p2-output-complete", "p2-output-stable", "p2-completes"]
    {
        assert_eq!(output.status(id), "unverified", "{id}");
    }
    for id in ["p2-exit-success", "p2-exit-usage", "p2-jsonl-newline"] {
        assert_eq!(output.status(id), "pass", "{id}");
    }
    let data = output.data();
    let why = "plain runs cannot decide this: run the check without --fast";
    for result in data["results"].as_array().unwrap() {
        let left_out = result["message"].as_str().unwrap().contains(why);
        let check = result["id"].as_str().unwrap().parse::<CheckId>().unwrap().check();
        // Probes that change nothing are not repeated.
        let variants =
            check.runs.variants.iter().any(|other| !matches!(other, Variant::Plain | Variant::Repeat));
        assert!(!left_out || variants && result["status"] == "unverified", "{result:#}");
        assert!(left_out || !variants || result["status"] != "unverified", "{result:#}");
        assert!(!variants || result["status"] != "pass", "{result:#}");
    }
    // Unused waivers are not reported.
    assert_eq!(data["notes"], Value::Null);
    let runs = folder.read("seen");
    let runs = || runs.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(runs().all(|run| run["run"]["variant"] == "plain") && runs().count() > 10);
    // A recording contains how it was made.
    assert_eq!(folder.run(&["check", "--json", "--layer", "behavioral", "--replay", "seen"]), output);
    assert_eq!(folder.run(&["check", "--fast", "--replay", "seen"]).code, Some(2));
    // Checks that were left out are unverified for --strict as well.
    let strict = ["check", "--json", "--fast", "--strict", "--check", "p2-output-stable", "--probe", "empty"];
    let output = folder.run(&strict);
    assert_eq!((output.code, output.error()["message"].as_str()), (Some(1), Some("1 MUST check unverified")));
}

#[test]
fn the_configuration_can_skip_checks_and_deny_warnings() {
    // A warning, and no failure.
    let folder = Folder::demo("list() { printf '[{\"id\":12345678901234567890}]\\n'; }");
    let toml =
        "[target]\ncommand = ['./cli']\nformats.jsonl = false\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    folder.write("agentnative.toml", toml);
    let warns = ["check", "--json", "--check", "p2-json-interop,p2-json-strict"];
    let output = folder.run(&warns);
    assert_eq!((output.code, output.status("p2-json-interop").as_str()), (Some(0), "warn"), "{output:?}");
    assert_eq!(output.data()["deny"], Value::Null);
    let denied = folder.run(&[&warns[..], &["--deny", "should"]].concat());
    assert_eq!((denied.code, denied.status("p2-json-interop").as_str()), (Some(1), "warn"));
    assert_eq!((&denied.json()["ok"], &denied.data()["deny"]), (&json!(false), &json!(["should"])));
    assert_eq!(denied.data()["conformant"], true);
    assert_eq!(denied.error()["message"], "1 SHOULD check failed (--deny should)");
    let text = folder.run(&["check", "--check", "p2-json-interop,p2-json-strict", "--deny", "should"]).out;
    assert!(text.contains("conformant: 1 warning (denied), 1 passed"), "{text}");
    assert_eq!(folder.run(&[&warns[..], &["--deny", "must"]].concat()).code, Some(2));

    folder.write(
        "agentnative.toml",
        format!("{toml}[check]\ndeny = ['should']\nskip = ['p2-json-s*', 'p2-raw']\n"),
    );
    let record =
        ["check", "--json", "--layer", "behavioral", "--skip", "p2-output-*,p2-exit-*", "--record", "seen"];
    let output = folder.run(&record);
    assert_eq!(output.code, Some(1));
    let left = check_ids(&output);
    assert!(
        !left.iter().any(|id| ["p2-json-strict", "p2-raw", "p2-output-json"].contains(&id.as_str())),
        "{left:?}"
    );
    assert!(left.iter().any(|id| id == "p2-json-interop"));
    assert_eq!(
        output.data()["notes"],
        json!(["the configuration skips p2-json-strict, p2-raw (`skip` under [check])"])
    );
    // A recording contains the skipped checks, as it contains the waivers.
    assert_eq!(folder.run(&[&record[..6], &["--replay", "seen"]].concat()), output);
    // A check that is named explicitly is not skipped.
    let named = folder.run(&["check", "--json", "--check", "p2-json-strict"]);
    assert_eq!((check_ids(&named), named.code), (vec!["p2-json-strict".to_owned()], Some(0)));
    let none = folder.run(&["check", "--json", "--principle", "2", "--skip", "p2-[!r]*"]);
    assert_eq!(none.code, Some(2), "character classes are not supported: {none:?}");
    let all: Vec<&str> = CheckId::ALL.iter().map(|id| id.as_str()).filter(|id| *id != "p2-raw").collect();
    let none = folder.run(&["check", "--json", "--skip", &all.join(",")]);
    assert_eq!(none.code, Some(2));
    assert_eq!(none.error()["message"], "the configuration skips all selected checks");
}

/// Service users have a home that must not exist.
#[test]
fn previous_results_are_private_and_no_home_is_created_for_them() {
    let folder = Folder::with("echo '{}'\n");
    let home = folder.path().join("home");
    let check = || {
        let mut command = folder.command();
        command.env_remove("XDG_CACHE_HOME").env("HOME", &home);
        let output = output_of(command.args([
            "check",
            "./cli",
            "--json",
            "--probe",
            "go",
            "--check",
            "p2-exit-success",
        ]));
        assert_eq!(output.status("p2-exit-success"), "pass", "{}", output.err);
    };
    check();
    assert!(!home.exists());
    fs::create_dir(&home).unwrap();
    check();
    assert!(home.join(".cache/agentnative/last-time").is_dir());
    assert_eq!(fs::metadata(home.join(".cache")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn failed_repeats_the_checks_that_did_not_pass_last_time() {
    let folder = Folder::demo("list() { echo '{'; }");
    let toml = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    folder.write("agentnative.toml", toml);
    let cache = folder.path().join("cache");
    let run = |flags: &[&str]| {
        let mut command = folder.command();
        output_of(command.arg("check").args(flags).env("XDG_CACHE_HOME", &cache))
    };
    let some = ["--json", "--check", "p2-output-json,p2-exit-success,p2-exit-auth"];
    let failed = |flags: &[&str]| run(&[&some[..], &["--failed"], flags].concat());
    let note = |output: &CliOutput| output.data()["notes"][0].as_str().unwrap_or_default().to_owned();
    let no_results = "--failed: no earlier result of this target is known, so all checks ran";

    // There are no previous results yet.
    let first = failed(&[]);
    assert_eq!((check_ids(&first).len(), note(&first).as_str()), (3, no_results));
    assert_eq!(first.status("p2-output-json"), "fail");
    // Failed and unverified checks run again, and so does an added check without a previous result.
    let again = failed(&[]);
    assert_eq!(check_ids(&again), ["p2-output-json", "p2-exit-auth"]);
    assert_eq!(note(&again), "--failed: 2 of 3 checks ran; the others had no open problem last time");
    let more = failed(&["--check", "p2-raw"]);
    assert_eq!(check_ids(&more), ["p2-output-json", "p2-exit-auth", "p2-raw"]);
    // The target is fixed; results of checks that do not run are kept.
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/clis/lib/conforming.sh");
    folder.script("cli", &format!(". '{library}'\nmain \"$@\"\n"));
    let one = run(&["--json", "--failed", "--check", "p2-output-json"]);
    assert_eq!((one.code, one.status("p2-output-json").as_str()), (Some(0), "pass"));
    assert_eq!(check_ids(&failed(&[])), ["p2-exit-auth"]);
    assert_eq!(
        run(&["--json", "--check", "p2-exit-auth", "--probe", "77:whoami"]).status("p2-exit-auth"),
        "pass"
    );

    // No check is left.
    let text = run(&[&some[1..], &["--failed", "--report", "json=none.json"]].concat());
    let line = "nothing to check: no check failed or was unverified last time\n";
    assert_eq!((text.code, text.out.as_str(), text.err.as_str()), (Some(0), line, ""));
    let none = failed(&["--record", "none"]);
    assert_eq!((none.code, check_ids(&none), none.json()["ok"].clone()), (Some(0), vec![], json!(true)));
    assert_eq!(none.out, folder.read("none.json"));
    assert_eq!(none.data()["target"], one.data()["target"]);
    let lines = run(&[&some[1..], &["--failed", "--jsonl"]].concat()).lines();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["start", "summary"]);

    // Another target, or another configuration, has no previous results.
    assert_eq!(note(&failed(&["./cli"])), no_results);
    folder.write("other.toml", toml);
    assert_eq!(note(&failed(&["--config", "other.toml"])), no_results);
    // A recording cannot be combined with `--failed`.
    assert_eq!(run(&[&some[..], &["--record", "seen"]].concat()).code, Some(0));
    assert_eq!(run(&["--failed", "--replay", "seen"]).code, Some(2));
    // A damaged file counts as missing, and a file that cannot be written is no error.
    let files =
        || fs::read_dir(cache.join("agentnative/last-time")).unwrap().map(|file| file.unwrap().path());
    assert_eq!(files().count(), 3);
    for file in files() {
        fs::write(&file, "{\"version\":1").unwrap();
    }
    let damaged = failed(&[]);
    assert_eq!(
        (check_ids(&damaged).len(), note(&damaged).as_str(), damaged.err.as_str()),
        (3, no_results, "")
    );
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "").unwrap();
    assert_eq!((failed(&[]).code, note(&failed(&[])).as_str()), (Some(0), no_results));
}

/// A running `check --watch`.
struct WatchedCheck {
    child: Child,
    stderr_lines: Option<Lines<BufReader<ChildStderr>>>,
}

impl WatchedCheck {
    fn new(folder: &Folder, flags: &[&str]) -> Self {
        let mut command = folder.command();
        command.args(["check", "--watch"]).args(flags).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr_lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, stderr_lines: Some(stderr_lines) }
    }

    /// Reads stderr until the check waits for a change. Returns the lines before that.
    fn read_until_idle(&mut self) -> String {
        let mut lines = self.stderr_lines.take().unwrap();
        let (lines, stderr) = within("the wait for a change", move || {
            let mut stderr = String::new();
            for line in lines.by_ref().map(Result::unwrap) {
                if line.starts_with("watching for changes") {
                    return (lines, stderr);
                }
                stderr += &line;
            }
            panic!("it ended: {stderr}")
        });
        self.stderr_lines = Some(lines);
        stderr
    }

    /// Ends the check with SIGINT, as Ctrl-C does. Returns its stdout.
    fn interrupt(mut self) -> String {
        let kill = output_of(Command::new("kill").args(["-INT", &self.child.id().to_string()]));
        assert_eq!(kill.code, Some(0));
        let mut stdout = self.child.stdout.take().unwrap();
        let out = within("the end", move || {
            let mut out = String::new();
            stdout.read_to_string(&mut out).unwrap();
            out
        });
        assert_eq!(self.child.wait().unwrap().code(), Some(130), "{out}");
        out
    }
}

impl Drop for WatchedCheck {
    fn drop(&mut self) {
        // The check has ended unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_checks_again_when_the_program_or_the_configuration_changes() {
    let folder = Folder::demo("");
    let toml = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let contract = "contract = 'list.json'\nformats = ['json']\n";
    folder.write("agentnative.toml", toml);
    folder.write("list.json", r#"{"type": "object"}"#);
    folder.write("known", r#"{"version": 1, "entries": []}"#);
    let flags = ["--check", "p2-output-json,p2-contract-schema", "--baseline", "known"];
    let mut watching = WatchedCheck::new(&folder, &flags);
    let stderr = watching.read_until_idle();
    assert_eq!(stderr, "");
    folder.script("cli", "echo '{'\n");
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("1 MUST check failed"), "{stderr}");
    // An invalid configuration does not end the watch.
    folder.write("agentnative.toml", "[target]\ncommand = 1\n");
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("expected"), "{stderr}");
    folder.write("agentnative.toml", format!("{toml}{contract}"));
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("1 MUST check failed"), "{stderr}");
    folder.script("cli", "echo '{}'\n");
    let stderr = watching.read_until_idle();
    assert_eq!(stderr, "");
    // Files that the configuration names are watched.
    folder.write("list.json", r#"{"type": "object", "required": ["a"]}"#);
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("1 MUST check failed"), "{stderr}");
    // The folder of a workspace is watched.
    fs::create_dir(folder.path().join("start")).unwrap();
    folder.write("start/input", "1");
    folder.write("agentnative.toml", format!("{toml}{contract}workspace = 'start'\n"));
    watching.read_until_idle();
    folder.write("start/input", "2");
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("1 MUST check failed"), "{stderr}");
    // The baseline is watched.
    let entry = r#"{"target": "cli", "check": "p2-contract-schema", "probe": "list", "format": "json", "kind": "invalid"}"#;
    folder.write("known", format!("{{\"version\": 1, \"entries\": [{entry}]}}"));
    let stderr = watching.read_until_idle();
    assert_eq!(stderr, "");
    let out = watching.interrupt();
    let changed: Vec<&str> = out.lines().filter(|line| line.ends_with(" changed ---")).collect();
    let (cli, config) = ("--- cli changed ---", "--- agentnative.toml changed ---");
    assert_eq!(
        changed,
        [
            cli,
            config,
            config,
            cli,
            "--- list.json changed ---",
            config,
            "--- start/input changed ---",
            "--- known changed ---"
        ],
        "{out}"
    );
    let verdicts =
        out.lines().filter(|line| line.starts_with("conformant") || line.starts_with("not conformant"));
    assert_eq!(verdicts.count(), 8, "{out}");
}

#[test]
fn watch_builds_again_when_the_code_changes() {
    let folder = Folder::new();
    folder.script("make", "echo x >>built; cp cli.in cli; chmod +x cli\n");
    folder.script("cli.in", "echo '{'\n");
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nbuild = ['./make']\nisolation = 'none'\n[[probe]]\nname = 'a'\nargs = []\n",
    );
    let mut watching = WatchedCheck::new(&folder, &["--check", "p2-output-json"]);
    let stderr = watching.read_until_idle();
    assert!(stderr.contains("1 MUST check failed"), "{stderr}");
    folder.script("cli.in", "echo '{}'\n");
    let stderr = watching.read_until_idle();
    assert_eq!(stderr, "");
    // Files that the build and the runs write are not changes.
    assert_eq!(folder.read("built"), "x\nx\n");
    // SIGINT also ends the current runs.
    let fifo = folder.path().join("pids");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    folder.script("cli.in", "echo $$ >\"${0%/*}/pids\"; exec sleep 1000\n");
    let pids = within("a run", move || {
        let mut line = String::new();
        BufReader::new(fs::File::open(fifo).unwrap()).read_line(&mut line).unwrap();
        line
    });
    let is_alive = |pid: &str| fs::exists(format!("/proc/{}", pid.trim())).unwrap();
    assert!(is_alive(&pids), "{pids}");
    let out = watching.interrupt();
    assert!(!is_alive(&pids), "{pids}");
    assert!(out.contains("--- cli.in changed ---"), "{out}");
}

/// A run may have changed the file, so it is not executed without confinement.
#[test]
fn watch_executes_nothing_that_changed_during_the_runs() {
    const BUILD: &str = "build = ['./make']\n";
    let rewrite = |text: &str| format!("printf '%s' \"{text}\" >agentnative.toml; echo '{{}}'\n");
    let hostile_config = "[target]\ncommand = ['./cli']\nbuild = ['touch', 'done']\nisolation = 'none'\n";
    for (cli, setup, changed) in [
        (rewrite(hostile_config), BUILD, "agentnative.toml"),
        (rewrite(hostile_config), "", "agentnative.toml"),
        ("echo 'touch done' >>make; echo '{}'\n".to_owned(), BUILD, "make"),
        ("echo 'touch done' >new; echo '{}'\n".to_owned(), BUILD, "new"),
        // Changes are found even if the time and the length of a file stay the same.
        ("sed -i s/built/_done/ make; touch -d @1 make; echo '{}'\n".to_owned(), BUILD, "make"),
    ] {
        let folder = Folder::new();
        folder.script("make", ": >>.built\n");
        folder.script("cli", &cli);
        let config = "[target]\ncommand = ['./cli']\nisolation = 'none'\n";
        let probe = "[[probe]]\nname = 'a'\nargs = []\n";
        folder.write("agentnative.toml", format!("{config}{setup}{probe}"));
        let mut command = folder.command();
        command.args(["check", "--watch", "--check", "p2-output-json"]);
        let output = within("the end", move || output_of(&mut command));
        assert_eq!(output.code, Some(1), "{output:?}");
        let message = format!("{changed} changed during the runs, and a run may have changed it");
        assert!(
            output.err.contains(&message) && output.err.contains("start `agentnative check --watch` again"),
            "{output:?}"
        );
        assert!(!folder.path().join("done").exists(), "{output:?}");
    }
}

#[test]
fn watch_supports_only_text_output() {
    for flags in [&["--json"][..], &["--jsonl"], &["--record", "x"], &["--replay", "x"], &["--check", "p2-x"]]
    {
        let output = run(&[&["check", "--watch"], flags].concat());
        assert_eq!((output.code, output.out.as_str()), (Some(2), ""), "{flags:?}");
    }
}
