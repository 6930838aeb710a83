//! `check`: the report in each format and in files, the exit codes, and the selection of checks.

use super::support::{CliOutput, Folder, all_ids, keys, output_of, program, timeless};
use serde_json::{Value, json};

const PROGRESS_IN_JSON: &str = "before() { if [ \"$format\" = json ]; then echo 'Fetching data...'; fi; }";
const ONE_CHECK: [&str; 6] = ["check", "./cli", "--check", "p2-output-json", "--probe", "list"];

fn check_ids(output: &CliOutput) -> Vec<String> {
    let data = output.data();
    data["results"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_report_in_json_is_one_envelope_with_all_results() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let output = folder.run(&[&ONE_CHECK[..], &["--json"]].concat());
    assert_eq!(output.code, Some(1));
    let document = output.json();
    assert_eq!(keys(&document), ["command", "data", "ok"]);
    assert_eq!((&document["ok"], &document["command"]), (&json!(false), &json!("check")));
    let data = &document["data"];
    let expected = [
        "config",
        "conformant",
        "edition",
        "isolation",
        "results",
        "runs",
        "summary",
        "target",
        "time",
        "verified",
        "version",
    ];
    assert_eq!(keys(data), expected);
    let cli = folder.path().canonicalize().unwrap().join("cli");
    assert_eq!(data["target"], json!({ "name": "cli", "command": [folder.path().join("cli")] }), "{cli:?}");
    assert_eq!((&data["conformant"], &data["verified"]), (&json!(false), &json!(true)));
    let counts =
        json!({ "pass": 0, "fail": 1, "warn": 0, "unverified": 0, "not-applicable": 0, "waived": 0 });
    assert_eq!(data["summary"], counts);
    let [result] = &data["results"].as_array().unwrap()[..] else { panic!("{data:#}") };
    let expected = "docs evidence help id layer level message principle standard status title"
        .split(' ')
        .collect::<Vec<_>>();
    assert_eq!(keys(result), expected);
    let value = |key: &str| result[key].clone();
    assert_eq!(
        ["id", "principle", "level", "layer", "status", "docs"].map(value),
        [
            json!("p2-output-json"),
            json!(2),
            json!("must"),
            json!("behavioral"),
            json!("fail"),
            json!("agentnative explain p2-output-json"),
        ]
    );
    let evidence = &result["evidence"][0];
    let expected = [
        "argv", "caret", "column", "detail", "excerpt", "format", "kind", "line", "nth", "offset", "probe",
        "stream", "variant",
    ];
    assert_eq!(keys(evidence), expected);
    let value = |key: &str| evidence[key].clone();
    assert_eq!(
        ["kind", "probe", "format", "variant", "stream"].map(value),
        ["syntax", "list", "json", "plain", "stdout"]
    );
    assert_eq!(["nth", "offset", "line", "column", "caret"].map(value), [0, 0, 1, 1, 0]);
    assert_eq!(value("argv"), format!("{} list --output json", folder.path().join("cli").display()));
    assert_eq!(value("excerpt"), "Fetching data...");
    // The reason for the exit code is one object on stderr.
    assert_eq!(output.error()["kind"], "findings");
    assert_eq!(output.error()["message"], "1 MUST check failed");
}

#[test]
fn the_value_of_command_may_be_a_path() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let named = ["check", "--command", "./cli", "--check", "p2-output-json", "--probe", "list", "--json"];
    let output = folder.run(&named);
    assert_eq!(
        (output.code, output.status("p2-output-json")),
        (Some(1), "fail".to_owned()),
        "{}",
        output.err
    );
}

