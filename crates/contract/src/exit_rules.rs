//! Judges whether the exit code, stdout and stderr of a run match a condition.

use super::contract::Contract;
use super::counted::alternatives;
use super::spec::{Condition, Payload, Spec};
use super::stderr_rules;
use super::violation::{Against, Violation};

/// The end of a run, as far as it is known: its exit code, its declared condition and its stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunExit<'a> {
    /// The exit code; 128 + n for a run that was killed by signal n, as in a shell.
    pub code: Option<i32>,
    /// Name of the contract's condition that is declared for the run, if one is declared.
    pub condition: Option<&'a str>,
    /// The contents of stderr, if known.
    pub stderr: Option<&'a [u8]>,
}

impl RunExit<'_> {
    /// Creates the end of a run of which only the exit code is known.
    pub const fn with_code(code: i32) -> Self {
        Self { code: Some(code), condition: None, stderr: None }
    }
}

const RULE: &str = "exit-code";

/// Judges the end of a run. Adds its violations, or the known finding of the condition that it matches, to `out`.
/// `events` is the number of records on stdout. `payload` is the bit set of the patterns of conditions that these
/// records match. Returns whether stdout has to be complete.
pub(super) fn judge_exit(
    contract: &Contract,
    exit: &RunExit<'_>,
    events: u64,
    payload: u64,
    out: &mut Vec<Violation>,
) -> bool {
    let before = out.len();
    let spec = &contract.spec;
    let run = ExitFacts { contract, spec, events, matched_patterns: payload, stderr: exit.stderr };
    let (complete, condition) = judge_condition(&run, exit, out);
    let matched = condition.filter(|_| out.len() == before).and_then(|condition| condition.finding.as_ref());
    if let Some(finding) = matched.and_then(|id| spec.finding(id)) {
        let violation = Violation::new(Against::Exit, RULE, "", finding.to_string());
        out.push(Violation { finding: Some(finding.clone()), ..violation });
    }
    complete
}

/// Finds the condition of a run and reports contradictions to it. Returns whether stdout has to be complete, and the
/// condition that is declared or that matches; `None` if there is none.
fn judge_condition<'s>(
    run: &ExitFacts<'s>,
    exit: &RunExit<'_>,
    out: &mut Vec<Violation>,
) -> (bool, Option<&'s Condition>) {
    let ExitFacts { spec, events, .. } = *run;
    let mut report = |message: String| out.push(Violation::new(Against::Exit, RULE, "", message));
    if let Some(name) = exit.condition {
        let Some(condition) = spec.conditions.iter().find(|condition| condition.name == name) else {
            let names = spec.conditions.iter().map(|condition| format!("`{}`", condition.name)).collect();
            report(format!("the contract has no condition `{name}`; expected {}", alternatives(names)));
            return (true, None);
        };
        if let Some(code) = exit.code
            && !condition.exit.contains(&code)
        {
            report(format!("exited with {code}, expected {}; {}", codes(condition), describe(condition)));
        }
        if let Some(reason) = run.mismatch(condition) {
            report(format!("{reason}; {}", describe(condition)));
        }
        return (condition.stdout == Payload::Whole, Some(condition));
    }
    let Some(code) = exit.code.filter(|_| !spec.conditions.is_empty()) else { return (true, None) };
    let with_code: Vec<&Condition> = spec
        .conditions
        .iter()
        .filter(|condition| !condition.declared && condition.exit.contains(&code))
        .collect();
    if let Some(condition) = with_code.iter().find(|condition| run.mismatch(condition).is_none()) {
        return (condition.stdout == Payload::Whole, Some(condition));
    }
    let Some(first) = with_code.first() else {
        let all = spec.exit_codes().iter().map(ToString::to_string).collect();
        report(format!("exit code {code} is not in the contract; expected {}", alternatives(all)));
        return (events > 0, None);
    };
    let fitting = spec.conditions.iter().filter(|condition| run.mismatch(condition).is_none());
    let fitting: Vec<String> =
        fitting.map(|condition| format!("{} ({})", codes(condition), condition.name)).collect();
    let reason = if let [only] = with_code.as_slice() {
        run.mismatch(only).unwrap_or_default()
    } else {
        let names = with_code.iter().map(|condition| format!("`{}`", condition.name)).collect();
        format!("the run does not match {}", alternatives(names))
    };
    let hint = if fitting.is_empty() {
        String::new()
    } else {
        format!("; this payload requires exit code {}", alternatives(fitting))
    };
    let undeclared = spec.conditions.iter().find(|condition| {
        condition.declared && condition.exit.contains(&code) && run.mismatch(condition).is_none()
    });
    let declare = undeclared.map_or_else(String::new, |condition| {
        format!("; if {}, declare it: `validate --condition {}`", describe(condition), condition.name)
    });
    let means = first.what.trim_end_matches('.');
    report(format!("exit code {code} means \"{means}\", but {reason}{hint}{declare}"));
    (events > 0, None)
}

fn describe(condition: &Condition) -> String {
    format!("the run is `{}` ({})", condition.name, condition.what.trim_end_matches('.'))
}

fn codes(condition: &Condition) -> String {
    alternatives(condition.exit.iter().map(ToString::to_string).collect())
}

struct ExitFacts<'a> {
    contract: &'a Contract,
    spec: &'a Spec,
    events: u64,
    matched_patterns: u64,
    stderr: Option<&'a [u8]>,
}

impl ExitFacts<'_> {
    /// Returns why the run does not match a condition; `None` if the run matches, as far as is known.
    fn mismatch(&self, condition: &Condition) -> Option<String> {
        self.data_mismatch(condition).or_else(|| {
            let nth = self.spec.conditions.iter().position(|other| other.name == condition.name)?;
            stderr_rules::mismatch(self.contract, nth, condition, self.stderr?)
        })
    }

    /// Returns why the data on stdout does not match a condition; `None` if it matches.
    fn data_mismatch(&self, condition: &Condition) -> Option<String> {
        match condition.stdout {
            Payload::Any => return None,
            Payload::Nothing if self.events > 0 => return Some("expected no data, found some".to_owned()),
            Payload::Nothing => return None,
            Payload::Whole if self.events == 0 => return Some("expected data, found none".to_owned()),
            Payload::Whole | Payload::Part => {}
        }
        let before = self.spec.conditions.iter().take_while(|other| other.name != condition.name);
        let mut bit = before.map(|other| other.some.len() + other.none.len()).sum::<usize>();
        let mut matched = || {
            bit += 1;
            self.matched_patterns >> (bit - 1) & 1 == 1
        };
        for pattern in &condition.some {
            if !matched() {
                return Some(format!("the data contains no {pattern}"));
            }
        }
        for pattern in &condition.none {
            if matched() {
                return Some(format!("the data contains {pattern}"));
            }
        }
        None
    }
}
