//! Counts verdicts and derives the exit code from them.

use super::{MergedReport, Report, VERSION};
use agentnative_contract::error::Error;
use agentnative_core::model::{CheckId, CheckResult, Edition, Level, Status, TargetInfo};
use agentnative_output::ErrorObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;

/// Number of verdicts of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ReportSummary {
    /// Requirements that are met.
    pub pass: usize,
    /// MUST requirements that are not met.
    pub fail: usize,
    /// SHOULD requirements that are not met.
    pub warn: usize,
    /// Requirements without sufficient evidence.
    pub unverified: usize,
    /// Requirements that do not apply to this target.
    pub not_applicable: usize,
    /// Requirements that are not met, with a waiver.
    pub waived: usize,
}

impl ReportSummary {
    /// Counts the verdicts of `results`.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a CheckResult>) -> Self {
        let mut summary = Self::default();
        results.into_iter().for_each(|result| *summary.number_mut(result.status) += 1);
        summary
    }

    /// Returns the number of verdicts of one kind.
    pub const fn count_of(mut self, status: Status) -> usize {
        *self.number_mut(status)
    }

    const fn number_mut(&mut self, status: Status) -> &mut usize {
        match status {
            Status::Pass => &mut self.pass,
            Status::Fail => &mut self.fail,
            Status::Warn => &mut self.warn,
            Status::Unverified => &mut self.unverified,
            Status::NotApplicable => &mut self.not_applicable,
            Status::Waived => &mut self.waived,
        }
    }

    /// Returns the counts above 0 in words: `2 failed`, `1 warning`, `3 passed`.
    pub fn counts(&self) -> Vec<String> {
        self.counts_with("", "")
    }

    /// Returns the counts above 0 in words, those of warnings and of unverified checks with these additions.
    fn counts_with(&self, warnings: &str, unverified: &str) -> Vec<String> {
        let counts = [
            (self.fail, "failed", ""),
            (self.warn, if self.warn == 1 { "warning" } else { "warnings" }, warnings),
            (self.unverified, "unverified", unverified),
            (self.pass, "passed", ""),
            (self.waived, "waived", ""),
            (self.not_applicable, "not applicable", ""),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        counts.map(|(count, what, addition)| format!("{count} {what}{addition}")).collect()
    }
}

impl MergedReport {
    /// Merges these reports and sums their summaries.
    pub fn new(targets: Vec<Report>) -> Self {
        let summary = targets.iter().map(|report| report.summary).sum();
        Self { targets, summary, fleet: None }
    }
}

impl Sum for ReportSummary {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            pass: sum.pass + one.pass,
            fail: sum.fail + one.fail,
            warn: sum.warn + one.warn,
            unverified: sum.unverified + one.unverified,
            not_applicable: sum.not_applicable + one.not_applicable,
            waived: sum.waived + one.waived,
        })
    }
}

/// Removes verdicts that other reports replace. A verdict that needs runs is removed if another report of the same
/// target decides the check; a report that has no verdicts left is removed.
pub fn without_replaced_verdicts(mut reports: Vec<Report>) -> Vec<Report> {
    let key = |target: &TargetInfo, id: CheckId| (target.name.clone(), target.project.clone(), id);
    let mut decided = BTreeSet::new();
    for report in &reports {
        let results = report.results.iter().filter(|result| result.status != Status::Unverified);
        decided.extend(results.map(|result| key(&report.target, result.id)));
    }
    reports.retain_mut(|report| {
        let before = report.results.len();
        report
            .results
            .retain(|result| !result.needs_runs || !decided.contains(&key(&report.target, result.id)));
        if report.results.len() == before {
            return true;
        }
        report.summary = ReportSummary::of(&report.results);
        let is_open =
            |result: &CheckResult| result.level == Level::Must && result.status == Status::Unverified;
        report.verified = !report.results.iter().any(is_open);
        !report.results.is_empty()
    });
    reports
}

impl Report {
    /// Returns the counts of verdicts per principle, for each principle that was judged. The key is the number of the
    /// principle.
    pub fn by_principle(&self) -> BTreeMap<u8, ReportSummary> {
        let principles: BTreeSet<u8> = self.results.iter().map(|result| result.principle).collect();
        let of = |principle| self.results.iter().filter(move |result| result.principle == principle);
        principles.into_iter().map(|principle| (principle, ReportSummary::of(of(principle)))).collect()
    }

