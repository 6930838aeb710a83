//! Waivers and the baseline: faults that are known and accepted, and the verdicts that wait for those alone.

use super::verdict::Judgement;
use crate::baseline::{Baseline, Fault};
use crate::seen::Seen;
use agentnative_core::catalogue::Check;
use agentnative_core::config::Waiver;
use agentnative_core::model::{BlockedBy, CheckId, CheckResult, Evidence, Level, OutputFormat, Status};
use agentnative_core::probe::Probe;
use std::collections::BTreeSet;

/// The faults that are accepted.
#[derive(Clone, Copy)]
pub struct Accepted<'a> {
    /// What the configuration waives.
    pub waivers: &'a [Waiver],
    /// The faults that were known before.
    pub baseline: &'a Baseline,
    /// The name of the target, as the baseline has it.
    pub target: &'a str,
}

/// Why what is in the baseline is accepted.
const IN_BASELINE: &str = "in the baseline";

/// Verdicts with what is accepted of them.
pub struct Waived<'w> {
    /// The verdicts so far.
    pub results: Vec<CheckResult>,
    /// For the reader: waivers that are of no use.
    pub notes: Vec<String>,
    /// The faults that no waiver accepts.
    pub seen: Seen,
    accepted: Accepted<'w>,
    probes: &'w [Probe],
    /// Runs were left out: whether a waiver is of no use is not known.
    partial: bool,
    used: Vec<&'w Waiver>,
    /// The verdicts that nothing but what `blocked_by` names keeps open.
    blocked: BTreeSet<CheckId>,
    /// Where the faults are that are accepted, with the reason of each.
    covered: Vec<(BlockedBy, &'w str)>,
    /// Where the others are.
    open: Vec<BlockedBy>,
}

