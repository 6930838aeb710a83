//! From assertions about single runs to the verdict on a check.

use agentnative_contract::counted;
use agentnative_core::catalogue::Check;
use agentnative_core::model::{BlockedBy, CheckResult, DOCS_URL, Evidence, Layer, Level, Status, Topic};
use agentnative_core::run::RunKey;
use std::collections::BTreeMap;

/// More places in the runs than this are counted, not listed.
const MAX_EVIDENCE: usize = 100;

/// The same for all checks, so that a report can say it once.
pub const FAST: &str = "plain runs cannot decide this: run the check without --fast";

/// What one run, or a few that belong together, say about a demand: it passes when what is demanded was seen.
pub type Assertion = Result<(), Unmet>;

/// Why an assertion does not pass.
pub enum Unmet {
    /// The contrary of what is demanded was seen.
    Failed(Box<Finding>),
    /// It could not be told.
    Inconclusive(Reason),
}

/// An assertion that could not be decided, and why.
pub fn inconclusive(reason: impl Into<Reason>) -> Assertion {
    Err(Unmet::Inconclusive(reason.into()))
}

impl From<Finding> for Unmet {
    fn from(finding: Finding) -> Self {
        Self::Failed(Box::new(finding))
    }
}

impl Unmet {
    /// The same where a contract knows the contrary as a finding.
    #[must_use]
    pub fn known(self) -> Self {
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

/// The contrary of what is demanded, and where it was seen.
pub struct Finding {
    /// What was seen and what was expected.
    pub message: String,
    /// Where.
    pub evidence: Evidence,
    /// The contract knows it as a finding: it is a warning, whatever the level of the check.
    pub is_known: bool,
}

impl Finding {
    /// A finding of a kind that the check declares, whose message is the detail of its evidence.
    pub fn new(kind: &str, evidence: Evidence) -> Self {
        let message = evidence.detail.clone();
        Self { message, evidence: Evidence { kind: kind.to_owned(), ..evidence }, is_known: false }
    }

    /// The finding that the configuration declares `KEY = false` for what the standard requires; `remedy` says what
    /// to do.
    pub fn lacking(key: &str, remedy: &str) -> Self {
        let detail = format!("the configuration has `{key} = false`: {remedy}");
        Self::new("lacking", Evidence { detail, ..Evidence::default() })
    }
}

/// Why something could not be told.
#[derive(Default)]
pub struct Reason {
    /// What is missing; what to declare or where to look.
    pub message: String,
    /// The verdict that tells the cause, where another check does.
    pub blocked_by: Option<BlockedBy>,
    /// The runs that would tell it, and were not made.
    pub wants: Vec<RunKey>,
    /// Runs would tell it, and none was to be made.
    pub needs_runs: bool,
    /// The machine is the cause: a run was made that could not show anything.
    pub of_machine: bool,
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

/// The logic's answer for one check.
pub enum Judgement {
    /// All of it was seen, and held; a note says on what that rests.
    Pass(String),
    /// The contrary was seen at least once; with what could not be told beside that.
    Broken(Vec<Finding>, Vec<Reason>),
    /// Nothing decided, or a part is missing.
    Unverified(Vec<Reason>),
    /// It does not concern this target.
    NotApplicable(String),
    /// The contrary was seen, and the code itself says that it is known and accepted.
    Waived {
        /// The reasons.
        message: String,
        /// Where it was seen.
        evidence: Vec<Evidence>,
    },
}

impl Judgement {
    /// Broken if any assertion failed; unverified if there is none or any is inconclusive; else a pass. Known
    /// findings alone are told where nothing is inconclusive.
    /// `missing` says what to declare when there is none.
    pub fn of(assertions: impl IntoIterator<Item = Assertion>, missing: impl Into<Reason>) -> Self {
        let mut passed = 0;
        let (mut findings, mut reasons) = (Vec::new(), Vec::new());
        for assertion in assertions {
            match assertion {
                Ok(()) => passed += 1,
                Err(Unmet::Failed(finding)) => findings.push(*finding),
                Err(Unmet::Inconclusive(reason)) => reasons.push(reason),
            }
        }
        // What is known decides nothing about the rest.
        let decides = findings.iter().any(|finding: &Finding| !finding.is_known) || reasons.is_empty();
        if !findings.is_empty() && decides {
            Self::Broken(findings, reasons)
        } else if !reasons.is_empty() {
            Self::Unverified(reasons)
        } else if passed == 0 {
            Self::unverified(missing)
        } else {
            Self::Pass(format!("held in {}", counted(passed, "case")))
        }
    }

    /// The same, with a further note on what a pass rests on.
    #[must_use]
    pub fn noted(self, note: &str) -> Self {
        match self {
            Self::Pass(message) => Self::Pass(format!("{message}; {note}")),
            other => other,
        }
    }

    /// An undecided check, for one reason.
    pub fn unverified(reason: impl Into<Reason>) -> Self {
        Self::Unverified(vec![reason.into()])
    }

    /// The contrary was seen, and all was looked at.
    pub const fn broken(findings: Vec<Finding>) -> Self {
        Self::Broken(findings, Vec::new())
    }

    /// Whether nothing but causes that other checks tell keeps the check from being decided.
    pub fn is_blocked(&self) -> bool {
        matches!(self, Self::Unverified(reasons) if reasons.iter().all(|reason| reason.blocked_by.is_some()))
    }

    /// The verdict on `check`.
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
                    push_new(&mut messages, reason.message);
                    reason.blocked_by.into_iter().for_each(|cause| push_new(&mut blocked_by, cause));
                }
                (Status::Unverified, messages.join("; "))
            }
            Self::Broken(findings, _) => {
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
                // Each place in the code is to be mended; more runs than that tell nothing new.
                let most = if check.layer == Layer::Source { usize::MAX } else { MAX_EVIDENCE };
                evidence_left_out = findings.len().saturating_sub(most);
                evidence = findings.into_iter().take(most).map(|finding| finding.evidence).collect();
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
            docs: Topic::Check.docs(DOCS_URL, check.id.as_str()),
        }
    }
}

