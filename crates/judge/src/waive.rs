//! Applies waivers and the baseline to faults, and waives the verdicts that are undecided only because of accepted
//! faults.

use super::verdict::Judgement;
use crate::baseline::{Baseline, Fault};
use crate::coverage::CheckCoverage;
use agentnative_core::catalogue::Check;
use agentnative_core::config::Waiver;
use agentnative_core::model::{BlockedBy, CheckId, CheckResult, Evidence, Level, OutputFormat, Status};
use agentnative_core::probe::Probe;
use std::collections::BTreeSet;

/// What accepts faults so that they do not fail a check: waivers and a baseline.
#[derive(Clone, Copy)]
pub struct AcceptedFaults<'a> {
    /// Waivers of the configuration.
    pub waivers: &'a [Waiver],
    /// Faults that were known before.
    pub baseline: &'a Baseline,
    /// Name of the target in the baseline.
    pub target: &'a str,
}

/// Reason for accepting a fault of the baseline.
const IN_BASELINE: &str = "in the baseline";

/// Collects the verdicts of the checks, and applies waivers and the baseline to each.
pub struct VerdictCollector<'w> {
    pub results: Vec<CheckResult>,
    /// Notes about unused waivers.
    pub notes: Vec<String>,
    /// Faults that no waiver accepts, and what the checks could and could not decide.
    pub seen: CheckCoverage,
    accepted: AcceptedFaults<'w>,
    probes: &'w [Probe],
    /// True if some runs were omitted, so that it is unknown whether a waiver is unused.
    partial: bool,
    used: Vec<&'w Waiver>,
    /// Checks that are undecided only because of problems that other checks report.
    blocked: BTreeSet<CheckId>,
    /// Check, probe and format of each accepted fault, with the reason why it is accepted.
    accepted_places: Vec<(BlockedBy, &'w str)>,
    /// Check, probe and format of each fault that is not accepted.
    open_places: Vec<BlockedBy>,
}

impl<'w> VerdictCollector<'w> {
    /// Creates a collector without verdicts. `partial` is true if some runs were omitted.
    pub fn new(accepted: AcceptedFaults<'w>, probes: &'w [Probe], partial: bool) -> Self {
        let names = probes.iter().map(|probe| (probe.name.as_str(), probe.source()));
        Self {
            results: Vec::new(),
            notes: Vec::new(),
            seen: CheckCoverage::new(accepted.target, names),
            accepted,
            probes,
            partial,
            used: Vec::new(),
            blocked: BTreeSet::new(),
            accepted_places: Vec::new(),
            open_places: Vec::new(),
        }
    }