impl<'w> Waived<'w> {
    /// No verdicts yet; those to come may rest on a part of the runs.
    pub fn new(accepted: Accepted<'w>, probes: &'w [Probe], partial: bool) -> Self {
        let names = probes.iter().map(|probe| (probe.name.as_str(), probe.of()));
        Self {
            results: Vec::new(),
            notes: Vec::new(),
            seen: Seen::new(accepted.target, names),
            accepted,
            probes,
            partial,
            used: Vec::new(),
            blocked: BTreeSet::new(),
            covered: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Adds the verdict on `check`. A finding is accepted where a waiver covers it or the baseline has it; the check
    /// is waived when all of them are.
    pub fn add(&mut self, check: &Check, judgement: Judgement) {
        if judgement.is_blocked() {
            self.blocked.insert(check.id);
        }
        let waivers = self.accepted.waivers;
        let Judgement::Broken(findings, reasons) = judgement else {
            return self.unbroken(judgement.result(check), waivers);
        };
        let mut own: Vec<(&Waiver, usize)> = of(waivers, check.id).map(|waiver| (waiver, 0)).collect();
        let (mut accepted, mut left, mut known) = (Vec::new(), Vec::new(), false);
        for finding in findings {
            let mut reason = None;
            for (waiver, count) in &mut own {
                if covers_evidence(waiver, &finding.evidence, self.probes) {
                    *count += 1;
                    reason = reason.or(Some(waiver.reason.as_str()).filter(|_| !waiver.expired));
                }
            }
            // A MAY has nothing to accept.
            if reason.is_none() && check.level != Level::May && self.is_known(check, &finding.evidence) {
                known = true;
                reason = Some(IN_BASELINE);
            }
            self.note(check.id, &finding.evidence, reason);
            if reason.is_some() { accepted.push(finding) } else { left.push(finding) }
        }
        let all = left.is_empty();
        let count = accepted.len();
        let mut result = Judgement::Broken(if all { accepted } else { left }, reasons).result(check);
        // A MAY has nothing to waive.
        if !matches!(result.status, Status::Fail | Status::Warn) {
            return self.unbroken(result, waivers);
        }
        let used: Vec<&Waiver> = own
            .iter()
            .filter(|(waiver, count)| *count > 0 && !waiver.expired)
            .map(|(waiver, _)| *waiver)
            .collect();
        let why = used.iter().map(|waiver| waiver.reason.as_str()).chain(known.then_some(IN_BASELINE));
        let why = unique(why).join("; ");
        if all {
            result.status = Status::Waived;
            result.message = format!("waived: {why} ({})", result.message);
        } else if count > 0 {
            result.message.push_str(&format!("; {count} more waived: {why}"));
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

    /// Whether the baseline has what was seen here; of equal lines of code, as many as it has.
    fn is_known(&mut self, check: &Check, evidence: &Evidence) -> bool {
        let fault = Fault::of(self.accepted.target, check.id, check.layer, evidence);
        self.seen.faults.add(fault.clone());
        self.seen.faults.count(&fault) <= self.accepted.baseline.count(&fault)
    }

    /// Notes where a fault is, and why it is accepted if it is. A place in the code is no cause of anything.
    fn note(&mut self, id: CheckId, evidence: &Evidence, reason: Option<&'w str>) {
        for probe in [evidence.probe.as_deref(), origin(evidence, self.probes)].into_iter().flatten() {
            let place = BlockedBy { id, probe: Some(probe.to_owned()), format: evidence.format };
            match reason {
                Some(reason) if !self.covered.contains(&(place.clone(), reason)) => {
                    self.covered.push((place, reason));
                }
                None if !self.open.contains(&place) => self.open.push(place),
                _ => {}
            }
        }
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
        let dependents =
            self.results.iter().enumerate().filter(|(_, result)| self.blocked.contains(&result.id));
        let dependents: Vec<(usize, String)> = dependents
            .filter_map(|(at, result)| Some((at, because(&self.causes_of(result, None, &[])?))))
            .collect();
        for (at, because) in dependents {
            let result = &mut self.results[at];
            result.status = Status::Waived;
            result.message = format!("waived with {because} ({})", result.message);
        }
    }

    /// What accepts everything that an undecided verdict waits for, as far as it concerns the runs of `within`: the
    /// checks, each with a reason. None when some cause is not accepted. `path` are the verdicts that wait for this
    /// one.
    fn causes_of(
        &self,
        result: &CheckResult,
        within: Option<&BlockedBy>,
        path: &[CheckId],
    ) -> Option<Vec<(CheckId, &'w str)>> {
        let path = [path, &[result.id]].concat();
        let concerned = |cause: &&BlockedBy| within.is_none_or(|within| overlap(within, cause));
        let causes: Vec<&BlockedBy> = result.blocked_by.iter().filter(concerned).collect();
        if causes.is_empty() {
            return None;
        }
        let mut all = Vec::new();
        for cause in causes {
            match self.reasons_of(cause) {
                Some(reasons) => all.extend(reasons.into_iter().map(|reason| (cause.id, reason))),
                // The check that tells the cause may itself wait for another.
                None => {
                    let mut links = self.results.iter();
                    let link = links.find(|link| link.id == cause.id && !path.contains(&link.id))?;
                    all.extend(self.causes_of(link, Some(cause), &path)?);
                }
            }
        }
        Some(all)
    }

    /// Why a cause is accepted, if it is: by a waiver, or since its check has no fault there that is not accepted.
    fn reasons_of(&self, cause: &BlockedBy) -> Option<Vec<&'w str>> {
        if let Some(waiver) = self.used.iter().find(|waiver| covers_cause(waiver, cause)) {
            return Some(vec![&waiver.reason]);
        }
        let (open, covered): (Vec<_>, Vec<_>) = (
            self.open.iter().filter(|place| place.id == cause.id).collect(),
            self.covered.iter().filter(|(place, _)| place.id == cause.id).collect(),
        );
        let is_near = |place: &BlockedBy| overlap(place, cause);
        let is_accepted = covered.iter().any(|(place, _)| is_near(place)) || open.is_empty();
        if covered.is_empty() || !is_accepted || open.into_iter().any(is_near) {
            return None;
        }
        Some(covered.into_iter().map(|(_, reason)| *reason).collect())
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

/// The probe that the one at a place was made from.
fn origin<'p>(evidence: &Evidence, probes: &'p [Probe]) -> Option<&'p str> {
    probes.iter().find(|probe| Some(&probe.name) == evidence.probe.as_ref())?.of()
}

/// Whether a waiver is about what was seen at a place. What a probe that was made from a declared one shows
/// belongs to that as well.
fn covers_evidence(waiver: &Waiver, evidence: &Evidence, probes: &[Probe]) -> bool {
    let probe = waiver.probe.as_deref();
    (probe.is_none() || probe == evidence.probe.as_deref() || probe == origin(evidence, probes))
        && (waiver.format.is_none() || waiver.format == evidence.format)
}

/// Whether a waiver accepts what a verdict waits for.
fn covers_cause(waiver: &Waiver, cause: &BlockedBy) -> bool {
    waiver.check == cause.id.as_str()
        && (waiver.probe.is_none() || waiver.probe == cause.probe)
        && (waiver.format.is_none() || waiver.format == cause.format)
}

/// Whether two causes may lie in the same run.
fn overlap(a: &BlockedBy, b: &BlockedBy) -> bool {
    let probe = a.probe.is_none() || b.probe.is_none() || a.probe == b.probe;
    probe && (a.format.is_none() || b.format.is_none() || a.format == b.format)
}

/// The checks that are waived and why, for people.
fn because(causes: &[(CheckId, &str)]) -> String {
    let checks = unique(causes.iter().map(|(id, _)| id.as_str())).join(", ");
    format!("{checks}: {}", unique(causes.iter().map(|(_, reason)| *reason)).join("; "))
}

/// The different ones of some texts.
fn unique<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut different: Vec<&str> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{Finding, Reason};
    use super::*;
    use crate::baseline::Baseline;
    use agentnative_core::model::OutputFormat;

    fn cause(id: CheckId, probe: &str) -> BlockedBy {
        BlockedBy { id, probe: Some(probe.into()), format: Some(OutputFormat::Json) }
    }

    /// A judgement that is broken, or waits for these causes; `p2-json-strict` for something else as well.
    fn judgement(id: CheckId, status: Status, blocked_by: Vec<BlockedBy>) -> (CheckId, Judgement) {
        let mut reasons: Vec<Reason> = blocked_by
            .into_iter()
            .map(|cause| Reason { message: "said".into(), blocked_by: Some(cause), ..Reason::default() })
            .collect();
        if id == CheckId::P2JsonStrict {
            reasons.push("said".into());
        }
        let finding = || Finding::new("seen", Evidence { detail: "seen".into(), ..Evidence::default() });
        let broken = status == Status::Fail;
        (id, if broken { Judgement::broken(vec![finding()]) } else { Judgement::Unverified(reasons) })
    }

    /// Status and message of each verdict once `checks` are waived, and the notes.
    fn waived(
        checks: &[CheckId],
        judgements: Vec<(CheckId, Judgement)>,
    ) -> (Vec<(Status, String)>, Vec<String>) {
        let waiver =
            |id: &CheckId| Waiver { check: id.to_string(), reason: "known".into(), ..Waiver::default() };
        let waivers: Vec<Waiver> = checks.iter().map(waiver).collect();
        let baseline = Baseline::default();
        let accepted = Accepted { waivers: &waivers, baseline: &baseline, target: "" };
        let mut waived = Waived::new(accepted, &[], false);
        for (id, judgement) in judgements {
            waived.add(id.check(), judgement);
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
