//! Compares the data that two runs print. Ignores values that change from run to run.

use crate::context::RunView;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{OutputFormat, Stream};
use serde_json::Value;
use strict_json::escape_token;

/// Result of comparing the data of a run with those of the plain run.
#[derive(Debug, PartialEq, Eq)]
pub enum Comparison {
    Same,
    /// The run prints no data, but the plain run does.
    Empty,
    /// The first difference is in this line of stdout, counted from 0.
    Line(usize),
    /// The first difference is at this JSON pointer.
    Pointer(String),
    /// The data are too large to be kept in memory.
    TooLarge,
}

/// Compares the text on stdout of `run` with that of `plain`. If the repetitions `again` differ from `plain`, the text
/// changes from run to run, and the result is [`Comparison::Same`].
///
/// Headings and summaries are not data: the lines of `run` have to be a contiguous block of those of `plain`. Blank
/// lines, and lines that the plain run also prints to stderr, are ignored.
pub fn text(run: &RunView, plain: &RunView, again: &[RunView]) -> Comparison {
    let lines = |run: &RunView| run.lines(Stream::Stdout);
    let (Some(own), Some(expected), Some(diagnostics)) =
        (lines(run), lines(plain), plain.lines(Stream::Stderr))
    else {
        return Comparison::TooLarge;
    };
    if again.iter().any(|other| lines(other).is_none_or(|other| other != expected)) {
        return Comparison::Same;
    }
    same_lines(&own, &expected, &diagnostics)
}

fn same_lines(own: &[String], expected: &[String], diagnostics: &[String]) -> Comparison {
    let counts =
        |line: &&str| !line.is_empty() && !diagnostics.iter().any(|diagnostics| diagnostics.trim() == *line);
    let data = |lines: &[String]| -> Vec<(usize, String)> {
        let trimmed = lines.iter().map(|line| line.trim()).enumerate();
        trimmed.filter(|(_, line)| counts(line)).map(|(index, line)| (index, line.to_owned())).collect()
    };
    let (own, expected) = (data(own), data(expected));
    let texts = |lines: &[(usize, String)]| lines.iter().map(|(_, line)| line.clone()).collect();
    if is_permutation(texts(&own), texts(&expected)) {
        return Comparison::Same;
    }
    let Some((_, first)) = own.first() else {
        let has_data = !expected.iter().all(|(_, line)| is_summary(line)) || expected.len() > MAX_SUMMARY;
        return if has_data { Comparison::Empty } else { Comparison::Same };
    };
    // The longest match, over all lines at which the block may begin.
    let starts = expected.iter().enumerate().filter(|(_, (_, line))| line == first).map(|(index, _)| index);
    let agree = |start: usize| own.iter().zip(&expected[start..]).take_while(|(a, b)| a.1 == b.1).count();
    let longest = starts.map(agree).max().unwrap_or(0);
    own.get(longest).map_or(Comparison::Same, |(line, _)| Comparison::Line(*line))
}

const MAX_SUMMARY: usize = 3;

/// True if a line is the summary of a call that had nothing to report, and is not data: `All checks passed!`,
/// `Success: no issues found in 3 source files`, `12 files left unchanged`.
fn is_summary(line: &str) -> bool {
    const AMOUNTS: [&str; 6] = ["all", "no", "none", "nothing", "zero", "success"];
    const SUBJECTS: [&str; 20] = [
        "change",
        "changed",
        "changes",
        "check",
        "checked",
        "checks",
        "clean",
        "error",
        "errors",
        "file",
        "files",
        "found",
        "issue",
        "issues",
        "passed",
        "problem",
        "problems",
        "unchanged",
        "warning",
        "warnings",
    ];
    let lower = line.to_lowercase();
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()))
        .collect();
    let is_amount = |word: &&str| AMOUNTS.contains(word) || word.parse::<u64>().is_ok();
    words.iter().any(is_amount) && words.iter().any(|word| SUBJECTS.contains(word))
}

/// Compares the JSON output of `run` with that of `plain`. Values that differ in the repetitions `again` are ignored,
/// as are values that report the option itself, such as `"quiet": true`.
pub fn values(run: &RunView, plain: &RunView, again: &[RunView], option: &FormatFlag) -> Comparison {
    let Some(expected) = value(plain) else { return Comparison::TooLarge };
    let Some(own) = value(run) else {
        return if run.bytes(Stream::Stdout).is_empty() {
            Comparison::Empty
        } else {
            Comparison::Pointer(String::new())
        };
    };
    let again: Vec<Value> = again.iter().filter_map(value).collect();
    let mut pointer = String::new();
    let option: Vec<&str> = option.args().unwrap_or_default().iter().map(String::as_str).collect();
    if differs(&own, &expected, &again.iter().collect::<Vec<_>>(), &option, &mut pointer) {
        Comparison::Pointer(pointer)
    } else {
        Comparison::Same
    }
}

