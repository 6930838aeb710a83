//! A problem: what is wrong, the call that shows it, what it printed, and what to do.

use super::excerpt::{excerpt, line};
use super::page::{Detail, ReportPage};
use agentnative_core::model::{CheckResult, Evidence, Layer, Status, Variant, in_words, settings};
use agentnative_output::{Cell, Tone};
use std::iter;
use strict_json::sanitize;

/// More ways in which one check is broken than this are only named.
const MAX_FAULTS: usize = 2;
/// More places of one fault than this are only counted.
const MAX_PLACES: usize = 6;
/// Further places of this length in bytes take no line of their own.
const SHORT_PLACES: usize = 20;
/// A longer command line is cut, in characters.
const MAX_COMMAND: usize = 300;
/// What belongs to a problem stands under the ID of its check and two columns further right.
const INDENT: usize = 4;

/// The places of one kind of fault, of which the first is shown.
struct Fault<'r> {
    shown: &'r Evidence,
    others: Vec<&'r Evidence>,
}

/// The faults of a check, in the order in which they were found.
fn faults(result: &CheckResult) -> Vec<Fault<'_>> {
    let mut faults: Vec<Fault<'_>> = Vec::new();
    for evidence in &result.evidence {
        match faults.iter_mut().find(|fault| fault.shown.kind == evidence.kind) {
            Some(fault) => fault.others.push(evidence),
            None => faults.push(Fault { shown: evidence, others: Vec::new() }),
        }
    }
    faults
}

/// The problems, those together that the same bytes show.
pub(super) fn by_root_cause<'r>(problems: &[&'r CheckResult]) -> Vec<Vec<&'r CheckResult>> {
    let bytes = |result: &'r CheckResult| match &faults(result)[..] {
        [Fault { shown, .. }] if result.status == Status::Fail => {
            Some((shown.excerpt.as_ref()?, shown.stream, shown.caret, &shown.detail))
        }
        _ => None,
    };
    let mut groups: Vec<Vec<&CheckResult>> = Vec::new();
    for problem in problems {
        let known =
            |group: &&mut Vec<&'r CheckResult>| bytes(problem).is_some() && bytes(group[0]) == bytes(problem);
        match groups.iter_mut().find(known) {
            Some(group) => group.push(problem),
            None => groups.push(vec![problem]),
        }
    }
    groups
}

/// Shows checks that are unmet for one root cause.
pub(super) fn problem(of: &mut ReportPage<'_>, group: &[&CheckResult]) {
    let Some((result, same)) = group.split_first() else { return };
    let (symbol, tone, most) = match result.status {
        Status::Fail if of.detail < Detail::OnePlace => ("✗ ", Tone::Bad, MAX_FAULTS),
        Status::Fail => ("✗ ", Tone::Bad, 1),
        _ => ("! ", Tone::Warn, 1),
    };
    let most = if of.verbose { usize::MAX } else { most };
    let mut faults = faults(result);
    if let Some(fault) = faults.first_mut() {
        fault.others.extend(same.iter().flat_map(|result| &result.evidence));
    }
    let (shown, named) = faults.split_at(faults.len().min(most));
    let words = |fault: &Fault<'_>| in_plain_words(result, fault.shown);
    let what = shown.first().map_or_else(|| without_count(&result.message).to_owned(), words);
    let ids: Vec<&str> = group.iter().map(|result| result.id.as_str()).collect();
    let ids = ids.join(", ");
    let mut cells = vec![Cell::new(tone, symbol), Cell::strong(ids), Cell::plain(format!("  {what}"))];
    if is_line(of, result) {
        let place = shown.first().and_then(|fault| place_in_file(fault.shown));
        cells.extend(place.map(|place| Cell::dim(format!("  {place}"))));
        of.page.flow(0, INDENT, &cells, None);
        return;
    }
    of.page.flow(0, INDENT, &cells, None);
    for (nth, fault) in shown.iter().enumerate() {
        if nth > 0 {
            of.page.flow(2, 2, &[Cell::new(tone, "• "), Cell::plain(words(fault))], None);
        }
        show(of, result, fault);
    }
    if !named.is_empty() && of.detail < Detail::OnePlace {
        let named = named.iter().map(words).collect::<Vec<_>>().join("; ");
        of.page.flow(INDENT, 2, &[Cell::dim("also: "), Cell::plain(&named)], None);
    }
    let docs = Cell::dim(&result.docs);
    if let (true, Some(help)) = (of.verbose, &result.help) {
        of.page.paragraph(INDENT, help);
        of.page.line(INDENT, &[docs]);
    } else if of.detail < Detail::Evidence {
        let mut help: Vec<&str> = group.iter().map(|result| result.id.check().help.of(of.toolkit)).collect();
        help.dedup();
        let fits =
            help.len() == 1 && help[0].len() + result.docs.len() + INDENT + 3 <= of.page.config().width;
        for help in help {
            of.page.flow(INDENT, 0, &[Cell::plain(help)], Some(&docs).filter(|_| fits));
        }
    }
}