/// Orders what was found in runs: the same kind of fault in another run of the same probe is a repetition, and
/// comes after all that is no repetition; there the probes take turns. What was found in files stays in order.
fn distinct_first(findings: Vec<Finding>) -> impl Iterator<Item = Finding> {
    let mut runs: BTreeMap<(String, String), Vec<_>> = BTreeMap::new();
    let mut turns: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut place = |Evidence { kind, probe, format, variant, nth, .. }: &Evidence| {
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
    let mut placed: Vec<_> =
        findings.into_iter().map(|finding| (place(&finding.evidence), finding)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, finding)| finding)
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentnative_core::model::CheckId;

    #[test]
    fn what_is_left_out_is_counted() {
        let finding = |nth: usize| {
            let probe = Some(format!("probe {nth}"));
            Finding::new("syntax", Evidence { probe, detail: "wrong".into(), ..Evidence::default() })
        };
        let result = Judgement::broken((0..130).map(finding).collect()).result(CheckId::P2OutputJson.check());
        assert_eq!((result.evidence.len(), result.evidence_left_out), (MAX_EVIDENCE, 130 - MAX_EVIDENCE));
        assert_eq!(result.message, "wrong (and 129 more)");
    }

    #[test]
    fn a_known_finding_is_a_warning_and_hides_nothing() {
        let failed = || Unmet::from(Finding::new("known", Evidence::default()));
        let known = || Err(failed().known());
        let status = |assertions: Vec<Assertion>| {
            Judgement::of(assertions, "no run").result(CheckId::P2ContractSchema.check()).status
        };
        assert_eq!(status(vec![known(), Ok(())]), Status::Warn);
        assert_eq!(status(vec![known(), Err(failed()), inconclusive("late")]), Status::Fail);
        assert_eq!(status(vec![known(), inconclusive("late")]), Status::Unverified);
    }
}
