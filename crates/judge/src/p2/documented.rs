//! `p2-exit-documented`: the help, the manual page or a README documents the exit codes.

use super::project_files::ProjectEvidence;
use crate::verdict::{Finding, Judgement, Reason};
use agentnative_core::facts::ProjectDocument;
use agentnative_core::model::{Evidence, OutputFormat, Variant};
use agentnative_core::targets::documented_exit_codes;
use std::collections::BTreeMap;
use strict_json::sanitize;

/// Maximum length of an excerpt from a document in the report, in characters.
const MAX_EXCERPT: usize = 120;

/// The text of the help, the manual page or a README, with evidence that names its source.
struct Text<'a> {
    text: &'a str,
    source: Evidence,
}

impl<'a> Text<'a> {
    fn from_document(document: &'a ProjectDocument) -> Self {
        Self {
            text: &document.text,
            source: Evidence { file: Some(document.file.clone()), ..Evidence::default() },
        }
    }

    fn evidence_at(&self, line: usize, detail: String) -> Evidence {
        let text = self.text.lines().nth(line).unwrap_or_default();
        let (excerpt, caret) = sanitize::excerpt(text, text.len() - text.trim_start().len(), MAX_EXCERPT);
        Evidence {
            line: Some(line as u64 + 1),
            column: Some(text.chars().take_while(|c| c.is_whitespace()).count() as u64 + 1),
            excerpt: Some(excerpt),
            caret: Some(caret),
            detail,
            ..self.source.clone()
        }
    }

    fn name(&self) -> &str {
        self.source.file.as_deref().unwrap_or("the help")
    }
}

impl ProjectEvidence<'_> {
    /// Judges `p2-exit-documented`: help or README documents the exit codes and their meaning.
    pub fn exit_documented(&self) -> Judgement {
        let readmes = self.project.map_or(&[][..], |project| &project.readmes);
        let help = self.help.as_ref().map(|help| Text {
            text: &help.text,
            source: Evidence {
                probe: Some(help.probe.to_owned()),
                format: Some(OutputFormat::Text),
                variant: Some(Variant::Plain),
                nth: Some(0),
                argv: help.argv.clone(),
                stream: Some(help.stream),
                ..Evidence::default()
            },
        });
        let documents = self.manual.into_iter().chain(readmes);
        let texts: Vec<Text<'_>> = help.into_iter().chain(documents.map(Text::from_document)).collect();
        // First place of each documented code: document and line.
        let mut documented: BTreeMap<i32, (usize, usize)> = BTreeMap::new();
        let mut documents_any = false;
        for (index, text) in texts.iter().enumerate() {
            for (code, line) in documented_exit_codes(text.text) {
                documents_any = true;
                if self.exit_codes.contains(&code.into()) {
                    documented.entry(code.into()).or_insert((index, line));
                }
            }
        }
        let missing: Vec<String> = self
            .exit_codes
            .iter()
            .filter(|code| !documented.contains_key(*code))
            .map(i32::to_string)
            .collect();
        if missing.is_empty() {
            return Judgement::Pass(places(&documented, &texts));
        }
        let missing = missing.join(", ");
        let manual = if self.manual.is_some() { " and the manual" } else { "" };
        if self.help.is_none() {
            let why = match self.no_runs {
                true => "the help is not read without the behavioral layer",
                false => "no help is available",
            };
            let message = format!("the README files{manual} do not document exit code {missing}, and {why}");
            return Judgement::unverified(Reason { needs_runs: self.no_runs, ..message.into() });
        }
        if self.project.is_none() && !documents_any {
            let verb = if self.manual.is_some() { "name" } else { "names" };
            return Judgement::NotApplicable(format!(
                "the help{manual} {verb} no exit code, and the target has no project with a README"
            ));
        }
        let what = match (self.manual, self.project) {
            (Some(_), Some(_)) => {
                format!("neither help, manual nor README documents exit code {missing}")
            }
            (None, Some(_)) => format!("neither help nor README documents exit code {missing}"),
            (Some(_), None) => {
                format!("help and manual document exit codes, but not {missing}")
            }
            (None, None) => format!("the help documents exit codes, but not {missing}"),
        };
        let evidence = match (documented.values().min(), texts.last()) {
            (Some((text, line)), _) => texts[*text].evidence_at(*line, what),
            (None, Some(text)) => Evidence { detail: what, ..text.source.clone() },
            (None, None) => Evidence { detail: what, ..Evidence::default() },
        };
        Judgement::violated(vec![Finding::new("undocumented", evidence)])
    }
}

/// Describes where exit codes are documented, such as `0, 1 in README.md, line 12`. `documented` contains for each code
/// an index into `texts` and a line, counted from 0.
fn places(documented: &BTreeMap<i32, (usize, usize)>, texts: &[Text<'_>]) -> String {
    let in_text = |index: usize| {
        let in_this_text: Vec<(&i32, usize)> = documented
            .iter()
            .filter(|(_, place)| place.0 == index)
            .map(|(code, place)| (code, place.1))
            .collect();
        let line = in_this_text.iter().map(|(_, line)| *line).min()?;
        let codes: Vec<String> = in_this_text.iter().map(|(code, _)| code.to_string()).collect();
        Some((codes.join(", "), format!("{}, line {}", texts[index].name(), line + 1)))
    };
    let found: Vec<(String, String)> = (0..texts.len()).filter_map(in_text).collect();
    match &found[..] {
        [] => "the target has no exit codes to document".to_owned(),
        [(_, place)] => format!("documented in {place}"),
        several => {
            let each: Vec<String> =
                several.iter().map(|(codes, place)| format!("{codes} in {place}")).collect();
            format!("documented: {}", each.join("; "))
        }
    }
}
