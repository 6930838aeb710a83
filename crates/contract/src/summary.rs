//! The summary of a contract, which `contract show` prints.

use super::contract::Contract;
use super::rule::{Rule, RuleKind};
use super::spec::{Condition, ContractProgram, Framing};
use super::version::ContractVersion;
use crate::Stream;
use schemars::JsonSchema;
use serde::Serialize;

/// The contents of a contract, except for its schemas.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ContractSummary {
    /// Name of the contract.
    pub name: String,
    /// Title, in one line.
    pub title: String,
    /// Version of the contract.
    pub version: String,
    /// Source of the rules of the contract.
    pub origin: String,
    /// How the data is divided into documents or records.
    pub framing: Framing,
    /// Arguments that select the format.
    pub ask: Option<Vec<String>>,
    /// The stream on which a failed run prints its data.
    pub errors: Option<Stream>,
    /// Names of the event types that the contract defines.
    pub events: Vec<String>,
    /// Whether events of other types are allowed and counted; null if the contract defines no event types.
    pub unknown_types_allowed: Option<bool>,
    /// The rules of the contract that schemas cannot express.
    pub rules: Vec<RuleSummary>,
    /// The conditions in which a run can end.
    pub conditions: Vec<Condition>,
    /// Contradictions in the source of the rules, or between this source and the program, and what the contract
    /// requires.
    pub findings: Vec<String>,
    /// The program whose output the contract describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ContractProgram>,
    /// The versions of the contract, each for a range of versions of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<ContractVersion>,
}

/// A rule of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleSummary {
    /// ID of the rule, which violations name.
    pub id: String,
    /// Requirement, in one sentence.
    pub what: String,
    /// The requirement as it is evaluated, one line per part.
    pub detail: Vec<String>,
    /// ID of the known finding that a violation of this rule shows. The violation is then a warning, not an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

impl ContractSummary {
    /// Returns facts that apply to all of the output, each as a label and a text, such as `framing` and `lines`.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("framing", self.framing.name().to_owned())];
        if !self.version.is_empty() {
            facts.push(("version", self.version.clone()));
            facts.push(("origin", self.origin.clone()));
        }
        facts.extend(self.ask.as_ref().map(|ask| ("requested with", ask.join(" "))));
        let stream = |stream| if stream == Stream::Stdout { "stdout" } else { "stderr" };
        facts.extend(self.errors.map(|errors| ("errors on", stream(errors).to_owned())));
        if let Some(allowed) = self.unknown_types_allowed {
            let meaning = if allowed { "allowed and counted" } else { "rejected" };
            facts.push(("unknown types", meaning.to_owned()));
        }
        facts
    }
}

impl Condition {
    /// Returns the exit codes of the condition as text, such as `0, 2`.
    pub fn codes(&self) -> String {
        self.exit.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Returns the name and the description of the condition as text, with whether a run has to declare it.
    pub fn meaning(&self) -> String {
        let declared = if self.declared { ", only for runs that declare it" } else { "" };
        format!("{}{declared}: {}", self.name, self.what)
    }

    /// Describes the contents of stdout and stderr, such as `stdout: whole, stderr: text`.
    pub fn describe_streams(&self) -> String {
        let stdout = format!("stdout: {}", self.stdout.name());
        let some = self.some.iter().map(|some| format!("with {some}"));
        let none = self.none.iter().map(|none| format!("without {none}"));
        let stderr = self.stderr.map(|stderr| format!("stderr: {}", stderr.name()));
        std::iter::once(stdout).chain(some).chain(none).chain(stderr).collect::<Vec<_>>().join(", ")
    }
}

impl Contract {
    /// Returns the summary of the contract.
    pub fn summary(&self) -> ContractSummary {
        let spec = &self.spec;
        let built_in = |id: &str, what: String| RuleSummary {
            id: id.to_owned(),
            what,
            detail: Vec::new(),
            finding: None,
        };
        let mut rules = Vec::new();
        if let Some(events) = &spec.events {
            let subtype = events.subtype.as_ref().map(|pointer| format!(" and {}", pointer.text));
            let pointers = format!("{}{}", events.discriminator.text, subtype.unwrap_or_default());
            let known = if events.allow_unknown { "" } else { ", and the contract declares the type" };
            rules.push(built_in("event-type", format!("Each record has its type at {pointers}{known}.")));
            if let Some(first) = &events.first {
                rules
                    .push(built_in("first-event", format!("The stream begins with {}.", first.join(" or "))));
            }
            if let Some(last) = &events.last {
                rules.push(built_in("last-event", format!("The stream ends with {}.", last.join(" or "))));
            }
        }
        rules.extend(spec.rules.iter().map(|rule| RuleSummary {
            id: rule.id.clone(),
            what: rule.what.clone(),
            detail: detail(rule),
            finding: rule.finding.clone(),
        }));
        if !spec.conditions.is_empty() {
            rules.push(built_in(
                "exit-code",
                "The exit code, stdout and stderr match a condition.".to_owned(),
            ));
        }
        ContractSummary {
            name: spec.name.clone(),
            title: spec.title.clone(),
            version: spec.version.clone(),
            origin: spec.origin.clone(),
            framing: spec.framing,
            ask: spec.ask.clone(),
            errors: spec.errors,
            events: spec.event_types().cloned().collect(),
            unknown_types_allowed: spec.events.as_ref().map(|events| events.allow_unknown),
            rules,
            conditions: spec.conditions.clone(),
            findings: spec.findings.iter().map(ToString::to_string).collect(),
            program: spec.program.clone(),
            versions: spec.versions.clone(),
        }
    }

