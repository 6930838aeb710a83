//! The renderers, compared with the files in `tests/snapshots/`. `UPDATE=1` rewrites these files.

use agentnative::check::Judged;
use agentnative::model::{
    CheckId, CheckResult, ConfigInfo, Evidence, Layer, Level, Status, Stream, TargetInfo, Variant,
};
use agentnative::output::{RENDERERS, ReportView};
use agentnative::report::{Report, ReportEvent};
use agentnative_output::{OutputConfig, OutputFormat};
use std::path::Path;
use strict_json::sanitize;

/// Compares a text with its snapshot, or rewrites the snapshot.
pub fn snapshot(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "{name} differs (UPDATE=1 rewrites it)\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

pub fn render(name: &str, report: &Report, config: OutputConfig) -> String {
    rendered(name, report, config, false)
}

fn rendered(name: &str, report: &Report, config: OutputConfig, verbose: bool) -> String {
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == name).unwrap();
    let judged = [Judged { report: report.clone(), recording: None, elapsed: None }];
    let folder = Some(Path::new("/opt"));
    (renderer.render)(&ReportView {
        ok: report.conformant,
        verbose,
        folder,
        root: folder,
        ..ReportView::new(&judged, config)
    })
    .unwrap()
}

pub const TEXT: OutputConfig = OutputConfig::plain(OutputFormat::Text);

pub fn result(id: &str, level: Level, status: Status, title: &str, message: &str) -> CheckResult {
    CheckResult {
        id: id.parse().unwrap(),
        principle: 2,
        level,
        layer: Layer::Behavioral,
        standard: Vec::new(),
        status,
        title: title.into(),
        message: message.into(),
        evidence: Vec::new(),
        evidence_left_out: 0,
        blocked_by: Vec::new(),
        needs_runs: false,
        help: None,
        docs: format!("agentnative explain {id}"),
    }
}

/// Returns evidence at the byte `offset` of the first line of `stdout`.
pub fn evidence_at(stdout: &[u8], offset: usize, detail: &str) -> Evidence {
    let (excerpt, caret) = sanitize::excerpt(stdout, offset, 120);
    Evidence {
        kind: "syntax".into(),
        probe: Some("list".into()),
        format: Some(OutputFormat::Json),
        variant: Some(Variant::Plain),
        nth: Some(0),
        argv: Some("'/opt/my tools/mycli' --no-update list --output json".into()),
        stream: Some(Stream::Stdout),
        offset: Some(offset as u64),
        line: Some(1),
        column: Some(offset as u64 + 1),
        excerpt: Some(excerpt),
        caret: Some(caret),
        detail: detail.into(),
        ..Evidence::default()
    }
}

pub fn target() -> TargetInfo {
    TargetInfo {
        name: "mycli".into(),
        command: vec!["/opt/my tools/mycli".into(), "--no-update".into()],
        project: Some("/src/mycli".into()),
    }
}

