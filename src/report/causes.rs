//! What keeps checks from being decided: the faults that they wait for, or reasons of their own.

use super::Report;
use crate::model::{CheckId, CheckResult, Status};

/// The unverified checks of a report by what keeps them open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undecided<'r> {
    /// The checks that wait for faults that other checks report.
    pub waiting: Vec<&'r CheckResult>,
    /// The checks that report these faults, in the order of the report.
    pub causes: Vec<CheckId>,
    /// The reasons of all others, each with the checks that it keeps open.
    pub reasons: Vec<(&'r str, Vec<&'r CheckResult>)>,
}

impl Report {
    /// The unverified checks, by root cause.
    pub fn undecided(&self) -> Undecided<'_> {
        let mut undecided = Undecided::default();
        let mut causes = Vec::new();
        for result in self.results.iter().filter(|result| result.status == Status::Unverified) {
            let before = causes.len();
            let last = self.find_causes(result, &mut Vec::new(), &mut causes);
            if causes.len() > before {
                undecided.waiting.push(result);
                continue;
            }
            let reason = if last.message.is_empty() { &last.title } else { &last.message };
            match undecided.reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, results)) => results.push(result),
                None => undecided.reasons.push((reason, vec![result])),
            }
        }
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
