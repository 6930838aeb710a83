//! The renderer for people.
//!
//! Grouped by verdict, the gravest last, so that what must be mended stands right above the summary.
//! A check that needs nothing is one line.

use super::View;
use crate::model::{CheckResult, Evidence, Layer, Level, OutputFormat, Status, Stream, condition, settings};
use crate::report::Report;
use agentnative_contract::error::Result;
use agentnative_output::{Cell, Page, Tone, columns, expand_tabs};
use strict_json::sanitize;

/// More evidence of one check than this is only counted.
const MAX_EVIDENCE: usize = 3;
/// Narrowest room for a detail beside its caret.
const MIN_DETAIL: usize = 20;

/// How the verdicts look, in the order in which they are shown: verdict, symbol, word, tone, and
/// whether `--quiet` leaves it out.
const GROUPS: [(Status, &str, &str, Tone, bool); 6] = [
    (Status::Pass, "✓", "pass", Tone::Good, true),
    (Status::NotApplicable, "-", "not-applicable", Tone::Dim, true),
    (Status::Waived, "~", "waived", Tone::Dim, true),
    (Status::Unverified, "?", "unverified", Tone::Open, false),
    (Status::Warn, "!", "warn", Tone::Warn, false),
    (Status::Fail, "✗", "fail", Tone::Bad, false),
];

pub(super) fn render(view: &View<'_>) -> Result<String> {
    let mut page = Page::new(&view.config);
    show(view, &mut page);
    Ok(agentnative_output::gate(&page.finish(), view.config.use_color))
}

pub(super) fn show(view: &View<'_>, page: &mut Page) {
    for judged in view.judged {
        page.blank();
        show_report(&judged.report, page);
    }
}

fn show_report(report: &Report, page: &mut Page) {
    let quiet = page.config().quiet;
    if !quiet {
        header(page, report);
    }
    for (status, symbol, word, tone, silent) in GROUPS {
        if silent && quiet {
            continue;
        }
        let results: Vec<_> = report.results.iter().filter(|result| result.status == status).collect();
        let mark = Cell::new(tone, format!("{symbol} {word}"));
        page.blank();
        let (blocks, rows): (Vec<_>, Vec<_>) = results.into_iter().partition(|r| is_block(r));
        page.table(0, &rows.iter().map(|result| row(&mark, result)).collect::<Vec<_>>());
        helps(page, &rows);
        blocks.iter().for_each(|result| block(page, &mark, result));
    }
    page.blank();
    summary(page, report);
}

fn header(page: &mut Page, report: &Report) {
    let target = &report.target;
    let words = target.command.iter().map(String::as_str);
    // A word with a NUL cannot be quoted; the sanitiser makes it readable all the same.
    let command = shlex::try_join(words).unwrap_or_else(|_| target.command.join(" "));
    page.line(0, &[Cell::new(Tone::Strong, &target.name), Cell::new(Tone::Dim, format!("  {command}"))]);
    if let Some(project) = &target.project {
        page.line(0, &[Cell::new(Tone::Dim, format!("project {project}"))]);
    }
}

/// Whether a verdict takes more than a line: where there is something to look at.
const fn is_block(result: &CheckResult) -> bool {
    match result.status {
        Status::Fail | Status::Warn => true,
        Status::Unverified => !result.evidence.is_empty(),
        Status::Pass | Status::NotApplicable | Status::Waived => false,
    }
}

/// A verdict in one line. Why a check did not decide is worth more than its title, and what a pass rests on
/// stands beside it, unless that is a count of cases.
fn row(mark: &Cell, result: &CheckResult) -> Vec<Cell> {
    let is_count = result.message.starts_with("held in ") && !result.message.contains(';');
    let text = match result.status {
        _ if result.message.is_empty() => result.title.clone(),
        Status::Pass if is_count => result.title.clone(),
        Status::Pass => format!("{} ({})", result.title, result.message),
        _ => result.message.clone(),
    };
    vec![
        mark.clone(),
        Cell::from(result.id.as_str()),
        Cell::new(Tone::Dim, result.level.name()),
        Cell::from(text.as_str()),
    ]
}

