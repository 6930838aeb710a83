//! From looks at single runs to the verdict on a check.

use crate::report::catalogue::Check;
use crate::report::{CheckResult, Evidence, Level, Status};

/// More places than this are counted, not listed.
const MAX_EVIDENCE: usize = 5;

/// What one look at one run, or at a few that belong together, gave.
pub enum Look {
    /// What is demanded was seen.
    Held,
    /// The contrary was seen.
    Broken(Finding),
    /// It could not be told, and why; what to declare or where to look.
    Unknown(String),
}

/// The contrary of what is demanded, and where it was seen.
pub struct Finding {
    /// What was seen and what was expected.
    pub message: String,
    /// Where.
    pub evidence: Evidence,
}

impl Finding {
    /// A finding whose message is the detail of its evidence.
    pub fn new(evidence: Evidence) -> Self {
        Self { message: evidence.detail.clone(), evidence }
    }
}

/// The logic's answer for one check.
pub enum Judgement {
    /// All of it was seen, and held; a note says on what that rests.
    Pass(String),
    /// The contrary was seen at least once.
    Broken(Vec<Finding>),
    /// Nothing decided, or a part is missing.
    Unverified(String),
    /// It does not concern this target.
    NotApplicable(String),
}

impl Judgement {
    /// Broken if any look is; unverified if none was taken or any could not tell; else a pass.
    /// `missing` says what to declare when no look was taken.
    pub fn of(looks: impl IntoIterator<Item = Look>, missing: &str) -> Self {
        let mut held = 0;
        let mut findings = Vec::new();
        let mut unknown: Vec<String> = Vec::new();
        for look in looks {
            match look {
                Look::Held => held += 1,
                Look::Broken(finding) => findings.push(finding),
                Look::Unknown(reason) if !unknown.contains(&reason) => unknown.push(reason),
                Look::Unknown(_) => {}
            }
        }
        if !findings.is_empty() {
            Self::Broken(findings)
        } else if !unknown.is_empty() {
            Self::Unverified(unknown.join("; "))
        } else if held == 0 {
            Self::Unverified(missing.to_owned())
        } else {
            Self::Pass(format!("held in {held} {}", if held == 1 { "case" } else { "cases" }))
        }
    }

    /// The verdict on `check`.
    pub fn result(self, check: &Check) -> CheckResult {
        let (status, message, findings) = match self {
            Self::Pass(message) => (Status::Pass, message, Vec::new()),
            Self::NotApplicable(message) => (Status::NotApplicable, message, Vec::new()),
            Self::Unverified(message) => (Status::Unverified, message, Vec::new()),
            Self::Broken(findings) => {
                let status = match check.level {
                    Level::Must => Status::Fail,
                    Level::Should => Status::Warn,
                    Level::May => Status::NotApplicable,
                };
                let mut message = findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
                if findings.len() > 1 {
                    message.push_str(&format!(" (and {} more)", findings.len() - 1));
                }
                (status, message, findings)
            }
        };
        CheckResult {
            id: check.id.clone(),
            principle: check.principle,
            level: check.level,
            layer: check.layer,
            status,
            title: check.title.clone(),
            message,
            evidence: findings.into_iter().take(MAX_EVIDENCE).map(|finding| finding.evidence).collect(),
            help: matches!(status, Status::Fail | Status::Warn).then(|| check.fix.clone()),
            docs: format!("agentnative explain {}", check.id),
        }
    }
}
