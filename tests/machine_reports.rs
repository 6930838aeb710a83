//! The machine-readable reports: the properties that their consumers rely on, and the escaping of all text of a target.
//! Complete reports are in `tests/snapshots/`.

use crate::render::{TEXT, evidence_at, mixed_report, render, result, snapshot, target, with_fixed_metadata};
use agentnative::check::Judged;
use agentnative::model::{CheckResult, Evidence, Layer, Level, Status};
use agentnative::output::{RENDERERS, ReportView};
use agentnative::report::Report;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use strict_json::sanitize;

const MACHINE_FORMATS: [&str; 5] = ["sarif", "junit", "github", "gitlab", "markdown"];

/// Returns [`mixed_report`] with a problem at two places of the code and a waived problem.
pub fn report_with_code() -> Report {
    let mut report = mixed_report();
    let print = |line| Evidence {
        kind: "print".into(),
        file: Some("src/a b.py".into()),
        line: Some(line),
        column: Some(5),
        end_line: Some(line),
        end_column: Some(20),
        excerpt: Some("    print(\"<b>@all `x` [a](b)\")".into()),
        caret: Some(4),
        detail: "prints to stdout outside the output module".into(),
        ..Evidence::default()
    };
    let code = CheckResult {
        layer: Layer::Source,
        evidence: vec![print(7), print(9)],
        ..result(
            "p2-src-stray-print",
            Level::Should,
            Status::Warn,
            "stdout is written in one place",
            "prints",
        )
    };
    let waived = CheckResult {
        evidence: vec![evidence_at(b"[1]\n[2]\n", 4, "a second document")],
        message: "waived: known <since> #12 (two documents)".into(),
        ..result("p2-json-strict", Level::Must, Status::Waived, "one document", "")
    };
    report.results.extend([code, waived]);
    with_fixed_metadata(Report::new(report.target, report.runs, false, report.results, report.notes))
}

/// Renders reports in all machine formats, and returns the texts with their names.
fn rendered(reports: Vec<Report>, strict: bool) -> Vec<(&'static str, String)> {
    let judged = reports.into_iter().map(|report| Judged { report, recording: None, elapsed: None });
    let judged: Vec<Judged> = judged.collect();
    let folder = Some(Path::new("/src"));
    let view = ReportView { folder, root: folder, strict, ..ReportView::new(&judged, TEXT) };
    let renderers = RENDERERS.iter().filter(|renderer| MACHINE_FORMATS.contains(&renderer.name));
    renderers.map(|renderer| (renderer.name, (renderer.render)(&view).unwrap())).collect()
}

#[test]
fn machine_formats_match_their_snapshots() {
    for (name, text) in rendered(vec![report_with_code()], false) {
        let file = match name {
            "sarif" => "mixed.sarif".to_owned(),
            "junit" => "mixed.junit.xml".to_owned(),
            "gitlab" => "mixed.gitlab.json".to_owned(),
            "markdown" => "mixed.md".to_owned(),
            name => format!("mixed.{name}"),
        };
        snapshot(&file, &without_catalogue(&text));
    }
}

