//! The renderer of `markdown`: a comment for a pull request, or the summary of a CI step. It is short enough
//! for both whatever the report holds.

use super::finding::{Finding, Weight, findings, page, short, undecided};
use super::view::View;
use crate::check::Judged;
use crate::report::{Report, Undecided};
use agentnative_contract::counted;
use agentnative_contract::error::Result;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::CheckResult;
use agentnative_output::{columns, expand_tabs, gate};
use strict_json::sanitize;

/// A comment of GitHub may have 65,536 characters; this is in bytes, and the sentence on what is left out
/// comes to it.
const MAX_BYTES: usize = 64_000;
/// Faults of one check that are shown.
const MAX_FAULTS: usize = 3;
/// A longer sentence or name is cut, in characters.
const MAX_TEXT: usize = 600;
/// The part of a line that is shown around a fault, in characters.
const MAX_EXCERPT: usize = 120;
/// The last line, where there is something to explain.
const EXPLAIN: &str = "`agentnative explain ID` explains a check.";

/// The page.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let mut sheet = Sheet::default();
    if view.judged.len() > 1 {
        let rows = view.judged.iter().map(|Judged { report, .. }| {
            format!("- {}: {} ({})", prose(&report.target.name), report.verdict(), counts(report))
        });
        let rows: Vec<String> = rows.collect();
        sheet.add(&format!("## agentnative · {} targets", rows.len()));
        rows.chunks(20).for_each(|rows| sheet.add(&rows.join("\n")));
    }
    view.judged.iter().for_each(|judged| target(view, judged, &mut sheet));
    if view.judged.iter().any(|judged| !judged.report.results.is_empty()) {
        sheet.text.push_str(&format!("\n{EXPLAIN}\n"));
    }
    Ok(gate(&sheet.finish(), false))
}

/// Blocks of a page, as many as fit.
#[derive(Default)]
struct Sheet {
    text: String,
    left_out: usize,
}

impl Sheet {
    /// Adds a block and an empty line before it, if there is room; after one that has none, none has.
    fn add(&mut self, block: &str) {
        if self.left_out > 0 || self.text.len() + block.len() + 2 > MAX_BYTES {
            self.left_out += 1;
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
    }

    /// The page, with the sentence on what is left out.
    fn finish(mut self) -> String {
        if self.left_out > 0 {
            let left = self.left_out;
            self.text
                .push_str(&format!("\nThe report is too long for a comment: {left} parts are left out.\n"));
        }
        self.text
    }
}

/// The part of a target.
fn target(view: &View<'_>, judged: &Judged, sheet: &mut Sheet) {
    let report = &judged.report;
    let name = prose(&report.target.name);
    sheet.add(&format!("## agentnative · {name}: {}", report.verdict()));
    sheet.add(&counts(report));
    if let Some(principles) = principles(report) {
        sheet.add(principles.trim_end());
    }
    let findings = findings(view, judged);
    for (weight, heading) in
        [(Weight::Error, "Failed"), (Weight::Warning, "Warnings"), (Weight::Waived, "Waived")]
    {
        let of: Vec<_> = findings.iter().filter(|finding| finding.weight == weight).collect();
        if !of.is_empty() {
            sheet.add(&format!("### {heading}: {name}"));
        }
        for faults in of.chunk_by(|one, other| std::ptr::eq(one.result, other.result)) {
            problem(view, faults, sheet);
        }
    }
    open(view, report, sheet);
    let notes: Vec<String> = report.notes.iter().map(|note| format!("- {}", prose(note))).collect();
    if !notes.is_empty() {
        sheet.add(&format!("### Notes: {name}"));
        notes.chunks(20).for_each(|notes| sheet.add(&notes.join("\n")));
    }
}

/// The numbers of verdicts and runs.
fn counts(report: &Report) -> String {
    let runs = (report.runs > 0).then(|| counted(report.runs, "run"));
    let interrupted = report.interrupted.then(|| "interrupted".to_owned());
    let edition = format!("edition {}", report.edition.name());
    let all: Vec<String> =
        report.summary.counts().into_iter().chain(runs).chain(interrupted).chain([edition]).collect();
    if report.results.is_empty() { "No checks".to_owned() } else { all.join(" · ") }
}

/// The numbers of each principle, where there are several.
fn principles(report: &Report) -> Option<String> {
    let principles = report.by_principle();
    let rows = principles.iter().map(|(principle, summary)| {
        format!("| {principle} {} | {} |\n", principle_title(*principle), summary.counts().join(", "))
    });
    let table = || rows.fold("| Principle | Checks |\n| --- | --- |\n".to_owned(), |table, row| table + &row);
    (principles.len() > 1).then(table)
}

/// A check with its faults.
fn problem(view: &View<'_>, faults: &[&Finding<'_>], sheet: &mut Sheet) {
    let [first, ..] = faults else { return };
    let result = first.result;
    let level = result.level.name().to_uppercase();
    let id = page(result).map_or_else(|| result.id.to_string(), |page| format!("[{}]({page})", result.id));
    let mut block = format!("**{id}** ({level}): {}\n", prose(result.text()));
    for fault in faults.iter().take(MAX_FAULTS) {
        let place = place(view, fault);
        if !place.is_empty() {
            block.push_str(&format!("\n- {place}\n"));
        }
        if let Some(evidence) = fault.evidence.filter(|evidence| evidence.excerpt.is_some()) {
            let excerpt = evidence.excerpt.as_deref().unwrap_or_default();
            block.push_str(&format!("\n{}", fenced(excerpt, evidence.caret)));
        }
    }
    let more = faults.len().saturating_sub(MAX_FAULTS);
    if more > 0 {
        block.push_str(&format!("\n- and {more} more\n"));
    }
    block.push_str(&format!("\nHelp: {}", prose(first.help)));
    sheet.add(&block);
}

