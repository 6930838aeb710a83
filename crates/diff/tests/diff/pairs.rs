//! All pairs of outputs: the reported changes if something was added, removed or never present.

use agentnative_contract::{OutputFormat, OutputSpec};
use agentnative_diff::lock::{Lock, OutputInference};
use agentnative_diff::{Change, ChangeSeverity, compare};
use std::io::Read;

/// Runs by their name in the tables: exit code, stdout, stderr.
const SIDES: [(&str, i32, &str, &str); 16] = [
    ("events", 0, "{\"type\":\"start\",\"id\":\"x\"}\n{\"type\":\"end\",\"n\":1}\n", ""),
    ("one", 0, "{\"type\":\"start\",\"id\":\"x\"}\n", ""),
    ("records", 0, "{\"a\":\"0\"}\n{\"a\":\"1\"}\n", ""),
    ("document", 0, "{\"a\":\"0\"}\n", ""),
    ("prose", 0, "nothing to be done\n", ""),
    ("nothing", 0, "", ""),
    ("elsewhere", 0, "", "{\"a\":\"0\"}\n"),
    ("object", 1, "", "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n"),
    ("words", 1, "", "error: m\n"),
    ("silent", 1, "", ""),
    ("on-stdout", 1, "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n", ""),
    ("words-on-stdout", 1, "error: m\n", ""),
    ("findings", 1, "{\"a\":\"0\"}\n{\"a\":\"1\"}\n", ""),
    ("findings-warned", 1, "{\"a\":\"0\"}\n{\"a\":\"1\"}\n", "warning: w\n"),
    ("both", 1, "error: m\n", "warning: w\n"),
    // The exit code is not a declared one.
    ("crashed", 127, "", "sh: not found\n"),
];

fn side(name: &str, format: OutputFormat) -> Lock {
    let (_, code, stdout, stderr) = SIDES.into_iter().find(|(known, ..)| *known == name).unwrap();
    let spec = if name == "crashed" {
        OutputSpec::unknown("list", format, Some(code), format!("it ended with {code}: {}", stderr.trim()))
    } else {
        let mut learner = OutputInference::new("list", format);
        let open = |text: &'static str| move || Box::new(text.as_bytes()) as Box<dyn Read + Send>;
        learner.add_run(code, &open(stdout), &open(stderr)).unwrap();
        learner.spec()
    };
    Lock::new("demo", None, vec![spec])
}

fn changes(format: OutputFormat, old: &str, new: &str) -> Vec<Change> {
    let (old, new) = (side(old, format), side(new, format));
    compare(&old.comparable(), &new.comparable_with(&old))
}

/// Formats changes as a table cell: class and rule, sorted.
fn cell(changes: &[Change]) -> String {
    let mut all: Vec<String> = changes
        .iter()
        .map(|change| {
            let sign = match change.class {
                ChangeSeverity::Breaking => "!",
                ChangeSeverity::Undecided => "?",
                ChangeSeverity::Risky => "~",
                ChangeSeverity::Compatible => "+",
            };
            format!("{sign}{}", change.rule.trim_start_matches("diff-"))
        })
        .collect();
    all.sort();
    all.dedup();
    all.join(" ")
}

/// One line per pair: format, old, new, reported changes; nothing if there is no difference.
const TABLE: &str = include_str!("pairs.txt");

#[test]
fn every_pair_is_reported_as_in_the_table() {
    use OutputFormat::{Json, Jsonl, Text};
    let succeeding = ["events", "one", "records", "document", "prose", "nothing", "elsewhere", "crashed"];
    let failing = [
        "object",
        "words",
        "silent",
        "on-stdout",
        "words-on-stdout",
        "findings",
        "findings-warned",
        "both",
        "crashed",
    ];
    let mut reported = String::new();
    for format in [Json, Jsonl, Text] {
        for sides in [&succeeding[..], &failing] {
            for old in sides {
                for new in sides {
                    let found = changes(format, old, new);
                    reported.push_str(&format!("{} {old} {new}: {}\n", format.name(), cell(&found)));
                    if *old == "crashed" || *new == "crashed" {
                        let reason = |change: &Change| format!("{:?}{:?}", change.message, change.note);
                        assert!(
                            found.iter().all(|change| reason(change).contains("sh: not found")),
                            "{found:#?}"
                        );
                    }
                }
            }
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff/pairs.txt");
        std::fs::write(path, &reported).unwrap();
    }
    for (reported, expected) in reported.lines().zip(TABLE.lines()) {
        assert_eq!(reported.trim_end(), expected.trim_end());
    }
    assert_eq!(reported.lines().count(), TABLE.lines().count());
}
