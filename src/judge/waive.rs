//! Waivers: faults that are known and accepted, and the verdicts that wait for those alone.

use super::verdict::Judgement;
use crate::catalogue::Check;
use crate::config::Waiver;
use crate::model::{BlockedBy, CheckId, CheckResult, Evidence, OutputFormat, Status};
use crate::probe::Probe;
use std::collections::BTreeSet;

/// Verdicts with what waivers accept of them.
#[derive(Default)]
pub struct Waived<'w> {
    /// The verdicts so far.
    pub results: Vec<CheckResult>,
    /// For the reader: waivers that are of no use.
    pub notes: Vec<String>,
    /// Runs were left out: whether a waiver is of no use is not known.
    partial: bool,
    used: Vec<&'w Waiver>,
    /// The verdicts that nothing but what `blocked_by` names keeps open.
    blocked: BTreeSet<CheckId>,
}

impl<'w> Waived<'w> {
    /// No verdicts yet; those to come may rest on a part of the runs.
    pub fn of_runs(partial: bool) -> Self {
        Self { partial, ..Self::default() }
    }

    /// Adds the verdict on `check`. A finding is accepted where a waiver covers it; the check is waived when
    /// all of them are.
    pub fn add(&mut self, check: &Check, judgement: Judgement, waivers: &'w [Waiver], probes: &[Probe]) {
        if judgement.is_blocked() {
            self.blocked.insert(check.id);
        }
        let Judgement::Broken(findings) = judgement else {
            return self.unbroken(judgement.result(check), waivers);
        };
        let mut own: Vec<(&Waiver, usize)> = of(waivers, check.id).map(|waiver| (waiver, 0)).collect();
        let (mut accepted, mut left) = (Vec::new(), Vec::new());
        for finding in findings {
            let mut covering = own
                .iter_mut()
                .filter(|(waiver, _)| covers_evidence(waiver, &finding.evidence, probes))
                .peekable();
            let holds = covering.peek().is_some() && {
                covering.fold(false, |holds, (waiver, count)| {
                    *count += 1;
                    holds || !waiver.expired
                })
            };
            if holds { accepted.push(finding) } else { left.push(finding) }
        }
        let all = left.is_empty();
        let count = accepted.len();
        let mut result = Judgement::Broken(if all { accepted } else { left }).result(check);
        // A MAY has nothing to waive.
        if !matches!(result.status, Status::Fail | Status::Warn) {
            return self.unbroken(result, waivers);
        }
        let used: Vec<&Waiver> = own
            .iter()
            .filter(|(waiver, count)| *count > 0 && !waiver.expired)
            .map(|(waiver, _)| *waiver)
            .collect();
        if all {
            result.status = Status::Waived;
            result.message =
                format!("waived: {} ({})", unique(&used, |waiver| &waiver.reason).join("; "), result.message);
        } else if count > 0 {
            result.message.push_str(&format!(
                "; {count} more waived: {}",
                unique(&used, |waiver| &waiver.reason).join("; ")
            ));
        }
        for (waiver, count) in own {
            match (waiver.expires.filter(|_| waiver.expired), count) {
                (None, 0) if self.partial => {}
                (None, 0) => self
                    .notes
                    .push(format!("the waiver of {} is unused: it matches no problem", name(waiver))),
                (None, _) => {}
                (Some(last), 0) => self
                    .notes
                    .push(format!("the waiver of {} expired on {last} and matches no problem", name(waiver))),
                (Some(last), _) => {
                    result.message.push_str(&format!("; the waiver expired on {last}"));
                    self.notes.push(format!(
                        "the waiver of {} expired on {last} and no longer applies",
                        name(waiver)
                    ));
                }
            }
        }
        self.used.extend(used);
        self.results.push(result);
    }

    /// Adds a verdict that has nothing to be waived.
    fn unbroken(&mut self, result: CheckResult, waivers: &[Waiver]) {
        let open = self.partial && result.status == Status::Unverified;
        for waiver in of(waivers, result.id).filter(|_| !open) {
            let why = match waiver.expires.filter(|_| waiver.expired) {
                Some(last) => format!("expired on {last} and is no longer needed"),
                None => "is unused".to_owned(),
            };
            self.notes.push(format!("the waiver of {} {why}: {}", name(waiver), result.message));
        }
        self.results.push(result);
    }

    /// Waives the verdicts whose every cause is waived.
    pub fn waive_dependents(&mut self) {
        let Self { results, used, blocked, .. } = self;
        let dependents: Vec<(usize, String)> = results
            .iter()
            .enumerate()
            .filter(|(_, result)| blocked.contains(&result.id))
            .filter_map(|(at, result)| Some((at, because(&waivers_of(result, None, used, results, &[])?))))
            .collect();
        for (at, because) in dependents {
            results[at].status = Status::Waived;
            results[at].message = format!("waived with {because} ({})", results[at].message);
        }
    }
}

fn of(waivers: &[Waiver], check: CheckId) -> impl Iterator<Item = &Waiver> {
    waivers.iter().filter(move |waiver| waiver.check == check.as_str())
}

/// What a waiver is about, for people.
fn name(waiver: &Waiver) -> String {
    let narrow = [waiver.probe.as_deref(), waiver.format.map(OutputFormat::name)];
    let narrow: Vec<&str> = narrow.into_iter().flatten().collect();
    if narrow.is_empty() {
        waiver.check.clone()
    } else {
        format!("{} ({})", waiver.check, narrow.join(" · "))
    }
}

