//! Checks of how a failing run reports the reason.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{
    Misplaced, NO_FAILURE, SILENCE_HINT, declare_failure, difference, display_exit, error_object,
    fails_anyway, find_invalid_stdout, is_repeated, not_a_failure, stderr_repeats_stdout,
};
use crate::lines::has_words;
use crate::verdict::{Assertion, Judgement, Unmet, doubt, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CallOutcome, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_diff::shape::Shape;

/// Judges `p2-stderr-diagnostics`: a failing run reports the reason on stderr, in every format, and not on stdout.
pub fn diagnostics(context: &CheckContext) -> Judgement {
    let assertions = failing(context)
        .flat_map(|run| unless_rejected_for_format(&run, |run| vec![judge_diagnostics(run)]))
        .map(|assertion| unless_doubtful(context, assertion, &["silent", "on-stdout"]));
    Judgement::from_assertions(
        assertions.chain(missing_evidence(context, &OutputFormat::ALL)),
        declare_failure(""),
    )
}

/// Returns the assertion about an explored call, or a doubt if it has one of the `doubtful` kinds. A call that was not
/// meant to fail may print a result, or nothing, on purpose.
fn unless_doubtful(context: &CheckContext, assertion: Assertion, doubtful: &[&str]) -> Assertion {
    let is_certain = |call: &Probe| call.has_outcome(CallOutcome::Invalid);
    match context.explored_call() {
        Some(call) if !is_certain(call) => {
            doubt(assertion, |finding| !doubtful.contains(&&*finding.evidence.kind))
        }
        _ => assertion,
    }
}

/// Judges `p2-error-json`: in JSON mode, an error is one JSON object with error, kind and message.
pub fn error_json(context: &CheckContext) -> Judgement {
    // The configuration may have to declare formats; an explored target has those of its help.
    if context.exploration.is_some()
        && let Some(judgement @ Judgement::NotApplicable(_)) =
            context.judge_without_formats(&[OutputFormat::Json, OutputFormat::Jsonl])
    {
        return judgement;
    }
    let assertions = failing(context)
        .filter(|run| run.format().is_json())
        .flat_map(|run| unless_rejected_for_format(&run, error_object))
        .map(|assertion| unless_doubtful(context, assertion, &["not-object"]));
    let missing_evidence = missing_evidence(context, &[OutputFormat::Json, OutputFormat::Jsonl]);
    Judgement::from_assertions(assertions.chain(missing_evidence), declare_failure("json or jsonl"))
}

/// Returns an inconclusive assertion if no declared probe fails in one of the formats that the target supports. Invalid
/// usage is not sufficient: it shows how arguments are parsed, and not how the target's own work fails.
fn missing_evidence(context: &CheckContext, formats: &[OutputFormat]) -> Option<Assertion> {
    let fails_in = |format| {
        let mut declared = context.failing_probes().filter(|probe| probe.is_source());
        declared.any(|probe| context.plain_run(probe, format).is_some())
    };
    let has_data_in = |format: &OutputFormat| {
        !matches!(context.format_support(*format), FormatSupport::No(_))
            && context.data_probes().any(|probe| probe.formats.contains(format))
    };
    let supported: Vec<OutputFormat> = formats.iter().copied().filter(has_data_in).collect();
    let missing: Vec<&str> = match supported.is_empty() {
        true if formats.iter().any(|format| fails_in(*format)) => Vec::new(),
        true => formats.iter().map(|format| format.name()).collect(),
        false => supported.into_iter().filter(|format| !fails_in(*format)).map(OutputFormat::name).collect(),
    };
    let fails = context.sources().any(|probe| !probe.prints_data());
    (!missing.is_empty()).then(|| match fails {
        true => inconclusive(format!(
            "no probe fails in {}: {}",
            missing.join(", "),
            declare_failure("these formats")
        )),
        false => inconclusive(NO_FAILURE),
    })
}

/// Judges a run with `judge`, unless the target rejected the run because of its format flag. Such a run proves nothing:
/// it is ignored if a declared probe fails in the same format, and inconclusive otherwise.
fn unless_rejected_for_format(run: &RunView, judge: fn(&RunView) -> Vec<Assertion>) -> Vec<Assertion> {
    if !run.is_rejected_for_format() {
        let with_hint = |assertion: Assertion| assertion.map_err(|unmet| with_outcome_hint(run, unmet));
        return judge(run).into_iter().map(with_hint).collect();
    }
    let declared = run
        .context
        .failing_probes()
        .any(|probe| probe.is_source() && run.context.plain_run(probe, run.format()).is_some());
    let flag_args = run.probe.format_args(run.format(), run.context.profile).join(" ");
    if declared {
        return Vec::new();
    }
    let missing = declare_failure("json or jsonl");
    vec![inconclusive(format!("the target accepts `{flag_args}` only after a command: {missing}"))]
}

impl RunView<'_> {
    /// True if a call with invalid usage was rejected because of its format flag, and not because of the invalid word.
    /// Programs with subcommands may accept `--output json` only after a subcommand.
    ///
    /// In text, the message names the invalid word. In this JSON format, the message does not name the word, and either
    /// is not JSON or names the format flag, which the help does not list as a global option.
    pub fn is_rejected_for_format(&self) -> bool {
        if self.probe.is_source() || !self.format().is_json() {
            return false;
        }
        let Some(wrong) = self.probe.call.args.last() else { return false };
        let profile = self.context.profile;
        let text = self.context.plain_run(self.probe, OutputFormat::Text);
        let option = self.probe.format_args(self.format(), profile).first();
        let names_option = || !profile.global_format && option.is_some_and(|option| self.mentions(option));
        text.is_some_and(|text| text.mentions(wrong))
            && !self.mentions(wrong)
            && (self.scan_as_document(profile.conventions.errors).first_structural_problem().is_some()
                || names_option())
    }
}

