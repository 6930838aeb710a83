//! Exit code and payload: whether they go together.

use super::contract::Contract;
use super::counted::alternatives;
use super::spec::{Condition, Payload, Spec};
use super::stderr_rules;
use super::violation::{Against, Violation};

/// How a run ended, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunExit<'a> {
    /// The exit code. Of a run that died of signal n it is 128 + n, as a shell tells it.
    pub exit: Option<i32>,
    /// The condition that the run is said to be in.
    pub condition: Option<&'a str>,
    /// What it wrote to stderr, where that is known.
    pub stderr: Option<&'a [u8]>,
}

impl RunExit<'_> {
    /// A run that ended with this exit code.
    pub const fn exit(code: i32) -> Self {
        Self { exit: Some(code), condition: None, stderr: None }
    }
}

const RULE: &str = "exit-code";

/// Judges how the run ended, with the known finding that it shows; gives whether the payload has to be complete.
pub(super) fn judge_exit(
    contract: &Contract,
    exit: &RunExit<'_>,
    events: u64,
    payload: u64,
    out: &mut Vec<Violation>,
) -> bool {
    let before = out.len();
    let spec = &contract.spec;
    let run = Run { contract, spec, events, payload, stderr: exit.stderr };
    let (complete, condition) = judge_condition(&run, exit, out);
    let shown = condition.filter(|_| out.len() == before).and_then(|condition| condition.finding.as_ref());
    if let Some(finding) = shown.and_then(|id| spec.finding(id)) {
        let violation = Violation::of_rule(Against::Exit, RULE, "", finding.to_string());
        out.push(Violation { finding: Some(finding.clone()), ..violation });
    }
    complete
}

/// Whether the payload has to be complete, and the condition that the run is in.
fn judge_condition<'s>(
    run: &Run<'s>,
    exit: &RunExit<'_>,
    out: &mut Vec<Violation>,
) -> (bool, Option<&'s Condition>) {
    let Run { spec, events, .. } = *run;
    let mut found = |message: String| out.push(Violation::of_rule(Against::Exit, RULE, "", message));
    if let Some(name) = exit.condition {
        let Some(condition) = spec.conditions.iter().find(|condition| condition.name == name) else {
            let names = spec.conditions.iter().map(|condition| format!("`{}`", condition.name)).collect();
            found(format!("the contract has no condition `{name}`; expected {}", alternatives(names)));
            return (true, None);
        };
        if let Some(code) = exit.exit
            && !condition.exit.contains(&code)
        {
            found(format!("exit code {code} instead of {}; {}", codes(condition), describe(condition)));
        }
        if let Some(reason) = run.refusal(condition) {
            found(format!("{reason}; {}", describe(condition)));
        }
        return (condition.stdout == Payload::Whole, Some(condition));
    }
    let Some(code) = exit.exit.filter(|_| !spec.conditions.is_empty()) else { return (true, None) };
    let of_code: Vec<&Condition> = spec
        .conditions
        .iter()
        .filter(|condition| !condition.declared && condition.exit.contains(&code))
        .collect();
    if let Some(condition) = of_code.iter().find(|condition| run.refusal(condition).is_none()) {
        return (condition.stdout == Payload::Whole, Some(condition));
    }
    let Some(first) = of_code.first() else {
        let all = spec.exit_codes().iter().map(ToString::to_string).collect();
        found(format!("exit code {code} is not in the contract; expected {}", alternatives(all)));
        return (events > 0, None);
    };
    let fitting = spec.conditions.iter().filter(|condition| run.refusal(condition).is_none());
    let fitting: Vec<String> =
        fitting.map(|condition| format!("{} ({})", codes(condition), condition.name)).collect();
    let reason = if let [only] = of_code.as_slice() {
        run.refusal(only).unwrap_or_default()
    } else {
        let names = of_code.iter().map(|condition| format!("`{}`", condition.name)).collect();
        format!("the run matches none of {}", alternatives(names))
    };
    let hint = if fitting.is_empty() {
        String::new()
    } else {
        format!("; this payload requires exit code {}", alternatives(fitting))
    };
    found(format!("exit code {code} means \"{}\", but {reason}{hint}", first.what.trim_end_matches('.')));
    (events > 0, None)
}

fn describe(condition: &Condition) -> String {
    format!("the run is `{}` ({})", condition.name, condition.what.trim_end_matches('.'))
}

fn codes(condition: &Condition) -> String {
    alternatives(condition.exit.iter().map(ToString::to_string).collect())
}

struct Run<'a> {
    contract: &'a Contract,
    spec: &'a Spec,
    events: u64,
    payload: u64,
    stderr: Option<&'a [u8]>,
}

impl Run<'_> {
    /// Why the run is not in a condition, as far as that is known.
    fn refusal(&self, condition: &Condition) -> Option<String> {
        self.data_refusal(condition).or_else(|| {
            let nth = self.spec.conditions.iter().position(|other| other.name == condition.name)?;
            stderr_rules::refusal(self.contract, nth, condition, self.stderr?)
        })
    }

    /// Why the payload is not that of a condition.
    fn data_refusal(&self, condition: &Condition) -> Option<String> {
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
            self.payload >> (bit - 1) & 1 == 1
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
