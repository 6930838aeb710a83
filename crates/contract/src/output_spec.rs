//! What one output promises, however that was learnt.

use super::contract::Contract;
use super::spec::{ErrorOutput, Framing, Payload};
use crate::{OutputFormat, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What one output of a target promises: of one probe in one format, or of no probe in particular.
///
/// It may come from a schema file, a contract, a lock, a recording, samples or a command; what is not
/// known is left out, and then nothing is said of it. `contract::diff` compares promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// The probe that gives the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// How data is put on the stream; none where the output is no data, as in the format `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// The JSON Schema of the document, or of each record whose type has none of its own. References that
    /// begin with `#` point into it, others into `documents`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Other schema files that the schemas refer to, by their URI.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, Value>,
    /// The types of records, and their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// How a run can end. A probe has one way; a contract has one for each condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Exit>,
    /// Where a failed run says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// The rules of a contract that schemas cannot say: by ID, as they are judged, a line for each part. One with a
    /// finding promises nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, Vec<String>>,
    /// The keys of objects in the order in which they are written, by the pointer of the object in the
    /// output; `*` stands for each element of an array.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub key_order: BTreeMap<String, Vec<String>>,
    /// The values that keys which name a type (`type`, `kind`, …) had below the type of an event: by the
    /// pointer of the key, `*` for each element and each key of a map.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Vec<String>>,
    /// Why nothing more is known than its exit code, if that: its run did not end as it was declared to. A
    /// lock never holds such an output.
    #[serde(skip)]
    pub unknown: Option<String>,
}

/// The types of records in a stream, and their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// RFC 6901 pointer of a record's type.
    pub discriminator: String,
    /// RFC 6901 pointer of what tells apart records of one type; the types are then `TYPE/SUBTYPE` or `TYPE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// There are no other types than these.
    #[serde(default)]
    pub closed: bool,
    /// Each type and the schema of its records; `true` where nothing is known of them.
    pub types: BTreeMap<String, Value>,
    /// The types that a stream may begin with; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<String>>,
    /// The types that a stream may end with; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Vec<String>>,
    /// Which types come only after which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
}

/// Two types of records, one of which has to come before the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// There is one of these …
    pub before: String,
    /// … before the first of these.
    pub after: String,
}

/// One way in which a run can end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// The name of the condition, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The exit codes; a run that died of signal n has 128 + n.
    pub codes: Vec<i32>,
    /// The contents of stdout in this condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Payload>,
    /// The contents of stderr in this condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ErrorOutput>,
}

/// Where a failed run says why, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// The stream that holds the error.
    pub stream: Stream,
    /// The schema of the error object; none where nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl OutputSpec {
    /// An output of which nothing is known but perhaps the exit code of its run, and why.
    pub fn unknown(probe: &str, format: OutputFormat, code: Option<i32>, why: String) -> Self {
        let exit = |code| Exit { codes: vec![code], ..Exit::default() };
        Self {
            probe: Some(probe.to_owned()),
            format: Some(format),
            exits: code.map(exit).into_iter().collect(),
            unknown: Some(why),
            ..Self::default()
        }
    }

    /// Whether it was learnt from runs alone.
    pub fn is_learnt(&self) -> bool {
        self.probe.is_some() && self.documents.is_empty()
    }

    /// What standard output holds; none where that is not known, or depends on how a run ends.
    pub fn stdout(&self) -> Option<Payload> {
        let shaped = self.schema.is_some() || self.events.is_some();
        match self.exits.as_slice() {
            [] => (self.framing.is_some() && shaped).then_some(Payload::Whole),
            [Exit { condition: None, stdout: Some(payload), .. }] => Some(*payload),
            // A lock that does not say so has a shape where there was data.
            [Exit { condition: None, .. }] if self.is_learnt() => match self.framing {
                Some(_) if shaped => Some(Payload::Whole),
                Some(_) => Some(Payload::Nothing),
                None => None,
            },
            _ => None,
        }
    }

    /// What a contract, or a schema that stands for one, promises.
    pub fn of_contract(contract: &Contract) -> Self {
        let spec = &contract.spec;
        let home = contract.sources.home();
        let refer = |reference: &String| {
            let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            json!({ "$ref": format!("{}#{fragment}", home.uri(file)) })
        };
        let summary = contract.summary();
        let promised = |rule: &crate::RuleSummary| {
            spec.rules.iter().any(|own| own.id == rule.id && own.finding.is_none())
        };
        let rules = summary.rules.into_iter().filter(promised).map(|rule| (rule.id, rule.detail)).collect();
        Self {
            framing: Some(spec.framing),
            schema: spec.schema.as_ref().map(refer),
            documents: contract
                .sources
                .files()
                .into_iter()
                .map(|(uri, file)| (uri, file.value.clone()))
                .collect(),
            events: spec.events.as_ref().map(|events| Events {
                discriminator: events.discriminator.text.clone(),
                subtype: events.subtype.as_ref().map(|pointer| pointer.text.clone()),
                closed: !events.allow_unknown,
                types: events.schemas.iter().map(|(name, schema)| (name.clone(), refer(schema))).collect(),
                first: events.first.clone(),
                last: events.last.clone(),
                order: Vec::new(),
            }),
            exits: spec
                .conditions
                .iter()
                .map(|condition| Exit {
                    condition: Some(condition.name.clone()),
                    codes: condition.exit.clone(),
                    stdout: Some(condition.stdout),
                    stderr: condition.stderr,
                })
                .collect(),
            errors: spec.errors.map(|stream| Errors { stream, schema: None }),
            rules,
            ..Self::default()
        }
    }
}
