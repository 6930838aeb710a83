//! A change: as it is found between two schemas, and as it is reported.

use agentnative_contract::OutputFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strict_json::escape_token;

/// Severity of a change.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Output is possible that the old side excluded: its consumers break.
    Breaking,
    /// The comparison could not decide whether consumers break. Never counts as compatible.
    #[default]
    Undecided,
    /// Consumers break that rely on more than was guaranteed.
    Risky,
    /// All guarantees still hold.
    Compatible,
}

impl Class {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Undecided => "undecided",
            Self::Risky => "risky",
            Self::Compatible => "compatible",
        }
    }
}

/// One change between two versions of a promise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// ID of the rule, such as `diff-key-removed`; `agentnative explain ID` explains it.
    pub rule: String,
    /// Its severity.
    pub class: Class,
    /// The probe whose output it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// The type of event that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// It is in the error object, not in the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_error: bool,
    /// The variant of a union that it is in, by a key that tells the variants apart and its value, else by the
    /// keys that it requires; of a union in another, the outer variant first. Empty where all variants have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<String>,
    /// RFC 6901 pointer into the output; `*` stands for each element of an array and for each key of a map.
    pub pointer: String,
    /// The old guarantee, as far as it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The new guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// What changed, in a sentence.
    pub message: String,
    /// A note, such as that the change looks like a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Output that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Where the sample has it, if one side is a sample that was compared with a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The other outputs that changed in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Elsewhere>,
    /// A value of the new side, at the place that was compared, that is thought to show it.
    #[serde(skip)]
    pub(super) sample: Option<Value>,
}

impl Change {
    /// A change right at the place that was compared, wherever in the output that is.
    pub(super) fn new(rule: &str, class: Class, message: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), class, message: message.into(), ..Self::default() }
    }

    pub(super) fn breaking(rule: &str, message: impl Into<String>) -> Self {
        Self::new(rule, Class::Breaking, message)
    }

    pub(super) fn compatible(rule: &str, message: impl Into<String>) -> Self {
        Self::new(rule, Class::Compatible, message)
    }

    /// Something that could not be looked at.
    pub fn undecided(message: impl Into<String>) -> Self {
        Self::new("diff-undecided", Class::Undecided, message)
    }

    pub(super) fn old(self, old: impl Serialize) -> Self {
        Self { old: Some(json!(old)), ..self }
    }

    pub(super) fn new_value(self, new: impl Serialize) -> Self {
        Self { new: Some(json!(new)), ..self }
    }

    /// With what was and what is, as far as there is anything.
    pub(super) fn sides(self, old: Option<impl Serialize>, new: Option<impl Serialize>) -> Self {
        Self { old: old.map(|old| json!(old)), new: new.map(|new| json!(new)), ..self }
    }

    pub(super) fn sample(self, sample: Option<Value>) -> Self {
        Self { sample, ..self }
    }

    /// At this token below the place that was compared.
    pub(super) fn under(self, token: &str) -> Self {
        Self { pointer: format!("/{}{}", escape_token(token), self.pointer), ..self }
    }

    /// The same at this token below the place that was compared, its sample put into its place there.
    pub(super) fn below(&self, token: &str, place: impl FnOnce(Value) -> Option<Value>) -> Self {
        let sample = self.sample.clone().and_then(place);
        self.clone().under(token).sample(sample)
    }
}

/// Another output that has a change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// The probe whose output it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// Its place there, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}

/// Where a sample has a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The number of places.
    pub count: u64,
    /// The first places.
    pub places: Vec<SamplePlace>,
}

/// A place in a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SamplePlace {
    /// Number of the document or record, from 1.
    pub record: u64,
    /// 1-based line; none of what is about the stream as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// 1-based column in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
}

/// How bad all of them are together.
pub(super) fn severity(found: &[Change]) -> [usize; 4] {
    [Class::Breaking, Class::Undecided, Class::Risky, Class::Compatible]
        .map(|class| found.iter().filter(|found| found.class == class).count())
}

/// Whether none of them can break a reader, as far as that was decided.
pub(super) fn is_harmless(found: &[Change]) -> bool {
    found.iter().all(|found| !matches!(found.class, Class::Breaking | Class::Undecided))
}

/// Output that the new promise allows and the old one does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The document or record. It validates against the new schema and not against the old one.
    pub document: Value,
    /// What the old schema says of it.
    pub rejected: String,
}
