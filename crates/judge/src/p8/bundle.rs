//! `p8-bundle`: the project contains instructions for agents with a name and a description.

use crate::context::{CheckContext, NO_PROJECT};
use crate::verdict::{Finding, Judgement};
use agentnative_core::facts::{AgentInstructions, Frontmatter};
use agentnative_core::model::Evidence;

/// Judges `p8-bundle`: the project contains instructions for agents with a name and a description.
pub fn bundle(context: &CheckContext) -> Judgement {
    let Ok(project) = context.project else {
        return Judgement::NotApplicable(NO_PROJECT.to_owned());
    };
    let mut findings = Vec::new();
    for AgentInstructions { file, frontmatter, .. } in &project.bundles {
        let (kind, detail) = match frontmatter {
            Frontmatter::Missing => {
                ("no-frontmatter", format!("{file} does not begin with YAML frontmatter"))
            }
            Frontmatter::Invalid(error) => {
                ("invalid", format!("the frontmatter of {file} is invalid: {error}"))
            }
            Frontmatter::Read { name, description } => {
                let lacking: Vec<&str> = [("name", name), ("description", description)]
                    .into_iter()
                    .filter_map(|(key, value)| value.is_empty().then_some(key))
                    .collect();
                if lacking.is_empty() {
                    return Judgement::Pass(format!("{file} describes {name}"));
                }
                ("incomplete", format!("the frontmatter of {file} has no {}", lacking.join(" and no ")))
            }
        };
        let evidence = Evidence { file: Some(file.clone()), line: Some(1), detail, ..Evidence::default() };
        findings.push(Finding::new(kind, evidence));
    }
    if findings.is_empty() {
        let detail = "the project contains no AGENTS.md and no SKILL.md".to_owned();
        findings.push(Finding::new("missing", Evidence { detail, ..Evidence::default() }));
    }
    Judgement::violated(findings)
}