/// Removes the texts of `checks/`, which change independently: the rules of SARIF and the lines of help.
fn without_catalogue(text: &str) -> String {
    let rules = regex::Regex::new(r#""rules":\[\{.*?\}\]"#).unwrap();
    let help = regex::Regex::new(r#"Help: (?:\\"|[^"<\n])*"#).unwrap();
    let text = rules.replace(text, r#""rules":[]"#).into_owned();
    help.replace_all(&text, "Help: …").into_owned()
}

#[test]
fn problems_have_unique_and_stable_fingerprints() {
    let fingerprints = |report: Report| -> Vec<String> {
        let all = rendered(vec![report], false);
        let gitlab: Value =
            serde_json::from_str(&all.iter().find(|(name, _)| *name == "gitlab").unwrap().1).unwrap();
        let issues = gitlab.as_array().unwrap().iter();
        issues.map(|issue| issue["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    let before = fingerprints(report_with_code());
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), before.len());
    // The fingerprints do not depend on line numbers and offsets.
    let mut report = report_with_code();
    for evidence in report.results.iter_mut().flat_map(|result| &mut result.evidence) {
        evidence.line = evidence.line.map(|line| line + 3);
        evidence.offset = evidence.offset.map(|offset| offset + 40);
    }
    assert_eq!(fingerprints(report), before);
    // Fingerprints of two targets with the same problems are different.
    let mut other = report_with_code();
    other.target.name = "other".into();
    assert!(fingerprints(other).iter().all(|key| !before.contains(key)));
}

#[test]
fn results_of_sarif_refer_to_their_rules_and_locations() {
    let log: Value = serde_json::from_str(&rendered(vec![report_with_code()], false)[0].1).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let rules = &run["tool"]["driver"]["rules"];
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(rules[index]["help"]["text"].as_str().is_some_and(|help| help.len() > 50));
    }
    let results_for = |id: &str| results.iter().filter(|result| result["ruleId"] == id).collect::<Vec<_>>();
    let json = results_for("p2-output-json");
    assert_eq!(
        (json.len(), &json[0]["occurrenceCount"]),
        (1, &5.into()),
        "runs with the same problem are one result"
    );
    assert_eq!(json[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "mycli/list");
    assert_eq!(json[0]["properties"]["command"], "mycli --no-update list --output json");
    let code = results_for("p2-src-stray-print");
    let region = &code[1]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["endColumn"]), (&9.into(), &20.into()));
    let uri = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    // Paths in the repository are relative to it.
    assert_eq!(
        (uri(json[0]), uri(code[0])),
        ("file:///opt/my%20tools/mycli".into(), "mycli/src/a%20b.py".into())
    );
    assert_eq!(results_for("p2-json-strict")[0]["suppressions"][0]["status"], "accepted");
    assert!(results_for("p2-exit-auth").is_empty(), "an unverified check is not a problem");
    let notifications = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert!(notifications.iter().any(|notification| notification["associatedRule"]["id"] == "p2-exit-auth"));
}

#[test]
fn a_check_is_linked_to_its_page_if_it_has_one() {
    let mut report = report_with_code();
    let page = "https://docs.example/checks/p2-output-json.html";
    for result in &mut report.results {
        result.docs = match result.id.as_str() {
            "p2-output-json" => page.into(),
            // An address with markup is omitted.
            _ => format!("https://docs.example/)<b>{}", result.id),
        };
    }
    let all = rendered(vec![report], false);
    let text = |name| &all.iter().find(|(format, _)| *format == name).unwrap().1;
    let log: Value = serde_json::from_str(text("sarif")).unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let pages: Vec<&Value> = rules.iter().filter_map(|rule| rule.get("helpUri")).collect();
    assert_eq!(pages, [page]);
    assert!(
        text("markdown").contains(&format!("**[p2-output-json]({page})** (MUST)")),
        "{}",
        text("markdown")
    );
    assert!(!text("markdown").contains("<b>p2"), "{}", text("markdown"));
}

#[test]
fn strict_turns_unverified_checks_into_failures() {
    for (strict, failures) in [(false, 2), (true, 5)] {
        let all = rendered(vec![report_with_code()], strict);
        let text = |name| &all.iter().find(|(format, _)| *format == name).unwrap().1;
        assert!(text("junit").contains(&format!(" failures=\"{failures}\" ")), "{}", text("junit"));
        assert_eq!(text("junit").matches("<failure ").count(), failures);
        assert_eq!(
            text("github").contains("unverified: p2-exit-auth, p2-exit-config, p2-exit-usage"),
            strict
        );
        assert_eq!(text("markdown").contains("--strict"), strict);
        assert_eq!(text("sarif").contains(r#""level":"error","message":{"text":"unverified"#), strict);
    }
}

#[test]
fn a_denied_warning_is_an_error() {
    let mut report = report_with_code();
    report.deny = vec![Level::Should];
    let github = render("github", &report, TEXT);
    assert!(
        github.contains("title=mycli%3A p2-jsonl-newline::") && !github.contains("::warning"),
        "{github}"
    );
    assert!(render("junit", &report, TEXT).contains(" failures=\"4\" "));
}

#[test]
fn several_targets_are_one_document() {
    let reports = vec![report_with_code(), Report { target: target(), ..mixed_report() }];
    let judged: Vec<Judged> = reports
        .iter()
        .map(|report| Judged { report: report.clone(), recording: None, elapsed: None })
        .collect();
    let view = ReportView::new(&judged, TEXT);
    let json = RENDERERS.iter().find(|renderer| renderer.name == "json").unwrap();
    let data = serde_json::from_str::<Value>(&(json.render)(&view).unwrap()).unwrap()["data"].take();
    let targets: Vec<Report> = serde_json::from_value(data["targets"].clone()).unwrap();
    assert_eq!(targets, reports);
    assert_eq!((&data["summary"]["fail"], &data["summary"]["waived"]), (&4.into(), &3.into()));
    for (name, text) in rendered(reports, false) {
        match name {
            "sarif" => assert_eq!(text.matches("\"driver\"").count(), 2),
            "junit" => assert_eq!(text.matches("<testsuite ").count(), 2),
            "markdown" => {
                assert!(text.starts_with("## agentnative · 2 targets\n\n- mycli: not conformant (2 failed"))
            }
            _ => {}
        }
    }
}

#[test]
fn a_large_report_fits_the_limits_of_its_platform() {
    let mut report = report_with_code();
    let (long, wide) = ("word ".repeat(400), "\u{4e2d}`<".repeat(400));
    let mut results = report.results.clone();
    for result in &mut results {
        result.message = format!("{} {long}{wide}", result.message);
        let evidence = result.evidence.clone();
        result.evidence = (0..6).flat_map(|_| evidence.clone()).collect();
        for (index, evidence) in result.evidence.iter_mut().enumerate() {
            evidence.probe = Some(format!("probe-{index}-{long}"));
            evidence.detail.clone_from(&wide);
            evidence.excerpt = Some(wide.clone());
        }
    }
    report.results.clear();
    for _ in 0..4 {
        report.results.extend(results.clone());
    }
    report.notes = vec![long; 50];
    let all = rendered(vec![report.clone(), report], true);
    let text = |name| &all.iter().find(|(format, _)| *format == name).unwrap().1;
    let markdown = text("markdown");
    assert!(markdown.len() < 65_000 && markdown.contains("parts are omitted"), "{}", markdown.len());
    let mut count = std::collections::BTreeMap::new();
    for line in text("github").lines() {
        *count.entry(line.split(' ').next().unwrap()).or_insert(0) += 1;
        assert!(line.len() < 64 * 1024);
    }
    assert_eq!(count.into_iter().collect::<Vec<_>>(), [("::error", 10), ("::notice", 10), ("::warning", 10)]);
    assert!(text("github").contains("more of this kind are in the report of this step"));
}

/// Generates text from pieces with a special meaning in some format, and from any other text.
fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\r",
        "\n::error::x",
        "::set-output name=a::b",
        "##[error]x",
        "<script>",
        "-->",
        "]]>",
        "&lt;",
        "&#64;",
        "]",
        "[a](http://x)",
        "![i](//x)",
        "@all",
        "#12",
        "GH-3",
        "www.x.org",
        "http://x.org",
        "%0A",
        "%",
        ",",
        ":",
        "{0}",
        "\\",
        "|",
        "*a*",
        "_b_",
        "$x$",
        "\u{fffe}",
        "\u{ffff}",
        "\u{202e}",
        "\u{1b}[31m",
        "\u{0}",
        "\u{9b}",
        "\u{feff}",
        "'",
        "\"",
        " ",
        "\t",
        "- ",
        "# ",
        "1. ",
        "word",
        "\u{4e2d}",
    ]);
    let any = any::<String>();
    prop::collection::vec(prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => any], 0..12)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_of_a_target_is_markup_or_a_command(texts in prop::collection::vec(hostile_text(), 9)) {
        let mut report = report_with_code();
        // Results with little evidence, and unverified results.
        let is_kept = |result: &CheckResult| result.evidence.len() < 3 && result.status != Status::Pass;
        report.results.retain(is_kept);
        let [name, message, detail, excerpt, argv, probe, file, note, kind] = texts.try_into().unwrap();
        report.target.name.clone_from(&name);
        report.target.command = vec![name, argv.clone()];
        report.notes = vec![note];
        for result in &mut report.results {
            result.message.clone_from(&message);
            for evidence in &mut result.evidence {
                evidence.detail.clone_from(&detail);
                evidence.excerpt = evidence.excerpt.is_some().then(|| excerpt.clone());
                evidence.argv = Some(argv.clone());
                evidence.probe = evidence.probe.is_some().then(|| probe.clone());
                evidence.file = evidence.file.is_some().then(|| file.clone());
                evidence.kind.clone_from(&kind);
            }
        }
        for (name, text) in rendered(vec![report], true) {
            prop_assert!(!text.contains(|c| sanitize::is_unsafe(c) && c != '\n'), "{name}: {text:?}");
            match name {
                "github" => prop_assert_eq!(validate_annotations(&text), Ok(()), "{}", text),
                _ => prop_assert_eq!(&sanitize::escape_commands(&text), &text),
            }
            match name {
                "sarif" | "gitlab" => prop_assert!(serde_json::from_str::<Value>(&text).is_ok()),
                "junit" => prop_assert_eq!(validate_xml(&text), Ok(()), "{}", text),
                "markdown" => {
                    let (start, end) = ("<details><summary>", "</summary>");
                    let ours = |line: &&str| *line == "</details>" || line.starts_with(start) && line.ends_with(end);
                    let counts = text.lines().filter(|line| line.starts_with(start));
                    prop_assert!(counts.clone().all(|line| line.matches(['<', '>']).count() == 6), "{text}");
                    let lines: Vec<&str> = text.lines().filter(|line| !ours(line)).collect();
                    let rest = without_code(&lines.join("\n"));
                    let is_special = |c: char| "<>[]@&|~$\\{}=^`\u{ff20}".contains(c);
                    prop_assert!(!rest.contains(is_special), "{rest}\n{text}");
                    prop_assert!(!rest.contains("://") && !rest.contains("www.") && !rest.contains("GH-"), "{rest}");
                    prop_assert!(!rest.lines().any(|line| line.trim_start_matches('#').contains('#')), "{rest}");
                }
                _ => {}
            }
        }
    }
}

