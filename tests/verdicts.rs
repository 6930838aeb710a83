//! Verdicts on patterns of existing tools: which checks are unverified, for which reasons, and with which messages.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Checks a CLI with this script and configuration. Returns a function from check ID to result.
fn check(script: &str, config: &str) -> impl Fn(&str) -> Value + use<> {
    let folder = tempfile::tempdir().unwrap();
    let cli = folder.path().join("cli");
    fs::write(&cli, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&cli, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("agentnative.toml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--json"])
        .arg(folder.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    move |id| {
        let results = report["data"]["results"].as_array().unwrap();
        results.iter().find(|result| result["id"] == id).unwrap().clone()
    }
}

fn verdict_of(result: &Value) -> (&str, &str) {
    (result["status"].as_str().unwrap(), result["message"].as_str().unwrap())
}

/// Prints a banner before its JSON, and conforms otherwise.
const BANNER: &str = r#"
format=text
for arg; do case $arg in json | --json) format=json ;; jsonl | --jsonl) format=jsonl ;; esac; done
fail() {
    if [ $format = text ]; then echo "$3" >&2; else
        printf '{"error":"%s","kind":"%s","message":"%s"}\n' "$2" "$2" "$3" >&2
    fi
    exit $1
}
case "$*" in
    "list --help") echo 'cli list --json' ;;
    *--help*) printf 'Options:\n  --json  JSON\n  --verbose  Details\n\nExamples:\n  cli list\n  cli list --json\n\nCommands:\n  list  Lists\n\nExit codes: 0 success, 1 error, 2 usage, 77 login, 78 config\n'; exit 0 ;;
    *--version*) echo 1; exit 0 ;;
    --completions*) echo 'complete -W list cli'; exit 0 ;;
    "list --output xml" | *agentnative-unknown*) fail 2 usage "unknown word in: $* (formats: text, json, jsonl)" ;;
    *lost*) fail 1 error "lost" ;;
    *login*) fail 77 auth "no login: run cli sign-in" ;;
    *broken*) fail 78 config "broken" ;;
esac
case $format in
    json) [ "$BANNER" = no ] || echo Loading; echo '{"ok":true,"data":[{"id":1}]}' ;;
    jsonl) echo '{"id":1}' ;;
    *) echo one ;;
esac
"#;

const BANNER_CONFIG: &str = r#"
    [check]
    skip = ["p6-sig*", "p2-schema-print"]

    [target]
    command = ["./cli"]
    completions = ["--completions", "{shell}"]
    lacks = ["lists"]

    [[probe]]
    name = "list"
    args = ["list"]
    workspace = true

    [[probe]]
    name = "lost"
    args = ["lost"]
    workspace = true
    exit = 1

    [[probe]]
    name = "login"
    args = ["login"]
    workspace = true
    exit = 77
    remedy = ["cli sign-in"]

    [[probe]]
    name = "broken"
    args = ["broken"]
    workspace = true
    exit = 78
"#;

/// Checks with `--strict`. Returns the exit code and the report.
fn check_strictly(script: &str, config: &str) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let cli = folder.path().join("cli");
    fs::write(&cli, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&cli, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("agentnative.toml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--json", "--strict", "--layer", "behavioral"])
        .arg(folder.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), report["data"].clone())
}

/// Returns ID, status, message and causes of the results that did not pass.
fn not_passed(report: &Value) -> Vec<(&str, &str, &str, &Value)> {
    let results = report["results"].as_array().unwrap().iter();
    let open =
        results.filter(|result| !["pass", "not-applicable"].contains(&result["status"].as_str().unwrap()));
    open.map(|result| {
        (result["id"].as_str().unwrap(), verdict_of(result).0, verdict_of(result).1, &result["blocked_by"])
    })
    .collect()
}

