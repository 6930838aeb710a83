//! A change between two output specifications or schemas.

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
pub enum ChangeSeverity {
    /// The new output may contain what the old contract excluded; consumers break.
    Breaking,
    /// The comparison cannot decide whether consumers break. Never counts as compatible.
    #[default]
    Undecided,
    /// Consumers that rely on more than the old contract guaranteed may break.
    Risky,
    /// All guarantees still hold.
    Compatible,
}

impl ChangeSeverity {
    /// Returns the name of the severity in reports, such as `breaking`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Undecided => "undecided",
            Self::Risky => "risky",
            Self::Compatible => "compatible",
        }
    }
}

/// A change between two versions of an output specification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// ID of the rule, such as `diff-key-removed`; `agentnative explain ID` explains it.
    pub rule: String,
    /// Severity of the change.
    pub class: ChangeSeverity,
    /// Command whose interface changed, such as `remote add`; empty for the program itself. Absent if an output changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Probe whose output changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// Format of the changed output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// Type of the changed event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Whether the change is in the error object instead of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_error: bool,
    /// Variant of the union that changed: the discriminating key with its value, else the required keys. For nested
    /// unions, the outer variant comes first. Empty if all variants changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<String>,
    /// RFC 6901 pointer into the output or, if `command` is present, into the interface; `*` stands for each element of
    /// an array and for each key of a map.
    pub pointer: String,
    /// What the old version guaranteed, limited to the part that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What the new version guarantees, limited to the part that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// What changed, in one sentence.
    pub message: String,
    /// Note, such as that the change looks like a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Output that demonstrates the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Occurrences in the sample, if a sample was compared with a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Other outputs or commands with the same change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<OtherOutput>,
    /// Generated value of the new version at `pointer`. It becomes a witness if the old version rejects it.
    #[serde(skip)]
    pub(super) example: Option<Value>,
}

impl Change {
    /// Creates a change with an empty pointer. [`Change::under`] and [`Change::below`] prepend the tokens of its
    /// position.
    pub(super) fn new(rule: &str, class: ChangeSeverity, message: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), class, message: message.into(), ..Self::default() }
    }

    pub(super) fn breaking(rule: &str, message: impl Into<String>) -> Self {
        Self::new(rule, ChangeSeverity::Breaking, message)
    }

    pub(super) fn compatible(rule: &str, message: impl Into<String>) -> Self {
        Self::new(rule, ChangeSeverity::Compatible, message)
    }

    /// Creates a change of severity `undecided`, for a part that could not be compared.
    pub fn undecided(message: impl Into<String>) -> Self {
        Self::new("diff-undecided", ChangeSeverity::Undecided, message)
    }

    pub(super) fn old(self, old: impl Serialize) -> Self {
        Self { old: Some(json!(old)), ..self }
    }

    pub(super) fn new_value(self, new: impl Serialize) -> Self {
        Self { new: Some(json!(new)), ..self }
    }

    /// Sets `old` and `new`: what each version guarantees. `None` leaves a field empty.
    pub(super) fn with_old_and_new(self, old: Option<impl Serialize>, new: Option<impl Serialize>) -> Self {
        Self { old: old.map(|old| json!(old)), new: new.map(|new| json!(new)), ..self }
    }

    pub(super) fn example(self, example: Option<Value>) -> Self {
        Self { example, ..self }
    }

    /// Prepends a token to the pointer: under `a`, `/b` becomes `/a/b`.
    pub(super) fn with_parent_token(self, token: &str) -> Self {
        Self { pointer: format!("/{}{}", escape_token(token), self.pointer), ..self }
    }

    /// Returns a copy of the change as a change of the parent value: `token` is prepended to the pointer, and `embed`
    /// creates an example of the parent that contains the example of the change.
    pub(super) fn lift_to_parent(&self, token: &str, embed: impl FnOnce(Value) -> Option<Value>) -> Self {
        let example = self.example.clone().and_then(embed);
        self.clone().with_parent_token(token).example(example)
    }
}

/// Another output or command with the same change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherOutput {
    /// Command, if the interface changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Probe of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// Format of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// Pointer in that output or in the interface, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}

/// Occurrences of a change in a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Number of occurrences.
    pub count: u64,
    /// Positions of the first occurrences.
    pub places: Vec<SamplePosition>,
}

/// A position in a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SamplePosition {
    /// Number of the document or record, from 1.
    pub record: u64,
    /// 1-based line; absent if the change concerns the stream as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// 1-based column in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
}

/// Returns the number of breaking, undecided, risky and compatible changes, in this order. Arrays of two comparisons
/// can be compared with `<`: the smaller one is less severe.
pub(super) fn count_by_severity(changes: &[Change]) -> [usize; 4] {
    [ChangeSeverity::Breaking, ChangeSeverity::Undecided, ChangeSeverity::Risky, ChangeSeverity::Compatible]
        .map(|class| changes.iter().filter(|change| change.class == class).count())
}

/// Returns whether all changes are risky or compatible; none is breaking or undecided.
pub(super) fn is_harmless(changes: &[Change]) -> bool {
    changes.iter().all(|change| !matches!(change.class, ChangeSeverity::Breaking | ChangeSeverity::Undecided))
}

/// Output that is valid under the new specification and invalid under the old one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The document or record.
    pub document: Value,
    /// Why the old schema rejects it.
    pub rejected: String,
}