/// What to do about one-line verdicts: each help once, with the checks that it is for.
fn helps(page: &mut Page, rows: &[&CheckResult]) {
    let mut helps: Vec<(&str, Vec<&str>)> = Vec::new();
    for result in rows {
        let Some(help) = &result.help else { continue };
        match helps.iter_mut().find(|(known, _)| known == help) {
            Some((_, ids)) => ids.push(result.id.as_str()),
            None => helps.push((help, vec![result.id.as_str()])),
        }
    }
    for (help, ids) in helps {
        let text = format!("{} ({})", help.trim_end(), ids.join(", "));
        page.labelled(2, &Cell::new(Tone::Strong, "help: "), text);
    }
}

/// A verdict that needs something: what, where, and what to do.
fn block(page: &mut Page, mark: &Cell, result: &CheckResult) {
    page.blank();
    page.line(
        0,
        &[
            mark.clone(),
            Cell::from("  "),
            Cell::new(Tone::Strong, result.id.as_str()),
            Cell::new(Tone::Dim, format!("  {}", result.level.name())),
        ],
    );
    page.paragraph(2, &result.title);
    if !result.message.is_empty() {
        page.paragraph(2, &result.message);
    }
    let shown = &result.evidence[..result.evidence.len().min(MAX_EVIDENCE)];
    let digits = shown.iter().map(|evidence| line_number(evidence).len()).max().unwrap_or(0);
    for evidence in shown {
        place(page, evidence, digits.max(1) + 2);
    }
    not_shown(page, result);
    if let Some(help) = &result.help {
        page.labelled(2, &Cell::new(Tone::Strong, "help: "), help);
    }
    if matches!(result.status, Status::Fail | Status::Warn) {
        page.labelled(2, &Cell::new(Tone::Strong, "docs: "), &result.docs);
    }
}

/// How many places are not shown, which probes they are in, and where they all are.
fn not_shown(page: &mut Page, result: &CheckResult) {
    let rest = result.evidence.get(MAX_EVIDENCE..).unwrap_or_default();
    let more = rest.len() + result.evidence_left_out;
    if more == 0 {
        return;
    }
    let shown = result.evidence.iter().take(MAX_EVIDENCE).filter_map(|evidence| evidence.probe.as_deref());
    let mut known: Vec<&str> = shown.collect();
    let mut others = Vec::new();
    for probe in rest.iter().filter_map(|evidence| evidence.probe.as_deref()) {
        if !known.contains(&probe) {
            known.push(probe);
            others.push(probe);
        }
    }
    let others =
        if others.is_empty() { String::new() } else { format!("; further probes: {}", others.join(", ")) };
    let places = if more == 1 { "place" } else { "places" };
    let json = match result.evidence_left_out {
        0 => "--output json has them all".to_owned(),
        _ => format!("--output json has {} in all", result.evidence.len()),
    };
    page.labelled(2, &Cell::new(Tone::Dim, "… "), format!("and {more} more {places}{others}; {json}"));
}

fn line_number(evidence: &Evidence) -> String {
    evidence.line.map_or_else(String::new, |line| line.to_string())
}

/// The run and stream, or the file, with the place in it.
fn where_seen(evidence: &Evidence) -> String {
    if let Some(file) = &evidence.file {
        return match (evidence.line, evidence.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            (Some(line), None) => format!("{file}:{line}"),
            (None, _) => file.clone(),
        };
    }
    let format = evidence.format.map(OutputFormat::name);
    let variant = evidence.variant.map(|variant| condition(variant, evidence.nth.unwrap_or_default()));
    let stream = evidence.stream.map(|stream| match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    });
    let parts = [evidence.probe.as_deref(), format, variant.as_deref(), stream];
    let mut run = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    match (evidence.line, evidence.column, evidence.offset) {
        (Some(line), Some(column), _) => run.push_str(&format!(" {line}:{column}")),
        (Some(line), None, _) => run.push_str(&format!(" line {line}")),
        (None, _, Some(offset)) => run.push_str(&format!(" byte {offset}")),
        (None, _, None) => {}
    }
    run
}