/// Returns the JSON document on stdout; in jsonl, an array of the records. `None` if stdout is too large or cannot be
/// parsed.
fn value(run: &RunView) -> Option<Value> {
    match run.format() {
        OutputFormat::Jsonl => {
            let lines = run.lines(Stream::Stdout)?;
            lines
                .iter()
                .map(|line| serde_json::from_str(line).ok())
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
        }
        _ => run.value(Stream::Stdout),
    }
}

/// True if `own` differs from `expected`, and `expected` is the same in the repetitions `again`. In that case,
/// `pointer` is extended to the first difference.
fn differs(own: &Value, expected: &Value, again: &[&Value], option: &[&str], pointer: &mut String) -> bool {
    let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
    // Null represents a value that does not exist yet, or no longer.
    let may_be_absent = (own.is_null() || expected.is_null()) && is_scalar(own) && is_scalar(expected);
    if own == expected || again.contains(&own) || may_be_absent {
        return false;
    }
    let length = pointer.len();
    let mut differs_at =
        |token: &str, own: Option<&Value>, expected: Option<&Value>, again: Vec<Option<&Value>>| {
            pointer.push('/');
            pointer.push_str(&escape_token(token));
            let found = match (own, expected) {
                // A member that some plain runs do not have may be missing.
                (Some(own), Some(expected)) => {
                    let all = again.iter().copied().collect::<Option<Vec<_>>>();
                    let measured = own.is_number() && expected.is_number() && is_measure(token);
                    !measured
                        && !names_option(token, option)
                        && all.is_some_and(|again| differs(own, expected, &again, option, pointer))
                }
                (None, Some(_)) => again.iter().all(Option::is_some),
                _ => false,
            };
            if !found {
                pointer.truncate(length);
            }
            found
        };
    match (own, expected) {
        (Value::Object(a), Value::Object(b)) if again.iter().all(|again| again.is_object()) => {
            b.iter().any(|(key, expected)| {
                differs_at(
                    key,
                    a.get(key),
                    Some(expected),
                    again.iter().map(|again| again.get(key)).collect(),
                )
            })
        }
        (Value::Array(a), Value::Array(b)) if again.iter().all(|again| is_array_of(again, b.len())) => {
            if a.len() != b.len() {
                return !echoes(own, option);
            }
            // A set has another order in each run, and by chance the same in some.
            let texts = |values: &[Value]| values.iter().map(Value::to_string).collect();
            if is_permutation(texts(a), texts(b)) {
                return false;
            }
            let has_same =
                |again: &Value| again.as_array().is_some_and(|again| is_permutation(texts(again), texts(b)));
            let changes_order = again.iter().any(|again| *again != expected && has_same(again));
            if changes_order {
                return !echoes(own, option);
            }
            (0..b.len()).any(|n| {
                let again = again.iter().map(|again| again.get(n)).collect();
                differs_at(&n.to_string(), a.get(n), b.get(n), again)
            })
        }
        _ => {
            let other_type = !same_type(own, expected);
            let always = |again: &Value| again == expected || other_type && same_type(again, expected);
            again.iter().all(|again| always(again)) && !echoes(own, option)
        }
    }
}