/// Returns an error unless each line is one annotation without another command in it.
fn validate_annotations(text: &str) -> Result<(), String> {
    for line in text.lines() {
        let rest = ["::error ", "::warning ", "::notice "].iter().find_map(|kind| line.strip_prefix(kind));
        let (properties, message) = rest.and_then(|rest| rest.split_once("::")).ok_or(line)?;
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').ok_or(property)?;
            let known = ["file", "line", "endLine", "col", "endColumn", "title"].contains(&name);
            let escaped = !value.contains([':', ',']);
            (known && escaped).then_some(()).ok_or(property)?;
        }
        let has_no_commands = message.split("%0A").all(|line| sanitize::escape_commands(line) == line);
        let is_escaped =
            message.split('%').skip(1).all(|rest| rest.starts_with("25") || rest.starts_with("0A"));
        (has_no_commands && is_escaped).then_some(()).ok_or(message)?;
    }
    Ok(())
}

/// Returns an error unless the XML has closed elements, quoted attributes, known entities and allowed characters.
fn validate_xml(text: &str) -> Result<(), String> {
    let mut open = Vec::new();
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").ok_or("no declaration")?;
    let validate_text = |text: &str| {
        let entities = text.split('&').skip(1).all(|rest| {
            ["amp;", "lt;", "gt;", "quot;", "apos;"].iter().any(|entity| rest.starts_with(entity))
        });
        let allowed = !text.contains(['<', '>', '\u{fffe}', '\u{ffff}']);
        (entities && allowed).then_some(()).ok_or_else(|| text.to_owned())
    };
    let mut pieces = body.split('<');
    validate_text(pieces.next().unwrap_or_default())?;
    for piece in pieces {
        let (tag, between) = piece.split_once('>').ok_or(piece)?;
        validate_text(between)?;
        if let Some(name) = tag.strip_prefix('/') {
            (open.pop() == Some(name.to_owned())).then_some(()).ok_or(tag)?;
            continue;
        }
        let inner = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        let quoted: Vec<&str> = attributes.split('"').collect();
        let names = quoted.iter().step_by(2).all(|part| part.trim().is_empty() || part.ends_with('='));
        (quoted.len() % 2 == 1 && names).then_some(()).ok_or(tag)?;
        quoted.iter().skip(1).step_by(2).try_for_each(|value| validate_text(value))?;
        if inner.len() == tag.len() {
            open.push(name.to_owned());
        }
    }
    open.is_empty().then_some(()).ok_or_else(|| open.join(" "))
}

