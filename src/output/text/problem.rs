//! Shows a problem: what is wrong, the call that shows it, its output, and the fix.

use super::excerpt::{excerpt, line};
use super::page::{Detail, ReportPage};
use agentnative_core::model::{
    CheckResult, Evidence, Layer, Status, Variant, condition_assignments, condition_phrase,
};
use agentnative_output::{StyledText, Tone};
use std::iter;
use strict_json::sanitize;

/// Maximum number of kinds of problems that are shown for one check; further kinds are only named.
const MAX_KINDS: usize = 2;
/// Maximum number of places that are listed for one problem; more are counted.
const MAX_SHOWN_LOCATIONS: usize = 6;
/// Maximum length of the list of further places in a short report, in bytes; a longer list is omitted.
const MAX_SHORT_PLACES: usize = 20;
/// Maximum length of a command line, in characters.
const MAX_COMMAND: usize = 300;
/// Indentation of the details of a problem, in columns.
const INDENT: usize = 4;

/// The places of one kind of problem; only `shown` is shown in full.
struct SameKindProblems<'r> {
    shown: &'r Evidence,
    others: Vec<&'r Evidence>,
}

/// Returns the problems of a check by kind, in the order in which they were found.
fn by_kind(result: &CheckResult) -> Vec<SameKindProblems<'_>> {
    let mut by_kind: Vec<SameKindProblems<'_>> = Vec::new();
    for evidence in &result.evidence {
        match by_kind.iter_mut().find(|kind| kind.shown.kind == evidence.kind) {
            Some(kind) => kind.others.push(evidence),
            None => by_kind.push(SameKindProblems { shown: evidence, others: Vec::new() }),
        }
    }
    by_kind
}

/// Groups checks that fail because of the same bytes of output: these checks have one root cause.
pub(super) fn by_root_cause<'r>(problems: &[&'r CheckResult]) -> Vec<Vec<&'r CheckResult>> {
    let bytes = |result: &'r CheckResult| match &by_kind(result)[..] {
        [SameKindProblems { shown, .. }] if result.status == Status::Fail => {
            Some((shown.excerpt.as_ref()?, shown.stream, shown.caret, &shown.detail))
        }
        _ => None,
    };
    let mut groups: Vec<Vec<&CheckResult>> = Vec::new();
    for problem in problems {
        let is_same_cause =
            |group: &&mut Vec<&'r CheckResult>| bytes(problem).is_some() && bytes(group[0]) == bytes(problem);
        match groups.iter_mut().find(is_same_cause) {
            Some(group) => group.push(problem),
            None => groups.push(vec![problem]),
        }
    }
    groups
}

/// Shows a group of checks that fail because of one root cause.
pub(super) fn problem(report: &mut ReportPage<'_>, group: &[&CheckResult]) {
    let Some((result, same)) = group.split_first() else { return };
    let (symbol, tone, max_kinds) = match result.status {
        Status::Fail if report.detail < Detail::OnePlace => ("✗ ", Tone::Error, MAX_KINDS),
        Status::Fail => ("✗ ", Tone::Error, 1),
        _ => ("! ", Tone::Warn, 1),
    };
    let max_kinds = if report.verbose { usize::MAX } else { max_kinds };
    let mut by_kind = by_kind(result);
    if let Some(kind) = by_kind.first_mut() {
        kind.others.extend(same.iter().flat_map(|result| &result.evidence));
    }
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

/// Returns the features that the configuration declares as missing, if only they make the check fail: `jsonl` for
/// `formats.jsonl = false`. Else `None`.
pub(super) fn declared_lacks(result: &CheckResult) -> Option<Vec<&str>> {
    fn declared_lack_name(evidence: &Evidence) -> Option<&str> {
        let (key, _) = evidence.detail.split_once(" = false`")?;
        let is_declared = evidence.kind == "lacking" && evidence.excerpt.is_none();
        key.rsplit(['.', '`']).next().filter(|_| is_declared)
    }
    let names: Option<Vec<&str>> = result.evidence.iter().map(declared_lack_name).collect();
    names.filter(|names| !names.is_empty() && result.evidence_left_out == 0)
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

/// Returns what is wrong: the description of the kind of problem, or the detail of the place in code.
fn what_is_wrong(result: &CheckResult, evidence: &Evidence) -> String {
    let kind = result.id.check().kinds.get(&evidence.kind);
    match kind.filter(|_| result.layer != Layer::Source) {
        Some(words) => words.clone(),
        None if evidence.detail.is_empty() => strip_count(&result.message).to_owned(),
        None => evidence.detail.clone(),
    }
}

/// Removes the number of further places from a message, such as `(and 3 more)`.
fn strip_count(message: &str) -> &str {
    message.split_once(" (and ").map_or(message, |(before, _)| before)
}

/// Lists the other places of a problem: files, other probes, then other formats and conditions of the same probe. Ends
/// with the number of places that are not listed, which includes `more`. `None` if there are no other places.
fn list_other_places(kind: &SameKindProblems<'_>, more: usize) -> Option<String> {
    let shown = kind.shown;
    let [mut files, mut probes, mut formats, mut conditions] = [const { Vec::new() }; 4];
    for other in &kind.others {
        let (place, places) = match (place_in_file(other), &other.probe) {
            (Some(place), _) => (Some(place), &mut files),
            (None, Some(probe))
                if declared_probe_name(probe) != shown.probe.as_deref().map_or("", declared_probe_name) =>
            {
                (Some(declared_probe_name(probe).to_owned()), &mut probes)
            }
            (None, _) if other.format != shown.format => {
                (other.format.map(|format| format.name().to_owned()), &mut formats)
            }
            // A repeated call is no further place.
            _ => {
                (condition(other.variant.filter(|variant| Some(*variant) != shown.variant)), &mut conditions)
            }
        };
        places.extend(place.filter(|place| !places.contains(place)));
    }
    let kinds = [("", files), ("", probes), ("in ", formats), ("", conditions)];
    let left_out =
        kinds.iter().map(|(_, places)| places.len().saturating_sub(MAX_SHOWN_LOCATIONS)).sum::<usize>();
    let kinds = kinds.into_iter().filter(|(_, places)| !places.is_empty());
    let kinds = kinds.map(|(before, mut places)| {
        places.truncate(MAX_SHOWN_LOCATIONS);
        before.to_owned() + &places.join(", ")
    });
    let known = kinds.collect::<Vec<_>>().join("; ");
    match (known.is_empty(), more + left_out) {
        (true, 0) => None,
        (true, more) => Some(format!("{more} more")),
        (false, 0) => Some(known),
        (false, more) => Some(format!("{known} and {more} more")),
    }
}

/// Describes the condition of a further run; `None` if it gives no new information.
fn condition(variant: Option<Variant>) -> Option<String> {
    match variant? {
        Variant::Repeat | Variant::File | Variant::SlowReader => None,
        Variant::HostileEnv => Some("in other environments".to_owned()),
        variant => condition_phrase(variant, 0, None),
    }
}

/// Returns the name of the declared probe from which a probe is derived: `list` for `list, --json`.
fn declared_probe_name(probe: &str) -> &str {
    probe.split_once(", ").map_or(probe, |(declared, _)| declared)
}

/// Returns the file of the evidence with line and column, such as `src/main.rs:3:5`. `None` without a file, or if the
/// file is the project folder.
fn place_in_file(evidence: &Evidence) -> Option<String> {
    let file = evidence.file.as_ref().filter(|file| *file != ".")?;
    Some(match (evidence.line, evidence.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        (None, _) => file.clone(),
    })
}
