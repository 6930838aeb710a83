//! Combines assertions about single runs into the verdict on a check.

use agentnative_contract::counted;
use agentnative_core::catalogue::Check;
use agentnative_core::model::{BlockedBy, CheckResult, DOCS_URL, Evidence, Layer, Level, Status, Topic};
use agentnative_core::run::RunKey;
use std::collections::BTreeMap;

/// Maximum number of problems in runs that a result lists; further problems are only counted.
const MAX_EVIDENCE: usize = 100;

/// Message of checks that plain runs cannot decide. It is the same for all checks, so that a report can print it once.
pub const SKIPPED_BY_FAST: &str = "plain runs cannot decide this: run the check without --fast";

/// Result of testing a requirement on a run, or on several related runs. `Ok` if the requirement is met.
pub type Assertion = Result<(), Unmet>;

/// Why an assertion does not pass.
pub enum Unmet {
    /// The requirement is violated.
    Failed(Box<Finding>),
    /// The evidence is insufficient.
    Inconclusive(Reason),
}

pub fn inconclusive(reason: impl Into<Reason>) -> Assertion {
    Err(Unmet::Inconclusive(reason.into()))
}

/// Replaces a failure by a doubt, unless `is_certain` for its finding. Used for explored calls, which may be meant to
/// behave differently.
pub fn doubt(assertion: Assertion, is_certain: impl Fn(&Finding) -> bool) -> Assertion {
    match assertion {
        Err(Unmet::Failed(finding)) if !is_certain(&finding) => {
            inconclusive(format!("an explored call may be meant to do so: {}", finding.message))
        }
        assertion => assertion,
    }
}

impl From<Finding> for Unmet {
    fn from(finding: Finding) -> Self {
        Self::Failed(Box::new(finding))
    }
}

impl Unmet {
    /// Marks a failure as a known finding, which the contract declares. It then becomes a warning. An inconclusive
    /// assertion stays as it is.
    #[must_use]
    pub fn into_known(self) -> Self {
        match self {
            Self::Failed(finding) => Finding { is_known: true, ..*finding }.into(),
            inconclusive => inconclusive,
        }
    }
}

impl From<Reason> for Unmet {
    fn from(reason: Reason) -> Self {
        Self::Inconclusive(reason)
    }
}

/// A violated requirement, with its evidence.
pub struct Finding {
    /// Text for the user: what was found and what was expected.
    pub message: String,
    pub evidence: Evidence,
    /// True if the contract declares the violation as a known finding. It is then a warning, whatever the level of the
    /// check.
    pub is_known: bool,
}

impl Finding {
    /// Creates a finding. `kind` is one of the kinds of problems that the check declares. The message is the detail of
    /// the evidence.
    pub fn new(kind: &str, evidence: Evidence) -> Self {
        let message = evidence.detail.clone();
        Self { message, evidence: Evidence { kind: kind.to_owned(), ..evidence }, is_known: false }
    }

    /// Creates a finding about `KEY = false` in the configuration: it declares that the target lacks something that the
    /// standard requires. `remedy` is what to do.
    pub fn lacking(key: &str, remedy: &str) -> Self {
        let detail = format!("the configuration has `{key} = false`: {remedy}");
        Self::new("lacking", Evidence { detail, ..Evidence::default() })
    }
}

/// Why a check is undecided, in whole or in part.
#[derive(Default)]
pub struct Reason {
    /// Text for the user: what is missing, and what to declare or where to look.
    pub message: String,
    /// Reference to another check that reports the cause; `None` if no check does.
    pub blocked_by: Option<BlockedBy>,
    /// Runs that were not made and would decide the check.
    pub requested_runs: Vec<RunKey>,
    /// True if runs would decide the check, but the target was deliberately not run.
    pub needs_runs: bool,
    /// True if the machine is the cause, such as too little CPU time. The run then shows nothing about the target.
    pub caused_by_machine: bool,
}

impl From<String> for Reason {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

impl From<&str> for Reason {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// The judgement of one check, before waivers and the baseline are applied.
pub enum Judgement {
    /// All evidence meets the requirement. The message names the evidence.
    Pass(String),
    /// At least one violation was found. Contains the violations, and the reasons for everything that is undecided.
    Violated(Vec<Finding>, Vec<Reason>),
    /// The evidence is missing or incomplete.
    Unverified(Vec<Reason>),
    /// The requirement does not apply to this target.
    NotApplicable(String),
    /// Violations were found, and comments in the code of the target waive all of them.
    Waived {
        /// Reasons of the waivers.
        message: String,
        /// Evidence of the violations.
        evidence: Vec<Evidence>,
    },
}

impl Judgement {
    /// Combines assertions into a judgement: violated if one failed; unverified if there is none or one is
    /// inconclusive; otherwise a pass. If only known findings failed, inconclusive assertions take precedence.
    /// `missing` is the reason if there is no assertion.
    pub fn from_assertions(
        assertions: impl IntoIterator<Item = Assertion>,
        missing: impl Into<Reason>,
    ) -> Self {
        let mut passed = 0;
        let (mut findings, mut reasons) = (Vec::new(), Vec::new());
        for assertion in assertions {
            match assertion {
                Ok(()) => passed += 1,
                Err(Unmet::Failed(finding)) => findings.push(*finding),
                Err(Unmet::Inconclusive(reason)) => reasons.push(reason),
            }
        }
        // Known findings decide nothing about the rest.
        let decides = findings.iter().any(|finding: &Finding| !finding.is_known) || reasons.is_empty();
        if !findings.is_empty() && decides {
            Self::Violated(findings, reasons)
        } else if !reasons.is_empty() {
            Self::Unverified(reasons)
        } else if passed == 0 {
            Self::unverified(missing)
        } else {
            Self::Pass(format!("passed in {}", counted(passed, "case")))
        }
    }

