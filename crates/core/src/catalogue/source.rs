//! The `source` table of a check file: rules and snippets by language.

use crate::model::{CheckId, Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The `source` table of a check: the rules with which it searches the source code of a target.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceCheck {
    /// Headline of the problem that the code has no match of a `wanted` rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Message of the verdict `unverified` if the code contains nothing that the check can judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Part of the package in which matches are not problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<ExemptPart>,
    /// Another check that takes precedence. If both find a problem at the same place, only the other check reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields_to: Option<CheckId>,
    /// Rules of the check for each language.
    pub languages: BTreeMap<Language, LanguageRules>,
}

/// Value of `kind` in the evidence that wanted code is missing. Such evidence has no place in the code.
pub const MISSING: &str = "missing";

impl SourceCheck {
    /// Returns the problems that the check can report, as pairs of `kind` and headline. They are missing wanted code,
    /// and the rules whose matches are problems.
    pub fn kinds(&self) -> impl Iterator<Item = (String, String)> {
        let rules = self.languages.values().flat_map(|of| &of.rules);
        let faults = rules.filter(|rule| matches!(rule.role, MatchRole::Fault | MatchRole::Nearly));
        let missing = self.missing.iter().map(|what| (MISSING.to_owned(), what.clone()));
        missing.chain(faults.map(|rule| (rule.name.clone(), rule.headline())))
    }

    /// Returns a hash of the rules. Matches in a recording are valid only if they were found with rules of the same
    /// hash.
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

/// A part of a package that a check exempts: its matches in this part are not problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExemptPart {
    /// The output module: the files that configure how the program prints.
    Output,
    /// The entry point: the code in which the program starts and ends, such as `main`.
    Entry,
}

/// Rules of a source check for one language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanguageRules {
    /// Cases that the check does not cover in this language.
    pub not_covered: String,
    /// Names of packages. A manifest that declares one of them as a dependency counts as a match of a `wanted` rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Rules that search the code.
    #[serde(rename = "rule")]
    pub rules: Vec<SourceRule>,
    /// Examples of conforming code.
    #[serde(rename = "good")]
    pub good: Vec<Snippet>,
    /// Examples of violating code.
    #[serde(rename = "bad")]
    pub bad: Vec<Snippet>,
}

/// A rule that searches the code, in the syntax of ast-grep, with the meaning of its matches.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRule {
    /// Name of the rule, unique within the check and language.
    pub name: String,
    /// What a match means: a problem, or the wanted code.
    pub role: MatchRole,
    /// Whether a match shows that its file belongs to the output module.
    #[serde(default)]
    pub home: bool,
    /// Whether a match is a problem even in the part that `except` exempts.
    #[serde(default)]
    pub everywhere: bool,
    /// Name of another rule of the same check and language. A match of this rule then counts only if the other rule
    /// captured the same `$NAME`; so this rule is applied in a second pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Number of different names captured as `$NAME` that a `wanted` rule needs to be met; for a rule that captures
    /// nothing, the number of matches. 1 by default.
    #[serde(default = "one")]
    pub distinct: usize,
    /// Every match of the rule contains at least one of these words, so a file without them is not parsed. A `*` at the
    /// start or end of a word stands for further characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Message for a match; `$NAME` stands for the captured name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The rule in ast-grep's YAML: `rule:`, and optionally `constraints:` and `utils:`.
    pub rule: String,
}

/// Placeholder in the message of a rule for the text that a match captured.
const NAME_PLACEHOLDER: &str = "$NAME";

impl SourceRule {
    /// Returns the message of the rule with `name` in place of `$NAME`.
    pub fn message_with(&self, name: &str) -> String {
        self.message.replace(NAME_PLACEHOLDER, name)
    }

    /// Returns the message of the rule without `$NAME`, as a headline for all its matches.
    pub fn headline(&self) -> String {
        self.message.replace(&format!(" {NAME_PLACEHOLDER}"), "")
    }
}

const fn one() -> usize {
    1
}

/// The meaning of a match of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchRole {
    /// Each match is a problem.
    Fault,
    /// A match is code that meets the requirement.
    Wanted,
    /// Each match is a problem, unless a `wanted` rule matches somewhere.
    Nearly,
    /// If no wanted code was found, a match makes the check unverified: the matched code may meet the requirement in
    /// another way.
    Open,
}

/// An example of code, with the path of the file that would contain it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// Path relative to the package's folder.
    pub file: String,
    /// Contents of the file.
    pub code: String,
}
