//! The specification of one output of a target.

use super::contract::Contract;
use super::spec::{ErrorOutput, Framing, Payload};
use crate::{OutputFormat, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The specification of one output of a target: of one probe in one format, or in general.
///
/// It comes from a schema file, a contract, a lock, a recording, samples or a command. A part that is not known is
/// absent, and is not compared. `contract::diff` compares specifications.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// Name of the probe that prints the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that the probe selects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// The framing of the data; `None` if the output is not data, as in the format `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// The JSON Schema of the document, or of each record whose type has no schema. References that begin with `#`
    /// point into this schema, others into `documents`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Other schema files that the schemas refer to, by their URI.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, Value>,
    /// The types of records, and their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventSpec>,
    /// The ways in which a run can end: one for a probe, one per condition for a contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<ExitSpec>,
    /// The error output of a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorSpec>,
    /// The rules of a contract that schemas cannot express. The key is the ID of a rule. The value describes the rule
    /// as it is evaluated, one line per part. Rules whose violations are known findings are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, Vec<String>>,
    /// The keys of each object in output order, by the pointer to the object; `*` stands for each element of an array.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub key_order: BTreeMap<String, Vec<String>>,
    /// The values of keys that name a type (`type`, `kind`, …), except the event type, by the pointer to the key. `*`
    /// stands for each element and for each key of a map.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Vec<String>>,
    /// If the run did not end as declared: the reason, and nothing but the exit code may be known. A lock never
    /// contains such an output.
    #[serde(skip)]
    pub unknown: Option<String>,
}

/// The types of records in a stream, and their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSpec {
    /// RFC 6901 pointer to the type of a record.
    pub discriminator: String,
    /// RFC 6901 pointer to the subtype of a record; the types are then `TYPE/SUBTYPE` or `TYPE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// Whether `types` is complete, so that a stream has no records of other types.
    #[serde(default)]
    pub closed: bool,
    /// The schema of the records of each type, by the name of the type; `true` if nothing is known of them.
    pub types: BTreeMap<String, Value>,
    /// The types that a stream may begin with; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<String>>,
    /// The types that a stream may end with; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Vec<String>>,
    /// Constraints on the order of types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<TypeOrder>,
}

/// A constraint on the order of two types: a record of type `before` comes before the first record of type `after`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeOrder {
    /// The type of which a record has to come first.
    pub before: String,
    /// The type whose records require an earlier record of type `before`.
    pub after: String,
}

/// A way in which a run can end: its exit codes, and the contents of stdout and stderr.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExitSpec {
    /// The name of the condition of the contract; `None` if there is only one way to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The exit codes; 128 + n for a run that was killed by signal n.
    pub codes: Vec<i32>,
    /// The contents of stdout in this condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Payload>,
    /// The contents of stderr in this condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ErrorOutput>,
}

/// The error output of a failed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSpec {
    /// The stream that holds the error.
    pub stream: Stream,
    /// The schema of the error object; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl OutputSpec {
    /// Creates the specification of an output of which at most the exit code is known. `why` is the reason.
    pub fn unknown(probe: &str, format: OutputFormat, code: Option<i32>, why: String) -> Self {
        let exit = |code| ExitSpec { codes: vec![code], ..ExitSpec::default() };
        Self {
            probe: Some(probe.to_owned()),
            format: Some(format),
            exits: code.map(exit).into_iter().collect(),
            unknown: Some(why),
            ..Self::default()
        }
    }

    /// Returns whether the specification was inferred from runs only, not from a contract or schema.
    pub fn is_inferred(&self) -> bool {
        self.probe.is_some() && self.documents.is_empty()
    }

    /// Returns which data stdout contains; `None` if this is unknown or depends on the exit.
    pub fn stdout(&self) -> Option<Payload> {
        let has_shape = self.schema.is_some() || self.events.is_some();
        match self.exits.as_slice() {
            [] => (self.framing.is_some() && has_shape).then_some(Payload::Whole),
            [ExitSpec { condition: None, stdout: Some(payload), .. }] => Some(*payload),
            // A lock without `stdout` has a schema or events if there was data.
            [ExitSpec { condition: None, .. }] if self.is_inferred() => match self.framing {
                Some(_) if has_shape => Some(Payload::Whole),
                Some(_) => Some(Payload::Nothing),
                None => None,
            },
            _ => None,
        }
    }

    /// Returns the specification of a contract, which may be a single schema file.
    pub fn from_contract(contract: &Contract) -> Self {
        let spec = &contract.spec;
        let store = contract.sources.store();
        let schema_ref = |reference: &String| {
            let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            json!({ "$ref": format!("{}#{fragment}", store.uri(file)) })
        };
        let summary = contract.summary();
        let is_strict = |rule: &crate::RuleSummary| {
            spec.rules.iter().any(|strict| strict.id == rule.id && strict.finding.is_none())
        };
        let rules = summary.rules.into_iter().filter(is_strict).map(|rule| (rule.id, rule.detail)).collect();
        Self {
            framing: Some(spec.framing),
            schema: spec.schema.as_ref().map(schema_ref),
            documents: contract
                .sources
                .files()
                .into_iter()
                .map(|(uri, file)| (uri, file.value.clone()))
                .collect(),
            events: spec.events.as_ref().map(|events| EventSpec {
                discriminator: events.discriminator.text.clone(),
                subtype: events.subtype.as_ref().map(|pointer| pointer.text.clone()),
                closed: !events.allow_unknown,
                types: events
                    .schemas
                    .iter()
                    .map(|(name, schema)| (name.clone(), schema_ref(schema)))
                    .collect(),
                first: events.first.clone(),
                last: events.last.clone(),
                order: Vec::new(),
            }),
            exits: spec
                .conditions
                .iter()
                .map(|condition| ExitSpec {
                    condition: Some(condition.name.clone()),
                    codes: condition.exit.clone(),
                    stdout: Some(condition.stdout),
                    stderr: condition.stderr,
                })
                .collect(),
            errors: spec.errors.map(|stream| ErrorSpec { stream, schema: None }),
            rules,
            ..Self::default()
        }
    }
}
