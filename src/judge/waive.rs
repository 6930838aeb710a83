//! Waivers: faults that are known and accepted, and the verdicts that wait for those alone.

use crate::config::Waiver;
use crate::model::{BlockedBy, CheckId, CheckResult, Status};
use std::collections::BTreeSet;

/// Applies waivers to verdicts; gives a note for each that was of no use.
///
/// A verdict of `blocked` (nothing but what `blocked_by` names keeps it open) is waived once all its
/// causes are.
pub fn waive(waivers: &[Waiver], results: &mut [CheckResult], blocked: &BTreeSet<CheckId>) -> Vec<String> {
    let (mut used, mut unused) = (Vec::new(), Vec::new());
    for waiver in waivers {
        let Some(result) = results.iter_mut().find(|result| result.id.as_str() == waiver.check) else {
            continue;
        };
        if matches!(result.status, Status::Fail | Status::Warn) {
            result.status = Status::Waived;
            result.message = format!("waived: {} ({})", waiver.reason, result.message);
            used.push(waiver);
        } else {
            unused.push((waiver, result.id));
        }
    }
    let dependents: Vec<(usize, String)> = results
        .iter()
        .enumerate()
        .filter(|(_, result)| blocked.contains(&result.id))
        .filter_map(|(at, result)| Some((at, because(&waivers_of(result, None, &used, results, &[])?))))
        .collect();
    for (at, because) in dependents {
        results[at].status = Status::Waived;
        results[at].message = format!("waived with {because} ({})", results[at].message);
    }
    let note = |(waiver, id): (&Waiver, CheckId)| {
        let result = results.iter().find(|result| result.id == id)?;
        Some(format!("the waiver of {} is not used: {}", waiver.check, result.message))
    };
    unused.into_iter().filter_map(note).collect()
}

/// The waivers that waive everything that an undecided verdict waits for, as far as it concerns the runs of
/// `within`; none when some cause is not waived. `path` are the verdicts that wait for this one.
fn waivers_of<'w>(
    result: &CheckResult,
    within: Option<&BlockedBy>,
    used: &[&'w Waiver],
    results: &[CheckResult],
    path: &[CheckId],
) -> Option<Vec<&'w Waiver>> {
    let path = [path, &[result.id]].concat();
    let concerned = |cause: &&BlockedBy| within.is_none_or(|within| overlap(within, cause));
    let causes: Vec<&BlockedBy> = result.blocked_by.iter().filter(concerned).collect();
    if causes.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    for cause in causes {
        match used.iter().find(|waiver| waiver.check == cause.id.as_str()) {
            Some(waiver) => all.push(*waiver),
            // The check that tells the cause may itself wait for another.
            None => {
                let link = results.iter().find(|link| link.id == cause.id && !path.contains(&link.id))?;
                all.extend(waivers_of(link, Some(cause), used, results, &path)?);
            }
        }
    }
    Some(all)
}

/// Whether two causes may lie in the same run.
fn overlap(a: &BlockedBy, b: &BlockedBy) -> bool {
    let probe = a.probe.is_none() || b.probe.is_none() || a.probe == b.probe;
    probe && (a.format.is_none() || b.format.is_none() || a.format == b.format)
}

/// The checks that are waived and why, for people.
fn because(waivers: &[&Waiver]) -> String {
    let unique = |text: fn(&Waiver) -> &str| {
        let mut texts: Vec<&str> = Vec::new();
        for waiver in waivers {
            if !texts.contains(&text(waiver)) {
                texts.push(text(waiver));
            }
        }
        texts
    };
    let (checks, reasons) = (unique(|waiver| &waiver.check), unique(|waiver| &waiver.reason));
    format!("{}: {}", checks.join(", "), reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OutputFormat;

    fn cause(id: CheckId, probe: &str) -> BlockedBy {
        BlockedBy { id, probe: Some(probe.into()), format: Some(OutputFormat::Json) }
    }

    fn result(id: CheckId, status: Status, blocked_by: Vec<BlockedBy>) -> CheckResult {
        let open = super::super::Judgement::unverified("said");
        CheckResult { status, blocked_by, ..open.result(id.check()) }
    }

    /// Status and message of each result once `checks` are waived; all that wait are wholly blocked but
    /// `p2-json-strict`.
    fn waived(checks: &[CheckId], mut results: Vec<CheckResult>) -> (Vec<(Status, String)>, Vec<String>) {
        let waiver = |id: &CheckId| Waiver { check: id.to_string(), reason: "known".into(), expires: None };
        let waivers: Vec<Waiver> = checks.iter().map(waiver).collect();
        let waits =
            |result: &&CheckResult| !result.blocked_by.is_empty() && result.id != CheckId::P2JsonStrict;
        let blocked = results.iter().filter(waits).map(|result| result.id).collect();
        let notes = waive(&waivers, &mut results, &blocked);
        (results.into_iter().map(|result| (result.status, result.message)).collect(), notes)
    }

    #[test]
    fn a_verdict_is_waived_once_all_its_causes_are() {
        use CheckId::{P2ExitSuccess, P2JsonStrict, P2OutputJson, P2OutputPure, P2OutputStable};
        let both = vec![cause(P2OutputJson, "list"), cause(P2ExitSuccess, "show")];
        let results = vec![
            result(P2OutputJson, Status::Fail, vec![]),
            result(P2ExitSuccess, Status::Fail, vec![]),
            result(P2OutputPure, Status::Unverified, vec![cause(P2OutputJson, "list")]),
            result(P2OutputStable, Status::Unverified, both),
            // Something else is missing as well.
            result(P2JsonStrict, Status::Unverified, vec![cause(P2OutputJson, "list")]),
        ];
        let (one, _) = waived(&[P2OutputJson], results.clone());
        assert_eq!(one[2], (Status::Waived, "waived with p2-output-json: known (said)".into()));
        assert_eq!([one[1].0, one[3].0, one[4].0], [Status::Fail, Status::Unverified, Status::Unverified]);
        let (all, notes) = waived(&[P2OutputJson, P2ExitSuccess, P2OutputPure], results);
        assert_eq!(
            all[3],
            (Status::Waived, "waived with p2-output-json, p2-exit-success: known (said)".into())
        );
        assert_eq!(notes, [format!("the waiver of p2-output-pure is not used: {}", all[2].1)]);
    }

    #[test]
    fn a_cause_may_wait_for_another_in_the_same_run() {
        use CheckId::{P2OutputComplete, P2OutputJson, P2OutputParity, P2OutputPure, P2OutputStable};
        let results = vec![
            result(P2OutputComplete, Status::Fail, vec![]),
            result(
                P2OutputJson,
                Status::Unverified,
                vec![cause(P2OutputComplete, "list"), cause(P2OutputPure, "show")],
            ),
            result(P2OutputStable, Status::Unverified, vec![cause(P2OutputJson, "list")]),
            result(P2OutputParity, Status::Unverified, vec![cause(P2OutputJson, "show")]),
            // No chain may go round for ever.
            result(P2OutputPure, Status::Unverified, vec![cause(P2OutputJson, "show")]),
        ];
        let (waived, _) = waived(&[P2OutputComplete], results);
        let statuses: Vec<Status> = waived.into_iter().map(|(status, _)| status).collect();
        use Status::{Unverified, Waived};
        assert_eq!(statuses, [Waived, Unverified, Waived, Unverified, Unverified]);
    }
}