/// Returns the names of what a target lacks by its configuration, if that alone is why a check fails: `jsonl` for
/// `formats.jsonl = false`.
pub(super) fn declared_lacks(result: &CheckResult) -> Option<Vec<&str>> {
    fn lacked(evidence: &Evidence) -> Option<&str> {
        let (key, _) = evidence.detail.split_once(" = false`")?;
        let is_declared = evidence.kind == "lacking" && evidence.excerpt.is_none();
        key.rsplit(['.', '`']).next().filter(|_| is_declared)
    }
    let names: Option<Vec<&str>> = result.evidence.iter().map(lacked).collect();
    names.filter(|names| !names.is_empty() && result.evidence_left_out == 0)
}

/// Shows in one line what a target lacks by its configuration.
pub(super) fn lacks(of: &mut ReportPage<'_>, results: &[&CheckResult]) {
    let mut names: Vec<&str> = results.iter().filter_map(|result| declared_lacks(result)).flatten().collect();
    names.dedup();
    let Some(first) = results.first() else { return };
    let (symbol, tone) = match first.status {
        Status::Fail => ("✗ ", Tone::Bad),
        _ => ("! ", Tone::Warn),
    };
    let ids = results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>().join(", ");
    let cells = [
        Cell::new(tone, symbol),
        Cell::strong(format!("lacks: {}", names.join(", "))),
        Cell::dim(format!("  by its configuration ({ids})")),
    ];
    of.page.flow(0, INDENT, &cells, None);
}

/// Shows warnings by their IDs.
pub(super) fn warnings(of: &mut ReportPage<'_>, ids: &[&str]) {
    let named = Cell::strong(ids.join(", "));
    let cells = [Cell::new(Tone::Warn, "! "), named, Cell::dim("  warnings")];
    of.page.flow(0, INDENT, &cells, None);
}

/// Whether a problem is only a line.
fn is_line(of: &ReportPage<'_>, result: &CheckResult) -> bool {
    !of.verbose && of.detail >= Detail::ShortWarnings && result.status == Status::Warn
}

/// The call, what it printed, and where else the same is wrong.
fn show(of: &mut ReportPage<'_>, result: &CheckResult, fault: &Fault<'_>) {
    if of.verbose {
        for evidence in iter::once(fault.shown).chain(fault.others.iter().copied()) {
            call(of, evidence, None);
            excerpt(of.page, INDENT, evidence);
        }
        return;
    }
    let fits = |places: &String| of.detail < Detail::OnePlace || places.len() <= SHORT_PLACES;
    call(of, fault.shown, also(fault, result.evidence_left_out).filter(fits));
    let is_fail = result.status == Status::Fail;
    if is_fail && fault.shown.excerpt.is_some() {
        match of.detail {
            Detail::NoCaret | Detail::Evidence => line(of.page, INDENT, fault.shown),
            _ => excerpt(of.page, INDENT, fault.shown),
        }
    } else if in_plain_words(result, fault.shown) != fault.shown.detail {
        of.page.flow(INDENT, 2, &[Cell::plain(&fault.shown.detail)], None);
    }
}

