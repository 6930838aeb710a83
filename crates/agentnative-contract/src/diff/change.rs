//! One change, as it is reported.

use crate::OutputFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whom a change breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Output is possible now that was promised not to be: readers of the old promise break.
    Breaking,
    /// It cannot be told whether readers break. Never taken for compatible.
    Undecided,
    /// Readers that rely on what the promise did not quite say break.
    Risky,
    /// What was promised still holds.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// ID of the rule, such as `diff-key-removed`; `agentnative explain ID` tells more.
    pub rule: String,
    /// Whom it breaks.
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
    /// RFC 6901 pointer into the output; `*` stands for each element of an array and for each key of a map.
    pub pointer: String,
    /// What was promised, as far as it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What is promised now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// What changed, in a sentence.
    pub message: String,
    /// What else is to be known, such as that it looks like a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Output that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
}

impl Change {
    /// Something that could not be looked at.
    pub fn undecided(message: &str) -> Self {
        Self {
            rule: "diff-undecided".to_owned(),
            class: Class::Undecided,
            probe: None,
            format: None,
            event: None,
            in_error: false,
            pointer: String::new(),
            old: None,
            new: None,
            message: message.to_owned(),
            note: None,
            witness: None,
        }
    }
}

/// Output that the new promise allows and the old one does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The document or record. It validates against the new schema and not against the old one.
    pub document: Value,
    /// What the old schema says of it.
    pub rejected: String,
}
