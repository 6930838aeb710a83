//! The rules of `contract diff`, from `changes/*.toml`.

use super::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A kind of change, as its file in `changes/` says it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Stable ID, the same as the file's name.
    pub id: String,
    /// What it can be, the usual class first.
    pub classes: Vec<Class>,
    /// What changed, in a line.
    pub title: String,
    /// When it is told, and what decides the class.
    pub what: String,
    /// Who breaks.
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

static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/changes.rs"));

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let read = |(stem, text): &(&str, &str)| match toml::from_str::<Rule>(text) {
        Ok(mut rule) => {
            for prose in [&mut rule.what, &mut rule.why] {
                *prose = prose.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            rule
        }
        Err(error) => panic!("changes/{stem}.toml, which is part of the program, is wrong: {error}"),
    };
    let mut rules: Vec<Rule> = FILES.iter().map(read).collect();
    rules.sort_by(|left, right| left.id.cmp(&right.id));
    rules
});

/// All rules, sorted by ID.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// The rule of this ID.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