#[test]
fn checks_that_are_blocked_by_a_waived_problem_are_waived() {
    let cause = serde_json::json!([{"id": "p2-output-json", "probe": "list", "format": "json"}]);
    let (exit, report) = check_strictly(BANNER, BANNER_CONFIG);
    assert_eq!(exit, Some(1));
    for (id, status, message, blocked_by) in not_passed(&report) {
        match (id, status) {
            ("p2-output-json", status) => assert_eq!((status, blocked_by), ("fail", &Value::Null)),
            (_, "unverified") if blocked_by.is_null() => {
                assert!(!message.contains("see p2-"), "{id}: {message}");
            }
            (_, "unverified") => assert_eq!(blocked_by, &cause, "{id}: {message}"),
            (id, status) => panic!("{id}: {status}: {message}"),
        }
    }

    let waiver = "[[waiver]]\ncheck = 'p2-output-json'\nreason = 'the banner is known'\n";
    let (exit, waived) = check_strictly(BANNER, &format!("{BANNER_CONFIG}\n{waiver}"));
    assert_eq!((exit, &waived["verified"]), (Some(0), &true.into()), "{:#?}", not_passed(&waived));
    assert_eq!(waived["notes"].as_array().map(Vec::len), Some(1), "{}", waived["notes"]);
    let before = not_passed(&report);
    for (id, status, message, _) in not_passed(&waived) {
        let (_, previous, previous_message, blocked_by) =
            before.iter().find(|(before, ..)| *before == id).unwrap();
        let (expected_status, expected_message) = match (*previous, blocked_by.is_null()) {
            ("fail", _) => ("waived", format!("waived: the banner is known ({previous_message})")),
            ("unverified", false) => {
                ("waived", format!("waived with p2-output-json: the banner is known ({previous_message})"))
            }
            (previous, _) => (previous, (*previous_message).to_owned()),
        };
        assert_eq!((status, message), (expected_status, &*expected_message), "{id}");
    }
}

#[test]
fn the_comparison_of_shapes_is_blocked_by_invalid_documents() {
    let config = format!("{BANNER_CONFIG}\n[[probe]]\nname = 'show'\nargs = ['show']\n");
    let result = check(BANNER, &config)("p2-envelope");
    let cause = |probe| serde_json::json!({"id": "p2-output-json", "probe": probe, "format": "json"});
    let causes = Value::from(vec![cause("list"), cause("show")]);
    assert_eq!((verdict_of(&result).0, &result["blocked_by"]), ("unverified", &causes), "{result}");
    let waived = format!("{config}\n[[waiver]]\ncheck = 'p2-output-json'\nreason = 'known'\n");
    assert_eq!(verdict_of(&check(BANNER, &waived)("p2-envelope")).0, "waived");
    // A single command has no other command to be compared with.
    assert_eq!(check(BANNER, BANNER_CONFIG)("p2-envelope")["blocked_by"], Value::Null);
}

/// Accepts `--json` and no other format; errors are JSON objects then.
const JSON_ONLY: &str = r#"
json=
for arg; do case $arg in
    --json) json=yes ;;
    --help | --version) echo "a tool"; exit 0 ;;
    list) ;;
    *) wrong=$arg ;;
esac; done
if [ -n "$wrong" ]; then
    if [ -n "$json" ]; then
        printf '{"error":"bad_usage","kind":"usage","message":"unknown: %s"}\n' "$wrong" >&2
    else
        printf 'unknown: %s\n' "$wrong" >&2
    fi
    exit 2
fi
if [ -n "$json" ]; then echo '{"items":[1,2]}'; else echo 'one two'; fi
"#;

