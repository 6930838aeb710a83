//! The `source` table of a check file: rules and snippets by language.

use crate::model::{CheckId, Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rules of a source check.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceCheck {
    /// Headline of the failure if no wanted code was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Message of the verdict `unverified` if the code contains nothing that the check can judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Part of the package in which matches are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<ExemptPart>,
    /// Check that takes precedence if both find a problem at the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields_to: Option<CheckId>,
    /// Rules by language.
    pub languages: BTreeMap<Language, LanguageRules>,
}

/// Kind of the problem that the wanted code is missing. It has no place in the code.
pub const MISSING: &str = "missing";

impl SourceCheck {
    /// Returns the possible problems of the check, as kind and headline: missing wanted code, and the rules whose
    /// matches are problems.
    pub fn kinds(&self) -> impl Iterator<Item = (String, String)> {
        let rules = self.languages.values().flat_map(|of| &of.rules);
        let faults = rules.filter(|rule| matches!(rule.role, MatchRole::Fault | MatchRole::Nearly));
        let missing = self.missing.iter().map(|what| (MISSING.to_owned(), what.clone()));
        missing.chain(faults.map(|rule| (rule.name.clone(), rule.headline())))
    }

    /// Returns a hash of the rules. Matches that were recorded with other rules are not valid for these.
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
        // FNV-1a, which is stable across builds.
        let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| text.bytes().chain([0]).fold(hash, byte))
    }
}

/// A part of a package in which matches are allowed that are problems elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExemptPart {
    /// The output module, which holds the configuration of the output.
    Output,
    /// The entry point, in which the program starts and ends.
    Entry,
}

/// Rules of a source check for one language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguageRules {
    /// Cases that the check does not cover in this language.
    pub not_covered: String,
    /// Dependencies that count as a match of a wanted rule if the manifest declares one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Rules.
    #[serde(rename = "rule")]
    pub rules: Vec<SourceRule>,
    /// Conforming code.
    #[serde(rename = "good")]
    pub good: Vec<Snippet>,
    /// Violating code.
    #[serde(rename = "bad")]
    pub bad: Vec<Snippet>,
}

/// An ast-grep rule with the meaning of its matches.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRule {
    /// Name, unique within the check and language.
    pub name: String,
    /// Meaning of a match.
    pub role: MatchRole,
    /// Whether the file of a match belongs to the output module.
    #[serde(default)]
    pub home: bool,
    /// Whether a match is a problem even in the part that `except` exempts.
    #[serde(default)]
    pub everywhere: bool,
    /// Name of another rule of the same check and language. This rule is then applied in a second pass, and a match
    /// counts only if the other rule captured the same `$NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Number of different `$NAME`s that a wanted rule needs, or of matches if it captures none; 1 by default.
    #[serde(default = "one")]
    pub distinct: usize,
    /// Words of which every match contains at least one; a file without any of them is not parsed. A `*` at the start
    /// or end of a word allows further characters there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Message of a match; `$NAME` stands for the captured name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The rule in ast-grep's YAML: `rule:`, and optionally `constraints:` and `utils:`.
    pub rule: String,
}

/// Placeholder in a message for the captured name.
const NAME_PLACEHOLDER: &str = "$NAME";

impl SourceRule {
    /// Returns the message of a match that captured this name.
    pub fn message_with(&self, name: &str) -> String {
        self.message.replace(NAME_PLACEHOLDER, name)
    }

    /// Returns the message without the name, as the headline of the rule.
    pub fn headline(&self) -> String {
        self.message.replace(&format!(" {NAME_PLACEHOLDER}"), "")
    }
}

const fn one() -> usize {
    1
}

/// The meaning of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchRole {
    /// Each match is a problem.
    Fault,
    /// A match meets the requirement.
    Wanted,
    /// Each match is a problem if no wanted code was found.
    Nearly,
    /// The check is unverified if no wanted code was found: the match may meet the requirement in another way.
    Open,
}

/// A code snippet with the path of its file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// Path relative to the package's folder.
    pub file: String,
    /// Code.
    pub code: String,
}