    /// Returns the display name and the value of each schema file.
    pub fn schema_files(&self) -> Vec<(String, serde_json::Value)> {
        let files = self.sources.files();
        let named =
            files.into_iter().map(|(uri, file)| (self.sources.store().name(&uri), file.value.clone()));
        named.collect()
    }
}

/// Describes a rule as it is evaluated, one line per part.
fn detail(rule: &Rule) -> Vec<String> {
    let scope =
        (rule.filter.on.is_some() || !rule.filter.when.is_empty()).then(|| format!("in {}", rule.filter));
    // Locks contain these lines: a rule with another text counts as changed.
    let mut lines: Vec<String> = scope.into_iter().collect();
    match &rule.kind {
        RuleKind::Refer { defines, uses } => {
            lines.extend(defines.iter().map(|p| format!("{} names {}", p.pattern, p.at.text)));
            lines.extend(uses.iter().map(|p| format!("{} uses {}", p.pattern, p.at.text)));
        }
        RuleKind::StateMachine(machine) => {
            let parts: Vec<String> = machine
                .key
                .iter()
                .map(|part| part.iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join(" or "))
                .collect();
            if !parts.is_empty() {
                lines.push(format!("for each {}", parts.join(", ")));
            }
            lines.push(format!("begins `{}`", machine.states[0]));
            for transition in &machine.transitions {
                let from = (0..machine.states.len()).filter(|state| transition.from >> state & 1 == 1);
                let from: Vec<&str> = from.map(|state| machine.states[state].as_str()).collect();
                let unseen = transition.unseen.as_ref().map(|unseen| format!(" with a new {}", unseen.text));
                let (on, to, unseen) =
                    (&transition.pattern, &machine.states[transition.to], unseen.unwrap_or_default());
                lines.push(format!("`{}` → `{to}`: {on}{unseen}", from.join("`, `")));
            }
            if let Some(end) = &machine.end {
                let end: Vec<&str> = end.iter().map(|state| machine.states[*state].as_str()).collect();
                lines.push(format!("ends `{}`", end.join("` or `")));
            }
        }
        RuleKind::Compare { left, relation, right } => {
            lines.push(format!("{} {} {}", left.describe(), relation.name(), right.describe()));
        }
        RuleKind::Same(pointers) => {
            let all: Vec<&str> = pointers.iter().map(|pointer| pointer.text.as_str()).collect();
            lines.push(format!("one value at {}", all.join(", ")));
        }
        RuleKind::SameKeys(pointer) => lines.push(format!("the same keys at \"{}\"", pointer.text)),
        RuleKind::OneOf { at, values } => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            lines.push(format!("{} is {}", at.text, values.join(" or ")));
        }
    }
    lines.extend(rule.finding.as_ref().map(|id| format!("a violation is a warning: the finding `{id}`")));
    lines
}
