//! Runs that are left out because of the outcomes of earlier runs.

use super::support::Folder;
use serde_json::Value;

const HELP: &str = "--help) echo 'Commands:'; echo '  wait  Wait'; echo '  list  List'; echo 'Options:'; echo '  --output FORMAT  text, json or jsonl' ;;";

/// Checks `./cli` and returns probe, format, variant and end of each recorded run of a probe and of the calls derived
/// from it.
fn observed_runs(folder: &Folder, args: &[&str], of: &str) -> Vec<[String; 4]> {
    folder.run(&[&["check", "./cli", "--principle", "2", "--record", "seen"], args].concat());
    let recorded = folder.read("seen");
    let lines = recorded.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let belongs = |observation: &Value| {
        let name = observation["run"]["probe"].as_str().unwrap();
        name == of || name.starts_with(&format!("{of},"))
    };
    let end = |observation: &Value| match &observation["end"] {
        Value::String(end) => end.clone(),
        end => end.to_string(),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(belongs)
        .map(|observation| {
            [
                text(&observation["run"]["probe"]),
                text(&observation["run"]["format"]),
                text(&observation["run"]["variant"]),
                end(&observation),
            ]
        })
        .collect()
}

#[test]
fn a_call_that_hangs_is_not_repeated_under_further_conditions() {
    let script = format!("case $* in *{HELP} wait*) exec sleep 1000 ;; *) exit 2 ;; esac\n");
    let folder = Folder::with(&script);
    let observations = observed_runs(&folder, &["--timeout", "1", "--probe", "wait"], "wait");
    let hung = |format: &str| ["wait", format, "plain", "TimedOut"].map(str::to_owned);
    assert_eq!(observations, [hung("json"), hung("text")]);
}

#[test]
fn a_rejected_format_is_requested_once() {
    let script = format!(
        "case $* in *{HELP} *jsonl*) echo 'unknown format' >&2; exit 2 ;; *json*) echo '{{\"a\":[1]}}' ;; list*) echo a ;; *) exit 2 ;; esac\n"
    );
    let folder = Folder::with(&script);
    let observations = observed_runs(&folder, &["--probe", "list"], "list");
    let in_format = |format: &str| observations.iter().filter(|run| run[..2] == ["list", format]).count();
    assert_eq!(in_format("jsonl"), 1, "{observations:?}");
    assert!(in_format("json") >= 5, "{observations:?}");
}