/// Where a fault is, and what is wrong there.
fn place(view: &View<'_>, fault: &Finding<'_>) -> String {
    let file = fault.file(view).map(|file| {
        let line = fault.evidence.and_then(|evidence| evidence.line);
        line.map_or(file.clone(), |line| format!("{file}:{line}"))
    });
    let what = file.or_else(|| fault.command.clone()).map(|what| code(&cut(&what)));
    let place = fault.place().map(|place| format!(" ({place})")).unwrap_or_default();
    // What the message of the check says already is not said again.
    let detail = fault.evidence.map(|evidence| evidence.detail.as_str());
    let detail =
        detail.filter(|detail| !detail.is_empty() && !fault.result.message.starts_with(detail)).map(prose);
    let more = match fault.more {
        0 => String::new(),
        more => format!(", and in {}", counted(more, "more run")),
    };
    let what = what.map(|what| format!("{what}{place}"));
    what.into_iter().chain(detail).collect::<Vec<_>>().join(": ") + &more
}

/// What could not be decided, by reason.
fn open(view: &View<'_>, report: &Report, sheet: &mut Sheet) {
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
        lines.push(format!("- {}: waiting for {}", ids(&waiting), causes.join(", ")));
    }
    if lines.is_empty() {
        return;
    }
    let strict = undecided(view, report).len();
    let strict =
        if strict > 0 { format!(" ({strict} MUST, which --strict does not accept)") } else { String::new() };
    sheet.add(&format!("### Unverified: {}{strict}", prose(&report.target.name)));
    sheet.add(&lines.join("\n"));
}

/// Text in a safe line of limited length.
fn cut(text: &str) -> String {
    sanitize::capped(short(text), MAX_TEXT)
}

/// A sentence in which nothing of a target is markup, a link, a mention or a reference: what is in backticks, and
/// each word with characters that have a meaning, is code.
fn prose(text: &str) -> String {
    let text = cut(text);
    let parts: Vec<&str> = text.split('`').collect();
    // Each second part is code; without a backtick at its end, the last is not.
    let is_code = |at: usize| at % 2 == 1 && at + 1 < parts.len();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let words: Vec<String> = match is_code(at) {
            true => vec![code(part)],
            false => part.split(' ').map(word).collect(),
        };
        let words = words.join(" ");
        // Two spans side by side would be one.
        if out.ends_with('`') && words.starts_with('`') {
            out.push(' ');
        }
        out.push_str(&words);
    }
    out.trim().to_owned()
}

/// A word as it is, if Markdown and the sites that show it have no meaning for it, else as code.
fn word(word: &str) -> String {
    let end = word.trim_end_matches([',', '.', ';', ':', ')']).len();
    let start = end - word[..end].trim_start_matches('(').len();
    let body = &word[start..end];
    let harmless = |c: char| c.is_alphanumeric() || !c.is_ascii() || "-/'\"+,.;?%()".contains(c);
    let linked = ["www.", "gh-"].iter().any(|start| body.to_lowercase().contains(start));
    if body.chars().all(harmless) && !linked {
        return word.to_owned();
    }
    format!("{}{}{}", &word[..start], code(body), &word[end..])
}

/// A code span; nothing for nothing.
fn code(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The line that the evidence is in as a block of code, with the caret below it.
fn fenced(excerpt: &str, caret: Option<usize>) -> String {
    let byte = excerpt.char_indices().nth(caret.unwrap_or(0)).map_or(excerpt.len(), |(at, _)| at);
    let (line, at) = sanitize::excerpt(excerpt, byte, MAX_EXCERPT);
    let pad: usize = line.chars().take(at).map(columns).sum();
    let caret = caret.map_or_else(String::new, |_| format!("  {}^\n", " ".repeat(pad)));
    let line = expand_tabs(&line);
    let fence = "`".repeat((longest_run(&line) + 1).max(3));
    format!("  {fence}text\n  {line}\n{caret}  {fence}\n")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