#[test]
fn a_format_without_a_probe_leaves_only_its_checks_unverified() {
    let config = r#"
        [target]
        command = ["./cli"]
        formats = { text = [], json = ["--json"] }
        exit_codes = [0, 2]

        [[probe]]
        name = "list"
        args = ["list"]
        formats = ["text", "json"]

        [[probe]]
        name = "wrong"
        args = ["wrong"]
        exit = 2
        formats = ["text", "json"]
    "#;
    let result = check(JSON_ONLY, config);
    for id in ["p2-output-json", "p2-stderr-diagnostics", "p2-error-json", "p2-exit-usage"] {
        assert_eq!(verdict_of(&result(id)).0, "pass", "{id}: {}", verdict_of(&result(id)).1);
    }
    for id in ["p2-output-format", "p2-output-jsonl", "p2-output-parity", "p2-jsonl-newline"] {
        let result = result(id);
        let (status, message) = verdict_of(&result);
        assert_eq!(status, "unverified", "{id}");
        assert!(message.contains("jsonl"), "{id} does not name the format: {message}");
    }
    // `--json` is the format flag of this target, so it cannot be an alias of another.
    assert_eq!(verdict_of(&result("p2-json-alias")).0, "not-applicable");
}

#[test]
fn a_format_flag_that_works_only_after_a_command_leaves_errors_unverified() {
    let script = r#"
        case "$1 $2" in
            "list ") echo text ;;
            "list --json") echo '{}' ;;
            "--help "*) printf 'Commands:\n  list  Lists\n' ;;
            *) echo "unknown: $1" >&2; exit 2 ;;
        esac
    "#;
    let config = r#"
        [target]
        command = ["./cli"]
        formats = { text = [], json = ["--json"] }

        [[probe]]
        name = "list"
        args = ["list"]
        formats = ["text", "json"]
    "#;
    let result = check(script, config);
    let errors = result("p2-error-json");
    let (status, message) = verdict_of(&errors);
    assert_eq!(status, "unverified");
    assert!(message.contains("only after a command"), "{message}");
    assert!(message.contains("declare a probe that fails"), "{message}");
    assert_eq!(verdict_of(&result("p2-exit-usage")).0, "pass");
}

#[test]
fn a_custom_exit_code_is_judged() {
    let script = "case $1 in list) echo '{}' ;; *) exit 5 ;; esac";
    let config = |exit: u8| {
        format!(
            r#"
            [target]
            command = ["./cli"]
            formats = {{ text = [], json = [] }}
            exit_codes = [0, 5, 6]

            [[probe]]
            name = "own"
            args = ["get"]
            exit = {exit}
            formats = ["json"]
            "#
        )
    };
    assert_eq!(verdict_of(&check(script, &config(5))("p2-exit-error")).0, "pass");
    let result = check(script, &config(6))("p2-exit-error");
    assert_eq!(verdict_of(&result), ("fail", "exited with 5, expected 6"));
}

#[test]
fn a_message_on_hundreds_of_keys_is_short() {
    let script = r#"
        case $1 in
            many) printf '{'; n=0; while [ $n -lt 300 ]; do printf '"key-%s":1,' $n; n=$((n+1)); done; echo '"z":1}' ;;
            *) echo '{"data":1}' ;;
        esac
    "#;
    let config = r#"
        [target]
        command = ["./cli"]
        formats = { json = [] }

        [[probe]]
        name = "few"
        args = ["few"]
        formats = ["json"]

        [[probe]]
        name = "many"
        args = ["many"]
        formats = ["json"]
    "#;
    let result = check(script, config)("p2-envelope");
    let (status, message) = verdict_of(&result);
    assert_eq!(status, "warn");
    assert!(message.contains("295 more") && message.len() < 200, "{message}");
}

#[test]
fn evidence_starts_at_the_first_word() {
    let script = "printf '\\n  \\nusage: cli\\n' >&2; exit 3";
    let config = r#"
        [target]
        command = ["./cli"]

        [[probe]]
        name = "list"
        args = ["list"]
        formats = ["text"]
    "#;
    let evidence = check(script, config)("p2-exit-success")["evidence"][0].clone();
    assert_eq!(evidence["excerpt"], "usage: cli");
    assert_eq!(
        (&evidence["offset"], &evidence["line"], &evidence["column"]),
        (&4.into(), &3.into(), &1.into())
    );
}