/// The command line and its conditions, or the place in a file; and where else the fault is.
fn call(of: &mut ReportPage<'_>, evidence: &Evidence, also: Option<String>) {
    let mut cells = Vec::new();
    let (variant, nth) = (evidence.variant, evidence.nth.unwrap_or_default());
    if let Some(file) = place_in_file(evidence) {
        cells.push(Cell::plain(&file));
    } else if let Some(argv) = &evidence.argv {
        cells.push(Cell::dim("$ "));
        if of.verbose {
            let set = variant.map(|variant| settings(variant, nth)).unwrap_or_default();
            cells.push(Cell::plain(set + &of.command(argv)));
        } else {
            cells.push(Cell::plain(sanitize::capped(of.short_command(argv), MAX_COMMAND)));
        }
    } else if let (Some(probe), Some(_)) = (&evidence.probe, &evidence.excerpt) {
        // A run of a recording without command lines has a name.
        cells.push(Cell::plain(probe));
    }
    // What is set stands before the command already.
    let words = variant.filter(|variant| !of.verbose || *variant != Variant::HostileEnv);
    let condition = words.and_then(|variant| in_words(variant, nth)).map(|words| format!("({words})"));
    let also = also.map(|also| format!("also: {also}"));
    for words in [condition, also].into_iter().flatten() {
        let gap = if cells.is_empty() { "" } else { "   " };
        cells.push(Cell::dim(format!("{gap}{words}")));
    }
    if !cells.is_empty() {
        of.page.flow(INDENT, 2, &cells, None);
    }
}

/// What is wrong: what the catalogue says of the kind of fault, of code what the rule says of the place.
fn in_plain_words(result: &CheckResult, evidence: &Evidence) -> String {
    let kind = result.id.check().kinds.get(&evidence.kind);
    match kind.filter(|_| result.layer != Layer::Source) {
        Some(words) => words.clone(),
        None if evidence.detail.is_empty() => without_count(&result.message).to_owned(),
        None => evidence.detail.clone(),
    }
}

/// A message without the number of further places, which are shown.
fn without_count(message: &str) -> &str {
    message.split_once(" (and ").map_or(message, |(before, _)| before)
}

/// Where else the fault is: in files, in other probes, then in other formats and conditions of the same one; and
/// as many places more as are not known here.
fn also(fault: &Fault<'_>, more: usize) -> Option<String> {
    let shown = fault.shown;
    let [mut files, mut probes, mut formats, mut conditions] = [const { Vec::new() }; 4];
    for other in &fault.others {
        let (place, places) = match (place_in_file(other), &other.probe) {
            (Some(place), _) => (Some(place), &mut files),
            (None, Some(probe)) if declared(probe) != shown.probe.as_deref().map_or("", declared) => {
                (Some(declared(probe).to_owned()), &mut probes)
            }
            (None, _) if other.format != shown.format => {
                (other.format.map(|format| format.name().to_owned()), &mut formats)
            }
            // The same call again shows nothing new.
            _ => {
                (condition(other.variant.filter(|variant| Some(*variant) != shown.variant)), &mut conditions)
            }
        };
        places.extend(place.filter(|place| !places.contains(place)));
    }
    let kinds = [("", files), ("", probes), ("in ", formats), ("", conditions)];
    let left_out = kinds.iter().map(|(_, places)| places.len().saturating_sub(MAX_PLACES)).sum::<usize>();
    let kinds = kinds.into_iter().filter(|(_, places)| !places.is_empty());
    let kinds = kinds.map(|(before, mut places)| {
        places.truncate(MAX_PLACES);
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

/// A condition of a run beside others; none where it shows nothing new.
fn condition(variant: Option<Variant>) -> Option<String> {
    match variant? {
        // The same call again.
        Variant::Repeat | Variant::File | Variant::SlowReader => None,
        Variant::HostileEnv => Some("in other environments".to_owned()),
        variant => in_words(variant, 0),
    }
}

/// The declared probe in the name of one that is derived from it, such as `list, --json`.
fn declared(probe: &str) -> &str {
    probe.split_once(", ").map_or(probe, |(declared, _)| declared)
}

/// The file and the place in it; none for the folder of the project as a whole.
fn place_in_file(evidence: &Evidence) -> Option<String> {
    let file = evidence.file.as_ref().filter(|file| *file != ".")?;
    Some(match (evidence.line, evidence.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        (None, _) => file.clone(),
    })
}