/// Returns a report with every verdict, every kind of evidence, and texts with control characters and commands.
pub fn mixed_report() -> Report {
    let json = CheckResult {
        evidence: vec![
            evidence_at(b"Fetching data\xe2\x80\xa6\n[]\n", 0, "expected a JSON value"),
            Evidence {
                variant: Some(Variant::HostileEnv),
                line: Some(14),
                ..evidence_at(b"\t{\"a\": \x1b[31m1\x1b[0m}", 7, "an escape sequence is no JSON")
            },
            evidence_at(
                &[b"[".as_slice(), &b"\"\xe4\xb8\xad\xe6\x96\x87\",".repeat(40), b"nul]"].concat(),
                1 + 40 * 9,
                "expected a JSON value, and this detail is long enough to be wrapped onto another line",
            ),
            evidence_at(b"x", 0, "not shown"),
            evidence_at(b"y", 0, "not shown"),
        ],
        help: Some("Send progress and log lines to standard error, and keep standard output for the one document, also in a terminal.".into()),
        ..result(
            "p2-output-json",
            Level::Must,
            Status::Fail,
            "in json mode stdout is exactly one RFC 8259 document",
            "stdout is not one JSON document: there is text before it",
        )
    };
    let pipe = CheckResult {
        evidence: vec![Evidence {
            variant: Some(Variant::ClosedPipe),
            stream: None,
            offset: None,
            line: None,
            column: None,
            excerpt: None,
            caret: None,
            ..evidence_at(b"", 0, "still running 10.0 s after the reader had gone; it was asleep")
        }],
        ..result(
            "p2-broken-pipe",
            Level::Must,
            Status::Fail,
            "a reader that closes early gets no traceback, panic or hang",
            "1 of 3 runs did not end",
        )
    };
    let newline = CheckResult {
        evidence: vec![Evidence {
            format: Some(OutputFormat::Jsonl),
            line: None,
            column: None,
            excerpt: Some(r#"{"id": 7}"#.into()),
            caret: None,
            ..evidence_at(b"", 0, "no line feed after the last record")
        }],
        help: Some("::error::End each record with a line feed.\n\n  print(json.dumps(record))".into()),
        ..result("p2-jsonl-newline", Level::Should, Status::Warn, "the last record ends in a newline", "")
    };
    let auth = CheckResult {
        help: Some("declare a probe with that exit code".into()),
        ..result(
            "p2-exit-auth",
            Level::Must,
            Status::Unverified,
            "runs expected to end with 77 do",
            "no probe expects exit code 77",
        )
    };
    with_fixed_metadata(Report::new(
        target(),
        41,
        true,
        vec![
            result(
                "p2-output-format",
                Level::Must,
                Status::Pass,
                "text, json and jsonl are each accepted; without a flag the output is that of text; an invalid value is a usage error",
                "passed in 5 runs",
            ),
            json,
            result(
                "p2-output-jsonl",
                Level::Must,
                Status::Waived,
                "in jsonl mode each line is one complete JSON object",
                "waived until 2027-03-01: one document only; tracked in #12",
            ),
            newline,
            auth.clone(),
            CheckResult {
                id: CheckId::P2ExitConfig,
                message: "no probe expects exit code 78".into(),
                help: Some("declare a probe with that exit code".into()),
                ..auth.clone()
            },
            CheckResult {
                id: CheckId::P2ExitUsage,
                message: "only one format was seen".into(),
                evidence: vec![Evidence { excerpt: None, ..evidence_at(b"", 0, "this run only") }],
                ..auth
            },
            result(
                "p2-exit-success",
                Level::Must,
                Status::Pass,
                "runs expected to end with 0 do",
                "passed in 9 runs",
            ),
            pipe,
            result(
                "p2-raw",
                Level::May,
                Status::NotApplicable,
                "raw output is offered",
                "no \x1b[1mraw\x1b[0m flag in the help",
            ),
        ],
        vec![
            "waiver of p2-envelope is not used".into(),
            "connections were not confined: kernel too old\u{202e}".into(),
        ],
    ))
}

/// Replaces the version, time and configuration of a report by fixed values.
pub fn with_fixed_metadata(report: Report) -> Report {
    let config = ConfigInfo {
        file: Some("agentnative.toml".into()),
        digest: Some("xxh128:99aa06d3014798d86001c324468d497f".into()),
        overrides: vec!["--timeout 5".into()],
    };
    let time = Some("2026-07-02T12:05:09Z".into());
    Report {
        version: "1.2.3".into(),
        target_version: Some("1.4.0".into()),
        time,
        config: Some(config),
        ..report
    }
}

#[test]
fn text_matches_its_snapshot() {
    snapshot("mixed.txt", &render("text", &mixed_report(), TEXT));
}

#[test]
fn narrow_text_matches_its_snapshot() {
    snapshot("mixed-narrow.txt", &render("text", &mixed_report(), OutputConfig { width: 48, ..TEXT }));
}

#[test]
fn verbose_text_matches_its_snapshot() {
    snapshot("mixed-verbose.txt", &rendered("text", &mixed_report(), TEXT, true));
}

#[test]
fn quiet_text_matches_its_snapshot() {
    snapshot("mixed-quiet.txt", &render("text", &mixed_report(), OutputConfig { quiet: true, ..TEXT }));
}

#[test]
fn coloured_text_has_the_same_words() {
    let colored = render("text", &mixed_report(), OutputConfig { color_stdout: true, ..TEXT });
    let mut plain = String::new();
    let mut pieces = colored.split("\x1b[");
    plain.push_str(pieces.next().unwrap());
    for piece in pieces {
        plain.push_str(piece.split_once('m').unwrap().1);
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&plain), trimmed(&render("text", &mixed_report(), TEXT)));
    assert!(colored.contains("\x1b["));
}

#[test]
fn text_of_the_other_outcomes_matches_its_snapshot() {
    let pass = result("p2-output-json", Level::Must, Status::Pass, "one document", "");
    let unverified = CheckResult { status: Status::Unverified, ..pass.clone() };
    let warn = CheckResult { status: Status::Warn, level: Level::Should, ..pass.clone() };
    let text = |runs, results| render("text", &Report::new(target(), runs, false, results, vec![]), TEXT);
    let all = [text(3, vec![pass.clone()]), text(0, vec![unverified]), text(3, vec![warn]), text(0, vec![])];
    snapshot("outcomes.txt", &all.join("\n=====\n"));
}

#[test]
fn json_contains_the_report_and_matches_its_snapshot() {
    let document = render("json", &mixed_report(), OutputConfig::plain(OutputFormat::Json));
    assert_eq!(document.matches('\n').count(), 1);
    let value: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(value["ok"], false);
    assert_eq!(value["command"], "check");
    assert_eq!(serde_json::from_value::<Report>(value["data"].clone()).unwrap(), mixed_report());
    snapshot("mixed.json", &document);
}

#[test]
fn jsonl_contains_all_results_and_matches_its_snapshot() {
    let lines = render("jsonl", &mixed_report(), OutputConfig::plain(OutputFormat::Jsonl));
    let events: Vec<ReportEvent> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(matches!(events.first(), Some(ReportEvent::Start(start)) if start.checks.len() == 10));
    assert!(matches!(events.last(), Some(ReportEvent::Summary(summary)) if !summary.conformant));
    let results: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event {
            ReportEvent::Result(result) => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(results, mixed_report().results);
    snapshot("mixed.jsonl", &lines);
}

#[test]
fn no_renderer_prints_characters_that_are_unsafe_on_a_terminal() {
    for renderer in RENDERERS {
        let shown = render(renderer.name, &mixed_report(), TEXT);
        // HTML is not for a terminal and may contain tabs.
        let is_allowed = |c: char| c == '\n' || (c == '\t' && renderer.name == "html");
        assert!(!shown.contains(|c| sanitize::is_unsafe(c) && !is_allowed(c)), "{}", renderer.name);
    }
}