/// Removes the code blocks and code spans of CommonMark from a text.
fn without_code(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<usize> = None;
    for line in text.lines() {
        let ticks = |text: &str| text.len() - text.trim_start_matches('`').len();
        let trimmed = line.trim_start();
        match fence {
            Some(length) if trimmed.trim_end().chars().all(|c| c == '`') && ticks(trimmed) >= length => {
                fence = None
            }
            Some(_) => {}
            None if ticks(trimmed) >= 3 && !trimmed[ticks(trimmed)..].contains('`') => {
                fence = Some(ticks(trimmed))
            }
            None => {
                let mut rest = line;
                while let Some(start) = rest.find('`') {
                    out.push_str(&rest[..start]);
                    let length = ticks(&rest[start..]);
                    let mut from = start + length;
                    let end = loop {
                        let Some(next) = rest[from..].find('`').map(|next| from + next) else { break None };
                        let run = ticks(&rest[next..]);
                        from = next + run;
                        if run == length {
                            break Some(from);
                        }
                    };
                    // An unclosed run of backticks is text.
                    let Some(end) = end else {
                        out.push_str(&rest[start..start + length]);
                        rest = &rest[start + length..];
                        continue;
                    };
                    rest = &rest[end..];
                }
                out.push_str(rest);
                out.push('\n');
            }
        }
    }
    out
}

