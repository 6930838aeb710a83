//! Shows a problem: what is wrong, the call that shows it, its output, and the fix.

use super::excerpt::{excerpt, line};
use super::page::{Detail, ReportPage};
use crate::output::root_cause::{
    SameKindProblems, by_kind, declared_lacks, list_other_places, place_in_file, strip_count, what_is_wrong,
};
use agentnative_core::model::{
    CheckResult, Evidence, Status, Variant, condition_assignments, condition_phrase,
};
use agentnative_output::{StyledText, Tone};
use std::iter;
use strict_json::sanitize;

/// Maximum number of kinds of problems that are shown for one check; further kinds are only named.
const MAX_KINDS: usize = 2;
/// Maximum length of the list of further places in a short report, in bytes; a longer list is omitted.
const MAX_SHORT_PLACES: usize = 20;
/// Maximum length of a command line, in characters.
const MAX_COMMAND: usize = 300;
/// Indentation of the details of a problem, in columns.
const INDENT: usize = 4;

/// Shows a group of checks that fail because of one root cause.
pub(super) fn problem(report: &mut ReportPage<'_>, group: &[&CheckResult]) {
    let Some(result) = group.first() else { return };
    let (symbol, tone, max_kinds) = match result.status {
        Status::Fail if report.detail < Detail::OnePlace => ("✗ ", Tone::Error, MAX_KINDS),
        Status::Fail => ("✗ ", Tone::Error, 1),
        _ => ("! ", Tone::Warn, 1),
    };
    let max_kinds = if report.verbose { usize::MAX } else { max_kinds };
    let by_kind = by_kind(group);
    let (shown, named) = by_kind.split_at(by_kind.len().min(max_kinds));
    let words = |kind: &SameKindProblems<'_>| what_is_wrong(result, kind.shown);
    let what = shown.first().map_or_else(|| strip_count(&result.message).to_owned(), words);
    let ids: Vec<&str> = group.iter().map(|result| result.id.as_str()).collect();
    let ids = ids.join(", ");
    let mut cells =
        vec![StyledText::new(tone, symbol), StyledText::strong(ids), StyledText::plain(format!("  {what}"))];
    if is_one_line(report, result) {
        let place = shown.first().and_then(|kind| place_in_file(kind.shown));
        cells.extend(place.map(|place| StyledText::dim(format!("  {place}"))));
        report.page.flow(0, INDENT, &cells, None);
        return;
    }
    report.page.flow(0, INDENT, &cells, None);
    for (nth, kind) in shown.iter().enumerate() {
        if nth > 0 {
            report.page.flow(2, 2, &[StyledText::new(tone, "• "), StyledText::plain(words(kind))], None);
        }
        show(report, result, kind);
    }
    if !named.is_empty() && report.detail < Detail::OnePlace {
        let named = named.iter().map(words).collect::<Vec<_>>().join("; ");
        report.page.flow(INDENT, 2, &[StyledText::dim("also: "), StyledText::plain(&named)], None);
    }
    let docs = StyledText::dim(&result.docs);
    if let (true, Some(help)) = (report.verbose, &result.help) {
        report.page.paragraph(INDENT, help);
        report.page.line(INDENT, &[docs]);
    } else if report.detail < Detail::Evidence {
        let mut help: Vec<&str> =
            group.iter().map(|result| result.id.check().help.for_toolkit(report.toolkit)).collect();
        help.dedup();
        let fits =
            help.len() == 1 && help[0].len() + result.docs.len() + INDENT + 3 <= report.page.config().width;
        for help in help {
            report.page.flow(INDENT, 0, &[StyledText::plain(help)], Some(&docs).filter(|_| fits));
        }
    }
}

