//! The renderer of text: problems, each with the call that shows it and its fix, then unverified checks, then counts.

mod excerpt;
mod listing;
mod page;
mod problem;
mod targets;

use super::coverage;
use super::root_cause;
use super::view::ReportView;
use crate::check::Judged;
use crate::report::{ReportSummary, Undecided};
use agentnative_contract::counted;
use agentnative_contract::error::Result;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{CheckResult, Layer, Status};
use agentnative_output::{Page, StyledText, Tone};
use page::{Detail, ReportPage, tone};
use strict_json::sanitize;

/// Maximum number of checks that are named with the same reason; more are counted.
const MAX_NAMED: usize = 3;
/// Preferred maximum number of lines; a longer report shows less of each problem.
const MAX_LINES: usize = 40;
/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 240;

pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let mut page = Page::new(&view.config);
    show(view, &mut page);
    Ok(agentnative_output::sanitize_output(&page.finish(), view.config.color_stdout))
}

pub(super) fn show(view: &ReportView<'_>, page: &mut Page) {
    for judged in view.judged.iter().filter(|_| targets::shows_each(view)) {
        page.blank();
        let toolkit = judged.toolkit();
        let (folder, verbose) = (view.folder, view.verbose);
        let shown = |detail: Detail| {
            let mut page = Page::new(page.config());
            ReportPage { page: &mut page, judged, toolkit, folder, verbose, detail }.show();
            page.finish()
        };
        let mut text = shown(Detail::Spaced);
        for detail in Detail::SHORTER {
            if verbose || text.lines().count() <= MAX_LINES {
                break;
            }
            text = shown(detail);
        }
        page.text(&text);
    }
    targets::table(view, page);
}

impl<'p> ReportPage<'p> {
    fn show(mut self) {
        let report = &self.judged.report;
        if !self.page.config().quiet {
            self.header();
        }
        if self.verbose {
            listing::listing(self.page, report);
            listing::commands(self.page, report);
        }
        let with_status = |status| report.results.iter().filter(move |result| result.status == status);
        let is_declared_lack =
            |result: &&CheckResult| !self.verbose && root_cause::declared_lacks(result).is_some();
        let all = with_status(Status::Fail).chain(with_status(Status::Warn));
        let (lacks, problems): (Vec<_>, Vec<_>) = all.partition(is_declared_lack);
        self.page.blank();
        let groups = match self.verbose {
            true => problems.iter().map(|problem| vec![*problem]).collect(),
            false => root_cause::by_root_cause(&problems),
        };
        let is_named = |group: &&Vec<&CheckResult>| {
            self.detail >= Detail::NamedWarnings && group[0].status == Status::Warn
        };
        let (named, shown): (Vec<_>, Vec<_>) = groups.iter().partition(is_named);
        for group in shown {
            problem::problem(&mut self, group);
            if self.detail == Detail::Spaced {
                self.page.blank();
            }
        }
        let named: Vec<&str> = named.iter().map(|group| group[0].id.as_str()).collect();
        if !named.is_empty() {
            problem::warnings(&mut self, &named);
        }
        problem::show_declared_lacks(&mut self, &lacks);
        if !self.verbose {
            self.page.blank();
            self.undecided();
        }
        self.page.blank();
        self.notes();
        self.coverage();
        self.principles();
        self.verdict();
    }

    /// Shows the target, the selected principles and the number of runs.
    fn header(&mut self) {
        let report = &self.judged.report;
        let target = &report.target;
        // A word with a NUL byte cannot be quoted; the sanitizer makes it readable.
        let words = target.command.iter().map(String::as_str);
        let command = shlex::try_join(words).unwrap_or_else(|_| target.command.join(" "));
        let mut facts = vec![if command.is_empty() {
            target.project.clone().unwrap_or_default()
        } else {
            self.command(&command)
        }];
        let principles: Vec<u8> = report.by_principle().keys().copied().collect();
        match &*principles {
            [] => {}
            [one] => facts.push(format!("principle {one}")),
            [first, .., last] if usize::from(last - first) + 1 == principles.len() => {
                facts.push(format!("principles {first}–{last}"));
            }
            many => {
                let many: Vec<String> = many.iter().map(u8::to_string).collect();
                facts.push(format!("principles {}", many.join(", ")));
            }
        }
        facts.push(format!("edition {}", report.edition.name()));
        if let Some(recording) = &self.judged.recording {
            facts.push(counted(recording.probes.iter().filter(|probe| probe.is_declared()).count(), "probe"));
        }
        facts.extend(report.coverage.as_ref().map(|coverage| {
            format!("{} ({} kept)", counted(coverage.calls.made, "explored call"), coverage.kept)
        }));
        facts.push(counted(report.runs, "run"));
        facts.extend(self.judged.elapsed.map(|elapsed| format!("{:.1} s", elapsed.as_secs_f64())));
        let facts = StyledText::dim(format!("  {}", facts.join(" · ")));
        self.page.flow(0, 2, &[StyledText::strong(&target.name), facts], None);
    }