/// Renders a badge of these reports in a file of this name.
fn badge(reports: Vec<Report>, file: &str) -> String {
    let judged = reports.into_iter().map(|report| Judged { report, recording: None, elapsed: None });
    let judged: Vec<Judged> = judged.collect();
    let renderer = agentnative::output::renderer("badge", Path::new(file)).unwrap();
    (renderer.render)(&ReportView::new(&judged, TEXT)).unwrap()
}

#[test]
fn a_badge_contains_the_verdict_with_its_number() {
    let failed = report_with_code();
    let message = |reports: Vec<Report>| {
        let endpoint: Value = serde_json::from_str(&badge(reports, "badge.json")).unwrap();
        assert_eq!(endpoint["schemaVersion"], 1);
        assert_eq!(endpoint["label"], "agent-native 0.6");
        (endpoint["message"].as_str().unwrap().to_owned(), endpoint["color"].as_str().unwrap().to_owned())
    };
    let of_status = |statuses: &[Status]| {
        let results = failed.results.iter().filter(|result| statuses.contains(&result.status)).cloned();
        Report::new(failed.target.clone(), 1, false, results.collect(), Vec::new())
    };
    let passed = of_status(&[Status::Pass]);
    let expected = format!("conformant · {} verified", passed.summary.pass);
    assert_eq!(message(vec![passed.clone()]), (expected, "green".to_owned()));
    let expected = format!("not conformant · {} failed", failed.summary.fail);
    assert_eq!(message(vec![failed.clone()]), (expected, "red".to_owned()));
    let open = of_status(&[Status::Pass, Status::Unverified]);
    let expected = format!("conformant so far · {} MUST unverified", open.open_musts().count());
    assert_eq!(message(vec![open]), (expected, "blue".to_owned()));
    assert_eq!(message(vec![of_status(&[])]), ("nothing was checked".to_owned(), "lightgrey".to_owned()));
    let expected = ("1 of 2 targets conformant".to_owned(), "red".to_owned());
    assert_eq!(message(vec![passed.clone(), failed]), expected);

    let drawn = badge(vec![passed], "badge.svg");
    assert!(drawn.starts_with("<svg ") && drawn.contains("agent-native 0.6: conformant"), "{drawn}");
    let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parseString(sys.argv[1])";
    let parsed = std::process::Command::new("python3").args(["-c", parse, &drawn]).output().unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
}
