//! `p7-quiet`: with the quiet option, only data and errors are printed.

use super::same_data::{self, Comparison};
use crate::context::{CheckContext, RunView};
use crate::kit::{absent_feature, accepted_elsewhere, difference, ends_early};
use crate::lines::has_words;
use crate::verdict::{Assertion, Finding, Judgement, Reason, doubt, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FormatFlag};
use agentnative_core::model::{BlockedBy, CallOutcome, CheckId, Evidence, OutputFormat, Stream};
use agentnative_core::probe::Probe;

/// Judges `p7-quiet`: with the quiet option, a command prints only data and errors.
pub fn quiet(context: &CheckContext) -> Judgement {
    let (data, failures): (Vec<&Probe>, Vec<&Probe>) =
        context.sources().partition(|probe| probe.prints_data());
    let mut assertions: Vec<Assertion> = absent_option_failures(context);
    assertions.extend(absent_feature(
        context,
        DerivedKind::Quiet,
        "lists a quiet option",
        "fails",
        "refused",
    ));
    let is_family = context.is_family();
    if data.is_empty() && !is_family {
        assertions.push(inconclusive("declare a probe that succeeds"));
    }
    if failures.is_empty() && !is_family {
        // One reason for all checks of failures.
        assertions.push(inconclusive("no probe fails: declare one with its exit code, such as `exit = 1`"));
    }
    assertions.extend(data.into_iter().flat_map(|probe| quiet_runs(context, probe)).map(success));
    assertions.extend(
        failures.into_iter().flat_map(|probe| quiet_runs(context, probe)).filter_map(judge_quiet_failure),
    );
    let assertions = assertions.into_iter().map(|assertion| match context.explored_call() {
        Some(call) => doubt(assertion, |finding| is_fault(call, finding)),
        None => assertion,
    });
    Judgement::from_assertions(assertions, "declare `flags.quiet` under [target]")
}

/// True for a fault of an explored call, whose quiet option may have another meaning: printing nothing but an exit code,
/// or printing less.
fn is_fault(call: &Probe, finding: &Finding) -> bool {
    match finding.evidence.kind.as_str() {
        "no-data" => false,
        "other-data" => finding.evidence.format != Some(OutputFormat::Text),
        "silent-failure" => call.has_outcome(CallOutcome::Invalid),
        _ => true,
    }
}

/// Returns the runs of a probe with the quiet option. If the exit code of the first run shows that the option is
/// rejected, returns only this run.
fn quiet_runs<'a>(context: &'a CheckContext<'a>, probe: &'a Probe) -> Vec<RunView<'a>> {
    let calls = context.derived_from(DerivedKind::Quiet, probe);
    let mut runs: Vec<RunView> = calls.flat_map(|call| context.runs_of(call)).collect();
    if runs.first().is_some_and(|run| run.exit() != probe.exit) {
        runs.truncate(1);
    }
    runs
}

/// Returns a failure if the configuration has `flags.quiet = false`: one for the target, or one for each probe that has
/// this key.
fn absent_option_failures(context: &CheckContext) -> Vec<Assertion> {
    let finding = |probe: Option<&Probe>| {
        let (whose, where_) = match probe {
            Some(probe) => (format!("the probe {}", probe.name), "the command"),
            None => ("the configuration".to_owned(), "the target"),
        };
        let detail =
            format!("{whose} has `flags.quiet = false`: add a quiet option to {where_}, then remove the key");
        let probe = probe.map(|probe| probe.name.clone());
        Err(Finding::new("lacking", Evidence { probe, detail, ..Evidence::default() }).into())
    };
    if context.profile.conventions.flags.get(CommonOption::Quiet) == &FormatFlag::Absent {
        return vec![finding(None)];
    }
    let own = context
        .data_probes()
        .filter(|probe| probe.call.flags.get(&CommonOption::Quiet) == Some(&FormatFlag::Absent));
    own.map(|probe| finding(Some(probe))).collect()
}