#[test]
fn a_recording_without_required_runs_lets_no_check_pass() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/clis/violating/p2-output-pure.tty-colour/cli");
    let check = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        let output = command.args(["check", "--json"]).args(args).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["data"]["results"].as_array().unwrap().clone()
    };
    let file = recording.to_str().unwrap();
    check(&["--check", "p2-exit-success", "--check", "p2-output-json", "--record", file, fixture]);
    let results = check(&["--replay", file]);
    let result = |id: &str| results.iter().find(|result| result["id"] == id).unwrap().clone();
    assert_eq!(verdict_of(&result("p2-output-json")).0, "pass");
    for id in ["p2-output-pure", "p2-output-complete", "p2-output-format", "p2-completes", "p2-exit-usage"] {
        let result = result(id);
        let (status, message) = verdict_of(&result);
        assert_eq!(status, "unverified", "{id}");
        assert!(message.ends_with("required runs were not recorded"), "{id}: {message}");
    }
}

/// Accepts `--format text` and `--format json` after `list`, and no other format; invalid calls exit with 64.
const CUSTOM_FORMAT_FLAG: &str = r#"
format=$DEFAULT
PAGE="cli 1

Commands:
  list  Lists

Options:
  --format FORMAT  text or json
  --verbose        print details
  -V, --version    print the version

Examples:
  cli list
  cli list --format json"
wrong() {
    if [ "$format" = json ]; then
        printf '{"error":"wrong call","kind":"usage","message":"unknown: %s, not text or json"}\n' "$1" >&2
    else
        printf 'unknown: %s, not text or json\n' "$1" >&2
    fi
    exit 64
}
command=
while [ $# -gt 0 ]; do
    case $1 in
        --help | --version | -V) [ "$command" ] && echo "cli $command --format json" || echo "$PAGE"; exit 0 ;;
        --completions) echo 'complete -W list cli'; exit 0 ;;
        --format) case $2 in text | json) format=$2; shift ;; *) wrong "$2" ;; esac ;;
        list | lost) command=$1 ;;
        --quiet | --verbose) ;;
        *) wrong "$1" ;;
    esac
    shift
done
if [ "$command" = lost ]; then
    [ "$format" = json ] && echo '{"error":"lost","kind":"lost","message":"lost: see cli list"}' >&2 || echo 'lost: see cli list' >&2
    exit 1
fi
if [ "$format" = json ]; then echo '{"ok":true,"data":[{"id":1}]}'; else echo one; fi
"#;

const CUSTOM_FORMAT_FLAG_CONFIG: &str = r#"
    [check]
    skip = ["p6-sig*"]

    [target]
    command = ["./cli"]
    formats.json = ["--format", "json"]
    formats.jsonl = false
    schema = false
    completions = ["--completions", "{shell}"]
    lacks = ["lists"]
    usage = 64
    exit_codes = [0, 1, 64]

    [[probe]]
    name = "list"
    args = ["list"]
    workspace = true

    [[probe]]
    name = "lost"
    args = ["lost"]
    workspace = true
    exit = 1
    remedy = ["cli list"]
"#;

