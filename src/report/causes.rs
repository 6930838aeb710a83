//! Groups unverified checks by root cause: the failed checks that they depend on, or their reasons.

use super::Report;
use agentnative_core::model::{CheckId, CheckResult, Status};

/// The unverified checks of a report, by root cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undecided<'r> {
    /// The checks that are unverified because of problems that other checks report.
    pub waiting: Vec<&'r CheckResult>,
    /// The checks whose problems the checks in `waiting` depend on, in the order of the report.
    pub causes: Vec<CheckId>,
    /// The other unverified checks, grouped by reason. Reasons that differ in one number are merged, with all numbers:
    /// `no probe ends with 1, 77, 78`.
    pub reasons: Vec<(String, Vec<&'r CheckResult>)>,
}

/// The reason of one or more unverified checks. Reasons that differ only in one number are merged, with all numbers.
struct Reason<'r> {
    prefix: &'r str,
    numbers: Vec<&'r str>,
    suffix: &'r str,
    results: Vec<&'r CheckResult>,
}

impl<'r> Reason<'r> {
    fn of(result: &'r CheckResult) -> Self {
        let text = result.text();
        let is_digit = |c: char| c.is_ascii_digit();
        let start = text.find(is_digit).unwrap_or(text.len());
        let (prefix, rest) = text.split_at(start);
        let (number, suffix) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        let results = vec![result];
        match suffix.contains(is_digit) {
            true => Self { prefix: text, numbers: Vec::new(), suffix: "", results },
            false => Self { prefix, numbers: vec![number], suffix, results },
        }
    }

    fn merge(&mut self, other: Self) {
        let new: Vec<&str> =
            other.numbers.into_iter().filter(|number| !self.numbers.contains(number)).collect();
        self.numbers.extend(new);
        self.results.extend(other.results);
    }

    fn text(&self) -> String {
        format!("{}{}{}", self.prefix, self.numbers.join(", "), self.suffix)
    }
}

impl Report {
    /// Returns the unverified checks, by root cause.
    pub fn undecided(&self) -> Undecided<'_> {
        let mut undecided = Undecided::default();
        let mut causes = Vec::new();
        let mut reasons: Vec<Reason<'_>> = Vec::new();
        for result in self.results.iter().filter(|result| result.status == Status::Unverified) {
            let count = causes.len();
            let last = self.find_causes(result, &mut Vec::new(), &mut causes);
            if causes.len() > count {
                undecided.waiting.push(result);
                continue;
            }
            let reason = Reason { results: vec![result], ..Reason::of(last) };
            let same =
                |known: &&mut Reason<'_>| (known.prefix, known.suffix) == (reason.prefix, reason.suffix);
            match reasons.iter_mut().find(same) {
                Some(known) => known.merge(reason),
                None => reasons.push(reason),
            }
        }
        undecided.reasons = reasons.into_iter().map(|reason| (reason.text(), reason.results)).collect();
        let all = self.results.iter().map(|result| result.id);
        undecided.causes = all.filter(|id| causes.contains(id)).collect();
        undecided
    }

    /// Adds to `causes` the failed checks that an undecided check depends on, directly or through other undecided
    /// checks. `path` contains the checks visited so far. Returns the undecided check at the end of the chain, which
    /// has a reason of its own.
    fn find_causes<'r>(
        &'r self,
        result: &'r CheckResult,
        path: &mut Vec<CheckId>,
        causes: &mut Vec<CheckId>,
    ) -> &'r CheckResult {
        path.push(result.id);
        let mut last = result;
        for cause in &result.blocked_by {
            let Some(known) = self.results.iter().find(|known| known.id == cause.id) else { continue };
            match known.status {
                Status::Fail | Status::Warn => causes.push(cause.id),
                Status::Unverified if !path.contains(&known.id) => {
                    last = self.find_causes(known, path, causes)
                }
                _ => {}
            }
        }
        last
    }
}