/// Judges a run with the quiet option whose probe prints data: the data are the same as without the option, and stderr
/// is empty.
fn success(run: RunView) -> Assertion {
    let context = run.context;
    let Some(probe) = context.source_of(run.probe) else { return Ok(()) };
    let Some(plain) = context.plain_run(probe, run.format()) else {
        return inconclusive(format!("{} has no plain run to compare with", run.label()));
    };
    plain.usable()?;
    if run.format().is_json() {
        plain.parsed()?;
    }
    let exit = run.exited()?;
    if Some(exit) == probe.exit {
        prints_only_data(&run)?;
        same_as_plain(&run, &plain)?;
        return knows_quiet_option(&run, &plain, probe);
    }
    judge_rejection(&run, probe, exit)
}

/// Passes if the target knows the quiet option: the help lists it, it suppresses something, or an unknown flag is
/// rejected. Otherwise the target may ignore the option.
fn knows_quiet_option(run: &RunView, plain: &RunView, probe: &Probe) -> Assertion {
    let context = run.context;
    let is_listed = quiet_option(run).first().is_some_and(|option| context.profile.options.contains(option));
    let suppresses = !is_blank(plain, Stream::Stderr);
    let mut unknown = context.derived_from(DerivedKind::IgnoredFlag, probe);
    let accepted = unknown
        .find_map(|call| context.plain_run(call, OutputFormat::Text))
        .filter(|run| run.exit() == probe.exit);
    match accepted {
        Some(accepted) if !is_listed && !suppresses => {
            let what = format!("{} is no evidence: an unknown flag is accepted as well", run.label());
            inconclusive(accepted.blocked_by(CheckId::P4UnknownFlag, what))
        }
        _ => Ok(()),
    }
}

fn judge_rejection(run: &RunView, probe: &Probe, exit: i32) -> Assertion {
    let context = run.context;
    let option_words = option_words(run);
    let elsewhere = accepted_elsewhere(context, run.probe, DerivedKind::Quiet, CommonOption::Quiet);
    // An accepted option at another position is judged as well.
    let in_front = context.derived_from(DerivedKind::GlobalFlag, probe).find_map(|call| {
        let front = call.formats.iter().find_map(|format| context.plain_run(call, *format))?;
        (call.call.args.starts_with(quiet_option(run)) && front.exit() == probe.exit).then_some(front)
    });
    if let Some(front) = &in_front
        && let Some(plain) = context.plain_run(probe, front.format())
    {
        prints_only_data(front)?;
        same_as_plain(front, &plain)?;
    }
    match elsewhere {
        Some(place) if !context.profile.commands.is_empty() => {
            let id = CheckId::P6GlobalFlags;
            inconclusive(Reason {
                message: format!(
                    "`{option_words}` is rejected by {}, but accepted {place}: see {id}",
                    probe.name
                ),
                blocked_by: Some(BlockedBy { id, probe: Some(probe.name.clone()), format: None }),
                ..Reason::default()
            })
        }
        Some(_) => {
            // Without subcommands, the target chooses the position of options.
            match in_front {
                Some(_) => Ok(()),
                None => inconclusive(format!(
                    "`{option_words}` is rejected after the arguments of {}: mark the position of options with an element \"{{format}}\" in `args`",
                    probe.name
                )),
            }
        }
        None => {
            let detail = format!(
                "`{option_words}` is rejected: exit code {exit}, but {} without it (`flags.quiet` sets its name)",
                probe.exit.unwrap_or_default()
            );
            run.failed_at_reason("refused", Stream::Stderr, detail)
        }
    }
}

/// Returns the arguments of the quiet option in a call, such as `--quiet`.
fn quiet_option<'a>(run: &RunView<'a>) -> &'a [String] {
    run.probe.common_option(CommonOption::Quiet, run.context.profile).args().unwrap_or_default()
}

fn option_words(run: &RunView) -> String {
    quiet_option(run).join(" ")
}

fn is_blank(run: &RunView, stream: Stream) -> bool {
    run.lines(stream).is_some_and(|lines| lines.iter().all(|line| line.trim().is_empty()))
}