    /// Adds the verdict on `check`. A finding is accepted if a waiver covers it or the baseline contains it. The check
    /// is waived if all its findings are accepted.
    pub fn add(&mut self, check: &Check, judgement: Judgement) {
        if judgement.is_blocked() {
            self.blocked.insert(check.id);
        }
        let waivers = self.accepted.waivers;
        let Judgement::Violated(findings, reasons) = judgement else {
            return self.add_without_problem(judgement.result(check), waivers);
        };
        let mut own: Vec<(&Waiver, usize)> =
            waivers_of(waivers, check.id).map(|waiver| (waiver, 0)).collect();
        let (mut accepted, mut left, mut known) = (Vec::new(), Vec::new(), false);
        for finding in findings {
            let mut reason = None;
            for (waiver, count) in &mut own {
                if covers_evidence(waiver, &finding.evidence, self.probes) {
                    *count += 1;
                    reason = reason.or(Some(waiver.reason.as_str()).filter(|_| !waiver.expired));
                }
            }
            // A MAY check has nothing to accept.
            if reason.is_none() && check.level != Level::May && self.is_known(check, &finding.evidence) {
                known = true;
                reason = Some(IN_BASELINE);
            }
            self.record_place(check.id, &finding.evidence, reason);
            if reason.is_some() { accepted.push(finding) } else { left.push(finding) }
        }
        let all = left.is_empty();
        let count = accepted.len();
        let mut result = Judgement::Violated(if all { accepted } else { left }, reasons).result(check);
        // A MAY check has nothing to waive.
        if !matches!(result.status, Status::Fail | Status::Warn) {
            return self.add_without_problem(result, waivers);
        }
        let used: Vec<&Waiver> = own
            .iter()
            .filter(|(waiver, count)| *count > 0 && !waiver.expired)
            .map(|(waiver, _)| *waiver)
            .collect();
        let why = used.iter().map(|waiver| waiver.reason.as_str()).chain(known.then_some(IN_BASELINE));
        let why = distinct(why).join("; ");
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
                    .push(format!("the waiver of {} is unused: it matches no problem", describe(waiver))),
                (None, _) => {}
                (Some(last), 0) => self.notes.push(format!(
                    "the waiver of {} expired on {last} and matches no problem",
                    describe(waiver)
                )),
                (Some(last), _) => {
                    result.message.push_str(&format!("; the waiver expired on {last}"));
                    self.notes.push(format!(
                        "the waiver of {} expired on {last} and no longer applies",
                        describe(waiver)
                    ));
                }
            }
        }
        self.used.extend(used);
        self.results.push(result);
    }

    /// Counts an occurrence of a fault, and returns true if the baseline contains it. If the baseline counts two equal
    /// lines of code, a third one is not known.
    fn is_known(&mut self, check: &Check, evidence: &Evidence) -> bool {
        let fault = Fault::from_evidence(self.accepted.target, check.id, check.layer, evidence);
        self.seen.faults.add(fault.clone());
        self.seen.faults.count(&fault) <= self.accepted.baseline.count(&fault)
    }

    /// Records the check, probe and format of a fault. `reason` is why the fault is accepted; `None` if it is not.
    /// Faults in code are not recorded, because they never keep another check undecided.
    fn record_place(&mut self, id: CheckId, evidence: &Evidence, reason: Option<&'w str>) {
        for probe in
            [evidence.probe.as_deref(), source_probe_name(evidence, self.probes)].into_iter().flatten()
        {
            let place = BlockedBy { id, probe: Some(probe.to_owned()), format: evidence.format };
            match reason {
                Some(reason) if !self.accepted_places.contains(&(place.clone(), reason)) => {
                    self.accepted_places.push((place, reason));
                }
                None if !self.open_places.contains(&place) => self.open_places.push(place),
                _ => {}
            }
        }
    }

    /// Adds a verdict that has no problems to waive, and adds a note for each waiver of its check.
    fn add_without_problem(&mut self, result: CheckResult, waivers: &[Waiver]) {
        let open = self.partial && result.status == Status::Unverified;
        for waiver in waivers_of(waivers, result.id).filter(|_| !open) {
            let why = match waiver.expires.filter(|_| waiver.expired) {
                Some(last) => format!("expired on {last} and is no longer needed"),
                None => "is unused".to_owned(),
            };
            self.notes.push(format!("the waiver of {} {why}: {}", describe(waiver), result.message));
        }
        self.results.push(result);
    }

    /// Waives an undecided verdict if all problems that keep it undecided are waived or in the baseline.
    pub fn waive_dependents(&mut self) {
        let dependents =
            self.results.iter().enumerate().filter(|(_, result)| self.blocked.contains(&result.id));
        let dependents: Vec<(usize, String)> = dependents
            .filter_map(|(index, result)| Some((index, causes_in_words(&self.causes_of(result, None, &[])?))))
            .collect();
        for (index, causes) in dependents {
            let result = &mut self.results[index];
            result.status = Status::Waived;
            result.message = format!("waived with {causes} ({})", result.message);
        }
    }

    /// Returns why all problems are accepted that keep a verdict undecided: for each problem, the check that reports it
    /// and the reason. `None` if a problem is not accepted. If `within` is given, only problems in its runs count.
    /// `path` contains the checks whose verdicts wait for this one.
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
            match self.acceptance_of(cause) {
                Some(reasons) => all.extend(reasons.into_iter().map(|reason| (cause.id, reason))),
                // The check that reports the cause may itself wait for another.
                None => {
                    let mut links = self.results.iter();
                    let link = links.find(|link| link.id == cause.id && !path.contains(&link.id))?;
                    all.extend(self.causes_of(link, Some(cause), &path)?);
                }
            }
        }
        Some(all)
    }

    /// Returns the reasons why `cause`, a problem that another check reports, is accepted: a waiver covers it, or its
    /// check has only accepted faults in these runs. `None` if it is not accepted.
    fn acceptance_of(&self, cause: &BlockedBy) -> Option<Vec<&'w str>> {
        if let Some(waiver) = self.used.iter().find(|waiver| covers_cause(waiver, cause)) {
            return Some(vec![&waiver.reason]);
        }
        let (open, accepted): (Vec<_>, Vec<_>) = (
            self.open_places.iter().filter(|place| place.id == cause.id).collect(),
            self.accepted_places.iter().filter(|(place, _)| place.id == cause.id).collect(),
        );
        let is_near = |place: &BlockedBy| overlap(place, cause);
        let is_accepted = accepted.iter().any(|(place, _)| is_near(place)) || open.is_empty();
        if accepted.is_empty() || !is_accepted || open.into_iter().any(is_near) {
            return None;
        }
        Some(accepted.into_iter().map(|(_, reason)| *reason).collect())
    }
}

