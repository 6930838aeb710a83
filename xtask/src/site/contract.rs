//! The pages about the bundled contracts.

use super::markdown::{facts, fence, inline, link, table};
use agentnative::model::Topic;
use agentnative_contract::{Contract, ContractSummary, outline};
use serde_json::Value;
use std::fmt::Write as _;

/// The content of the page about a contract: its summary and its schemas by file.
pub(super) struct ContractPage {
    summary: ContractSummary,
    schemas: Vec<(String, Value)>,
}

/// Returns the list of all contracts.
pub(super) fn index(contracts: &[ContractPage]) -> String {
    let rows = contracts.iter().map(|ContractPage { summary, .. }| {
        let name = summary.name.as_str();
        [link(Topic::Contract, name), summary.framing.name().to_owned(), inline(&summary.title, name)]
    });
    let table = table(["Contract", "Framing", "Output"], rows);
    format!(
        "# Bundled contracts\n\nA contract is what the output of a command promises; \
         [Contracts](../contracts.md) describes how to validate output against one. `agentnative contract show \
         NAME` prints the page of a contract.\n{table}"
    )
}

impl ContractPage {
    /// Loads the bundled contract with this name.
    pub(super) fn bundled(name: &str) -> Result<Self, String> {
        let contract = Contract::bundled(name).map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { summary: contract.summary(), schemas: contract.schema_files() })
    }

    pub(super) fn name(&self) -> &str {
        &self.summary.name
    }

    /// Returns the page as Markdown.
    pub(super) fn page(&self) -> String {
        let summary = &self.summary;
        let name = self.name();
        let mut out = format!("# {name}\n\n**{}**\n", inline(&summary.title, name));
        let facts = summary.facts().into_iter().map(|(label, text)| (label, inline(&text, name)));
        let commands = [
            ("validate", format!("`agentnative validate --contract {name} FILE`")),
            ("in the terminal", format!("`agentnative contract show {name}`")),
        ];
        out.push_str(&self::facts(facts.chain(commands)));
        for (file, schema) in &self.schemas {
            let lines = outline(schema);
            let lines =
                lines.iter().map(|line| format!("{:1$}{2} {3}\n", "", 2 * line.depth, line.name, line.what));
            _ = write!(
                out,
                "\n## Shape ({})\n{}",
                inline(&format!("`{file}`"), name),
                fence("text", &lines.collect::<String>())
            );
        }
        if !summary.rules.is_empty() {
            out.push_str("\n## Rules\n");
        }
        for rule in &summary.rules {
            _ = write!(out, "\n### {}\n\n{}\n", inline(&rule.id, name), inline(&rule.what, name));
            if !rule.detail.is_empty() {
                out.push_str(&fence("text", &rule.detail.join("\n")));
            }
        }
        if !summary.conditions.is_empty() {
            out.push_str("\n## Exit codes\n");
            let rows = summary.conditions.iter().map(|condition| {
                [
                    condition.codes(),
                    inline(&condition.meaning(), name),
                    inline(&condition.describe_streams(), name),
                ]
            });
            out.push_str(&table(["Exit code", "Meaning", "Data"], rows));
        }
        if !summary.findings.is_empty() {
            out.push_str("\n## Findings\n\n");
            summary.findings.iter().for_each(|finding| _ = writeln!(out, "- {}", inline(finding, name)));
        }
        for (file, schema) in &self.schemas {
            let schema = fence("json", &format!("{schema:#}"));
            _ = write!(out, "\n## JSON Schema ({})\n{schema}", inline(&format!("`{file}`"), name));
        }
        out
    }
}