#[test]
fn a_report_in_jsonl_has_the_same_contents() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let args =
        ["check", "./cli", "--check", "p2-output-json", "--check", "p2-exit-success", "--probe", "list"];
    let document = folder.run(&[&args[..], &["--json"]].concat()).data();
    let output = folder.run(&[&args[..], &["--jsonl"]].concat());
    assert_eq!((output.code, output.error()["kind"].as_str()), (Some(1), Some("findings")));
    let lines = output.lines();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let mut parts = types.clone();
    parts.dedup();
    assert_eq!(parts, ["start", "run", "result", "summary"]);
    let of_type =
        |kind: &str| -> Vec<Value> { lines.iter().filter(|line| line["type"] == kind).cloned().collect() };

    let [start] = &of_type("start")[..] else { panic!("{types:?}") };
    assert_eq!(keys(start), ["checks", "config", "edition", "runs", "target", "time", "type", "version"]);
    assert_eq!(start["checks"], json!(["p2-output-json", "p2-exit-success"]));
    assert_eq!((&start["target"], &start["runs"]), (&document["target"], &document["runs"]));
    let runs = of_type("run");
    assert_eq!(runs.len() as u64, start["runs"].as_u64().unwrap());
    let expected = [
        "argv",
        "duration_ms",
        "ended",
        "exit",
        "format",
        "left_behind",
        "nth",
        "probe",
        "stderr_bytes",
        "stdout_bytes",
        "type",
        "variant",
    ];
    assert!(runs.iter().all(|run| keys(run) == expected), "{runs:#?}");
    let list = |run: &&Value| run["probe"] == "list" && run["format"] == "json" && run["variant"] == "plain";
    let run = runs.iter().find(list).unwrap();
    assert_eq!(run["argv"], format!("{} list --output json", folder.path().join("cli").display()));
    assert_eq!((&run["exit"], &run["ended"], &run["stderr_bytes"]), (&json!(0), &json!("exited"), &json!(0)));

    let mut results = of_type("result");
    for result in &mut results {
        result.as_object_mut().unwrap().remove("type");
    }
    assert_eq!(&results, document["results"].as_array().unwrap());
    let [summary] = &of_type("summary")[..] else { panic!("{types:?}") };
    for key in ["conformant", "verified", "runs", "summary", "target_version"] {
        assert_eq!(summary[key], document[key], "{key}");
    }
    assert_eq!(keys(summary), ["conformant", "runs", "summary", "target_version", "type", "verified"]);
}

#[test]
fn a_report_in_text_shows_the_problems_and_a_summary() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let output = folder.run(&ONE_CHECK);
    assert_eq!((output.code, output.err.as_str()), (Some(1), "error: 1 MUST check failed\n"));
    for words in [
        "cli  ./cli · principle 2 · ",
        "\n✗ p2-output-json  stdout is not valid JSON\n",
        "\n    $ ./cli list --output json\n",
        "    1 │ Fetching data...\n      │ ^ ",
        "    Build the document with one `jq -nM`; print notices in text mode only.",
        "\nnot conformant: 1 failed\n",
    ] {
        assert!(output.out.contains(words), "{words:?} in\n{}", output.out);
    }
    let longest = output.out.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{longest:?}\n{}", output.out);

    let fine = Folder::demo("");
    let output = fine.run(&ONE_CHECK);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    assert!(output.out.ends_with("\nconformant: 1 passed   --verbose lists everything\n"), "{}", output.out);
    let all = fine.run(&[&ONE_CHECK[..], &["--verbose"]].concat());
    assert!(all.out.contains("✓ pass  p2-output-json"), "{}", all.out);
    let quiet = fine.run(&[&ONE_CHECK[..], &["--quiet"]].concat());
    assert!(!quiet.out.contains("p2-output-json") && quiet.out.starts_with("conformant"), "{}", quiet.out);
}

#[test]
fn checks_are_selected_by_id_pattern_principle_layer_and_requirement() {
    let folder = Folder::demo("");
    let run = |flags: &[&str]| folder.run(&[&["check", "./cli", "--json"], flags].concat());
    let all = check_ids(&run(&[]));
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(sorted, all_ids());
    let layers = ["behavioral", "project", "source"].map(|layer| check_ids(&run(&["--layer", layer])));
    let mut parts = layers.concat();
    parts.sort();
    assert_eq!(parts, all_ids());
    assert_eq!(check_ids(&run(&["--layer", "source,project"])).len(), layers[1].len() + layers[2].len());
    // The order is that of the table, not that of the flags.
    let two = run(&["--check", "p2-exit-usage,p2-output-format", "--check", "p2-exit-usage"]);
    assert_eq!(check_ids(&two), ["p2-output-format", "p2-exit-usage"]);
    let rest: Vec<String> = all.iter().filter(|id| *id != "p2-raw").cloned().collect();
    let others: Vec<&str> = rest.iter().skip(2).flat_map(|id| ["--skip", id]).collect();
    assert_eq!(
        check_ids(&run(&[&others[..], &["--skip", "p2-raw", "--probe", "list"]].concat())),
        &rest[..2]
    );
    assert_eq!(
        check_ids(&run(&["--principle", "8", "--layer", "project"])),
        ["p8-bundle", "p8-bundle-current"]
    );
    // Requirements of the standard select the checks that decide them.
    assert_eq!(check_ids(&run(&["--check", "p6-must-sigpipe", "--probe", "list"])), ["p2-broken-pipe"]);
    assert_eq!(
        check_ids(&run(&["--check", "p2-may-*", "--skip", "p2-may-raw-flag", "--probe", "list"])),
        ["p2-more-formats"]
    );
    // Patterns and IDs can be mixed.
    let matched = check_ids(&run(&[
        "--check",
        "p2-json*,p2-exit-auth",
        "--check",
        "*-file",
        "--skip",
        "*strict",
        "--probe",
        "list",
    ]));
    let expected = [
        "p2-json-interop",
        "p2-jsonl-newline",
        "p2-jsonl-prompt",
        "p2-exit-auth",
        "p2-json-alias",
        "p2-schema-file",
    ];
    assert_eq!(matched, expected);
    for (flag, wrong, message, hint) in [
        ("--check", "p2-ouput-*", "no check matches `p2-ouput-*`", "did you mean `p2-output-*`?"),
        ("--skip", "p2-output-jsn", "unknown check `p2-output-jsn`", "did you mean `p2-output-json`?"),
        (
            "--check",
            "p8-may-install-all",
            "no check decides p8-may-install-all: a permission, which requires nothing",
            "`agentnative list --standard` shows the checks of each requirement",
        ),
        ("--skip", "*-yaml", "no check matches `*-yaml`", "list all checks with `agentnative list`"),
    ] {
        let output = run(&["--check", "p2-raw", flag, wrong]);
        assert_eq!((output.code, output.out.as_str()), (Some(2), ""));
        let error = output.error();
        assert_eq!((error["message"].as_str(), error["hint"].as_str()), (Some(message), Some(hint)));
    }
    // Fewer checks need fewer runs.
    assert!(two.data()["runs"].as_u64() < run(&[]).data()["runs"].as_u64());
}

