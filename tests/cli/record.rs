//! `--record` and `--replay`: the same observations give the same report.

use super::support::{Folder, keys};
use serde_json::{Value, json};

/// Outputs that are not UTF-8 or contain NULs, and an exit by a signal.
const UNUSUAL_OUTPUTS: &str = "
status() { printf '{\"ok\":true,\"name\":\"\\377\\376\"}\\n'; }
sync() { printf '\\000\\033[1m\\r\\n' >&2; kill -9 $$; }
";

#[test]
fn a_replay_prints_the_report_of_the_check() {
    let folder = Folder::demo(UNUSUAL_OUTPUTS);
    let checks = [
        "p2-output-json",
        "p2-output-pure",
        "p2-output-complete",
        "p2-json-strict",
        "p2-error-json",
        "p2-exit-config",
        "p2-exit-consistent",
        "p2-broken-pipe",
    ];
    let checks: Vec<&str> = checks.into_iter().flat_map(|id| ["--check", id]).collect();
    let probes = ["--probe", "dump", "--probe", "status", "--probe", "78:sync", "--probe", "1:show 99"];
    let record = ["check", "./cli", "--json", "--record", "seen"];
    let live = folder.run(&[&record[..], &probes, &checks].concat());
    assert_eq!(live.code, Some(1));
    let failed = live.data()["summary"]["fail"].clone();
    assert!(failed.as_u64() >= Some(2), "{}", live.out);

    let replay = |flags: &[&str]| folder.run(&[&["check", "--replay", "seen"], flags, &checks].concat());
    assert_eq!(replay(&["--json"]), live);
    // The replay does not need the target.
    std::fs::remove_file(folder.path().join("cli")).unwrap();
    assert_eq!(replay(&["--json"]), live);
    let stream = replay(&["--jsonl"]);
    let lines = stream.lines();
    assert_eq!((&lines[0]["type"], lines[0]["runs"].clone()), (&json!("start"), live.data()["runs"].clone()));
    let results: Vec<&Value> = lines.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), live.data()["results"].as_array().unwrap().len());
    // Other checks can use the same observations, if the recording contains those that they need.
    let other =
        ["check", "--replay", "seen", "--json", "--check", "p2-exit-error", "--check", "p2-output-stable"];
    let other = folder.run(&other);
    assert_eq!(other.code, Some(0), "{}", other.out);
    assert_eq!(other.status("p2-exit-error"), "pass", "{}", other.out);
    assert_eq!(other.status("p2-output-stable"), "unverified");

    let text = folder.read("seen");
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        keys(&head),
        [
            "confinement",
            "ended",
            "language",
            "overrides",
            "planned",
            "probes",
            "promises",
            "recording",
            "target",
            "time"
        ]
    );
    assert!(text.contains("{\"base64\":\""), "bytes that are not UTF-8 are stored as Base64");
}

#[test]
fn rejected_format_positions_are_not_recorded_as_runs_of_the_probe() {
    let folder = Folder::with(
        r#"case "$*" in
            "items list" | "items --output text list") echo milk ;;
            "items --output json list" | "items --output jsonl list") echo '{"id":1}' ;;
            *--help*) echo '  --output FORMAT  text, json or jsonl' ;;
            *) echo "unknown: $*" >&2; exit 2 ;;
        esac"#,
    );
    let check =
        ["check", "./cli", "--jsonl", "--principle", "2", "--probe", "items list", "--record", "seen"];
    let lines = folder.run(&check).lines();
    let runs: Vec<&Value> = lines.iter().filter(|line| line["type"] == "run").collect();
    let nameless = runs.iter().find(|run| run["probe"] == "");
    assert_eq!(nameless, None);
    let argv_of = |name: &str| {
        runs.iter().find(|run| run["probe"] == name && run["format"] == "json").unwrap()["argv"].clone()
    };
    assert!(argv_of("items list").as_str().unwrap().ends_with("cli items --output json list"));
    let rejected = argv_of("items list, format after the arguments");
    assert!(rejected.as_str().unwrap().ends_with("cli items list --output json"));
    let replayed = folder.run(&["check", "--replay", "seen", "--jsonl", "--principle", "2"]).lines();
    let results = |lines: &[Value]| -> Vec<Value> {
        let is_judged = |line: &&Value| line["type"] == "result" || line["type"] == "summary";
        lines.iter().filter(is_judged).cloned().collect()
    };
    assert_eq!(results(&replayed), results(&lines));
}

#[test]
fn a_recording_contains_the_waivers() {
    let folder = Folder::demo("before() { if [ \"$format\" = json ]; then echo loading; fi; }");
    let toml = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let waivers = "[[waiver]]\ncheck = 'p2-output-json'\nreason = 'known'\n[[waiver]]\ncheck = 'p2-exit-success'\nreason = 'once'\n";
    folder.write("agentnative.toml", format!("{toml}{waivers}"));
    let flags = ["--json", "--check", "p2-output-json", "--check", "p2-exit-success"];
    let live = folder.run(&[&["check", "--record", "seen"][..], &flags].concat());
    assert_eq!((live.code, live.status("p2-output-json").as_str()), (Some(0), "waived"));
    assert_eq!(live.data()["notes"].as_array().map(Vec::len), Some(1));
    assert_eq!(folder.run(&[&["check", "--replay", "seen"][..], &flags].concat()), live);
    // The waivers of a named configuration replace them.
    folder.write("none.toml", toml);
    let bare = folder.run(&[&["check", "--replay", "seen", "--config", "none.toml"][..], &flags].concat());
    assert_eq!((bare.code, bare.status("p2-output-json").as_str()), (Some(1), "fail"));
}

#[test]
fn an_invalid_recording_is_an_error_with_its_position() {
    let folder = Folder::demo("");
    let check = ["check", "./cli", "--check", "p2-exit-success", "--probe", "list", "--record", "seen"];
    assert_eq!(folder.run(&check).code, Some(0));
    let good = folder.read("seen");
    let cases = [
        (String::new(), "bad:1:"),
        ("{}\n".to_owned(), "bad:1:"),
        (good.replacen("\"recording\":4", "\"recording\":5", 1), "version 5; expected version 1 to 4"),
        (good[..good.len() - 10].to_owned(), &format!("bad:{}:", good.lines().count())),
        (good.clone() + "\n[]\n", &format!("bad:{}:", good.lines().count() + 1)),
    ];
    for (text, place) in cases {
        folder.write("bad", text);
        let output = folder.run(&["check", "--replay", "bad"]);
        assert_eq!((output.code, output.out.as_str()), (Some(78), ""));
        assert!(output.err.contains(place), "{place}: {}", output.err);
    }
}