#[test]
fn a_target_that_declares_what_it_lacks_is_verified() {
    let script = format!("DEFAULT=text{CUSTOM_FORMAT_FLAG}");
    let (exit, report) = check_strictly(&script, CUSTOM_FORMAT_FLAG_CONFIG);
    let result = |id: &str| {
        let mut results = report["results"].as_array().unwrap().iter();
        verdict_of(results.find(|result| result["id"] == id).unwrap())
    };
    assert_eq!((exit, &report["verified"]), (Some(1), &true.into()), "{:#?}", not_passed(&report));
    let failed: Vec<_> =
        not_passed(&report).into_iter().map(|(id, status, message, _)| (id, status, message)).collect();
    let lacking =
        "the configuration has `formats.jsonl = false`: add jsonl to the target, then remove the key";
    assert_eq!(failed[0], ("p2-output-format", "fail", lacking));
    let open: Vec<_> = failed[1..].iter().map(|(id, status, _)| (*id, *status)).collect();
    assert_eq!(open, [("p2-envelope", "unverified"), ("p2-schema-print", "fail")]);
    let no_schema = "the configuration has `schema = false`: add a command that prints the JSON Schema of the output, then declare it";
    assert_eq!(result("p2-schema-print").1, no_schema);
    for id in ["p2-output-jsonl", "p2-output-parity", "p2-jsonl-newline"] {
        assert_eq!(
            result(id),
            ("not-applicable", "the target has no jsonl according to its configuration"),
            "{id}"
        );
    }
    let (status, note) = result("p2-exit-usage");
    assert_eq!(status, "pass");
    assert!(note.ends_with("the target's own code for invalid usage: `usage = 64` instead of 2"), "{note}");

    // Waivers of the missing features have no effect on other checks.
    let waiver = "[[waiver]]\ncheck = 'p2-output-format'\nformat = 'jsonl'\nreason = 'one document only'\n\
                  [[waiver]]\ncheck = 'p2-schema-print'\nreason = 'none yet'\n";
    let (exit, _) = check_strictly(&script, &format!("{CUSTOM_FORMAT_FLAG_CONFIG}\n{waiver}"));
    assert_eq!(exit, Some(0));

    // The same target with json as its default format.
    let config = CUSTOM_FORMAT_FLAG_CONFIG.replace("usage = 64", "usage = 64\ndefault_format = 'json'");
    let (exit, report) =
        check_strictly(&format!("DEFAULT=json{CUSTOM_FORMAT_FLAG}"), &format!("{config}\n{waiver}"));
    let open = not_passed(&report);
    assert_eq!((exit, &report["verified"]), (Some(1), &true.into()), "{open:#?}");
    let default = "the configuration has `default_format = \"json\"`: make text the default, then remove the key; 1 more waived: one document only";
    assert_eq!((open[0].0, open[0].1, open[0].2), ("p2-output-format", "fail", default));
    assert_eq!(open.iter().filter(|(_, status, ..)| *status == "fail").count(), 1, "{open:#?}");
}

#[test]
fn the_flag_position_is_found_despite_prose_before_the_document() {
    let script = r#"
        case "$*" in
            list) echo Loading; echo '[ ] milk' ;;
            "--output text list") echo Loading; echo '[ ] milk' ;;
            "--output json list") echo Loading; echo '{"id":1}' ;;
            "--output jsonl list") echo Loading; echo '{"id":1}' ;;
            *--help*) echo '  --output FORMAT  text, json or jsonl' ;;
            *) echo "unknown: $*" >&2; exit 2 ;;
        esac
    "#;
    let config = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = check(script, config);
    let (json, format) = (result("p2-output-json"), result("p2-output-format"));
    assert_eq!(verdict_of(&json).0, "fail", "{}", verdict_of(&json).1);
    assert!(!verdict_of(&format).1.contains("rejects"), "{}", verdict_of(&format).1);
}