/// True if two lists have the same elements, in any order.
fn is_permutation(mut a: Vec<String>, mut b: Vec<String>) -> bool {
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

fn same_type(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn is_array_of(value: &Value, length: usize) -> bool {
    value.as_array().is_some_and(|array| array.len() == length)
}

/// Words in the keys of measured numbers, such as `duration_ms`. By chance, some runs may have equal numbers.
const MEASURES: [&str; 16] = [
    "age",
    "duration",
    "elapsed",
    "latency",
    "ms",
    "now",
    "ns",
    "pid",
    "sec",
    "seconds",
    "time",
    "timestamp",
    "took",
    "ts",
    "uptime",
    "us",
];

/// True if a key names a measurement: `duration_ms`, `elapsedTime`.
fn is_measure(key: &str) -> bool {
    let (mut spaced, mut at_upper) = (String::new(), true);
    for char in key.chars() {
        if char.is_uppercase() && !at_upper {
            spaced.push(' ');
        }
        at_upper = char.is_uppercase();
        spaced.extend(char.to_lowercase());
    }
    spaced.split(|char: char| !char.is_alphanumeric()).any(|word| MEASURES.contains(&word))
}

/// True if `key` is the name of an option without its dashes, such as `quiet` for `--quiet`.
fn names_option(key: &str, option: &[&str]) -> bool {
    option.iter().any(|word| word.trim_start_matches('-') == key)
}

/// True if a value repeats the option, such as a command line that the target includes in its output.
fn echoes(value: &Value, option: &[&str]) -> bool {
    let holds = |text: &str| {
        option
            .iter()
            .any(|word| text.split_whitespace().any(|part| part == *word || names_option(part, &[word])))
    };
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| item.as_str().is_some_and(holds)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, differs, same_lines};
    use serde_json::{Value, json};

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn headings_summaries_and_repeated_lines_are_not_data() {
        let plain = "ID  NAME\n\n1  a\n2  b\n2 records\n";
        for quiet in [plain, "1  a\n2  b\n", "ID  NAME\n1  a\n2  b", "1  a\n2  b\n2 records\n", "2  b\n"] {
            assert_eq!(same_lines(&lines(quiet), &lines(plain), &[]), Comparison::Same, "{quiet}");
        }
        for (quiet, index) in [("1\n2\n", 0), ("1  a\n2 records\n", 1), ("1  a\n2  b\n3  c\n", 2)] {
            assert_eq!(same_lines(&lines(quiet), &lines(plain), &[]), Comparison::Line(index), "{quiet}");
        }
        assert_eq!(same_lines(&[], &lines(plain), &[]), Comparison::Empty);
        for summary in [
            "All checks passed!\n",
            "Success: no issues found in 3 source files\n",
            "2 files checked\n\n0 errors\n",
        ] {
            assert_eq!(same_lines(&[], &lines(summary), &[]), Comparison::Same, "{summary}");
        }
        for data in [
            "2  milk\n",
            "error in a.py\n",
            "bad.py:1: error: Incompatible types\n",
            "checks\n",
            "1 file\n2 files\n3 files\n4 files\n",
        ] {
            assert_eq!(same_lines(&[], &lines(data), &[]), Comparison::Empty, "{data}");
        }
        assert_eq!(same_lines(&lines("b\na\n"), &lines("a\nb\n"), &[]), Comparison::Same);
        assert_eq!(same_lines(&lines("\n"), &lines("working\n"), &lines("working\n")), Comparison::Same);
    }

    fn place(quiet: Value, plain: Value, again: &[Value]) -> Option<String> {
        let mut pointer = String::new();
        differs(&quiet, &plain, &again.iter().collect::<Vec<_>>(), &["--quiet"], &mut pointer)
            .then_some(pointer)
    }

    #[test]
    fn values_differ_where_plain_runs_agree() {
        let plain = json!({"data": [{"id": 1, "pid": 7}, {"id": 2, "pid": 8}], "at": 3});
        let again = [json!({"data": [{"id": 1, "pid": 9}, {"id": 2, "pid": 9}], "at": 4})];
        let quiet = json!({"data": [{"id": null, "pid": 5}, {"id": 2, "pid": 6}], "at": 5});
        assert_eq!(place(quiet.clone(), plain.clone(), &again), None);
        assert_eq!(place(quiet, plain.clone(), std::slice::from_ref(&plain)).as_deref(), Some("/at"));
        for (quiet, expected) in [
            (json!({"data": [{"id": 1, "pid": 5}], "at": 5}), "/data"),
            (json!({"data": [{"id": 1, "pid": 5}, {"id": 3, "pid": 5}], "at": 5}), "/data/1/id"),
            (json!({"data": [{"id": 1, "pid": 5}, {"pid": 5}], "at": 5}), "/data/1/id"),
            (json!({"at": 5}), "/data"),
            (json!({"data": null, "at": 5}), "/data"),
            (json!([]), ""),
        ] {
            assert_eq!(place(quiet, plain.clone(), &again).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_order_of_a_set_may_change() {
        let sets = |order: &[&str]| json!({"tags": order, "rows": [{"id": 1}, {"id": 2}]});
        let plain = sets(&["a", "b", "c"]);
        let same = std::slice::from_ref(&plain);
        // By chance, the plain runs may agree.
        assert_eq!(place(sets(&["c", "a", "b"]), plain.clone(), same), None);
        let again = [sets(&["b", "a", "c"])];
        assert_eq!(place(sets(&["c", "a", "b"]), plain.clone(), &again), None);
        assert_eq!(place(sets(&["c", "a", "d"]), plain.clone(), &again).as_deref(), Some("/tags"));
        assert_eq!(place(sets(&["a", "b"]), plain.clone(), &again).as_deref(), Some("/tags"));
        assert_eq!(place(sets(&["a", "b", "d"]), plain.clone(), same).as_deref(), Some("/tags/2"));
    }

    #[test]
    fn measurements_may_be_equal_by_chance() {
        let plain =
            json!({"duration_ms": 7, "elapsedTime": 1.5, "PID": 3, "ts": 1, "items": 2, "times": [1]});
        let quiet =
            json!({"duration_ms": 8, "elapsedTime": 2.5, "PID": 4, "ts": 2, "items": 2, "times": [1]});
        assert_eq!(place(quiet, plain.clone(), std::slice::from_ref(&plain)), None);
        for (key, value) in [("items", json!(3)), ("duration_ms", json!("8")), ("times", json!([2]))] {
            let mut quiet = plain.clone();
            quiet[key] = value;
            assert!(place(quiet, plain.clone(), std::slice::from_ref(&plain)).is_some(), "{key}");
        }
    }

    #[test]
    fn values_that_report_the_option_may_differ() {
        let plain = json!({"args": ["list"], "quiet": false, "call": "demo list", "level": "normal"});
        let quiet = json!({"args": ["list", "--quiet"], "quiet": true, "call": "demo list --quiet", "level": "quiet"});
        assert_eq!(place(quiet, plain.clone(), std::slice::from_ref(&plain)), None);
    }
}
