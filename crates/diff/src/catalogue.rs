//! The rules of `contract diff`, the kinds of changes that it reports. They are read from `changes.toml`.

use super::ChangeSeverity;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::LazyLock;

/// A kind of change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRule {
    /// Stable ID.
    pub id: String,
    /// Whether the rule is about the interface of a program instead of an output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interface: bool,
    /// Possible classes, the most common one first.
    pub classes: Vec<ChangeSeverity>,
    /// What changed, on one line.
    pub title: String,
    /// When it is reported, and what determines the class.
    #[serde(deserialize_with = "paragraph")]
    pub what: String,
    /// Which consumers break.
    #[serde(deserialize_with = "paragraph")]
    pub why: String,
    /// Examples of the change.
    #[serde(rename = "example")]
    pub examples: Vec<RuleExample>,
    /// Versions for which the rule reports nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sound: Vec<SoundExample>,
}

/// Two versions and the change that is reported between them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleExample {
    /// The reported class.
    pub class: ChangeSeverity,
    /// Whether the versions are output specifications instead of schemas of a document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub promises: bool,
    /// ID of the rule that is reported if the versions are swapped; empty if none is.
    pub back: String,
    /// What the example shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Old version, as JSON.
    pub old: String,
    /// New version, as JSON.
    pub new: String,
}

/// Two versions for which a rule reports nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoundExample {
    /// Why nothing is reported.
    pub note: String,
    /// Old version, as JSON.
    pub old: String,
    /// New version, as JSON.
    pub new: String,
}

#[derive(Deserialize)]
struct Catalogue {
    #[serde(rename = "rule")]
    rules: Vec<ChangeRule>,
}

static RULES: LazyLock<Vec<ChangeRule>> = LazyLock::new(|| {
    let catalogue: Catalogue =
        toml::from_str(include_str!("changes.toml")).expect("changes.toml is part of the program");
    catalogue.rules
});

/// Deserializes a text of several lines and joins the lines with spaces.
fn paragraph<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(String::deserialize(deserializer)?.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns all rules of `changes.toml`, sorted by ID.
pub fn change_rules() -> &'static [ChangeRule] {
    &RULES
}

/// Returns the rule with the given ID, such as `diff-key-removed`.
pub fn change_rule(id: &str) -> Option<&'static ChangeRule> {
    RULES.iter().find(|rule| rule.id == id)
}