/// The help does not describe the flag as a format, and the target accepts it only before the command.
#[test]
fn the_flag_position_of_an_undocumented_format_is_found_unless_a_call_writes_a_file() {
    let script = |with_flag_first: &str| {
        format!(
            r#"
            case "$*" in
                list) echo milk ;;
                --help) echo '  --output OUTPUT' ;;
                "--output "*" list") {with_flag_first} ;;
                whoami | "--output "*" whoami") echo 'not signed in' >&2; exit 1 ;;
                *) echo "error: unrecognized arguments: $*" >&2; exit 2 ;;
            esac
            "#
        )
    };
    let config = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n\
                  [[probe]]\nname = 'whoami'\nargs = ['whoami']\n";
    let result = check(&script(r#"case $2 in json*) echo '{"id":1}' ;; *) echo milk ;; esac"#), config);
    let (json, format) = (result("p2-output-json"), result("p2-output-format"));
    // Only the probe that always fails keeps the check unverified.
    assert!(verdict_of(&json).1.starts_with("whoami · json exited with 1"), "{}", verdict_of(&json).1);
    assert_eq!(json["blocked_by"].as_array().unwrap().len(), 1);
    // The target accepts any value as a format.
    assert_eq!(verdict_of(&format).0, "fail");
    assert!(!verdict_of(&format).1.contains("reject"), "{}", verdict_of(&format).1);
    // A probe with another exit code than declared has the same flag position.
    let argv = result("p2-exit-success")["evidence"][0]["argv"].as_str().unwrap().to_owned();
    assert!(argv.ends_with("cli --output text whoami"), "{argv}");
    let result = check(&script(r#"echo '{"id":1}' > "$2""#), config);
    let (json, format) = (result("p2-output-json"), result("p2-output-format"));
    assert_eq!(verdict_of(&json).0, "unverified", "{}", verdict_of(&json).1);
    assert!(verdict_of(&format).1.contains("reject"), "{}", verdict_of(&format).1);
}

#[test]
fn a_probe_may_have_its_own_format_flags() {
    let script = r#"
        case "$*" in
            list | show) echo one ;;
            "list --format json" | "show --json") echo '{"ok":true}' ;;
            "show --lines") echo '{"ok":true}' ;;
            *--help*) echo '  --json  JSON' ;;
            *) echo "unknown: $*" >&2; exit 2 ;;
        esac
    "#;
    let config = r#"
        [target]
        command = ["./cli"]
        formats.json = ["--json"]

        [[probe]]
        name = "list"
        args = ["list"]
        formats = { json = ["--format", "json"], jsonl = false }

        [[probe]]
        name = "show"
        args = ["show"]
        formats.jsonl = ["--lines"]
    "#;
    let result = check(script, config);
    for id in ["p2-output-format", "p2-output-json", "p2-output-jsonl", "p2-exit-success", "p2-exit-usage"] {
        assert_eq!(verdict_of(&result(id)).0, "pass", "{id}: {}", verdict_of(&result(id)).1);
    }
    // All probes declare that they lack jsonl.
    let all_lacking =
        check(script, &config.replace("formats.jsonl = [\"--lines\"]", "formats.jsonl = false"));
    let (status, message) = (
        all_lacking("p2-output-format")["status"].clone(),
        all_lacking("p2-output-format")["message"].clone(),
    );
    assert_eq!(
        (status, message),
        (
            "fail".into(),
            "the configuration has `formats.jsonl = false`: add jsonl to the target, then remove the key"
                .into()
        )
    );
    // No probe and no target declares a flag for jsonl.
    let undeclared = check(script, &config.replace("formats.jsonl = [\"--lines\"]", ""));
    for id in ["p2-output-format", "p2-output-jsonl", "p2-output-parity", "p2-jsonl-newline"] {
        let result = undeclared(id);
        let (status, message) = verdict_of(&result);
        assert_eq!(status, "unverified", "{id}");
        assert!(
            message.contains(
                "declare formats.jsonl under [target], or `false` for a format that does not exist"
            ),
            "{id}: {message}"
        );
    }
    for id in ["p2-jsonl-prompt", "p2-contract-stream"] {
        assert_eq!(verdict_of(&undeclared(id)).0, "not-applicable", "{id}");
    }
}

#[test]
fn an_invalid_call_that_succeeds_fails_with_any_exit_codes() {
    let config =
        "[target]\ncommand = ['./cli']\nexit_codes = [0, 1]\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = check("echo '{}'", config);
    assert_eq!(
        verdict_of(&result("p2-exit-usage")),
        ("fail", "invalid usage exits with 0; expected a failure (and 2 more)")
    );
    let rejecting = check("case $* in *unknown*) exit 1 ;; esac; echo '{}'", config);
    assert_eq!(
        verdict_of(&rejecting("p2-exit-usage")),
        ("not-applicable", "the target has no exit code 2 according to its configuration")
    );
}

