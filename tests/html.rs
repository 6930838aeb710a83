//! The HTML report shows all results, and escapes all text of a target.

use crate::machine_reports::report_with_code;
use crate::render::{TEXT, evidence_at};
use agentnative::check::Judged;
use agentnative::model::{CheckResult, Evidence, Level, Status};
use agentnative::output::{RENDERERS, ReportView};
use agentnative::report::Report;
use std::collections::BTreeSet;
use std::process::Command;

/// Renders reports as an HTML page.
fn page(reports: Vec<Report>) -> String {
    let judged = reports.into_iter().map(|report| Judged { report, recording: None, elapsed: None });
    let judged: Vec<Judged> = judged.collect();
    let view = ReportView::new(&judged, TEXT);
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == "html").unwrap();
    (renderer.render)(&view).unwrap()
}

#[test]
fn a_page_shows_each_verdict_and_each_problem_once_with_the_problem_marked() {
    let report = report_with_code();
    let page = page(vec![report.clone()]);
    let (problems, checks) = page.split_once(">All checks<").unwrap();
    for result in &report.results {
        let (id, status) = (result.id, result.status.name());
        assert!(page.contains(&format!("<span class=\"id\">{id}</span>")), "{id}");
        let find = |page: &str, start: &str| {
            let mut parts = page.split(start).skip(1).filter(|part| part.contains(&format!("id\">{id}<")));
            let first = parts.next().map(str::to_owned);
            assert!(parts.next().is_none(), "{id} twice");
            first
        };
        let row = find(checks, "<details class=\"result ").unwrap();
        assert!(row.starts_with(status), "{id}: {row}");
        let kinds: BTreeSet<&str> = result.evidence.iter().map(|evidence| &*evidence.kind).collect();
        let problem = find(problems, "<details class=\"problem ");
        let is_problem = ["fail", "warn"].contains(&status);
        assert_eq!(problem.is_some(), is_problem, "{id}");
        assert_eq!(row.contains("Show the problem"), is_problem, "{id}");
        let shown = problem.unwrap_or(row);
        let (shown, _) = shown.split_once("<p class=\"dim\">").unwrap();
        assert_eq!(shown.matches("class=\"fault\"").count(), kinds.len(), "{id}: {shown}");
        let others = result.evidence.len() - kinds.len();
        assert_eq!(shown.matches("<li>").count(), others, "{id}: {shown}");
    }
    assert!(problems.find("Fix:").unwrap() < problems.find("class=\"facts\"").unwrap());
    assert!(page.contains("[1]</pre>") || page.contains("<mark>[</mark>2]"), "no mark");
    assert!(page.contains("not conformant"));
}

#[test]
fn a_page_of_several_targets_lists_them() {
    let reports: Vec<Report> = (0..20).map(|_| report_with_code()).collect();
    let page = page(reports);
    assert!(page.contains("<h1>20 targets</h1>"));
    let report = report_with_code();
    let applicable = report.results.len() - report.summary.not_applicable;
    let decided = format!("<td>{} of {applicable}</td>", applicable - report.summary.unverified);
    assert_eq!(page.matches(&decided).count(), 20, "{decided}");
    assert_eq!(page.matches("<td>1.4.0</td>").count(), 20);
    assert_eq!(page.matches("<section class=\"target\"").count(), 20);
    assert!(
        (0..20).all(
            |nth| page.contains(&format!("href=\"#t{nth}\"")) && page.contains(&format!("id=\"t{nth}\""))
        )
    );
}

#[test]
fn no_text_of_a_target_is_markup_a_script_or_a_control_character() {
    let hostile =
        "</script></style><img src=x onerror=alert(1)>\"'`&{{7*7}}{%x%}\u{202e}\u{1b}[2J\u{2028}`<b>`";
    let evidence = Evidence {
        probe: Some(hostile.into()),
        argv: Some(hostile.into()),
        excerpt: Some(hostile.into()),
        file: Some(hostile.into()),
        kind: hostile.into(),
        ..evidence_at(b"[1]\n", 1, hostile)
    };
    let mut report = report_with_code();
    let first = report.results[0].clone();
    report.target = agentnative::model::TargetInfo {
        name: hostile.into(),
        command: vec![hostile.into()],
        project: Some(hostile.into()),
    };
    report.target_version = Some(hostile.into());
    report.notes = vec![hostile.into()];
    report.time = Some(hostile.into());
    report.results = vec![CheckResult {
        level: Level::Must,
        status: Status::Fail,
        message: hostile.into(),
        title: hostile.into(),
        docs: format!("https://docs.example/{hostile}"),
        evidence: vec![evidence],
        ..first
    }];
    let page = page(vec![report.clone(), report]);
    let occurrences = page.matches("onerror").count();
    assert!(occurrences > 20, "the text is not shown: {occurrences}");
    for forbidden in ["<img", "<b>", "\u{202e}", "\u{1b}", "\u{2028}", ">49"] {
        assert!(!page.contains(forbidden), "{forbidden:?} is not escaped");
    }
    // No quotation mark in a text ends an attribute: every tag is from the template.
    let tags = regex::Regex::new(r#"<[a-z][^<>]*\bonerror"#).unwrap();
    for tag in tags.find_iter(&page) {
        assert!(!tag.as_str().contains("\"'"), "{}", tag.as_str());
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
}

#[test]
fn the_page_allows_only_its_own_style_and_script() {
    let page = page(vec![report_with_code()]);
    let part = |tag: &str| {
        let (_, rest) = page.split_once(&format!("<{tag}>")).unwrap();
        rest.split_once(&format!("</{tag}>")).unwrap().0.to_owned()
    };
    let digest = "import base64, hashlib, sys\n\
        print(base64.b64encode(hashlib.sha256(sys.argv[1].encode()).digest()).decode())";
    for tag in ["style", "script"] {
        let made = Command::new("python3").args(["-c", digest, &part(tag)]).output().unwrap();
        let made = String::from_utf8(made.stdout).unwrap();
        let allowed = format!("{tag}-src 'sha256-{}'", made.trim());
        assert!(page.contains(&allowed), "src/output/html/report.* was changed: expected {allowed}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains(" style="), "the policy blocks style attributes");
}
