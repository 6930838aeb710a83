//! Which runs are made of a target: what was seen so far decides what is worth running.

use super::support::Folder;
use serde_json::Value;

const HELP: &str = "--help) echo 'Commands:'; echo '  wait  Wait'; echo '  list  List'; echo 'Options:'; echo '  --output FORMAT  text, json or jsonl' ;;";

/// Checks a script and gives what was recorded of the runs of one probe, and of those that are derived from it: probe, format, variant, end.
fn runs(folder: &Folder, args: &[&str], of: &str) -> Vec<[String; 4]> {
    folder.run(&[&["check", "./cli", "--principle", "2", "--record", "seen"], args].concat());
    let recorded = folder.read("seen");
    let lines = recorded.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let named = |seen: &Value| {
        let name = seen["run"]["probe"].as_str().unwrap();
        name == of || name.starts_with(&format!("{of},"))
    };
    let end = |seen: &Value| match &seen["end"] {
        Value::String(end) => end.clone(),
        end => end.to_string(),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(named)
        .map(|seen| {
            [
                text(&seen["run"]["probe"]),
                text(&seen["run"]["format"]),
                text(&seen["run"]["variant"]),
                end(&seen),
            ]
        })
        .collect()
}

#[test]
fn a_call_that_hangs_is_not_made_under_further_conditions() {
    let script = format!("case $* in *{HELP} wait*) exec sleep 1000 ;; *) exit 2 ;; esac\n");
    let folder = Folder::with(&script);
    let seen = runs(&folder, &["--timeout", "1", "--probe", "wait"], "wait");
    let hung = |format: &str| ["wait", format, "plain", "TimedOut"].map(str::to_owned);
    assert_eq!(seen, [hung("json"), hung("text")]);
}

#[test]
fn a_format_that_is_rejected_is_requested_once() {
    let script = format!(
        "case $* in *{HELP} *jsonl*) echo 'unknown format' >&2; exit 2 ;; *json*) echo '{{\"a\":[1]}}' ;; list*) echo a ;; *) exit 2 ;; esac\n"
    );
    let folder = Folder::with(&script);
    let seen = runs(&folder, &["--probe", "list"], "list");
    let in_format = |format: &str| seen.iter().filter(|run| run[..2] == ["list", format]).count();
    assert_eq!(in_format("jsonl"), 1, "{seen:?}");
    assert!(in_format("json") >= 5, "{seen:?}");
}
