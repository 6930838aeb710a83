//! The renderer of `markdown`: a comment for a pull request, or the summary of a CI step. Its length is limited to
//! what both accept.

use super::coverage;
use super::problem::{DisplaySeverity, ReportedProblem, page, problems, shorten_to_line, undecided};
use super::view::ReportView;
use crate::check::Judged;
use crate::report::{Report, Undecided};
use agentnative_contract::counted;
use agentnative_contract::error::Result;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::CheckResult;
use agentnative_output::{char_width, expand_tabs, sanitize_output};
use strict_json::sanitize;

/// Maximum length in bytes, without the sentence on omitted parts. A GitHub comment may have 65,536 characters.
const MAX_BYTES: usize = 64_000;
/// Maximum number of problems of one check that are shown.
const MAX_PROBLEMS: usize = 3;
/// Maximum length of a sentence or name, in characters.
const MAX_TEXT: usize = 600;
/// Maximum length of the excerpt around a problem, in characters.
const MAX_EXCERPT: usize = 120;
/// Last line of a report with checks.
const EXPLAIN: &str = "`agentnative explain ID` explains a check.";

/// Renders the reports as one Markdown page.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let mut output = MarkdownPage::default();
    if view.judged.len() > 1 {
        let rows = view.judged.iter().map(|Judged { report, .. }| {
            let explored = report.coverage.as_ref().map(coverage::commands);
            let facts: Vec<String> = [counts(report)].into_iter().chain(explored).collect();
            format!("- {}: {} ({})", prose(&report.target.name), report.verdict(), facts.join(" · "))
        });
        let rows: Vec<String> = rows.collect();
        output.add(&format!("## agentnative · {} targets", rows.len()));
        rows.chunks(20).for_each(|rows| output.add(&rows.join("\n")));
    }
    view.judged.iter().for_each(|judged| target(view, judged, &mut output));
    if view.judged.iter().any(|judged| !judged.report.results.is_empty()) {
        output.text.push_str(&format!("\n{EXPLAIN}\n"));
    }
    Ok(sanitize_output(&output.finish(), false))
}

/// A page that accepts blocks up to its maximum length.
#[derive(Default)]
struct MarkdownPage {
    text: String,
    omitted: usize,
}