/// Whether a waiver is about what was seen at a place. What a probe that was made from a declared one shows
/// belongs to that as well.
fn covers_evidence(waiver: &Waiver, evidence: &Evidence, probes: &[Probe]) -> bool {
    let origin = || probes.iter().find(|probe| Some(&probe.name) == evidence.probe.as_ref())?.of();
    let probe = waiver.probe.as_deref();
    (probe.is_none() || probe == evidence.probe.as_deref() || probe == origin())
        && (waiver.format.is_none() || waiver.format == evidence.format)
}

/// Whether a waiver accepts what a verdict waits for.
fn covers_cause(waiver: &Waiver, cause: &BlockedBy) -> bool {
    waiver.check == cause.id.as_str()
        && (waiver.probe.is_none() || waiver.probe == cause.probe)
        && (waiver.format.is_none() || waiver.format == cause.format)
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
        match used.iter().find(|waiver| covers_cause(waiver, cause)) {
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
    let checks = unique(waivers, |waiver| &waiver.check);
    format!("{}: {}", checks.join(", "), unique(waivers, |waiver| &waiver.reason).join("; "))
}

/// The different texts of some waivers.
fn unique<'w>(waivers: &[&'w Waiver], text: fn(&Waiver) -> &str) -> Vec<&'w str> {
    let mut texts: Vec<&str> = Vec::new();
    for waiver in waivers {
        if !texts.contains(&text(waiver)) {
            texts.push(text(waiver));
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{Finding, Reason};
    use super::*;
    use crate::model::OutputFormat;

    fn cause(id: CheckId, probe: &str) -> BlockedBy {
        BlockedBy { id, probe: Some(probe.into()), format: Some(OutputFormat::Json) }
    }

    /// A judgement that is broken, or waits for these causes; `p2-json-strict` for something else as well.
    fn judgement(id: CheckId, status: Status, blocked_by: Vec<BlockedBy>) -> (CheckId, Judgement) {
        let mut reasons: Vec<Reason> = blocked_by
            .into_iter()
            .map(|cause| Reason { message: "said".into(), blocked_by: Some(cause) })
            .collect();
        if id == CheckId::P2JsonStrict {
            reasons.push("said".into());
        }
        let finding = || Finding::new("seen", Evidence { detail: "seen".into(), ..Evidence::default() });
        let broken = status == Status::Fail;
        (id, if broken { Judgement::Broken(vec![finding()]) } else { Judgement::Unverified(reasons) })
    }

    /// Status and message of each verdict once `checks` are waived, and the notes.
    fn waived(
        checks: &[CheckId],
        judgements: Vec<(CheckId, Judgement)>,
    ) -> (Vec<(Status, String)>, Vec<String>) {
        let waiver =
            |id: &CheckId| Waiver { check: id.to_string(), reason: "known".into(), ..Waiver::default() };
        let waivers: Vec<Waiver> = checks.iter().map(waiver).collect();
        let mut waived = Waived::default();
        for (id, judgement) in judgements {
            waived.add(id.check(), judgement, &waivers, &[]);
        }
        waived.waive_dependents();
        (waived.results.into_iter().map(|result| (result.status, result.message)).collect(), waived.notes)
    }

    #[test]
    fn a_verdict_is_waived_once_all_its_causes_are() {
        use CheckId::{P2ExitSuccess, P2JsonStrict, P2OutputJson, P2OutputPure, P2OutputStable};
        let both = || vec![cause(P2OutputJson, "list"), cause(P2ExitSuccess, "show")];
        let results = || {
            vec![
                judgement(P2OutputJson, Status::Fail, vec![]),
                judgement(P2ExitSuccess, Status::Fail, vec![]),
                judgement(P2OutputPure, Status::Unverified, vec![cause(P2OutputJson, "list")]),
                judgement(P2OutputStable, Status::Unverified, both()),
                // Something else is missing as well.
                judgement(P2JsonStrict, Status::Unverified, vec![cause(P2OutputJson, "list")]),
            ]
        };
        let (one, _) = waived(&[P2OutputJson], results());
        assert_eq!(one[2], (Status::Waived, "waived with p2-output-json: known (said)".into()));
        assert_eq!([one[1].0, one[3].0, one[4].0], [Status::Fail, Status::Unverified, Status::Unverified]);
        let (all, notes) = waived(&[P2OutputJson, P2ExitSuccess, P2OutputPure], results());
        assert_eq!(
            all[3],
            (Status::Waived, "waived with p2-output-json, p2-exit-success: known (said)".into())
        );
        assert_eq!(notes, ["the waiver of p2-output-pure is unused: said"]);
    }

    #[test]
    fn a_cause_may_wait_for_another_in_the_same_run() {
        use CheckId::{P2OutputComplete, P2OutputJson, P2OutputParity, P2OutputPure, P2OutputStable};
        let results = || {
            vec![
                judgement(P2OutputComplete, Status::Fail, vec![]),
                judgement(
                    P2OutputJson,
                    Status::Unverified,
                    vec![cause(P2OutputComplete, "list"), cause(P2OutputPure, "show")],
                ),
                judgement(P2OutputStable, Status::Unverified, vec![cause(P2OutputJson, "list")]),
                judgement(P2OutputParity, Status::Unverified, vec![cause(P2OutputJson, "show")]),
                // No chain may go round for ever.
                judgement(P2OutputPure, Status::Unverified, vec![cause(P2OutputJson, "show")]),
            ]
        };
        let (waived, _) = waived(&[P2OutputComplete], results());
        let statuses: Vec<Status> = waived.into_iter().map(|(status, _)| status).collect();
        use Status::{Unverified, Waived};
        assert_eq!(statuses, [Waived, Unverified, Waived, Unverified, Unverified]);
    }
}
