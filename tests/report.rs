//! The text report on simulated targets.

use crate::simulated_target::{
    Call, CallResult, PROBES, conforming, exited, failure, record, records, success,
};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Judged, Recording, judge};
use agentnative::model::{HelpLanguage, Layer, OutputFormat, Status, Variant};
use agentnative::output::{RENDERERS, ReportView};
use agentnative::run::RunEnd;
use agentnative_output::OutputConfig;
use std::path::Path;
use std::time::Duration;

/// Returns the behavioral checks of principle 2.
fn output_checks() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral && check.principle == 2).collect()
}

/// Renders the text report on a recording at this width.
fn report(recording: &Recording, width: usize, verbose: bool) -> String {
    let report = judge(recording, &output_checks()).unwrap();
    let elapsed = Some(Duration::from_millis(1940));
    let judged = [Judged { report, recording: Some(recording.clone()), elapsed }];
    let config = OutputConfig { width, ..OutputConfig::plain(OutputFormat::Text) };
    let text = RENDERERS.iter().find(|renderer| renderer.name == "text").unwrap();
    (text.render)(&ReportView { verbose, folder: Some(Path::new("/")), ..ReportView::new(&judged, config) })
        .unwrap()
}

/// A target with colour on a terminal, a notice before a document, a traceback as an error, exit code 1 for invalid
/// usage and for a missing login, and no newline after the last record.
fn six_mistakes(call: &Call) -> CallResult {
    let has = |word: &str| call.args.iter().any(|arg| arg.contains(word));
    if has("agentnative-unknown") {
        return exited(1, "", "demo: what is that?\n");
    }
    if has("--help") {
        return conforming(call);
    }
    match (call.args.first().map(String::as_str), call.format) {
        (Some("login"), _) => failure(call, 1, "not logged in"),
        (Some("lost"), OutputFormat::Json) => {
            exited(1, "", "Traceback (most recent call last):\n  x\nKeyError: 9\n")
        }
        (Some("list"), OutputFormat::Json) => {
            let document = records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#]);
            match call.variant {
                Variant::Tty => success(format!("\u{1b}[1m{document}")),
                _ => success(document),
            }
        }
        (Some("list"), OutputFormat::Jsonl) => {
            success(records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#]).trim_end())
        }
        (Some("show"), OutputFormat::Json) => success(format!("Loading...\n{}", records(call, &["{}"]))),
        (Some("show"), _) => success(records(call, &["{}"])),
        _ => conforming(call),
    }
}

fn record_mistakes() -> Recording {
    let config = format!("{PROBES}\n[[probe]]\nname = 'show'\nargs = ['show', '1']\n");
    let mut recording = record(&config, &output_checks(), six_mistakes);
    recording.language = Some(HelpLanguage::Python);
    recording
}

#[test]
fn a_report_of_six_mistakes_fits_on_a_screen() {
    let shown = report(&record_mistakes(), 80, false);
    crate::render::snapshot("six-mistakes-80.txt", &shown);
    assert!(shown.lines().count() <= 40, "{shown}");
    for width in [40, 50, 80, 120] {
        let shown = report(&record_mistakes(), width, false);
        let longest = shown.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width), "{longest:?}\n{shown}");
    }
    crate::render::snapshot("six-mistakes-40.txt", &report(&record_mistakes(), 40, false));
}

/// A target with a notice before all output that accepts unknown words and exits with 3 and prose for every error.
fn many_mistakes(call: &Call) -> CallResult {
    match call.args.first().map(String::as_str) {
        _ if call.args.iter().any(|arg| ["--help", "--version"].contains(&&**arg)) => conforming(call),
        Some("lost" | "login" | "sync") => exited(3, "", "it failed\n"),
        _ if matches!(call.variant, Variant::ClosedPipe) => {
            exited(101, "", "thread 'main' panicked at src/main.rs\n")
        }
        _ => success(format!("Loading...\n{}", records(call, &["{}"]))),
    }
}