fn waivers_of(waivers: &[Waiver], check: CheckId) -> impl Iterator<Item = &Waiver> {
    waivers.iter().filter(move |waiver| waiver.check == check.as_str())
}

fn describe(waiver: &Waiver) -> String {
    let narrow = [waiver.probe.as_deref(), waiver.format.map(OutputFormat::name)];
    let narrow: Vec<&str> = narrow.into_iter().flatten().collect();
    if narrow.is_empty() {
        waiver.check.clone()
    } else {
        format!("{} ({})", waiver.check, narrow.join(" · "))
    }
}

/// Returns the name of the declared probe from which the call in `evidence` is derived; `None` if it is not derived.
fn source_probe_name<'p>(evidence: &Evidence, probes: &'p [Probe]) -> Option<&'p str> {
    probes.iter().find(|probe| Some(&probe.name) == evidence.probe.as_ref())?.source()
}

/// True if a waiver covers a problem with this evidence. A waiver of a declared probe also covers calls that are
/// derived from it.
fn covers_evidence(waiver: &Waiver, evidence: &Evidence, probes: &[Probe]) -> bool {
    let probe = waiver.probe.as_deref();
    (probe.is_none() || probe == evidence.probe.as_deref() || probe == source_probe_name(evidence, probes))
        && (waiver.format.is_none() || waiver.format == evidence.format)
}

/// True if a waiver covers `cause`, a problem that keeps another verdict undecided.
fn covers_cause(waiver: &Waiver, cause: &BlockedBy) -> bool {
    waiver.check == cause.id.as_str()
        && (waiver.probe.is_none() || waiver.probe == cause.probe)
        && (waiver.format.is_none() || waiver.format == cause.format)
}

/// True if two problems may be in the same run: their probes and their formats are equal or missing.
fn overlap(a: &BlockedBy, b: &BlockedBy) -> bool {
    let probe = a.probe.is_none() || b.probe.is_none() || a.probe == b.probe;
    probe && (a.format.is_none() || b.format.is_none() || a.format == b.format)
}

fn causes_in_words(causes: &[(CheckId, &str)]) -> String {
    let checks = distinct(causes.iter().map(|(id, _)| id.as_str())).join(", ");
    format!("{checks}: {}", distinct(causes.iter().map(|(_, reason)| *reason)).join("; "))
}

/// Returns the distinct texts, in order.
fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
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

    /// Returns a violated judgement if `status` is `Fail`. Otherwise returns an undecided one, which the problems in
    /// `blocked_by` block. For `p2-json-strict`, it has a further reason, which no check reports.
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
        (id, if broken { Judgement::violated(vec![finding()]) } else { Judgement::Unverified(reasons) })
    }

    /// Returns the status and message of each verdict after `checks` are waived, and the notes.
    fn waived(
        checks: &[CheckId],
        judgements: Vec<(CheckId, Judgement)>,
    ) -> (Vec<(Status, String)>, Vec<String>) {
        let waiver =
            |id: &CheckId| Waiver { check: id.to_string(), reason: "known".into(), ..Waiver::default() };
        let waivers: Vec<Waiver> = checks.iter().map(waiver).collect();
        let baseline = Baseline::default();
        let accepted = AcceptedFaults { waivers: &waivers, baseline: &baseline, target: "" };
        let mut waived = VerdictCollector::new(accepted, &[], false);
        for (id, judgement) in judgements {
            waived.add(id.check(), judgement);
        }
        waived.waive_dependents();
        (waived.results.into_iter().map(|result| (result.status, result.message)).collect(), waived.notes)
    }

    #[test]
    fn a_verdict_is_waived_if_all_its_causes_are_waived() {
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
                // A cycle must not loop forever.
                judgement(P2OutputPure, Status::Unverified, vec![cause(P2OutputJson, "show")]),
            ]
        };
        let (waived, _) = waived(&[P2OutputComplete], results());
        let statuses: Vec<Status> = waived.into_iter().map(|(status, _)| status).collect();
        use Status::{Unverified, Waived};
        assert_eq!(statuses, [Waived, Unverified, Waived, Unverified, Unverified]);
    }
}