#[test]
fn strict_requires_that_every_must_is_verified() {
    let folder = Folder::demo("");
    let args = ["check", "./cli", "--check", "p2-exit-auth", "--check", "p2-exit-success", "--probe", "list"];
    let lenient = folder.run(&[&args[..], &["--json"]].concat());
    assert_eq!((lenient.code, lenient.err.as_str()), (Some(0), ""));
    assert_eq!(
        (lenient.json()["ok"].clone(), lenient.status("p2-exit-auth").as_str()),
        (json!(true), "unverified")
    );
    assert_eq!((&lenient.data()["conformant"], &lenient.data()["verified"]), (&json!(true), &json!(false)));
    let strict = folder.run(&[&args[..], &["--json", "--strict"]].concat());
    assert_eq!((strict.code, strict.json()["ok"].clone()), (Some(1), json!(false)));
    assert_eq!(strict.error()["message"], "1 MUST check unverified");
    assert_eq!(strict.data()["results"], lenient.data()["results"]);
    let text = folder.run(&[&args[..], &["--strict"]].concat());
    assert!(text.out.contains("conformant so far: 1 unverified (1 MUST), 1 passed"), "{}", text.out);
    assert_eq!(folder.run(&[&args[..], &["--strict", "--probe", "77:whoami"]].concat()).code, Some(0));
}

#[test]
fn report_files_have_the_contents_of_their_formats() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let files = ["--report", "json=r.json", "--report", "text=r.txt", "--report", "jsonl=r.jsonl"];
    let output = folder.run(&[&ONE_CHECK[..], &files, &["--color", "always"]].concat());
    assert_eq!(output.code, Some(1));
    let document = folder.run(&[&ONE_CHECK[..], &["--json"]].concat());
    assert_eq!(timeless(&folder.read("r.json")), timeless(&document.out));
    // The first line contains the duration of the check.
    let rest = |text: String| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(rest(folder.read("r.txt")), rest(folder.run(&ONE_CHECK).out));
    assert!(output.out.contains("\x1b[") && !folder.read("r.txt").contains('\x1b'));
    let lines: Vec<Value> =
        folder.read("r.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["start", "result", "summary"]);
    // `-` is stdout and replaces the text report.
    let output = folder.run(&[&ONE_CHECK[..], &["--report", "json=-"]].concat());
    assert_eq!((output.code, timeless(&output.out)), (Some(1), timeless(&document.out)));
    assert!(!folder.path().join("-").exists());
    let conflicting = folder.run(&[&ONE_CHECK[..], &["--report", "json=-", "--json"]].concat());
    assert_eq!((conflicting.code, conflicting.out.as_str()), (Some(2), ""));
    assert_eq!(lines[1]["evidence"], document.data()["results"][0]["evidence"]);
}