#[test]
fn a_program_that_ignores_its_flags_offers_no_formats() {
    let config =
        "[target]\ncommand = ['./cli']\nschema = ['schema']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = check("echo '[1]'", config);
    for id in ["p2-raw", "p2-more-formats"] {
        assert_eq!(verdict_of(&result(id)).0, "not-applicable", "{id}: {}", verdict_of(&result(id)).1);
    }
    let alias = result("p2-json-alias");
    assert_eq!(
        (verdict_of(&alias).0, &alias["blocked_by"][0]["id"]),
        ("unverified", &"p2-exit-usage".into()),
        "{alias}"
    );
    assert_eq!(verdict_of(&result("p2-schema-print")).0, "fail");
    // Neither JSON nor rows with different numbers of fields are CSV.
    let csv = |csv: &str| {
        let script = format!(
            r#"case $* in *csv) printf '{csv}' ;; *json*) echo '[1]' ;; *unknown* | *tsv | *yaml | *raw) echo "wrong: $*" >&2; exit 2 ;; *) echo text ;; esac"#
        );
        let result = check(&script, config)("p2-more-formats");
        (result["status"].clone(), result["message"].as_str().unwrap().to_owned())
    };
    let none = || {
        ("not-applicable".into(), "the target offers no format other than text, json and jsonl".to_owned())
    };
    assert_eq!(csv("[1]\\n"), none());
    assert_eq!(csv("id,name\\n1\\n"), none());
    assert_eq!(csv("id,name\\n1,alpha\\n"), ("pass".into(), "offered: list, csv".to_owned()));
}

/// Checks a CLI without probes. Returns the formats of its runs and the files in its folder afterwards.
fn formats_tried(script: &str) -> (BTreeSet<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let cli = folder.path().join("cli");
    fs::write(&cli, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&cli, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--jsonl", "./cli"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let runs = events.filter(|event| event["type"] == "run");
    let formats = runs.map(|run| run["format"].as_str().unwrap().to_owned()).collect();
    let files = fs::read_dir(folder.path()).unwrap();
    (formats, files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect())
}

#[test]
fn no_file_named_json_is_written() {
    let script = r#"
        if [ "$1" = --help ]; then echo '  --output FILE  Write to FILE'; exit 0; fi
        if [ "$1" = --output ]; then : > "$2"; fi
        exit 2
    "#;
    let (formats, files) = formats_tried(script);
    assert_eq!(formats, BTreeSet::from(["text".to_owned()]));
    assert_eq!(files, ["cli"]);
}

#[test]
fn a_format_in_the_help_is_tried() {
    let script = r#"
        if [ "$1" = --help ]; then echo '  --output FORMAT  text (default), json or jsonl'; exit 0; fi
        exit 2
    "#;
    let (formats, _) = formats_tried(script);
    assert_eq!(formats, ["json", "jsonl", "text"].map(str::to_owned).into());
}

#[test]
fn a_check_has_the_same_verdict_alone_and_with_all() {
    let violating = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/clis/violating");
    let fixture = format!("{violating}/p2-exit-usage.no-format-before");
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--json", "--check", "p2-exit-usage", &fixture])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict_of(&report["data"]["results"][0]), ("fail", "exited with 1, expected 2"));
}

#[test]
fn a_hanging_call_is_not_repeated_under_every_condition() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let script =
        "#!/bin/sh\necho \"$*\" >>\"${0%/*}/calls\"\ncase \"$*\" in *json) sleep 60 ;; esac\necho '{}'\n";
    fs::write(file("cli"), script).unwrap();
    fs::set_permissions(file("cli"), fs::Permissions::from_mode(0o755)).unwrap();
    let config = "[target]\ncommand = ['./cli']\ntimeout = 1\nformats.json = ['--format', 'json']\n\
                  formats.jsonl = ['--format', 'lines']\n\
                  formats.text = []\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    fs::write(file("agentnative.toml"), config).unwrap();
    let report = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        command.args(["check", "--json", "--layer", "behavioral"]).args(args).current_dir(folder.path());
        let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        report["data"]["results"].clone()
    };
    // A confined run could not write the file of calls.
    let live = report(&["--jobs", "1", "--isolation", "none", "--record", "recording", "."]);
    let calls = fs::read_to_string(file("calls")).unwrap();
    assert_eq!(calls.lines().filter(|call| *call == "list --format json").count(), 1, "{calls}");
    let result_of = |id: &str| live.as_array().unwrap().iter().find(|result| result["id"] == id).unwrap();
    assert_eq!(result_of("p2-completes")["status"], "fail");
    for id in ["p2-output-pure", "p2-output-complete", "p2-broken-pipe"] {
        let (status, message) = verdict_of(result_of(id));
        assert_eq!(status, "unverified", "{id}: {message}");
        assert!(
            message.contains("of list · json were skipped") || message.contains("of list · json was skipped"),
            "{id}: {message}"
        );
        let cause = serde_json::json!({"id": "p2-completes", "probe": "list", "format": "json"});
        assert!(result_of(id)["blocked_by"].as_array().unwrap().contains(&cause), "{id}");
    }
    assert_eq!(report(&["--replay", "recording"]), live);
}

