//! Counting verdicts.

use super::{Report, TargetInfo};
use crate::model::{CheckResult, Level, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of verdicts of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Summary {
    /// Seen in full, and held.
    pub pass: usize,
    /// Unmet MUSTs.
    pub fail: usize,
    /// Unmet SHOULDs.
    pub warn: usize,
    /// Undecided.
    pub unverified: usize,
    /// Of no concern to this target.
    pub not_applicable: usize,
    /// Failed and waived.
    pub waived: usize,
}

impl Summary {
    /// Counts the verdicts of `results`.
    pub fn of(results: &[CheckResult]) -> Self {
        let count = |status| results.iter().filter(|result| result.status == status).count();
        Self {
            pass: count(Status::Pass),
            fail: count(Status::Fail),
            warn: count(Status::Warn),
            unverified: count(Status::Unverified),
            not_applicable: count(Status::NotApplicable),
            waived: count(Status::Waived),
        }
    }
}

impl Report {
    /// A report of these verdicts; `conformant`, `verified` and the summary follow from them.
    pub fn new(
        target: TargetInfo,
        runs: usize,
        interrupted: bool,
        results: Vec<CheckResult>,
        notes: Vec<String>,
    ) -> Self {
        let must = |status| results.iter().any(|r| r.level == Level::Must && r.status == status);
        Self {
            target,
            conformant: !must(Status::Fail),
            verified: !must(Status::Unverified),
            interrupted,
            runs,
            summary: Summary::of(&results),
            results,
            notes,
        }
    }
}
