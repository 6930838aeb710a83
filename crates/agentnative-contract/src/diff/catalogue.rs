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
    /// What it can be, the usual class first.
    pub classes: Vec<Class>,
    /// What changed, in a line.
    pub title: String,
    /// When it is told, and what decides the class.
    #[serde(deserialize_with = "paragraph")]
    pub what: String,
    /// Who breaks.
    #[serde(deserialize_with = "paragraph")]
    pub why: String,
    /// Two sides that differ so.
    #[serde(rename = "example")]
    pub examples: Vec<RuleExample>,
}

/// Two sides, and what is told of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleExample {
    /// What is told.
    pub class: Class,
    /// The sides are promises; if not, they are schemas of a document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub promises: bool,
    /// The rule that is told when the sides change places.
    pub back: String,
    /// What to see in it.
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
