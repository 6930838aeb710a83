//! The catalogue of checks: the requirement, reason and fix of each, from `checks/*.toml`.

mod source;
mod standard;

pub use source::{ExemptPart, LanguageRules, MISSING, MatchRole, Snippet, SourceCheck, SourceRule};
pub use standard::{Requirement, principle_title, requirements};

pub use crate::model::DerivedKind;
use crate::model::{CheckId, Edition, HelpAudience, Layer, Level, OutputFormat, Status, Toolkit, Variant};
use agentnative_diff::{ChangeSeverity, change_rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A check, as its file in `checks/` declares it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable ID; equal to the name of the file.
    pub id: CheckId,
    /// Number of its principle.
    pub principle: u8,
    /// Position in the report among the checks of its principle.
    pub order: u16,
    /// Level of the requirement.
    pub level: Level,
    /// Kind of evidence that it examines.
    pub layer: Layer,
    /// IDs of the requirements of the standard that it decides.
    pub standard: Vec<String>,
    /// Part of the requirements that it decides, if not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_part: Option<String>,
    /// The requirement, in one line.
    pub title: String,
    /// What the check examines and requires.
    pub what: String,
    /// Who is affected by a failure.
    pub why: String,
    /// Instructions to fix a failure.
    pub fix: String,
    /// The same instructions in one line.
    pub help: FixHint,
    /// Runs that it needs of each declared probe.
    #[serde(default)]
    pub runs: RequiredRuns,
    /// Derived calls that it needs.
    #[serde(default)]
    pub derived: Vec<DerivedKind>,
    /// Formats of a whole-target contract that replaces this check: such a contract defines one format, its format
    /// flag, its error channel and its exit codes.
    #[serde(default, skip_serializing)]
    pub replaced_by_contract: Vec<OutputFormat>,
    /// Possible problems: the `kind` of each piece of evidence, with its headline.
    #[serde(default)]
    pub kinds: BTreeMap<String, String>,
    /// Rules and snippets of a source check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceCheck>,
    /// Examples of conforming and violating output; a source check has snippets instead.
    #[serde(rename = "example", default)]
    pub examples: Vec<Example>,
}

impl Check {
    /// Returns whether the check decides a requirement of an edition. A check without requirements is in all editions.
    pub fn is_in(&self, edition: Edition) -> bool {
        let mut decided = requirements().iter().filter(|requirement| self.standard.contains(&requirement.id));
        self.standard.is_empty() || decided.any(|requirement| requirement.is_in(edition))
    }

    /// Returns the requirements that the check decides, as text.
    pub fn requirements_text(&self) -> String {
        let ids = self.standard.join(", ");
        match &self.standard_part {
            None => ids,
            Some(why) if ids.is_empty() => format!("none: {why}"),
            Some(part) => format!("{ids} (in part: {part})"),
        }
    }
}

/// One-line instructions: for any target, and more specific ones for a language or an argument parser.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FixHint {
    /// Instructions for any target.
    pub any: String,
    /// Instructions for targets in a language or with an argument parser.
    #[serde(flatten)]
    pub targets: BTreeMap<HelpAudience, String>,
}

impl FixHint {
    /// Returns the instructions for a toolkit: those for its parser, else for its language, else for any target.
    pub fn for_toolkit(&self, toolkit: Toolkit) -> &str {
        let parser = toolkit.parser.and_then(|parser| self.targets.get(&HelpAudience::Parser(parser)));
        let language = || self.targets.get(&HelpAudience::Language(toolkit.language?));
        parser.or_else(language).unwrap_or(&self.any)
    }
}

/// Required runs: each format with each variant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequiredRuns {
    /// Formats.
    pub formats: Vec<OutputFormat>,
    /// Variants.
    pub variants: Vec<Variant>,
}

/// Example output of a command, with the verdict for it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Verdict of the check.
    pub verdict: Status,
    /// Command line.
    pub command: String,
    /// Contents of stdout.
    #[serde(default)]
    pub stdout: String,
    /// Contents of stderr.
    #[serde(default)]
    pub stderr: String,
    /// Exit code.
    #[serde(default)]
    pub exit: i32,
    /// Explanation of the verdict.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let mut checks: Vec<Check> = CheckId::ALL
        .iter()
        .map(|id| match toml::from_str::<Check>(id.text()) {
            Ok(mut check) => {
                for prose in [&mut check.what, &mut check.why, &mut check.fix] {
                    *prose = unwrapped(prose);
                }
                check.kinds.extend(check.source.iter().flat_map(SourceCheck::kinds));
                if check.id == CheckId::P2ContractLocked {
                    check.kinds.extend(breaking_changes());
                }
                check
            }
            Err(error) => panic!("the embedded checks/{id}.toml is invalid: {error}"),
        })
        .collect();
    checks.sort_by_key(|check| (check.principle, check.order));
    checks
});

/// Returns the rules of `contract diff` for breaking changes, as ID and title.
fn breaking_changes() -> impl Iterator<Item = (String, String)> {
    let breaking = change_rules().iter().filter(|rule| rule.classes.contains(&ChangeSeverity::Breaking));
    breaking.map(|rule| (rule.id.clone(), rule.title.clone()))
}

/// Joins the wrapped lines of each paragraph and list item. Code, indented by four or more spaces, stays unchanged.
fn unwrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.trim().lines() {
        let starts = line.trim().is_empty() || line.starts_with("- ") || line.starts_with("    ");
        match lines.last_mut() {
            Some(last) if !starts && !last.trim().is_empty() && !last.starts_with("    ") => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => lines.push(line.trim_end().to_owned()),
        }
    }
    lines.join("\n")
}

/// Returns all checks, in the order of the report.
pub fn checks() -> &'static [Check] {
    &CHECKS
}

/// Returns the check with this ID, if there is one.
pub fn check(id: &str) -> Option<&'static Check> {
    id.parse().ok().map(CheckId::check)
}

impl CheckId {
    /// Returns the check with this ID.
    pub fn check(self) -> &'static Check {
        let own = CHECKS.iter().find(|check| check.id == self);
        own.expect("a test ensures that the `id` in each file is the name of the file")
    }
}