/// Passes if a run with the quiet option prints nothing to stderr. Also passes if its exit code is not 0: the run may
/// report a declared outcome there.
fn prints_only_data(run: &RunView) -> Assertion {
    if is_blank(run, Stream::Stderr) || run.exit() != Some(0) {
        return Ok(());
    }
    let detail = format!("stderr is not empty with `{}`", option_words(run));
    run.failed_at_start("noise", Stream::Stderr, detail)
}

/// Passes if the data of `run`, which has the quiet option, equal the data of `plain`. Values that change from run to
/// run are ignored.
fn same_as_plain(run: &RunView, plain: &RunView) -> Assertion {
    let format = run.format();
    let is_repetition =
        |other: &RunView| other.format() == format && other.is_repetition() && other.why_unusable().is_none();
    let again: Vec<RunView> = run.context.runs_of(plain.probe).filter(is_repetition).collect();
    let shape = &plain.scan().shape;
    if format.is_json() && again.iter().any(|other| difference(shape, &other.scan().shape).is_some()) {
        let what = format!("{} changes from run to run", plain.label());
        return Err(plain.blocked_by(CheckId::P2OutputStable, what).into());
    }
    let compared = match format {
        OutputFormat::Text => same_data::text(run, plain, &again),
        _ => same_data::values(
            run,
            plain,
            &again,
            run.probe.common_option(CommonOption::Quiet, run.context.profile),
        ),
    };
    if !matches!(compared, Comparison::Same | Comparison::TooLarge) {
        run.context.repeated_runs(plain.probe, format)?;
    }
    let option_words = option_words(run);
    match compared {
        Comparison::Pointer(_) if is_truncated(run, plain) => Err(run.truncation_reason().into()),
        Comparison::Same => Ok(()),
        Comparison::TooLarge => {
            inconclusive(format!("the output of {} is too large to compare", plain.label()))
        }
        Comparison::Empty => {
            run.failed("no-data", format!("stdout is empty with `{option_words}`, but not without it"))
        }
        Comparison::Line(line) => {
            let detail = format!("the data differ from those without `{option_words}`, first in this line");
            run.failed_at_line("other-data", Stream::Stdout, line, detail)
        }
        Comparison::Pointer(pointer) => {
            let place = if pointer.is_empty() { "the document" } else { &*pointer };
            let detail = format!("{place} differs from that without `{option_words}`");
            match format {
                OutputFormat::Json => run.failed_at_pointer("other-data", &pointer, detail),
                _ => run.failed_at_start("other-data", Stream::Stdout, detail),
            }
        }
    }
}

/// True if the JSON of `run` is truncated and shorter than that of `plain`. The quiet option is not the cause; another
/// check reports it.
fn is_truncated(run: &RunView, plain: &RunView) -> bool {
    run.scan().first_structural_problem().is_some_and(|problem| ends_early(problem.kind))
        && run.bytes(Stream::Stdout).len() < plain.bytes(Stream::Stdout).len()
}

/// Judges a run with the quiet option whose probe is expected to fail: it still has to report the reason on stderr.
/// `None` if it exits with another code than declared, since the option then had another effect.
fn judge_quiet_failure(run: RunView) -> Option<Assertion> {
    let context = run.context;
    let probe = context.source_of(run.probe)?;
    let plain = context.plain_run(probe, run.format())?;
    let has_message =
        |run: &RunView| run.lines(Stream::Stderr).is_none_or(|lines| lines.iter().any(|l| has_words(l)));
    if run.exit() != probe.exit || plain.exit() != probe.exit {
        return None;
    }
    if !has_message(&plain) {
        let what = format!("{} fails without a message", plain.label());
        return Some(Err(plain.blocked_by(CheckId::P2StderrDiagnostics, what).into()));
    }
    Some(if has_message(&run) {
        Ok(())
    } else {
        run.failed(
            "silent-failure",
            format!("the failure has no message on stderr with `{}`", option_words(&run)),
        )
    })
}
