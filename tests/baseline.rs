//! Baselines of made-up targets: what is known passes, what is new fails, and what is fixed is told.

use crate::made_up::{Answer, Call, PROBES, conforming, data, ended, records, seen};
use agentnative::baseline::{BaselineFile, Compared};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, Report, Scans, Seen, judge_with};
use agentnative::judge::{Baseline, Fault};
use agentnative::model::{
    CheckId, CheckResult, Evidence, Layer, Level, OutputFormat, ProbeId, Status, Variant,
};

fn behavioral() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral && check.principle == 2).collect()
}

fn config() -> String {
    format!(
        "[target]\nlacks = ['lists']\nschema = ['schema']\n{PROBES}\n[[probe]]\nname = 'show'\nargs = ['show', '1']\n"
    )
}

/// These commands print a word before the document, and no newline after the last record.
fn faulty(commands: &'static [&'static str]) -> impl Fn(&Call) -> Answer {
    move |call| {
        let is = |word: &str| call.args.first().is_some_and(|first| first == word);
        let wrong = call.args.iter().any(|arg| arg.contains("agentnative"));
        let faulty = commands.iter().any(|word| is(word));
        match call.format {
            _ if wrong || !(is("list") || is("show")) => conforming(call),
            OutputFormat::Json if faulty => {
                data(format!("Loading…\n{}", records(call, &[r#"{"id":1,"name":"a"}"#])))
            }
            OutputFormat::Jsonl if faulty => data(records(call, &[r#"{"id":1,"name":"a"}"#]).trim_end()),
            _ => data(records(call, &[r#"{"id":1,"name":"a"}"#])),
        }
    }
}

fn recorded(answer: impl Fn(&Call) -> Answer) -> Recording {
    seen(&config(), &behavioral(), answer)
}

fn judged(recording: &Recording, baseline: &Baseline) -> (Report, Seen) {
    judge_with(recording, &behavioral(), baseline, &Scans::default()).unwrap()
}

/// The baseline of what is seen here.
fn baseline_of(recording: &Recording) -> Baseline {
    Compared::of(&judged(recording, &Baseline::default()).1, &Baseline::default()).next
}

fn unmet(report: &Report) -> Vec<&CheckResult> {
    let unmet = report.results.iter().filter(|result| matches!(result.status, Status::Fail | Status::Warn));
    unmet.collect()
}

fn status(report: &Report, id: CheckId) -> (Status, &str) {
    let result = report.results.iter().find(|result| result.id == id).unwrap();
    (result.status, &result.message)
}

fn names(baseline: &Baseline) -> Vec<String> {
    baseline.iter().map(|(fault, _)| format!("{fault} {}", fault.kind)).collect()
}

#[test]
fn what_is_known_passes_and_takes_along_what_waits_for_it() {
    let recording = recorded(faulty(&["list"]));
    let (before, _) = judged(&recording, &Baseline::default());
    assert_eq!(before.exit_code(false), 1);
    assert_eq!(status(&before, CheckId::P2OutputParity).0, Status::Unverified);
    let baseline = baseline_of(&recording);
    let (after, seen) = judged(&recording, &baseline);
    assert_eq!((unmet(&after), after.exit_code(true)), (vec![], 0));
    let (_, message) = status(&after, CheckId::P2OutputJson);
    assert!(message.starts_with("waived: in the baseline (") && message.contains("JSON"), "{message}");
    // A SHOULD, also where it is denied.
    assert_eq!(status(&after, CheckId::P2JsonlNewline).0, Status::Waived);
    assert_eq!(Report { deny: vec![Level::Should], ..after.clone() }.exit_code(true), 0);
    let (waits, message) = status(&after, CheckId::P2OutputParity);
    assert_eq!(waits, Status::Waived);
    assert!(message.starts_with("waived with p2-output-json: in the baseline ("), "{message}");
    // Nothing is fixed, and the next baseline is the same.
    assert_eq!(Compared::of(&seen, &baseline), Compared { next: baseline.clone(), ..Compared::default() });
    assert!(!names(&baseline).iter().any(|name| name.contains("parity")), "what is undecided is no fault");
}

#[test]
fn a_fault_in_another_probe_is_new() {
    let baseline = baseline_of(&recorded(faulty(&["list"])));
    let (report, seen) = judged(&recorded(faulty(&["list", "show"])), &baseline);
    let json = report.results.iter().find(|result| result.id == CheckId::P2OutputJson).unwrap();
    assert_eq!((json.status, report.exit_code(false)), (Status::Fail, 1));
    assert!(json.evidence.iter().all(|seen| seen.probe.as_deref() == Some("show")), "{json:?}");
    assert!(!json.evidence.is_empty() && json.message.ends_with(" more waived: in the baseline"), "{json:?}");
    // What waits for the new one as well stays open.
    assert_eq!(status(&report, CheckId::P2OutputParity).0, Status::Unverified);
    let next = Compared::of(&seen, &baseline).next;
    assert!(next.len() > baseline.len() && baseline.iter().all(|(fault, _)| next.count(fault) == 1));
}

#[test]
fn another_kind_of_fault_is_new_and_other_bytes_are_not() {
    let baseline = baseline_of(&recorded(faulty(&["list"])));
    // The notice is another one, and further down.
    let other_words = |call: &Call| match faulty(&["list"])(call) {
        Answer(out, err, end) if out.starts_with("Loading") => {
            Answer(out.replacen("Loading…\n", "\nFetching 7 of 9\n", 1), err, end)
        }
        answer => answer,
    };
    assert_eq!(unmet(&judged(&recorded(other_words), &baseline).0), Vec::<&CheckResult>::new());
    let cut = |call: &Call| match faulty(&["list"])(call) {
        Answer(out, ..) if out.starts_with("Loading") => data("{\"ok\":true,\"data\":["),
        answer => answer,
    };
    let (report, _) = judged(&recorded(cut), &baseline);
    let kinds: Vec<&str> = unmet(&report).iter().map(|result| result.evidence[0].kind.as_str()).collect();
    assert_eq!(status(&report, CheckId::P2OutputJson).0, Status::Fail, "{kinds:?}");
}

#[test]
fn what_is_fixed_is_told_and_removed() {
    let baseline = baseline_of(&recorded(faulty(&["list"])));
    let (report, seen) = judged(&recorded(|call| faulty(&["list"])(&json_mended(call))), &baseline);
    assert_eq!(report.exit_code(true), 0, "{:?}", unmet(&report));
    let compared = Compared::of(&seen, &baseline);
    let notes = compared.notes(false);
    assert!(
        notes[0].contains(" of the baseline ") && notes[0].contains("p2-output-json (list · json)"),
        "{notes:?}"
    );
    assert!(notes[0].contains("; run --write-baseline to remove "), "{notes:?}");
    assert!(compared.notes(true)[0].contains("; --write-baseline removed "));
    assert!(names(&compared.next).iter().all(|name| !name.contains("p2-output-json ")), "{compared:?}");
    assert!(names(&compared.next).iter().any(|name| name.contains("p2-jsonl-newline (list · jsonl)")));
    // All of it is fixed.
    let (_, seen) = judged(&recorded(faulty(&[])), &baseline);
    assert_eq!(Compared::of(&seen, &baseline).fixed.len(), baseline.len());
    assert!(Compared::of(&seen, &baseline).next.is_empty());
}

/// A call to which `faulty` has no fault in json.
fn json_mended(call: &Call) -> Call {
    let args = &call.args;
    let is_json = call.format == OutputFormat::Json && args[0] == "list";
    let args = if is_json { [vec!["show".to_owned()], args[1..].to_vec()].concat() } else { args.clone() };
    Call { args, ..call.clone() }
}

#[test]
fn what_was_not_looked_at_is_not_fixed() {
    let baseline = baseline_of(&recorded(faulty(&["list"])));
    let good = recorded(faulty(&[]));
    // A selection of checks.
    let one = [CheckId::P2OutputJson.check()];
    let (_, seen) = judge_with(&good, &one, &baseline, &Scans::default()).unwrap();
    let compared = Compared::of(&seen, &baseline);
    assert!(names(&compared.fixed).iter().all(|name| name.starts_with("p2-output-json ")), "{compared:?}");
    assert_eq!(compared.next.len() + compared.fixed.len(), baseline.len());
    // An interrupted check, and one of plain runs.
    for cut in [true, false] {
        let mut part = good.clone();
        let is_plain = |variant: Variant| variant == Variant::Plain;
        part.observations.retain(|seen| {
            if cut { seen.key.probe != ProbeId::declared("list") } else { is_plain(seen.key.variant) }
        });
        (part.interrupted, part.fast) = (cut, !cut);
        let (_, seen) = judged(&part, &baseline);
        let fixed = names(&Compared::of(&seen, &baseline).fixed);
        assert!(!fixed.iter().any(|name| name.starts_with("p2-output-json ")), "{cut}: {fixed:?}");
    }
    // Another target, and a probe that is gone.
    let mut other = good.clone();
    other.target.name = "other".into();
    let (_, seen) = judged(&other, &baseline);
    assert_eq!(Compared::of(&seen, &baseline), Compared { next: baseline.clone(), ..Compared::default() });
    let fewer = seen_without_list();
    let compared = Compared::of(&judged(&fewer, &baseline).1, &baseline);
    assert_eq!((compared.fixed.len(), compared.not_run.len()), (0, baseline.len()), "{compared:?}");
    assert!(compared.notes(false)[0].contains("because the probe was not run: p2-"), "{compared:?}");
    assert_eq!(compared.next, baseline);
    // A run that did not end hides faults.
    let hangs = |call: &Call| match call.args[0].as_str() {
        "list" if call.format != OutputFormat::Text => {
            Answer(String::new(), String::new(), agentnative::run::End::TimedOut)
        }
        _ => conforming(call),
    };
    let (_, seen) = judged(&recorded(hangs), &baseline);
    let fixed = names(&Compared::of(&seen, &baseline).fixed);
    assert!(fixed.is_empty(), "{fixed:?}");
}

/// What is seen where the probe with the faults is not declared.
fn seen_without_list() -> Recording {
    let config =
        config().replace("name = 'list'\n    args = ['list']", "name = 'all'\n    args = ['show', '2']");
    seen(&config, &behavioral(), faulty(&[]))
}

#[test]
fn what_cannot_be_decided_is_no_entry() {
    let hangs = |call: &Call| match call.args.first().map(String::as_str) {
        Some("list") => ended(1, "", "no such thing\n"),
        _ => conforming(call),
    };
    let recording = recorded(hangs);
    let baseline = baseline_of(&recording);
    let (report, _) = judged(&recording, &baseline);
    assert_eq!(unmet(&report), Vec::<&CheckResult>::new());
    let text = BaselineFile::from(&baseline).to_text().unwrap();
    let open = report.results.iter().filter(|result| result.status == Status::Unverified);
    for result in open {
        assert!(!text.contains(result.id.as_str()), "{result:?}\n{text}");
    }
}

#[test]
fn lines_of_code_are_counted() {
    let fault = |line: u64, excerpt: &str| {
        let evidence = Evidence {
            kind: "print".into(),
            file: Some("src/main.py".into()),
            line: Some(line),
            excerpt: Some(excerpt.into()),
            ..Evidence::default()
        };
        Fault::of("mycli", CheckId::P2SrcStrayPrint, Layer::Source, &evidence)
    };
    let mut baseline = Baseline::default();
    for one in [fault(1, "print(1)"), fault(7, "    print( 1 )"), fault(9, "\tprint(1)")] {
        baseline.add(one);
    }
    // Indentation is no difference.
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
