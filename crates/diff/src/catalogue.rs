//! The rules of `contract diff`, from `changes.toml`.

use super::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::LazyLock;

/// A kind of change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Stable ID.
    pub id: String,
    /// The possible classes, the usual one first.
    pub classes: Vec<Class>,
    /// What changed, in a line.
    pub title: String,
    /// When it is reported, and what decides the class.
    #[serde(deserialize_with = "paragraph")]
    pub what: String,
    /// Who breaks.
    #[serde(deserialize_with = "paragraph")]
    pub why: String,
    /// Two sides with this change.
    #[serde(rename = "example")]
    pub examples: Vec<RuleExample>,
}

/// Two sides, and the change that is reported.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleExample {
    /// The reported class.
    pub class: Class,
    /// The sides are outputs; otherwise they are schemas of a document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub promises: bool,
    /// The rule that is reported when the sides are exchanged.
    pub back: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The old side, as JSON.
    pub old: String,
    /// The new side, as JSON.
    pub new: String,
}

#[derive(Deserialize)]
struct Catalogue {
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let catalogue: Catalogue =
        toml::from_str(include_str!("changes.toml")).expect("changes.toml is part of the program");
    catalogue.rules
});

/// A text in one line: how it is wrapped in the file is not how it is shown.
fn paragraph<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(String::deserialize(deserializer)?.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// All rules, sorted by ID.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// The rule of this ID.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
