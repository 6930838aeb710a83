//! What keeps checks from being decided: the faults that they wait for, or reasons of their own.

use super::Report;
use agentnative_core::model::{CheckId, CheckResult, Status};

/// The unverified checks of a report by what keeps them open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undecided<'r> {
    /// The checks that wait for faults that other checks report.
    pub waiting: Vec<&'r CheckResult>,
    /// The checks that report these faults, in the order of the report.
    pub causes: Vec<CheckId>,
    /// The reasons of all others, each with the checks that it keeps open. Reasons that differ in one number are
    /// one, with all numbers: `no probe ends with 1, 77, 78`.
    pub reasons: Vec<(String, Vec<&'r CheckResult>)>,
}

/// Reasons with the same words, which have one number at most.
struct Reason<'r> {
    before: &'r str,
    numbers: Vec<&'r str>,
    after: &'r str,
    results: Vec<&'r CheckResult>,
}

impl<'r> Reason<'r> {
    fn of(result: &'r CheckResult) -> Self {
        let text = result.text();
        let is_digit = |c: char| c.is_ascii_digit();
        let start = text.find(is_digit).unwrap_or(text.len());
        let (before, rest) = text.split_at(start);
        let (number, after) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        let results = vec![result];
        match after.contains(is_digit) {
            true => Self { before: text, numbers: Vec::new(), after: "", results },
            false => Self { before, numbers: vec![number], after, results },
        }
    }

    fn take(&mut self, other: Self) {
        let new: Vec<&str> =
            other.numbers.into_iter().filter(|number| !self.numbers.contains(number)).collect();
        self.numbers.extend(new);
        self.results.extend(other.results);
    }

    fn text(&self) -> String {
        format!("{}{}{}", self.before, self.numbers.join(", "), self.after)
    }
}

impl Report {
    /// The unverified checks, by root cause.
    pub fn undecided(&self) -> Undecided<'_> {
        let mut undecided = Undecided::default();
        let mut causes = Vec::new();
        let mut reasons: Vec<Reason<'_>> = Vec::new();
        for result in self.results.iter().filter(|result| result.status == Status::Unverified) {
            let before = causes.len();
            let last = self.find_causes(result, &mut Vec::new(), &mut causes);
            if causes.len() > before {
                undecided.waiting.push(result);
                continue;
            }
            let reason = Reason { results: vec![result], ..Reason::of(last) };
            let same = |known: &&mut Reason<'_>| (known.before, known.after) == (reason.before, reason.after);
            match reasons.iter_mut().find(same) {
                Some(known) => known.take(reason),
                None => reasons.push(reason),
            }
        }
        undecided.reasons = reasons.into_iter().map(|reason| (reason.text(), reason.results)).collect();
        let all = self.results.iter().map(|result| result.id);
        undecided.causes = all.filter(|id| causes.contains(id)).collect();
        undecided
    }

    /// Collects the failed checks that an undecided one waits for, be it through others; `path` are those on the
    /// way. Gives the undecided check at the end of the way, which has a reason of its own.
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