    /// Creates a report; derives `conformant`, `verified` and the summary from the verdicts.
    pub fn new(
        target: TargetInfo,
        runs: usize,
        interrupted: bool,
        results: Vec<CheckResult>,
        notes: Vec<String>,
    ) -> Self {
        let must = |status| results.iter().any(|r| r.level == Level::Must && r.status == status);
        Self {
            version: VERSION.to_owned(),
            time: None,
            config: None,
            edition: Edition::default(),
            target,
            target_version: None,
            error: None,
            conformant: !must(Status::Fail),
            verified: !must(Status::Unverified),
            deny: Vec::new(),
            interrupted,
            isolation: None,
            coverage: None,
            runs,
            summary: ReportSummary::of(&results),
            results,
            notes,
        }
    }

    /// Creates the report of a target that could not be checked because of `error`, for a check of several targets.
    pub fn not_checked(target: TargetInfo, error: &Error) -> Self {
        let issues = error.issues.iter().map(|issue| format!("; {}", issue.message));
        let note =
            format!("the target could not be checked: {}{}", error.message, issues.collect::<String>());
        Self {
            error: Some(ErrorObject::from(error)),
            conformant: false,
            verified: false,
            ..Self::new(target, 0, error.signal.is_some(), Vec::new(), vec![note])
        }
    }

    /// Returns the counts of verdicts in words, with what they mean for the exit code: `1 warning (denied)`,
    /// `3 unverified (1 MUST)`.
    pub fn counts(&self) -> Vec<String> {
        let denied = if self.deny.contains(&Level::Should) { " (denied)" } else { "" };
        let must = match self.open_musts().count() {
            must if self.conformant && must > 0 => format!(" ({must} MUST)"),
            _ => String::new(),
        };
        self.summary.counts_with(denied, &must)
    }

    /// Returns the overall verdict in words.
    pub fn verdict(&self) -> &'static str {
        match (self.conformant, self.verified) {
            _ if self.error.is_some() => "not checked",
            _ if self.results.is_empty() => "nothing was checked",
            (false, _) => "not conformant",
            (true, true) => "conformant",
            (true, false) => "conformant so far",
        }
    }

    /// Returns the unverified MUST checks that `--strict` does not accept: all except those that need runs of a layer
    /// that was not selected.
    pub fn open_musts(&self) -> impl Iterator<Item = &CheckResult> {
        let is_open = |result: &&CheckResult| {
            result.level == Level::Must && result.status == Status::Unverified && !result.needs_runs
        };
        self.results.iter().filter(is_open)
    }

    /// Returns the exit code of `check`. It is 1 if a MUST failed, a level in `deny` has warnings, the runs were
    /// interrupted, or the target could not be checked; else 0. If `strict`, it is also 1 if a MUST is unverified,
    /// except one that needs runs of a layer that was not selected.
    pub fn exit_code(&self, strict: bool) -> u8 {
        self.exit_error(strict).map_or(0, |error| error.exit_code())
    }

    /// Returns the reason why the exit code is not 0; `None` if it is 0.
    pub fn exit_error(&self, strict: bool) -> Option<Error> {
        if let Some(error) = &self.error {
            return Some(Error::findings(format!("the target could not be checked: {}", error.message)));
        }
        let count = |n: usize, what: &str| format!("{n} MUST {} {what}", checks(n));
        let is_failed = |result: &&CheckResult| result.level == Level::Must && result.status == Status::Fail;
        let failed = || count(self.results.iter().filter(is_failed).count(), "failed");
        let open = if strict { self.open_musts().count() } else { 0 };
        let denies = |result: &&CheckResult| {
            result.level == Level::Should
                && result.status == Status::Warn
                && self.deny.contains(&Level::Should)
        };
        let warnings = self.results.iter().filter(denies).count();
        let denied = || format!("{warnings} SHOULD {} failed (--deny should)", checks(warnings));
        let message = match (self.conformant, open) {
            _ if self.interrupted => {
                return Some(Error::general("interrupted; the report covers the runs up to then"));
            }
            (false, _) if warnings > 0 => format!("{}, {}", failed(), denied()),
            (false, _) => failed(),
            (true, _) if warnings > 0 => denied(),
            (true, 0) => return None,
            (true, open) => count(open, "unverified"),
        };
        Some(Error::findings(message))
    }
}

const fn checks(count: usize) -> &'static str {
    if count == 1 { "check" } else { "checks" }
}
