//! The catalogue of checks: what each demands, why, and what to do, from `checks/*.toml`.

mod source;
mod standard;

pub use source::{Home, LanguageRules, MISSING, Role, Snippet, SourceCheck, SourceRule};
pub use standard::{Requirement, principle_title, requirements};

pub use crate::model::Derived;
use crate::model::{CheckId, Edition, HelpFor, Layer, Level, OutputFormat, Status, Toolkit, Variant};
use agentnative_diff::{Class, rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One check, as its file in `checks/` says it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable ID, the same as the file's name.
    pub id: CheckId,
    /// The principle it belongs to.
    pub principle: u8,
    /// Its place in the report, among those of its principle.
    pub order: u16,
    /// Its level.
    pub level: Level,
    /// What it looks at.
    pub layer: Layer,
    /// IDs of the requirements of the standard that it decides.
    pub standard: Vec<String>,
    /// Which part of them, where it is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_part: Option<String>,
    /// The requirement, in one line.
    pub title: String,
    /// What is checked and required.
    pub what: String,
    /// Who is affected if it is not met.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// The same in a line.
    pub help: Help,
    /// The runs that it needs of each declared probe.
    #[serde(default)]
    pub runs: Runs,
    /// The additional probes that it needs.
    #[serde(default)]
    pub derived: Vec<Derived>,
    /// The formats of a contract for the whole target that takes its place: such a contract has one format and its own way
    /// to ask for it, its own error channel and exit codes.
    #[serde(default, skip_serializing)]
    pub replaced_by_contract: Vec<OutputFormat>,
    /// The possible problems: the `kind` of each piece of evidence, with its meaning.
    #[serde(default)]
    pub kinds: BTreeMap<String, String>,
    /// Rules and snippets, for a source check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceCheck>,
    /// Output that conforms and output that does not; a source check has snippets instead.
    #[serde(rename = "example", default)]
    pub examples: Vec<Example>,
}

impl Check {
    /// Whether an edition of the standard has a requirement that it decides. A check of no requirement is in all.
    pub fn is_in(&self, edition: Edition) -> bool {
        let mut decided = requirements().iter().filter(|requirement| self.standard.contains(&requirement.id));
        self.standard.is_empty() || decided.any(|requirement| requirement.is_in(edition))
    }

    /// The requirements of the standard that it decides, in words.
    pub fn requirements(&self) -> String {
        let ids = self.standard.join(", ");
        match &self.standard_part {
            None => ids,
            Some(why) if ids.is_empty() => format!("none: {why}"),
            Some(part) => format!("{ids} (in part: {part})"),
        }
    }
}

/// What to do, in a line: for any target, and where more can be said for those of a language or with an argument parser.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Help {
    /// For any target.
    pub any: String,
    /// For those of a language, or with an argument parser.
    #[serde(flatten)]
    pub targets: BTreeMap<HelpFor, String>,
}

impl Help {
    /// The line for targets that are written with this: that of the parser, else that of the language.
    pub fn of(&self, toolkit: Toolkit) -> &str {
        let parser = toolkit.parser.and_then(|parser| self.targets.get(&HelpFor::Parser(parser)));
        let language = || self.targets.get(&HelpFor::Language(toolkit.language?));
        parser.or_else(language).unwrap_or(&self.any)
    }
}

/// Formats × variants.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// The formats.
    pub formats: Vec<OutputFormat>,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// Output of a command with its verdict.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The verdict.
    pub verdict: Status,
    /// The command line.
    pub command: String,
    /// What it prints.
    #[serde(default)]
    pub stdout: String,
    /// Its diagnostics.
    #[serde(default)]
    pub stderr: String,
    /// Its exit code.
    #[serde(default)]
    pub exit: i32,
    /// What it shows.
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
            Err(error) => panic!("checks/{id}.toml, which is part of the program, is wrong: {error}"),
        })
        .collect();
    checks.sort_by_key(|check| (check.principle, check.order));
    checks
});

/// The kinds of change that break readers: rules of `contract diff`.
fn breaking_changes() -> impl Iterator<Item = (String, String)> {
    let breaking = rules().iter().filter(|rule| rule.classes.contains(&Class::Breaking));
    breaking.map(|rule| (rule.id.clone(), rule.title.clone()))
}

/// The text with a line for each paragraph and list item: how it is wrapped in the file is not how it is
/// shown. Code, indented by four or more, stays as it is.
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

/// All checks, in the order of the report.
pub fn checks() -> &'static [Check] {
    &CHECKS
}

/// The check that this is the ID of, if there is one.
pub fn check(id: &str) -> Option<&'static Check> {
    id.parse().ok().map(CheckId::check)
}

impl CheckId {
    /// The check of this ID.
    pub fn check(self) -> &'static Check {
        let own = CHECKS.iter().find(|check| check.id == self);
        own.expect("the `id` in each file is the file's name: a test holds it")
    }
}