/// Shows one line with all features that the configuration declares as missing: `lacks: jsonl`.
pub(super) fn show_declared_lacks(report: &mut ReportPage<'_>, results: &[&CheckResult]) {
    let mut names: Vec<&str> = results.iter().filter_map(|result| declared_lacks(result)).flatten().collect();
    names.dedup();
    let Some(first) = results.first() else { return };
    let (symbol, tone) = match first.status {
        Status::Fail => ("✗ ", Tone::Error),
        _ => ("! ", Tone::Warn),
    };
    let ids = results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>().join(", ");
    let cells = [
        StyledText::new(tone, symbol),
        StyledText::strong(format!("lacks: {}", names.join(", "))),
        StyledText::dim(format!("  declared in the configuration ({ids})")),
    ];
    report.page.flow(0, INDENT, &cells, None);
}

/// Shows all warnings in one line, by the IDs of their checks.
pub(super) fn warnings(report: &mut ReportPage<'_>, ids: &[&str]) {
    let named = StyledText::strong(ids.join(", "));
    let cells = [StyledText::new(Tone::Warn, "! "), named, StyledText::dim("  warnings")];
    report.page.flow(0, INDENT, &cells, None);
}

/// Returns whether a problem takes only one line.
fn is_one_line(report: &ReportPage<'_>, result: &CheckResult) -> bool {
    !report.verbose && report.detail >= Detail::ShortWarnings && result.status == Status::Warn
}

/// Shows the call, its output, and the other places of the problem.
fn show(report: &mut ReportPage<'_>, result: &CheckResult, kind: &SameKindProblems<'_>) {
    if report.verbose {
        for evidence in iter::once(kind.shown).chain(kind.others.iter().copied()) {
            show_call(report, evidence, None);
            excerpt(report.page, INDENT, evidence);
        }
        return;
    }
    let fits = |places: &String| report.detail < Detail::OnePlace || places.len() <= MAX_SHORT_PLACES;
    show_call(report, kind.shown, list_other_places(kind, result.evidence_left_out).filter(fits));
    let is_fail = result.status == Status::Fail;
    if is_fail && kind.shown.excerpt.is_some() {
        match report.detail {
            Detail::NoCaret | Detail::Evidence => line(report.page, INDENT, kind.shown),
            _ => excerpt(report.page, INDENT, kind.shown),
        }
    } else if what_is_wrong(result, kind.shown) != kind.shown.detail {
        report.page.flow(INDENT, 2, &[StyledText::plain(&kind.shown.detail)], None);
    }
}

/// Shows the command line with its condition, or the place in a file; then `also`, the other places of the problem.
fn show_call(report: &mut ReportPage<'_>, evidence: &Evidence, also: Option<String>) {
    let mut cells = Vec::new();
    let (variant, nth) = (evidence.variant, evidence.nth.unwrap_or_default());
    if let Some(file) = place_in_file(evidence) {
        cells.push(StyledText::plain(&file));
    } else if let Some(argv) = &evidence.argv {
        cells.push(StyledText::dim("$ "));
        if report.verbose {
            let set = variant.map(|variant| condition_assignments(variant, nth)).unwrap_or_default();
            cells.push(StyledText::plain(set + &report.command(argv)));
        } else {
            cells.push(StyledText::plain(sanitize::sanitize_capped(report.short_command(argv), MAX_COMMAND)));
        }
    } else if let (Some(probe), Some(_)) = (&evidence.probe, &evidence.excerpt) {
        // A run without a recorded command line is shown by the name of its probe.
        cells.push(StyledText::plain(probe));
    }
    // The command line shows the variables already.
    let words = variant.filter(|variant| !report.verbose || *variant != Variant::HostileEnv);
    let condition = words
        .and_then(|variant| condition_phrase(variant, nth, evidence.format))
        .map(|words| format!("({words})"));
    let also = also.map(|also| format!("also: {also}"));
    for words in [condition, also].into_iter().flatten() {
        let gap = if cells.is_empty() { "" } else { "   " };
        cells.push(StyledText::dim(format!("{gap}{words}")));
    }
    if !cells.is_empty() {
        report.page.flow(INDENT, 2, &cells, None);
    }
}
