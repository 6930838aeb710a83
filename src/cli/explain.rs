//! `agentnative explain ID`

use super::known_check;
use crate::error::Result;
use crate::output::{Cell, Output, OutputFormat, Page, Tone};
use crate::report::Status;
use crate::report::catalogue::{Check, Example};

#[derive(clap::Args)]
pub(super) struct ExplainArgs {
    /// ID of the check, such as p2-output-json.
    id: String,
}

pub(super) fn run(args: &ExplainArgs, output: &mut Output) -> Result<u8> {
    let check = known_check(&args.id)?;
    match output.config().format {
        OutputFormat::Text => {
            let text = page(check, output);
            output.text(&text)?;
        }
        OutputFormat::Json => output.document("explain", true, check)?,
        OutputFormat::Jsonl => output.record(check)?,
    }
    Ok(0)
}

fn page(check: &Check, output: &Output) -> String {
    let mut page = Page::new(output.config());
    page.heading(&format!("{}: {}", check.id, check.title));
    for (label, text) in [("What", &check.what), ("Why", &check.why), ("Fix", &check.fix)] {
        page.blank();
        page.heading(label);
        page.paragraph(2, text);
    }
    for example in &check.examples {
        page.blank();
        show(example, &mut page);
    }
    for (language, rules) in check.source.iter().flat_map(|source| &source.languages) {
        page.blank();
        page.heading(language.name());
        for (snippets, verdict, tone) in
            [(&rules.good, "Conforms", Tone::Good), (&rules.bad, "Warns", Tone::Open)]
        {
            for snippet in snippets {
                page.line(
                    2,
                    &[Cell::new(tone, verdict), Cell::new(Tone::Dim, format!("  {}", snippet.file))],
                );
                page.block(4, snippet.code.trim_matches('\n'));
            }
        }
        page.labelled(2, &Cell::new(Tone::Strong, "not covered: "), &rules.not_covered);
    }
    page.finish()
}

fn show(example: &Example, page: &mut Page) {
    let (verdict, tone) = match example.verdict {
        Status::Pass => ("Conforms", Tone::Good),
        Status::Fail => ("Fails", Tone::Bad),
        _ => ("Warns", Tone::Open),
    };
    page.line(0, &[Cell::new(tone, verdict), Cell::new(Tone::Dim, format!("  exit code {}", example.exit))]);
    page.block(2, format!("$ {}", example.command));
    for (stream, text) in [("stdout", &example.stdout), ("stderr", &example.stderr)] {
        if !text.is_empty() {
            page.line(2, &[Cell::new(Tone::Dim, format!("{stream}:"))]);
            page.block(4, text.trim_end_matches('\n'));
        }
    }
    if !example.note.is_empty() {
        page.paragraph(2, example.note.trim());
    }
}