#[test]
fn a_report_of_many_problems_lists_each_and_fits_on_a_screen() {
    let recording = record(PROBES, &output_checks(), many_mistakes);
    let shown = report(&recording, 80, false);
    assert!(shown.lines().count() <= 40, "{shown}");
    let results = judge(&recording, &output_checks()).unwrap().results;
    let failed: Vec<_> = results.iter().filter(|result| result.status == Status::Fail).collect();
    assert!(failed.len() >= 8, "{shown}");
    let headings: String = shown.lines().filter(|line| line.starts_with("✗ ")).collect();
    for result in failed {
        assert!(headings.contains(result.id.as_str()), "{shown}");
    }
    // Problems with the same cause have one heading.
    assert!(headings.contains("p2-output-json, p2-output-jsonl  "), "{shown}");
    assert!(shown.contains("./demo list --output json   also: in jsonl\n"), "{shown}");
    assert!(report(&recording, 80, true).lines().count() > 100);
}

#[test]
fn help_is_for_the_language_of_the_target() {
    let mut recording = record_mistakes();
    let python = report(&recording, 120, false);
    assert!(python.contains("override `ArgumentParser.error`") && !python.contains("Rust"), "{python}");
    recording.language = None;
    let neutral = report(&recording, 120, false);
    assert!(
        neutral.contains("In JSON mode, print only `{") && !neutral.contains("ArgumentParser"),
        "{neutral}"
    );
}

#[test]
fn a_verbose_report_lists_every_verdict_and_all_evidence() {
    let recording = record_mistakes();
    let shown = report(&recording, 80, true);
    let results = judge(&recording, &output_checks()).unwrap().results;
    assert!(results.iter().all(|result| shown.contains(result.id.as_str())), "{shown}");
    let calls = shown.lines().filter(|line| line.trim_start().starts_with("$ ")).count();
    assert_eq!(calls, results.iter().map(|result| result.evidence.len()).sum::<usize>(), "{shown}");
}

#[test]
fn an_interrupted_check_reports_the_number_of_completed_runs() {
    let mut recording = record_mistakes();
    recording.planned = Some(recording.observations.len());
    recording.observations.truncate(31);
    recording.interrupted = true;
    let shown = report(&recording, 80, false);
    let planned = recording.planned.unwrap();
    assert!(shown.contains(&format!("\ninterrupted: after 31 of {planned} runs: ")), "{shown}");
    assert!(shown.contains("✗ ") && shown.contains("not conformant: "), "{shown}");
    assert!(!shown.contains("declare") && !shown.contains("? "), "{shown}");
}

#[test]
fn checks_without_a_probe_are_one_line() {
    let mut recording = record("", &output_checks(), conforming);
    for (config, line) in [
        (
            None,
            " checks  no probe is declared: run `agentnative init`, or name a call of the target with --probe \"ARGS\"",
        ),
        (
            Some("agentnative.toml"),
            " checks  no probe is declared in agentnative.toml: add a `[[probe]]`, or name a call of the target with --probe \"ARGS\"",
        ),
    ] {
        recording.config = config.map(str::to_owned);
        let shown = report(&recording, 160, false);
        let unverified: Vec<&str> = shown.lines().filter(|line| line.starts_with("? ")).collect();
        assert!(unverified[0].ends_with(line), "{shown}");
        assert_eq!(unverified.len(), 1, "{shown}");
    }
}

#[test]
fn checks_that_are_blocked_by_a_problem_are_one_line() {
    let hangs = |call: &Call| match call.args.first().map(String::as_str) {
        Some("list" | "lost" | "login" | "sync") => {
            CallResult(String::new(), String::new(), RunEnd::TimedOut)
        }
        _ => conforming(call),
    };
    let shown = report(&record(PROBES, &output_checks(), hangs), 80, false);
    crate::render::snapshot("every-run-hangs.txt", &shown);
    assert!(
        shown.contains("✗ p2-completes ")
            && shown.contains(" checks can be decided once p2-completes passes"),
        "{shown}"
    );
    assert!(!shown.contains("declare a probe that"), "{shown}");
}