    /// Shows the unverified checks, one line per cause.
    fn undecided(&mut self) {
        let Undecided { waiting, causes, reasons } = self.judged.report.undecided();
        if self.judged.report.interrupted {
            return;
        }
        if self.detail >= Detail::CountedUndecided && reasons.len() + usize::from(!waiting.is_empty()) > 1 {
            let open = counted(self.judged.report.summary.unverified, "check");
            let text = format!("{open} unverified: --verbose shows what to declare");
            self.page.flow(0, 4, &[StyledText::new(Tone::Hint, "? "), StyledText::plain(&text)], None);
            return;
        }
        for (reason, results) in reasons {
            self.unverified(&results, &reason);
        }
        let pass = if causes.len() == 1 { "passes" } else { "pass" };
        let causes: Vec<&str> = causes.iter().map(|id| id.as_str()).collect();
        let open = format!("can be decided once {} {pass}", causes.join(", "));
        match waiting.len() {
            0 => {}
            1 => self.unverified(&waiting, &open),
            many => {
                let text = format!("{many} checks {open}");
                self.page.flow(0, 4, &[StyledText::new(Tone::Hint, "? "), StyledText::plain(&text)], None);
            }
        }
    }

    /// Shows the checks that are unverified for the same reason.
    fn unverified(&mut self, results: &[&CheckResult], reason: &str) {
        let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
        let name = if ids.len() > MAX_NAMED { counted(ids.len(), "check") } else { ids.join(", ") };
        let cells = [
            StyledText::new(Tone::Hint, "? "),
            StyledText::strong(name),
            StyledText::plain(format!("  {}", sanitize::sanitize_capped(reason, MAX_REASON))),
        ];
        if !ids.is_empty() {
            self.page.flow(0, 4, &cells, None);
        }
    }

    /// Returns how many runs were made and how many checks are undecided, if a signal interrupted the runs; else
    /// `None`.
    fn interruption(&self) -> Option<String> {
        let Judged { report, recording, .. } = self.judged;
        let planned = recording.as_ref().and_then(|recording| recording.planned);
        let runs = planned.map_or_else(
            || counted(report.runs, "run"),
            |planned| format!("{} of {}", report.runs, counted(planned, "run")),
        );
        let open = counted(report.summary.unverified, "check");
        report.interrupted.then(|| format!("after {runs}: {open} undecided"))
    }

    fn notes(&mut self) {
        let report = &self.judged.report;
        for note in coverage::notes(report) {
            self.page.labelled(0, &StyledText::new(Tone::Hint, "note: "), note);
        }
        if let Some(text) = self.interruption() {
            self.page.labelled(0, &StyledText::new(Tone::Warn, "interrupted: "), text);
        }
        let behavioral = report.results.iter().any(|result| result.layer == Layer::Behavioral);
        if report.runs == 0 && behavioral {
            self.page.labelled(
                0,
                &StyledText::new(Tone::Error, "nothing was run: "),
                "no verdict is based on a run",
            );
        }
    }

    /// Shows what the exploration found and tried.
    fn coverage(&mut self) {
        if let Some(coverage) = self.judged.report.coverage.as_ref().filter(|_| !self.page.config().quiet) {
            self.page.labelled(0, &StyledText::plain("explored: "), coverage::summary(coverage));
        }
    }

    /// Shows the counts of verdicts per principle, if there are several principles.
    fn principles(&mut self) {
        let principles = self.judged.report.by_principle();
        if principles.len() < 2 || self.page.config().quiet {
            return;
        }
        let rows = principles.iter().map(|(principle, summary)| {
            let name = format!("{principle}  {}", principle_title(*principle));
            // Counts of checks that do not apply are shown only if there are no others.
            let decided = ReportSummary { not_applicable: 0, ..*summary }.counts();
            let counts = if decided.is_empty() { summary.counts() } else { decided };
            vec![StyledText::dim(name), StyledText::plain(counts.join(", "))]
        });
        self.page.table(0, rows);
        self.page.blank();
    }

    /// Shows the overall verdict and the counts.
    fn verdict(&mut self) {
        let report = &self.judged.report;
        let tone = tone(report);
        let number = &report.summary;
        let counts = report.counts().join(", ");
        let colon = if counts.is_empty() { "" } else { ": " };
        let cells = [StyledText::new(tone, report.verdict()), StyledText::plain(format!("{colon}{counts}"))];
        let hidden = !self.verbose && !self.page.config().quiet && !report.results.is_empty();
        let problems = hidden && number.fail + number.warn > 0;
        let hint = StyledText::dim("--verbose lists everything");
        self.page.flow(0, 0, &cells, Some(&hint).filter(|_| hidden && !problems));
        if problems {
            let explain = StyledText::dim("agentnative explain ID explains a problem,");
            self.page.flow(0, 0, &[explain, StyledText::plain(" "), hint], None);
        }
    }
}