/// Returns the plain runs that show how the target reports failures: those of declared probes that are expected to fail,
/// and those of derived calls with invalid usage.
///
/// A derived call that succeeds, or that ends like a call without arguments, is omitted. Exception: if no declared probe
/// fails, an accepted unknown flag is included.
fn failing<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    let declared = context.failing_probes().any(Probe::is_source);
    let counts = move |run: &RunView| {
        let failed = run.exit().is_some_and(|exit| exit != 0);
        failed || run.probe.is_source() || !declared && !run.probe.is_kind(DerivedKind::UnknownCommand)
    };
    context
        .failing_probes()
        .flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)))
        .filter_map(|(probe, format)| context.run(probe, format, Variant::Plain, 0))
        .filter(counts)
        .filter(|run| !fails_anyway(context, run.probe))
        // A derived probe has no flag for text, so another default format may be printed.
        .filter(|run| {
            let text = context.profile.conventions.default_format == OutputFormat::Text;
            text || run.format().is_json() || run.probe.is_source()
        })
}

/// Adds a hint to the failure of a run that printed complete JSON with the shape of a success. Its exit code may be an
/// outcome and not an error: the hint says to declare `result = true`.
fn with_outcome_hint(run: &RunView, unmet: Unmet) -> Unmet {
    let Unmet::Failed(mut finding) = unmet else { return unmet };
    let context = run.context;
    let like_data = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(|format| {
        let Some(failed) = context.plain_run(run.probe, format).filter(RunView::has_values) else {
            return false;
        };
        let data = context.data_probes().filter_map(|probe| context.plain_run(probe, format));
        let mut data = data.filter(|data| data.gave_data() && data.has_values());
        data.any(|data| is_like(&data.scan().shape, &failed.scan().shape))
    });
    if let Some(exit) = run.exit().filter(|_| like_data && run.probe.is_declared()) {
        let hint = format!(
            "; its JSON output has the shape of a success: if exit code {exit} is an outcome and not an error, declare `result = true` for `{}`",
            run.probe.name
        );
        finding.message.push_str(&hint);
        finding.evidence.detail.push_str(&hint);
    }
    Unmet::Failed(finding)
}

/// True if `value` has the structure of `data`, including all keys that are always present in `data`.
fn is_like(data: &Shape, value: &Shape) -> bool {
    let mut always = data.members().filter(|(_, member)| member.count() == data.object_count());
    difference(data, value).is_none() && always.all(|(key, _)| value.member(key).is_some())
}

/// Passes if a failing run prints the reason to stderr, and no part of it to stdout. In JSON formats, only text on
/// stdout is a failure here: [`error_object`] validates the error object.
fn judge_diagnostics(run: &RunView) -> Assertion {
    let text = run.format() == OutputFormat::Text;
    // Text is judged without knowing which formats are supported.
    if let Some(reason) = not_a_failure(run).filter(|_| !text || run.exit().is_none_or(|exit| exit == 0)) {
        return Err(reason.into());
    }
    let (stdout, stderr) = (run.bytes(Stream::Stdout), run.bytes(Stream::Stderr));
    if !text {
        return match find_invalid_stdout(run) {
            Some(Misplaced { problem, is_prose: true })
                if run.context.profile.conventions.errors == Stream::Stderr =>
            {
                let detail = match stderr.is_empty() || stderr_repeats_stdout(run) {
                    true => {
                        "a failing run prints text to stdout; expected its diagnostics on stderr".to_owned()
                    }
                    false => format!(
                        "a failing run prints text to stdout in addition to its error on stderr; {SILENCE_HINT}"
                    ),
                };
                let lines = run.lines(Stream::Stdout).unwrap_or_default();
                let at = problem.position.line as usize - 1;
                // A frame around the words is not a message.
                match (at..lines.len()).find(|line| has_words(&lines[*line])) {
                    Some(line) if line != at => {
                        run.failed_at_line("prose-on-stdout", Stream::Stdout, line, detail)
                    }
                    _ => run.failed_at("prose-on-stdout", Stream::Stdout, problem.position, detail),
                }
            }
            _ => Ok(()),
        };
    }
    if stderr.is_empty() {
        return if stdout.is_empty() {
            run.failed_at_reason(
                "silent",
                Stream::Stderr,
                format!(
                    "the command exits with {} and prints no reason; expected a message on stderr",
                    display_exit(run.exit())
                ),
            )
        } else {
            let detail = "a failing run reports its reason on stdout; expected it on stderr";
            run.failed_at_reason("on-stdout", Stream::Stdout, detail)
        };
    }
    let (Some(stderr_lines), Some(out)) = (run.lines(Stream::Stderr), run.lines(Stream::Stdout)) else {
        return inconclusive(format!("the output of {} is too large to compare", run.label()));
    };
    match out.iter().position(|line| is_repeated(line, &stderr_lines)) {
        Some(line) => {
            let detail = "a line of the diagnostics is on stdout as well; expected it only on stderr";
            run.failed_at_line("repeated-on-stdout", Stream::Stdout, line, detail)
        }
        None => Ok(()),
    }
}