#[test]
fn annotations_follow_the_text_report_on_github() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    let summary = folder.write("summary.md", "before\n");
    let files = [
        "--record",
        "r",
        "--report",
        "sarif=r.sarif",
        "--report",
        "junit=r.xml",
        "--report",
        "gitlab=r.json",
    ];
    let plain = folder.run(&[&ONE_CHECK[..], &files, &["--report", "markdown=r.md"]].concat());
    assert_eq!(plain.code, Some(1));
    assert!(!plain.out.contains("::error"), "{}", plain.out);
    let log: Value = serde_json::from_str(&folder.read("r.sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "p2-output-json");
    let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "cli", "relative to the repository");
    assert!(folder.read("r.xml").contains("<failure "));
    assert!(folder.read("r.json").starts_with("[{"));
    assert!(folder.read("r.md").starts_with("## agentnative · cli: not conformant"));
    // From here on the recording is replayed.
    let text = |args: &[&str], summary: &str| {
        let mut program = program();
        program
            .args(["check", "--replay", "r", "--check", ONE_CHECK[3]])
            .args(args)
            .current_dir(folder.path());
        output_of(program.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", summary))
    };
    let named = summary.to_str().unwrap();
    let annotated = text(&[], named);
    let (report, annotations) = annotated.out.split_once("::error title=cli%3A p2-output-json::").unwrap();
    assert!(report.contains("not conformant") && annotations.ends_with("\n"), "{}", annotated.out);
    assert_eq!(folder.read("summary.md"), format!("before\n{}", folder.read("r.md")));
    // Annotations in a file are not printed as well; a missing summary file is not created.
    let elsewhere = text(&["--report", "github=a.txt"], &format!("{named}.none"));
    assert_eq!(
        (elsewhere.out.as_str(), folder.read("a.txt")),
        (report, annotated.out[report.len()..].to_owned())
    );
    assert!(!folder.path().join("summary.md.none").exists());
    // Nothing is added to documents.
    for args in [&["--json"][..], &["--jsonl"], &["--report", "sarif=-"]] {
        let document = text(args, named);
        assert!(!document.out.contains("::error"), "{args:?}: {}", document.out);
    }
    assert_eq!(folder.read("summary.md").matches("## agentnative").count(), 1);
    let mixed = text(&["--json", "--report", "github=-"], named);
    assert_eq!((mixed.code, mixed.out.as_str()), (Some(2), ""));
}

#[test]
fn a_report_file_is_complete_or_unchanged() {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    folder.write("old", "old");
    folder.script("no-interpreter", "");
    folder.write("no-interpreter", "#!/no/such/interpreter\n");
    let failed = folder.run(&[
        "check",
        "./no-interpreter",
        "--report",
        "json=old",
        "--report",
        "json=new",
        "--record",
        "r",
    ]);
    assert_eq!((failed.code, folder.read("old").as_str()), (Some(1), "old"));
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), [".git", "cli", "no-interpreter", "old"]);
    // A symbolic link is kept, and a device is written to.
    std::os::unix::fs::symlink("old", folder.path().join("link")).unwrap();
    let written =
        folder.run(&[&ONE_CHECK[..], &["--report", "json=link", "--report", "text=/dev/null"]].concat());
    assert_eq!(written.code, Some(1));
    assert!(folder.read("old").starts_with("{\"ok\":false,") && folder.path().join("link").is_symlink());
    assert_eq!(names(), [".git", "cli", "link", "no-interpreter", "old"]);
}

#[test]
fn the_option_or_the_configuration_sets_the_edition_of_the_standard() {
    let folder = Folder::demo("");
    let toml = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let edition = |args: &[&str]| {
        let args = [&["check", "--json", "--check", "p2-output-json"], args].concat();
        folder.run(&args).json()["data"]["edition"].clone()
    };
    folder.write("agentnative.toml", toml);
    assert_eq!(edition(&["."]), "0.6");
    assert_eq!(edition(&["--edition", "0.5", "--record", "runs", "."]), "0.5");
    assert_eq!(
        (edition(&["--replay", "runs"]), edition(&["--replay", "runs", "--edition", "0.6"])),
        (json!("0.5"), json!("0.6"))
    );
    folder.write("agentnative.toml", format!("[check]\nedition = '0.5'\n{toml}"));
    assert_eq!((edition(&["."]), edition(&["--edition", "0.6", "."])), (json!("0.5"), json!("0.6")));
    folder.write("agentnative.toml", format!("[check]\nedition = '0.4'\n{toml}"));
    let output = folder.run(&["check", "."]);
    assert!(
        output.code == Some(78) && output.err.contains("expected `\"0.5\"` or `\"0.6\"`"),
        "{}",
        output.err
    );
}
