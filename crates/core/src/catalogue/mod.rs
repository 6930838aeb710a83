//! The catalogue of checks. Each file in `checks/*.toml` declares one check: its requirement, its reason and how to fix
//! a failure.

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

/// A check of the catalogue, as a file in `checks/` declares it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable ID, such as `p2-output-json`: the name of the check's file without `.toml`.
    pub id: CheckId,
    /// Number of the principle of the standard that the check belongs to.
    pub principle: u8,
    /// Position of the check in the report, among the checks of the same principle.
    pub order: u16,
    /// Level of the check's requirement: `must`, `should` or `may`.
    pub level: Level,
    /// Kind of evidence that the check examines: runs, source code or project files.
    pub layer: Layer,
    /// IDs of the requirements of the standard that the check decides, such as `p2-must-output-flag`.
    pub standard: Vec<String>,
    /// The part of these requirements that the check decides, if it does not decide all of them. If `standard` is
    /// empty, the reason why it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_part: Option<String>,
    /// The requirement, in one line.
    pub title: String,
    /// What the check examines and requires.
    pub what: String,
    /// Why the requirement matters: who is affected by a failure.
    pub why: String,
    /// Instructions to fix a failure.
    pub fix: String,
    /// The instructions of `fix` in one line, for any target and for single languages.
    pub help: FixHint,
    /// Runs that the check needs of each declared probe.
    #[serde(default)]
    pub runs: RequiredRuns,
    /// Kinds of derived calls that the check needs, such as `--help`.
    #[serde(default)]
    pub derived: Vec<DerivedKind>,
    /// What explored calls can show, which no configuration declares.
    #[serde(default, skip_serializing_if = "ExploredPolicy::is_default")]
    pub explored: ExploredPolicy,
    /// If the entire target has a contract for one of these formats, the contract replaces this check: it defines the
    /// format, its format flag, its error channel and its exit codes.
    #[serde(default, skip_serializing)]
    pub replaced_by_contract: Vec<OutputFormat>,
    /// Problems that the check can report: the `kind` of their evidence, each with a headline.
    #[serde(default)]
    pub kinds: BTreeMap<String, String>,
    /// Rules and snippets of a check of source code; `None` for any other check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceCheck>,
    /// Examples of conforming and violating output; a source check has snippets instead.
    #[serde(rename = "example", default)]
    pub examples: Vec<Example>,
}

impl Check {
    /// Returns whether the check belongs to this edition of the standard: it decides at least one requirement of the
    /// edition. A check without requirements belongs to all editions.
    pub fn is_in(&self, edition: Edition) -> bool {
        let mut decided = requirements().iter().filter(|requirement| self.standard.contains(&requirement.id));
        self.standard.is_empty() || decided.any(|requirement| requirement.is_in(edition))
    }

    /// Returns the IDs of the requirements that the check decides, as text: `p2-must-output-flag (in part: …)`.
    pub fn requirements_text(&self) -> String {
        let ids = self.standard.join(", ");
        match &self.standard_part {
            None => ids,
            Some(why) if ids.is_empty() => format!("none: {why}"),
            Some(part) => format!("{ids} (in part: {part})"),
        }
    }
}

/// One-line instructions to fix a failure: a text for any target, and more specific texts for a language or an argument
/// parser.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FixHint {
    /// Instructions for any target.
    pub any: String,
    /// More specific instructions, each for the targets in one language or with one argument parser.
    #[serde(flatten)]
    pub targets: BTreeMap<HelpAudience, String>,
}

impl FixHint {
    /// Returns the most specific instructions for a target with this toolkit: those for its argument parser, else those
    /// for its language, else those for any target.
    pub fn for_toolkit(&self, toolkit: Toolkit) -> &str {
        let parser = toolkit.parser.and_then(|parser| self.targets.get(&HelpAudience::Parser(parser)));
        let language = || self.targets.get(&HelpAudience::Language(toolkit.language?));
        parser.or_else(language).unwrap_or(&self.any)
    }
}

/// Runs that a check needs of each declared probe: one for each combination of a format and a variant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequiredRuns {
    /// Output formats that the runs request.
    pub formats: Vec<OutputFormat>,
    /// Conditions of the runs, such as a terminal or a closed pipe.
    pub variants: Vec<Variant>,
}

/// What explored calls can show to a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExploredPolicy {
    /// Explored calls can pass and fail the check.
    #[default]
    Judged,
    /// Explored calls can pass the check. A fault would depend on what the author promises.
    PassOnly,
    /// The check judges a promise of the author, so explored calls show nothing.
    Ignored,
}

impl ExploredPolicy {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what explored calls show, as a sentence; `None` if they are judged like declared probes.
    pub const fn sentence(self) -> Option<&'static str> {
        match self {
            Self::Judged => None,
            Self::PassOnly => {
                Some("Explored calls can pass this check, but only declared probes can fail it.")
            }
            Self::Ignored => {
                Some("Explored calls do not decide this check, because it depends on what you declare.")
            }
        }
    }
}

/// An example of a command and its output, with the verdict of the check.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Verdict of the check for this output.
    pub verdict: Status,
    /// Command line of the example.
    pub command: String,
    /// Contents of stdout.
    #[serde(default)]
    pub stdout: String,
    /// Contents of stderr.
    #[serde(default)]
    pub stderr: String,
    /// Exit code of the command.
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
                    *prose = join_wrapped_lines(prose);
                }
                check.kinds.extend(check.source.iter().flat_map(SourceCheck::kinds));
                if let CheckId::P2ContractLocked | CheckId::P2InterfaceLocked = check.id {
                    check.kinds.extend(breaking_changes(check.id == CheckId::P2InterfaceLocked));
                }
                check
            }
            Err(error) => panic!("the embedded checks/{id}.toml is invalid: {error}"),
        })
        .collect();
    checks.sort_by_key(|check| (check.principle, check.order));
    checks
});

/// Returns the ID and the title of each `contract diff` rule for interfaces, or for outputs, that can classify a change
/// as breaking.
fn breaking_changes(of_interface: bool) -> impl Iterator<Item = (String, String)> {
    let rules = change_rules().iter().filter(move |rule| rule.interface == of_interface);
    let breaking = rules.filter(|rule| rule.classes.contains(&ChangeSeverity::Breaking));
    breaking.map(|rule| (rule.id.clone(), rule.title.clone()))
}

/// Joins the wrapped lines of each paragraph and list item. Code, indented by four or more spaces, stays unchanged.
fn join_wrapped_lines(text: &str) -> String {
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
    /// Returns the catalogue entry of the check with this ID.
    pub fn check(self) -> &'static Check {
        let own = CHECKS.iter().find(|check| check.id == self);
        own.expect("a test ensures that the `id` in each file is the name of the file")
    }
}
