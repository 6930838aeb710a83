//! The part of a check's file that a source check has: its rules and snippets, language by language.

use crate::model::{CheckId, Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a source check looks for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceCheck {
    /// The message if nothing wanted was found: the check is not met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The message if nothing was found that could decide: the check is unverified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// The place in which matches are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<Home>,
    /// A check that takes precedence: only that check reports a problem that both find at one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields_to: Option<CheckId>,
    /// The rules of each language that it covers.
    pub languages: BTreeMap<Language, LanguageRules>,
}

/// The kind of a fault that is not at a place in the code: nothing of what is wanted is there.
pub const MISSING: &str = "missing";

impl SourceCheck {
    /// The ways in which the check can be broken: the rules whose matches are findings, and that what is wanted
    /// is missing.
    pub fn kinds(&self) -> impl Iterator<Item = (String, String)> {
        let rules = self.languages.values().flat_map(|of| &of.rules);
        let faults = rules.filter(|rule| matches!(rule.role, Role::Fault | Role::Nearly));
        let missing = self.missing.iter().map(|what| (MISSING.to_owned(), what.clone()));
        missing.chain(faults.map(|rule| (rule.name.clone(), rule.headline())))
    }

    /// A hash that tells its rules from others: what was found with those does not say what these would find.
    pub fn fingerprint(&self) -> u64 {
        let rules = self
            .languages
            .iter()
            .flat_map(|(language, of)| of.rules.iter().map(move |rule| (language, rule)));
        let texts = rules.flat_map(|(language, rule)| {
            let of = rule.of.as_deref().unwrap_or_default();
            let texts = [language.name(), &rule.name, of, &rule.rule];
            texts.into_iter().chain(rule.words.iter().map(String::as_str))
        });
        // FNV-1a: the same in each build.
        let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| text.bytes().chain([0]).fold(hash, byte))
    }
}

/// A place in a package where matches are allowed that are problems elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// The output module: where the output configuration lives.
    Output,
    /// The entry point: where the program starts and ends.
    Entry,
}

/// A source check in one language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguageRules {
    /// What it does not cover in this language.
    pub not_covered: String,
    /// Dependencies in the manifest; one of them counts as a match of a wanted rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The rules.
    #[serde(rename = "rule")]
    pub rules: Vec<SourceRule>,
    /// Code that conforms.
    #[serde(rename = "good")]
    pub good: Vec<Snippet>,
    /// Code that does not.
    #[serde(rename = "bad")]
    pub bad: Vec<Snippet>,
}

/// One ast-grep rule and what a match of it means.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRule {
    /// Its name, unique in the check and language.
    pub name: String,
    /// What a match means.
    pub role: Role,
    /// The file of a match belongs to the output module.
    #[serde(default)]
    pub home: bool,
    /// A match is a problem even in the place that the check exempts.
    #[serde(default)]
    pub everywhere: bool,
    /// The name of another rule of the same check and language. This one is then held to the code in
    /// a second pass, and a match counts when its `$NAME` is one that the other rule captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Number of different `$NAME`s (without one: matches) that a wanted rule needs; 1 by default.
    #[serde(default = "one")]
    pub distinct: usize,
    /// Every match holds one of these words; a file without them is not parsed. A `*` at an end of a
    /// word says that it may be a part of a longer one there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The message of a match.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The rule as ast-grep's YAML: `rule:`, and where needed `constraints:` and `utils:`.
    pub rule: String,
}

/// Stands in a message for what a match captured under this name.
const NAME: &str = "$NAME";

impl SourceRule {
    /// The message of a match that captured this name.
    pub fn message_of(&self, name: &str) -> String {
        self.message.replace(NAME, name)
    }

    /// The message of any match, without a name.
    pub fn headline(&self) -> String {
        self.message.replace(&format!(" {NAME}"), "")
    }
}

const fn one() -> usize {
    1
}

/// What a match of a rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Each match is a problem.
    Fault,
    /// It meets the check.
    Wanted,
    /// A problem, if nothing wanted was found.
    Nearly,
    /// The check may be met although nothing wanted was found: it is unverified.
    Open,
}

/// A code snippet with the file that it would be in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// Path in the package.
    pub file: String,
    /// The code.
    pub code: String,
}