impl MarkdownPage {
    /// Adds a block after an empty line, if it fits. Omits all blocks after the first that does not fit.
    fn add(&mut self, block: &str) {
        if self.omitted > 0 || self.text.len() + block.len() + 2 > MAX_BYTES {
            self.omitted += 1;
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
    }

    /// Adds blocks as a part that can be expanded, as far as they fit. Adds nothing if there are no blocks.
    fn add_details(&mut self, summary: &str, blocks: &[String]) {
        const END: &str = "</details>";
        let Some(first) = blocks.first() else { return };
        let start = format!("<details><summary>{summary}</summary>");
        if self.text.len() + start.len() + first.len() + END.len() + 6 > MAX_BYTES {
            self.omitted += blocks.len();
            return;
        }
        self.add(&start);
        blocks.iter().for_each(|block| self.add(block));
        // The end is small, and is needed even if a block was omitted.
        self.text.push_str(&format!("\n{END}\n"));
    }

    /// Returns the page, with a sentence on omitted blocks.
    fn finish(mut self) -> String {
        if self.omitted > 0 {
            let omitted = self.omitted;
            self.text
                .push_str(&format!("\nThe report is too long for a comment: {omitted} parts are omitted.\n"));
        }
        self.text
    }
}

/// Adds the section of a target: failures, then everything else in parts that can be expanded.
fn target(view: &ReportView<'_>, judged: &Judged, output: &mut MarkdownPage) {
    let report = &judged.report;
    output.add(&format!("## agentnative · {}: {}", prose(&report.target.name), report.verdict()));
    output.add(&counts(report));
    let problems = problems(view, judged);
    let of = |severity: DisplaySeverity| {
        let of: Vec<_> = problems.iter().filter(|problem| problem.severity == severity).collect();
        let by_check = of.chunk_by(|one, other| std::ptr::eq(one.result, other.result));
        by_check.map(|problems| check_block(view, problems)).collect::<Vec<_>>()
    };
    of(DisplaySeverity::Error).iter().for_each(|block| output.add(block));
    let warnings = of(DisplaySeverity::Warning);
    output.add_details(&counted(warnings.len(), "warning"), &warnings);
    let waived = of(DisplaySeverity::Waived);
    output.add_details(&format!("{} waived", counted(waived.len(), "check")), &waived);
    let (summary, unverified) = unverified(view, report);
    output.add_details(&summary, &unverified);
    let explored =
        report.coverage.iter().map(|coverage| format!("Explored: {}", coverage::summary(coverage)));
    let facts: Vec<String> = explored.chain(principles(report)).collect();
    output.add_details("Principles and coverage", &facts);
    let notes: Vec<String> = coverage::notes(report).map(|note| format!("- {}", prose(&note))).collect();
    let blocks: Vec<String> = notes.chunks(20).map(|notes| notes.join("\n")).collect();
    output.add_details(&counted(notes.len(), "note"), &blocks);
}

/// Returns the counts of verdicts and runs.
fn counts(report: &Report) -> String {
    let runs = (report.runs > 0).then(|| counted(report.runs, "run"));
    let interrupted = report.interrupted.then(|| "interrupted".to_owned());
    let edition = format!("edition {}", report.edition.name());
    let all: Vec<String> =
        report.summary.counts().into_iter().chain(runs).chain(interrupted).chain([edition]).collect();
    if report.results.is_empty() { "No checks".to_owned() } else { all.join(" · ") }
}

/// Returns a table with the counts of verdicts per principle; `None` if there is only one principle.
fn principles(report: &Report) -> Option<String> {
    let principles = report.by_principle();
    let rows = principles.iter().map(|(principle, summary)| {
        format!("| {principle} {} | {} |\n", principle_title(*principle), summary.counts().join(", "))
    });
    let table = || format!("| Principle | Checks |\n| --- | --- |\n{}", rows.collect::<String>().trim_end());
    (principles.len() > 1).then(table)
}

/// Returns a check with its problems.
fn check_block(view: &ReportView<'_>, problems: &[&ReportedProblem<'_>]) -> String {
    let [first, ..] = problems else { return String::new() };
    let result = first.result;
    let level = result.level.name().to_uppercase();
    let id = page(result).map_or_else(|| result.id.to_string(), |page| format!("[{}]({page})", result.id));
    let mut block = format!("**{id}** ({level}): {}\n", prose(result.text()));
    let places = distinct_places(view, problems);
    for (place, excerpt, more) in places.iter().take(MAX_PROBLEMS) {
        let more = if *more > 0 { format!(", and in {}", counted(*more, "more run")) } else { String::new() };
        let line = format!("{place}{more}");
        if !line.is_empty() {
            block.push_str(&format!("\n- {line}\n"));
        }
        if !excerpt.is_empty() {
            block.push_str(&format!("\n{excerpt}"));
        }
    }
    let more = places.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        block.push_str(&format!("\n- and {more} more\n"));
    }
    block.push_str(&format!("\nHelp: {}", prose(first.help)));
    block
}

/// Returns the places of problems, each with its excerpt and the number of further runs with the same place and excerpt.
fn distinct_places(view: &ReportView<'_>, problems: &[&ReportedProblem<'_>]) -> Vec<(String, String, usize)> {
    let mut places: Vec<(String, String, usize)> = Vec::new();
    for problem in problems {
        let place = place(view, problem);
        let evidence = problem.evidence;
        let excerpt =
            evidence.and_then(|evidence| Some(fenced(evidence.excerpt.as_deref()?, evidence.caret)));
        let excerpt = excerpt.unwrap_or_default();
        match places.iter_mut().find(|(known, shown, _)| (known, shown) == (&place, &excerpt)) {
            Some((_, _, more)) => *more += 1 + problem.more,
            None => places.push((place, excerpt, problem.more)),
        }
    }
    places
}

