//! Baselines of simulated targets: known problems pass, new problems fail, and fixed problems are reported.

use crate::simulated_target::{self, Call, CallResult, PROBES, conforming, exited, records, success};
use agentnative::baseline::{BaselineComparison, BaselineFile};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{CheckCoverage, Recording, Report, Scans, judge_against_baseline};
use agentnative::judge::{Baseline, Fault};
use agentnative::model::{
    CheckId, CheckResult, Evidence, Layer, Level, OutputFormat, ProbeId, Status, Variant,
};

/// Returns the behavioral checks of principle 2.
fn output_checks() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral && check.principle == 2).collect()
}

fn config() -> String {
    format!(
        "[target]\nlacks = ['lists']\nschema = ['schema']\n{PROBES}\n[[probe]]\nname = 'show'\nargs = ['show', '1']\n"
    )
}

/// A target whose `commands` print text before the document and no newline after the last record.
fn faulty(commands: &'static [&'static str]) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let is_command = |word: &str| call.args.first().is_some_and(|first| first == word);
        let is_invalid_call = call.args.iter().any(|arg| arg.contains("agentnative"));
        let is_faulty = commands.iter().any(|word| is_command(word));
        match call.format {
            _ if is_invalid_call || !(is_command("list") || is_command("show")) => conforming(call),
            OutputFormat::Json if is_faulty => {
                success(format!("Loading…\n{}", records(call, &[r#"{"id":1,"name":"a"}"#])))
            }
            OutputFormat::Jsonl if is_faulty => {
                success(records(call, &[r#"{"id":1,"name":"a"}"#]).trim_end())
            }
            _ => success(records(call, &[r#"{"id":1,"name":"a"}"#])),
        }
    }
}

fn record(answer: impl Fn(&Call) -> CallResult) -> Recording {
    simulated_target::record(&config(), &output_checks(), answer)
}

fn judge_against(recording: &Recording, baseline: &Baseline) -> (Report, CheckCoverage) {
    judge_against_baseline(recording, &output_checks(), baseline, &Scans::default()).unwrap()
}

/// Returns the baseline with all problems of a recording.
fn baseline_of(recording: &Recording) -> Baseline {
    BaselineComparison::new(&judge_against(recording, &Baseline::default()).1, &Baseline::default()).next
}

fn unmet(report: &Report) -> Vec<&CheckResult> {
    let unmet = report.results.iter().filter(|result| matches!(result.status, Status::Fail | Status::Warn));
    unmet.collect()
}

fn status(report: &Report, id: CheckId) -> (Status, &str) {
    let result = report.results.iter().find(|result| result.id == id).unwrap();
    (result.status, &result.message)
}

fn entry_names(baseline: &Baseline) -> Vec<String> {
    baseline.iter().map(|(fault, _)| format!("{fault} {}", fault.kind)).collect()
}

#[test]
fn known_problems_and_the_checks_that_they_block_are_waived() {
    let recording = record(faulty(&["list"]));
    let (before, _) = judge_against(&recording, &Baseline::default());
    assert_eq!(before.exit_code(false), 1);
    assert_eq!(status(&before, CheckId::P2OutputParity).0, Status::Unverified);
    let baseline = baseline_of(&recording);
    let (after, coverage) = judge_against(&recording, &baseline);
    assert_eq!((unmet(&after), after.exit_code(true)), (vec![], 0));
    let (_, message) = status(&after, CheckId::P2OutputJson);
    assert!(message.starts_with("waived: in the baseline (") && message.contains("JSON"), "{message}");
    // A SHOULD is waived even if it is denied.
    assert_eq!(status(&after, CheckId::P2JsonlNewline).0, Status::Waived);
    assert_eq!(Report { deny: vec![Level::Should], ..after.clone() }.exit_code(true), 0);
    let (blocked_status, message) = status(&after, CheckId::P2OutputParity);
    assert_eq!(blocked_status, Status::Waived);
    assert!(message.starts_with("waived with p2-output-json: in the baseline ("), "{message}");
    // No problem is fixed, and the next baseline is the same.
    assert_eq!(
        BaselineComparison::new(&coverage, &baseline),
        BaselineComparison { next: baseline.clone(), ..BaselineComparison::default() }
    );
    assert!(
        !entry_names(&baseline).iter().any(|name| name.contains("parity")),
        "an undecided check has no entry"
    );
}

#[test]
fn a_problem_in_another_probe_is_new() {
    let baseline = baseline_of(&record(faulty(&["list"])));
    let (report, coverage) = judge_against(&record(faulty(&["list", "show"])), &baseline);
    let json = report.results.iter().find(|result| result.id == CheckId::P2OutputJson).unwrap();
    assert_eq!((json.status, report.exit_code(false)), (Status::Fail, 1));
    assert!(json.evidence.iter().all(|evidence| evidence.probe.as_deref() == Some("show")), "{json:?}");
    assert!(!json.evidence.is_empty() && json.message.ends_with(" more waived: in the baseline"), "{json:?}");
    // A check that the new problem blocks too stays unverified.
    assert_eq!(status(&report, CheckId::P2OutputParity).0, Status::Unverified);
    let next = BaselineComparison::new(&coverage, &baseline).next;
    assert!(next.len() > baseline.len() && baseline.iter().all(|(fault, _)| next.count(fault) == 1));
}

#[test]
fn another_kind_of_problem_is_new_and_other_bytes_are_not() {
    let baseline = baseline_of(&record(faulty(&["list"])));
    // The notice has other words and an empty line before it.
    let other_notice = |call: &Call| match faulty(&["list"])(call) {
        CallResult(out, err, end) if out.starts_with("Loading") => {
            CallResult(out.replacen("Loading…\n", "\nFetching 7 of 9\n", 1), err, end)
        }
        answer => answer,
    };
    assert_eq!(unmet(&judge_against(&record(other_notice), &baseline).0), Vec::<&CheckResult>::new());
    let truncated = |call: &Call| match faulty(&["list"])(call) {
        CallResult(out, ..) if out.starts_with("Loading") => success("{\"ok\":true,\"data\":["),
        answer => answer,
    };
    let (report, _) = judge_against(&record(truncated), &baseline);
    let kinds: Vec<&str> = unmet(&report).iter().map(|result| result.evidence[0].kind.as_str()).collect();
    assert_eq!(status(&report, CheckId::P2OutputJson).0, Status::Fail, "{kinds:?}");
}

#[test]
fn fixed_problems_are_reported_and_removed() {
    let baseline = baseline_of(&record(faulty(&["list"])));
    let (report, coverage) =
        judge_against(&record(|call| faulty(&["list"])(&without_problem_in_json(call))), &baseline);
    assert_eq!(report.exit_code(true), 0, "{:?}", unmet(&report));
    let compared = BaselineComparison::new(&coverage, &baseline);
    let notes = compared.notes(false);
    assert!(
        notes[0].contains(" of the baseline ") && notes[0].contains("p2-output-json (list · json)"),
        "{notes:?}"
    );
    assert!(notes[0].contains("; run --write-baseline to remove "), "{notes:?}");
    assert!(compared.notes(true)[0].contains("; --write-baseline removed "));
    assert!(entry_names(&compared.next).iter().all(|name| !name.contains("p2-output-json ")), "{compared:?}");
    assert!(entry_names(&compared.next).iter().any(|name| name.contains("p2-jsonl-newline (list · jsonl)")));
    // All problems are fixed.
    let (_, coverage) = judge_against(&record(faulty(&[])), &baseline);
    assert_eq!(BaselineComparison::new(&coverage, &baseline).fixed.len(), baseline.len());
    assert!(BaselineComparison::new(&coverage, &baseline).next.is_empty());
}

/// Replaces a call of `list` in json by one of `show`, for which `faulty(&["list"])` has no problem.
fn without_problem_in_json(call: &Call) -> Call {
    let args = &call.args;
    let is_json = call.format == OutputFormat::Json && args[0] == "list";
    let args = if is_json { [vec!["show".to_owned()], args[1..].to_vec()].concat() } else { args.clone() };
    Call { args, ..call.clone() }
}

#[test]
fn problems_that_were_not_checked_are_not_fixed() {
    let baseline = baseline_of(&record(faulty(&["list"])));
    let good = record(faulty(&[]));
    // A selection of checks.
    let selected = [CheckId::P2OutputJson.check()];
    let (_, coverage) = judge_against_baseline(&good, &selected, &baseline, &Scans::default()).unwrap();
    let compared = BaselineComparison::new(&coverage, &baseline);
    assert!(
        entry_names(&compared.fixed).iter().all(|name| name.starts_with("p2-output-json ")),
        "{compared:?}"
    );
    assert_eq!(compared.next.len() + compared.fixed.len(), baseline.len());
    // An interrupted check, and a check with plain runs only.
    for is_interrupted in [true, false] {
        let mut partial = good.clone();
        let is_plain = |variant: Variant| variant == Variant::Plain;
        partial.observations.retain(|run| {
            if is_interrupted {
                run.key.probe != ProbeId::declared("list")
            } else {
                is_plain(run.key.variant)
            }
        });
        (partial.interrupted, partial.fast) = (is_interrupted, !is_interrupted);
        let (_, coverage) = judge_against(&partial, &baseline);
        let fixed = entry_names(&BaselineComparison::new(&coverage, &baseline).fixed);
        assert!(!fixed.iter().any(|name| name.starts_with("p2-output-json ")), "{is_interrupted}: {fixed:?}");
    }
    // Another target, and a probe that was removed.
    let mut other = good.clone();
    other.target.name = "other".into();
    let (_, coverage) = judge_against(&other, &baseline);
    assert_eq!(
        BaselineComparison::new(&coverage, &baseline),
        BaselineComparison { next: baseline.clone(), ..BaselineComparison::default() }
    );
    let without_list = recording_without_list();
    let compared = BaselineComparison::new(&judge_against(&without_list, &baseline).1, &baseline);
    assert_eq!((compared.fixed.len(), compared.not_run.len()), (0, baseline.len()), "{compared:?}");
    assert!(compared.notes(false)[0].contains("because the probe was not run: p2-"), "{compared:?}");
    assert_eq!(compared.next, baseline);
    // A run that timed out hides problems.
    let hangs = |call: &Call| match call.args[0].as_str() {
        "list" if call.format != OutputFormat::Text => {
            CallResult(String::new(), String::new(), agentnative::run::RunEnd::TimedOut)
        }
        _ => conforming(call),
    };
    let (_, coverage) = judge_against(&record(hangs), &baseline);
    let fixed = entry_names(&BaselineComparison::new(&coverage, &baseline).fixed);
    assert!(fixed.is_empty(), "{fixed:?}");
}

/// Returns the recording of a configuration without the probe that has the problems.
fn recording_without_list() -> Recording {
    let config =
        config().replace("name = 'list'\n    args = ['list']", "name = 'all'\n    args = ['show', '2']");
    simulated_target::record(&config, &output_checks(), faulty(&[]))
}

#[test]
fn undecided_checks_have_no_entries() {
    let fails = |call: &Call| match call.args.first().map(String::as_str) {
        Some("list") => exited(1, "", "no such thing\n"),
        _ => conforming(call),
    };
    let recording = record(fails);
    let baseline = baseline_of(&recording);
    let (report, _) = judge_against(&recording, &baseline);
    assert_eq!(unmet(&report), Vec::<&CheckResult>::new());
    let text = BaselineFile::from(&baseline).to_text().unwrap();
    let unverified = report.results.iter().filter(|result| result.status == Status::Unverified);
    for result in unverified {
        assert!(!text.contains(result.id.as_str()), "{result:?}\n{text}");
    }
}

#[test]
fn equal_lines_of_code_are_counted() {
    let fault = |line: u64, excerpt: &str| {
        let evidence = Evidence {
            kind: "print".into(),
            file: Some("src/main.py".into()),
            line: Some(line),
            excerpt: Some(excerpt.into()),
            ..Evidence::default()
        };
        Fault::from_evidence("mycli", CheckId::P2SrcStrayPrint, Layer::Source, &evidence)
    };
    let mut baseline = Baseline::default();
    for found in [fault(1, "print(1)"), fault(7, "    print( 1 )"), fault(9, "\tprint(1)")] {
        baseline.add(found);
    }
    // Indentation is ignored.
    assert_eq!((baseline.len(), baseline.count(&fault(30, "  print(1)"))), (2, 2));
    let text = "{\n  \"version\": 1,\n  \"entries\": [\n    \
        {\"target\": \"mycli\", \"check\": \"p2-src-stray-print\", \"file\": \"src/main.py\", \"kind\": \"print\", \
        \"text\": \"print( 1 )\"},\n    \
        {\"target\": \"mycli\", \"check\": \"p2-src-stray-print\", \"file\": \"src/main.py\", \"kind\": \"print\", \
        \"text\": \"print(1)\", \"count\": 2}\n  ]\n}\n";
    assert_eq!(BaselineFile::from(&baseline).to_text().unwrap(), text);
    assert_eq!(
        BaselineFile::from(&Baseline::default()).to_text().unwrap(),
        "{\n  \"version\": 1,\n  \"entries\": []\n}\n"
    );
}