/// One piece of evidence: where it was seen, the line with a caret, what is wrong there. Line
/// numbers end before column `gutter`.
fn place(page: &mut Page, evidence: &Evidence, gutter: usize) {
    page.line(gutter, &[Cell::new(Tone::Open, "--> "), Cell::from(where_seen(evidence).as_str())]);
    if let Some(argv) = &evidence.argv {
        let settings = evidence.variant.map(|variant| settings(variant, evidence.nth.unwrap_or_default()));
        let line = format!("{}{argv}", settings.unwrap_or_default());
        page.line(gutter, &[Cell::new(Tone::Dim, "  $ "), Cell::from(line.as_str())]);
    }

    let bar = Cell::new(Tone::Open, " | ");
    let Some(excerpt) = &evidence.excerpt else {
        let bar = [bar];
        page.hanging(gutter, &bar, &bar, &evidence.detail);
        return;
    };
    let room = page.config().width.saturating_sub(gutter + 3).max(MIN_DETAIL);
    let (shown, caret) = window(excerpt, evidence.caret.unwrap_or(0), room);
    let pad: usize = shown.chars().take(caret).map(columns).sum();
    let number = Cell::new(Tone::Open, format!("{:>1$}", line_number(evidence), gutter - 2));
    page.line(2, &[number, bar.clone(), Cell::from(expand_tabs(&shown).as_str())]);
    let mut detail = vec![bar.clone()];
    if evidence.caret.is_some() {
        let caret = Cell::new(Tone::Bad, format!("{}^", " ".repeat(pad)));
        if pad + 2 + MIN_DETAIL <= room {
            detail.extend([caret, Cell::from(" ")]);
        } else {
            page.line(gutter, &[bar.clone(), caret]);
        }
    }
    let hang = Cell::from(" ".repeat(if detail.len() > 1 { pad + 2 } else { 0 }).as_str());
    page.hanging(gutter, &detail, &[bar, hang], &evidence.detail);
}

/// The part of `excerpt` around character `caret` that fits into `room` columns, and the place of
/// the caret in it.
fn window(excerpt: &str, caret: usize, room: usize) -> (String, usize) {
    let byte = excerpt.char_indices().nth(caret).map_or(excerpt.len(), |(at, _)| at);
    let mut max = room;
    loop {
        let (shown, caret) = sanitize::excerpt(excerpt, byte, max);
        let wide: usize = shown.chars().map(columns).sum();
        // Wide characters and tabs take more columns than one; no character takes more than four.
        if wide <= room || max <= room / 4 {
            return (shown, caret);
        }
        max = (max * room / wide).min(max - 1);
    }
}

/// Counts, what they mean, notes, and the next step.
fn summary(page: &mut Page, report: &Report) {
    for note in &report.notes {
        page.labelled(0, &Cell::new(Tone::Open, "note: "), note);
    }
    if report.interrupted {
        page.labelled(0, &Cell::new(Tone::Warn, "interrupted: "), "the runs were cut short by a signal");
    }
    let behavioral = report.results.iter().any(|result| result.layer == Layer::Behavioral);
    if report.runs == 0 && behavioral {
        page.labelled(0, &Cell::new(Tone::Bad, "nothing was run: "), "no verdict rests on a run");
    }
    let open = report.results.iter().filter(|r| is_must(r, Status::Unverified)).count();
    let (tone, verdict) = match (report.conformant, report.verified) {
        _ if report.results.is_empty() => (Tone::Bad, "nothing was checked".to_owned()),
        (true, true) => (Tone::Good, "conformant and verified".to_owned()),
        (true, false) => (Tone::Open, format!("conformant as far as seen, not verified ({open} MUST open)")),
        (false, true) => (Tone::Bad, "not conformant".to_owned()),
        (false, false) => (Tone::Bad, format!("not conformant, and not verified ({open} MUST open)")),
    };
    page.line(0, &[Cell::new(tone, verdict)]);
    let counts = report.summary;
    page.paragraph(
        0,
        format!(
            "{} pass, {} fail, {} warn, {} unverified, {} not-applicable, {} waived; {} runs",
            counts.pass,
            counts.fail,
            counts.warn,
            counts.unverified,
            counts.not_applicable,
            counts.waived,
            report.runs
        ),
    );
    if let Some(next) = next_step(report) {
        page.labelled(0, &Cell::new(Tone::Strong, "next: "), next);
    }
}

fn is_must(result: &CheckResult, status: Status) -> bool {
    result.level == Level::Must && result.status == status
}

fn next_step(report: &Report) -> Option<String> {
    let first = |status| report.results.iter().find(|result| result.status == status);
    first(Status::Fail)
        .map(|result| result.docs.clone())
        .or_else(|| {
            (!report.verified).then(|| {
                "declare probes for what is unverified (agentnative init writes a skeleton)".to_owned()
            })
        })
        .or_else(|| first(Status::Warn).map(|result| result.docs.clone()))
}