/// Returns where a problem is, and what is wrong there.
fn place(view: &ReportView<'_>, problem: &ReportedProblem<'_>) -> String {
    let file = problem.file(view).map(|file| {
        let line = problem.evidence.and_then(|evidence| evidence.line);
        line.map_or(file.clone(), |line| format!("{file}:{line}"))
    });
    let what = file.or_else(|| problem.command.clone()).map(|what| code(&sanitize_to_line(&what)));
    let place = problem.place().map(|place| format!(" ({place})")).unwrap_or_default();
    // Omits a detail that repeats the message of the check.
    let detail = problem.evidence.map(|evidence| evidence.detail.as_str());
    let detail =
        detail.filter(|detail| !detail.is_empty() && !problem.result.message.starts_with(detail)).map(prose);
    let what = what.map(|what| format!("{what}{place}"));
    what.into_iter().chain(detail).collect::<Vec<_>>().join(": ")
}

/// Returns the number of unverified checks in words, and a block with the checks, grouped by reason.
fn unverified(view: &ReportView<'_>, report: &Report) -> (String, Vec<String>) {
    let Undecided { waiting, causes, reasons } = report.undecided();
    let mut lines = Vec::new();
    let ids = |results: &[&CheckResult]| {
        results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    for (reason, results) in reasons {
        lines.push(format!("- {}: {}", ids(&results), prose(&reason)));
    }
    if !waiting.is_empty() {
        let causes: Vec<&str> = causes.iter().map(|id| id.as_str()).collect();
        lines.push(format!("- {}: blocked by {}", ids(&waiting), causes.join(", ")));
    }
    let strict = undecided(view, report).len();
    let strict =
        if strict > 0 { format!(" ({strict} MUST, which --strict does not accept)") } else { String::new() };
    let summary = format!("{} unverified{strict}", report.summary.unverified);
    (summary, if lines.is_empty() { Vec::new() } else { vec![lines.join("\n")] })
}

/// Sanitizes text and cuts it to one line of limited length.
fn sanitize_to_line(text: &str) -> String {
    sanitize::sanitize_capped(shorten_to_line(text), MAX_TEXT)
}

/// Formats a sentence so that no text of a target becomes markup, a link, a mention or a reference: text in
/// backticks, and each word with special characters, becomes code.
fn prose(text: &str) -> String {
    let text = sanitize_to_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    // Each second part is code, unless its closing backtick is missing.
    let is_code = |at: usize| at % 2 == 1 && at + 1 < parts.len();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let words: Vec<String> = match is_code(at) {
            true => vec![code(part)],
            false => part.split(' ').map(word_or_code).collect(),
        };
        let words = words.join(" ");
        // Two adjacent code spans would be one.
        if out.ends_with('`') && words.starts_with('`') {
            out.push(' ');
        }
        out.push_str(&words);
    }
    out.trim().to_owned()
}

/// Returns a word unchanged if it has no meaning in Markdown and on code hosting sites, else as a code span.
fn word_or_code(word: &str) -> String {
    let end = word.trim_end_matches([',', '.', ';', ':', ')']).len();
    let start = end - word[..end].trim_start_matches('(').len();
    let body = &word[start..end];
    let is_harmless = |c: char| c.is_alphanumeric() || !c.is_ascii() || "-/'\"+,.;?%()".contains(c);
    let is_link = ["www.", "gh-"].iter().any(|start| body.to_lowercase().contains(start));
    if body.chars().all(is_harmless) && !is_link {
        return word.to_owned();
    }
    format!("{}{}{}", &word[..start], code(body), &word[end..])
}

/// Formats text as a code span; empty text stays empty.
fn code(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Formats `excerpt` as a code block. With a caret, the next line has a `^` below the character with this index.
fn fenced(excerpt: &str, caret: Option<usize>) -> String {
    let byte = excerpt.char_indices().nth(caret.unwrap_or(0)).map_or(excerpt.len(), |(at, _)| at);
    let (line, at) = sanitize::excerpt(excerpt, byte, MAX_EXCERPT);
    let pad: usize = line.chars().take(at).map(char_width).sum();
    let caret = caret.map_or_else(String::new, |_| format!("  {}^\n", " ".repeat(pad)));
    let line = expand_tabs(&line);
    let fence = "`".repeat((longest_run(&line) + 1).max(3));
    format!("  {fence}text\n  {line}\n{caret}  {fence}\n")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