    /// Appends `note` to the message of a pass. Other judgements stay as they are.
    #[must_use]
    pub fn with_note(self, note: &str) -> Self {
        match self {
            Self::Pass(message) => Self::Pass(format!("{message}; {note}")),
            other => other,
        }
    }

    /// Returns an undecided judgement with one reason.
    pub fn unverified(reason: impl Into<Reason>) -> Self {
        Self::Unverified(vec![reason.into()])
    }

    /// Returns a judgement with violations, in which nothing is undecided.
    pub const fn violated(findings: Vec<Finding>) -> Self {
        Self::Violated(findings, Vec::new())
    }

    /// True if the check is undecided only because of problems that other checks report.
    pub fn is_blocked(&self) -> bool {
        matches!(self, Self::Unverified(reasons) if reasons.iter().all(|reason| reason.blocked_by.is_some()))
    }

    /// Converts the judgement to the result of `check`.
    pub fn result(self, check: &Check) -> CheckResult {
        let (mut evidence, mut blocked_by, mut evidence_left_out) = (Vec::new(), Vec::new(), 0);
        let mut needs_runs = false;
        let (status, message) = match self {
            Self::Pass(message) => (Status::Pass, message),
            Self::NotApplicable(message) => (Status::NotApplicable, message),
            Self::Waived { message, evidence: seen } => {
                evidence = seen;
                (Status::Waived, message)
            }
            Self::Unverified(reasons) => {
                let mut messages = Vec::new();
                for reason in reasons {
                    needs_runs |= reason.needs_runs;
                    push_unique(&mut messages, reason.message);
                    reason.blocked_by.into_iter().for_each(|cause| push_unique(&mut blocked_by, cause));
                }
                (Status::Unverified, messages.join("; "))
            }
            Self::Violated(findings, _) => {
                let mut findings: Vec<Finding> = distinct_first(findings).collect();
                findings.sort_by_key(|finding| finding.is_known);
                let status = match check.level {
                    Level::Must if findings.iter().all(|finding| finding.is_known) => Status::Warn,
                    Level::Must => Status::Fail,
                    Level::Should => Status::Warn,
                    Level::May => Status::NotApplicable,
                };
                let mut message = findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
                if findings.len() > 1 {
                    message.push_str(&format!(" (and {} more)", findings.len() - 1));
                }
                // Each place in the code has to be fixed; more than the maximum number of runs show nothing new.
                let max = if check.layer == Layer::Source { usize::MAX } else { MAX_EVIDENCE };
                evidence_left_out = findings.len().saturating_sub(max);
                evidence = findings.into_iter().take(max).map(|finding| finding.evidence).collect();
                (status, message)
            }
        };
        CheckResult {
            id: check.id,
            principle: check.principle,
            level: check.level,
            layer: check.layer,
            standard: check.standard.clone(),
            status,
            title: check.title.clone(),
            message,
            evidence,
            evidence_left_out,
            blocked_by,
            needs_runs,
            help: matches!(status, Status::Fail | Status::Warn).then(|| check.fix.clone()),
            docs: Topic::Check.url_or_command(DOCS_URL, check.id.as_str()),
        }
    }
}

/// Orders the findings so that different problems come first. The same kind of problem in another run of the same probe
/// is a repetition, and comes after the first occurrences of all problems. The probes alternate. Findings in files keep
/// their order.
fn distinct_first(findings: Vec<Finding>) -> impl Iterator<Item = Finding> {
    let mut runs: BTreeMap<(String, String), Vec<_>> = BTreeMap::new();
    let mut turns: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut order_key = |Evidence { kind, probe, format, variant, nth, .. }: &Evidence| {
        let Some(probe) = probe else { return (0, 0) };
        let run = (*format, *variant, *nth);
        let runs = runs.entry((kind.clone(), probe.clone())).or_default();
        let repetition = runs.iter().position(|seen| *seen == run).unwrap_or_else(|| {
            runs.push(run);
            runs.len() - 1
        });
        let turn = turns.entry((repetition, probe.clone())).or_default();
        *turn += 1;
        (repetition, *turn)
    };
    let mut keyed: Vec<_> =
        findings.into_iter().map(|finding| (order_key(&finding.evidence), finding)).collect();
    keyed.sort_by_key(|(order_key, _)| *order_key);
    keyed.into_iter().map(|(_, finding)| finding)
}

fn push_unique<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentnative_core::model::CheckId;

    #[test]
    fn evidence_beyond_the_maximum_is_counted() {
        let finding = |nth: usize| {
            let probe = Some(format!("probe {nth}"));
            Finding::new("syntax", Evidence { probe, detail: "wrong".into(), ..Evidence::default() })
        };
        let result =
            Judgement::violated((0..130).map(finding).collect()).result(CheckId::P2OutputJson.check());
        assert_eq!((result.evidence.len(), result.evidence_left_out), (MAX_EVIDENCE, 130 - MAX_EVIDENCE));
        assert_eq!(result.message, "wrong (and 129 more)");
    }

    #[test]
    fn a_known_finding_is_a_warning_and_hides_nothing() {
        let failed = || Unmet::from(Finding::new("known", Evidence::default()));
        let known = || Err(failed().into_known());
        let status = |assertions: Vec<Assertion>| {
            Judgement::from_assertions(assertions, "no run").result(CheckId::P2ContractSchema.check()).status
        };
        assert_eq!(status(vec![known(), Ok(())]), Status::Warn);
        assert_eq!(status(vec![known(), Err(failed()), inconclusive("late")]), Status::Fail);
        assert_eq!(status(vec![known(), inconclusive("late")]), Status::Unverified);
    }
}
