//! Groups problems by root cause, and describes them and their places in words.

use agentnative_core::model::{CheckResult, Evidence, Layer, Status, Variant, condition_phrase};

/// Maximum number of places that are listed for one problem; more are counted.
const MAX_SHOWN_LOCATIONS: usize = 6;

/// The places of one kind of problem; only `shown` is shown in full.
pub(super) struct SameKindProblems<'r> {
    pub shown: &'r Evidence,
    pub others: Vec<&'r Evidence>,
}

/// Returns the problems of checks with one root cause by kind, in the order in which the first check found them. The
/// other checks found the problem of the first kind.
pub(super) fn by_kind<'r>(group: &[&'r CheckResult]) -> Vec<SameKindProblems<'r>> {
    let mut by_kind: Vec<SameKindProblems<'_>> = Vec::new();
    let Some((first, same)) = group.split_first() else { return by_kind };
    for evidence in &first.evidence {
        match by_kind.iter_mut().find(|kind| kind.shown.kind == evidence.kind) {
            Some(kind) => kind.others.push(evidence),
            None => by_kind.push(SameKindProblems { shown: evidence, others: Vec::new() }),
        }
    }
    if let Some(kind) = by_kind.first_mut() {
        kind.others.extend(same.iter().flat_map(|result| &result.evidence));
    }
    by_kind
}

/// Groups checks that fail because of the same bytes of output: these checks have one root cause.
pub(super) fn by_root_cause<'r>(problems: &[&'r CheckResult]) -> Vec<Vec<&'r CheckResult>> {
    let bytes = |result: &'r CheckResult| match &by_kind(&[result])[..] {
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

/// Returns what is wrong: the description of the kind of problem, or the detail of the place in code.
pub(super) fn what_is_wrong(result: &CheckResult, evidence: &Evidence) -> String {
    let kind = result.id.check().kinds.get(&evidence.kind);
    match kind.filter(|_| result.layer != Layer::Source) {
        Some(words) => words.clone(),
        None if evidence.detail.is_empty() => strip_count(&result.message).to_owned(),
        None => evidence.detail.clone(),
    }
}

/// Removes the number of further places from a message, such as `(and 3 more)`.
pub(super) fn strip_count(message: &str) -> &str {
    message.split_once(" (and ").map_or(message, |(before, _)| before)
}

/// Lists the other places of a problem: files, other probes, then other formats and conditions of the same probe. Ends
/// with the number of places that are not listed, which includes `more`. `None` if there are no other places.
pub(super) fn list_other_places(kind: &SameKindProblems<'_>, more: usize) -> Option<String> {
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
pub(super) fn place_in_file(evidence: &Evidence) -> Option<String> {
    let file = evidence.file.as_ref().filter(|file| *file != ".")?;
    Some(match (evidence.line, evidence.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        (None, _) => file.clone(),
    })
}
