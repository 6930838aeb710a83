//! `agentnative outcome --each`: summarizes each file as a separate run.

use super::data_files_args::{UnreadableFile, read_each};
use super::outcome_words::{facts, unrecognised, verdict};
use agentnative_contract::error::Result;
use agentnative_contract::{DataFile, UnreadablePath, counted};
use agentnative_outcome::{Collector, Metrics, OutcomeOptions, Quantity, RunOutcome};
use agentnative_output::{Output, Page, StyledText};
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// The outcomes of several runs.
#[derive(Serialize, JsonSchema)]
pub(super) struct Outcomes {
    /// The runs, one per file, in the order of the files.
    runs: Vec<RunOfFile>,
    /// The files that could not be read.
    unreadable: Vec<UnreadableFile>,
    /// Totals of all runs.
    summary: OutcomeSummary,
}

/// The outcome of the run in a file.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunOfFile {
    /// The file; "-" for stdin. Bytes of its name that are not UTF-8 are written as `\xNN`.
    file: String,
    /// The outcome of the run.
    outcome: RunOutcome,
}

/// Totals of several runs.
#[derive(Serialize, JsonSchema, Default)]
pub(super) struct OutcomeSummary {
    /// Number of runs.
    runs: u64,
    /// Number of runs that succeeded.
    succeeded: u64,
    /// Number of runs that failed.
    failed: u64,
    /// Number of files that could not be read.
    unreadable: usize,
    /// Number of tool calls.
    tool_calls: u64,
    /// Durations in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<Total>,
    /// Input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<Total>,
    /// Output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<Total>,
    /// Costs in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Total>,
}

/// A sum over the runs that report a value.
#[derive(Serialize, JsonSchema, Clone, Copy)]
pub(super) struct Total {
    /// The sum.
    sum: Quantity,
    /// Number of runs that report the value.
    runs: u64,
}

/// A line of `outcome --each --output jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum OutcomeLine<'a> {
    Run(&'a RunOfFile),
    Unreadable(&'a UnreadableFile),
    Summary(&'a OutcomeSummary),
}

pub(super) fn run(
    paths: Vec<Result<PathBuf, UnreadablePath>>,
    jobs: Option<u8>,
    options: &OutcomeOptions,
    output: &mut Output,
) -> Result<()> {
    let (mut runs, mut summary) = (Vec::new(), OutcomeSummary::default());
    let summarize = |file: DataFile, _: usize, progress: &mut dyn FnMut(u64)| {
        let collector = Collector::new(options.clone());
        collector.read(file.reader, "")?;
        progress(file.length.unwrap_or_default());
        let outcome = collector.outcome().map_err(|error| io::Error::other(unrecognised(&error)))?;
        Ok(RunOfFile { file: file.name, outcome })
    };
    let (unreadable, error) = read_each(paths, jobs, output, summarize, |_, run, output| {
        summary.add(&run.outcome);
        output.stream([OutcomeLine::Run(&run)], |page| show(&run, page))?;
        runs.push(run);
        Ok(())
    })?;
    summary.unreadable = unreadable.len();
    if runs.is_empty()
        && let Some(error) = error
    {
        return Err(error);
    }
    let outcomes = Outcomes { runs, unreadable, summary };
    let lines = outcomes
        .unreadable
        .iter()
        .map(OutcomeLine::Unreadable)
        .chain([OutcomeLine::Summary(&outcomes.summary)]);
    output.emit_records("outcome", error.is_none(), &outcomes, lines, |page| {
        page.text(&outcomes.summary.text())
    })?;
    error.map_or(Ok(()), Err)
}

impl OutcomeSummary {
    fn add(&mut self, outcome: &RunOutcome) {
        self.runs += 1;
        *(if outcome.success { &mut self.succeeded } else { &mut self.failed }) += 1;
        self.tool_calls += outcome.tool_calls.len() as u64;
        let Metrics { duration_ms, input_tokens, output_tokens, cost, .. } =
            outcome.metrics.clone().unwrap_or_default();
        for (total, value) in [
            (&mut self.duration_ms, duration_ms),
            (&mut self.input_tokens, input_tokens),
            (&mut self.output_tokens, output_tokens),
            (&mut self.cost, cost),
        ] {
            if let Some(Quantity(value)) = value {
                let before = total.unwrap_or(Total { sum: Quantity(0.0), runs: 0 });
                // JSON cannot represent an infinite number.
                let sum = (before.sum.0 + value).clamp(f64::MIN, f64::MAX);
                *total = Some(Total { sum: Quantity(sum), runs: before.runs + 1 });
            }
        }
    }

    fn text(&self) -> String {
        let mut text =
            format!("{}: {} succeeded, {} failed", counted(self.runs, "run"), self.succeeded, self.failed);
        if self.unreadable > 0 {
            text.push_str(&format!("; {} unreadable", counted(self.unreadable as u64, "file")));
        }
        let coverage = |total: Total| match total.runs == self.runs {
            true => String::new(),
            false => format!(" (in {})", counted(total.runs, "run")),
        };
        if let Some(total) = self.cost {
            text.push_str(&format!("; ${}{}", total.sum.0, coverage(total)));
        }
        text
    }
}

fn show(run: &RunOfFile, page: &mut Page) {
    let (word, tone) = verdict(&run.outcome);
    let mut cells = vec![StyledText::new(tone, word), StyledText::plain(format!("  {}", run.file))];
    let detail = run.outcome.error.clone().unwrap_or_else(|| facts(&run.outcome).join(" · "));
    if !detail.is_empty() {
        cells.push(StyledText::dim(format!("  {}", detail.lines().next().unwrap_or_default())));
    }
    page.line(0, &cells);
}