#[test]
fn a_waiver_of_one_probe_or_format_does_not_apply_to_others() {
    let check_with = |probes: &[&str], waiver: &str| {
        let probe = |name: &&str| format!("[[probe]]\nname = '{name}'\nargs = ['{name}']\n");
        let config = format!(
            "[target]\ncommand = ['./cli']\n{}[[waiver]]\ncheck = 'p2-output-json'\nreason = 'known'\n{waiver}\n",
            probes.iter().map(probe).collect::<String>()
        );
        let folder = tempfile::tempdir().unwrap();
        let cli = folder.path().join("cli");
        fs::write(&cli, format!("#!/bin/sh\n{BANNER}")).unwrap();
        fs::set_permissions(&cli, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join("agentnative.toml"), config).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
            .args(["check", "--json", "--check", "p2-output-json,p2-json-strict", "--"])
            .arg(&cli)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report["data"]["results"].clone())
    };
    for (waiver, waived) in [("probe = 'list'", true), ("format = 'json'", true), ("format = 'jsonl'", false)]
    {
        let (exit, results) = check_with(&["list"], waiver);
        let status = if waived { ["waived", "waived"] } else { ["fail", "unverified"] };
        assert_eq!([&results[0]["status"], &results[1]["status"]], status, "{waiver}: {results:#}");
        assert_eq!(exit, Some(i32::from(!waived)));
    }
    let (exit, results) = check_with(&["list", "show"], "probe = 'list'");
    assert_eq!((exit, verdict_of(&results[0]).0), (Some(1), "fail"), "{results:#}");
    assert!(verdict_of(&results[0]).1.ends_with("more waived: known"), "{results:#}");
    let evidence = results[0]["evidence"].as_array().unwrap();
    assert!(evidence.iter().all(|evidence| evidence["probe"] == "show"), "{results:#}");
    assert_eq!(verdict_of(&results[1]).0, "unverified", "{results:#}");
}

#[test]
fn a_decimal_comma_is_found_without_installed_locales() {
    if !Path::new("/usr/lib/locale/C.utf8").is_dir() {
        eprintln!("skipped: this system has no locales of glibc");
        return;
    }
    let result = |number: &str| {
        let script = format!(
            "exec python3 -I -c 'import locale; locale.setlocale(locale.LC_ALL, \"\"); print(\"{{\\\"x\\\": \" + {number} + \"}}\")'"
        );
        let config = "[target]\ncommand = ['./cli']\nformats.json = []\n[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['json']\n";
        check(&script, config)("p2-output-pure")
    };
    let comma = result("locale.str(1.5)");
    assert_eq!(verdict_of(&comma).0, "fail", "{comma:#}");
    assert_eq!(comma["evidence"][0]["nth"], 2, "{comma:#}");
    let point = result("repr(1.5)");
    assert_eq!(verdict_of(&point).0, "pass", "{point:#}");
}
