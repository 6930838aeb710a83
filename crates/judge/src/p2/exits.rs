//! The checks of exit codes, such as `p2-exit-usage`.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{
    Pages, PrintedPage, declare_success, display_exit, exit_check, fails_anyway, is_invalid_usage,
    lacking_keys,
};
use crate::run_view::signal_words;
use crate::verdict::{Assertion, Judgement, Reason, doubt, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::TargetConfig;
use agentnative_core::model::{BlockedBy, CallOutcome, CheckId, OutputFormat, Stream, Variant};
use agentnative_core::probe::{Probe, UNKNOWN_COMMAND, UNKNOWN_FLAG};
use agentnative_core::run::RunEnd;
use serde_json::Value;

/// Judges `p2-exit-error`: a general error exits with 1. Also judges exit codes that only this target has, since they
/// have no check of their own.
pub fn judge_error_exit(context: &CheckContext) -> Judgement {
    let ends = context.sources().filter_map(|probe| {
        let code = probe.exit.filter(|_| exit_check(context.profile, probe) == CheckId::P2ExitError)?;
        Some(exits_with(context, probe, code))
    });
    let mut assertions: Vec<Assertion> = ends.collect();
    let has_one = context.profile.conventions.exit_codes.contains(&1);
    if !has_one && assertions.is_empty() {
        return Judgement::NotApplicable(
            "the target has no exit code 1 according to its configuration".into(),
        );
    }
    if has_one && !context.sources().any(|probe| probe.exit == Some(1)) {
        assertions.push(inconclusive(declare_exit(1)));
    }
    Judgement::from_assertions(assertions, declare_success(""))
}

/// Judges `p2-exit-usage`: invalid usage exits with 2.
pub fn judge_usage_exit(context: &CheckContext) -> Judgement {
    let expected = context.profile.conventions.usage;
    let judgement = match judge_exit_code(context, CheckId::P2ExitUsage, expected) {
        Judgement::NotApplicable(why) => return rejects_invalid_usage(context, why),
        judgement => match &context.profile.no_command {
            Some(why) => judgement.with_note(&format!("no unknown command was tried: {why}")),
            None => judgement,
        },
    };
    match judgement {
        Judgement::Pass(note) if has_own_usage(context) => Judgement::Pass(format!(
            "{note}, with the target's own code for invalid usage: `usage = {expected}` instead of {}",
            TargetConfig::default().conventions.usage
        )),
        judgement => judgement,
    }
}

/// True if the configuration of the target sets another exit code for invalid usage than the default. Other failures
/// may exit with the same code.
fn has_own_usage(context: &CheckContext) -> bool {
    context.profile.conventions.usage != TargetConfig::default().conventions.usage
}

/// Judges a target without an exit code for invalid usage, which still has to reject it. Fails if a call with invalid
/// usage succeeds; otherwise returns not applicable with the reason `why`.
fn rejects_invalid_usage(context: &CheckContext, why: String) -> Judgement {
    let wrong = context.probes.iter().copied().filter(|probe| is_invalid_usage(probe));
    let assertions = wrong.flat_map(|probe| context.runs_of(probe)).map(|run| match run.exited()? {
        0 => {
            let detail = "invalid usage exits with 0; expected a failure";
            run.failed_at_reason("accepted", Stream::Stdout, detail)
        }
        _ => Ok(()),
    });
    match Judgement::from_assertions(assertions, "no run with invalid usage was made") {
        Judgement::Pass(_) => Judgement::NotApplicable(why),
        judgement => judgement,
    }
}

/// Judges `p2-exit-success`, `p2-exit-auth`, `p2-exit-config` or a part of `p2-exit-usage`: each probe that `check`
/// covers exits with `code`.
pub fn judge_exit_code(context: &CheckContext, check: CheckId, code: i32) -> Judgement {
    if !context.profile.conventions.exit_codes.contains(&code) {
        return Judgement::NotApplicable(format!(
            "the target has no exit code {code} according to its configuration"
        ));
    }
    let expected = |probe: &&Probe| {
        !probe.runs_only_in_scenarios()
            && (probe.is_source() || is_invalid_usage(probe) && !fails_anyway(context, probe))
            && exit_check(context.profile, probe) == check
    };
    let (own, derived): (Vec<&Probe>, Vec<&Probe>) =
        context.probes.iter().copied().filter(expected).partition(|probe| probe.is_source());
    let declared = own.len();
    let mut assertions: Vec<Assertion> =
        own.into_iter().chain(derived).map(|probe| exits_with(context, probe, code)).collect();
    if check == CheckId::P2ExitUsage {
        assertions.extend(explored_usage(context, code));
    }
    if code == 0 {
        let help = context
            .derived_probes(DerivedKind::Help)
            .filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
        assertions.extend(help.filter_map(|run| help_succeeds(&run)));
    }
    // Help and version show nothing about the target's real work.
    if code == 0 && declared == 0 {
        assertions
            .push(inconclusive(format!("only `--help` and `--version` were run: {}", declare_success(""))));
    }
    Judgement::from_assertions(assertions, declare_exit(code))
}

/// Judges invalid usage of an explored command: an unknown flag that is rejected by its name, and an unknown subcommand
/// that is accepted although the help lists all subcommands.
fn explored_usage<'a>(context: &'a CheckContext<'a>, code: i32) -> impl Iterator<Item = Assertion> + use<'a> {
    let call = context.explored_call();
    let rejected = call.into_iter().flat_map(|call| context.derived_from(DerivedKind::IgnoredFlag, call));
    let rejected = rejected.filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
    let rejected = rejected.filter(|run| run.exit().is_some_and(|exit| exit != 0));
    let rejected = rejected.filter(|run| run.mentions(UNKNOWN_FLAG.trim_start_matches('-')));
    // Behind its options, a target may take each word for a file.
    let rejected =
        rejected.filter(|run| !run.observation.reports_missing_file(UNKNOWN_FLAG) && !repeats_output(run));
    let rejected = rejected.map(move |run| match run.exited()? {
        exit if exit == code => Ok(()),
        exit => {
            let detail = format!("exited with {exit}, expected {code}");
            run.failed_at_reason("wrong-code", Stream::Stderr, detail)
        }
    });
    let accepted =
        call.filter(|call| call.has_outcome(CallOutcome::Accepted) && is_unknown_command(context, call));
    let accepted = accepted.and_then(|call| context.plain_run(call, OutputFormat::Text));
    let accepted = accepted.filter(|run| run.exit() == Some(0) && !run.mentions(UNKNOWN_COMMAND));
    rejected.chain(accepted.map(|run| {
        run.failed_at_reason("wrong-code", Stream::Stdout, format!("exited with 0, expected {code}"))
    }))
}

/// True if the run prints all that the call prints without the unknown flag.
fn repeats_output(run: &RunView) -> bool {
    let source = run.context.source_of(run.probe);
    let without_flag = source.and_then(|source| run.context.plain_run(source, OutputFormat::Text));
    let lines = without_flag.and_then(|without_flag| without_flag.lines(Stream::Stdout)).unwrap_or_default();
    !lines.is_empty() && run.lines(Stream::Stdout).is_some_and(|printed| printed.starts_with(&lines))
}

/// True if a call has an unknown word in the place of a subcommand, and the help page there lists all subcommands.
fn is_unknown_command(context: &CheckContext, call: &Probe) -> bool {
    let Some(origin) = &call.explored else { return false };
    let lists_all = |page: &PrintedPage| page.path == origin.command && page.page.lists_all_commands();
    origin.invalid.as_deref() == Some(UNKNOWN_COMMAND)
        && Pages::read(context)
            .is_ok_and(|pages| std::iter::once(&pages.root).chain(pages.of_commands()).any(lists_all))
}

/// Returns a message for the user: no probe exits with `code`, and what to declare.
fn declare_exit(code: i32) -> String {
    format!("no probe exits with {code}: declare one with this `exit`, or remove the code from `exit_codes`")
}

/// True if at least one call with invalid usage exited with the target's code for usage errors.
pub fn has_usage_code(context: &CheckContext) -> bool {
    let usage = Some(context.profile.conventions.usage);
    let wrong = context.probes.iter().copied().filter(|probe| probe.exit == usage && !probe.prints_data());
    wrong.filter_map(|probe| context.plain_run(probe, OutputFormat::Text)).any(|run| run.exit() == usage)
}

/// Fails if `--help` prints help to stdout but exits with a failure code. Otherwise returns `None`: if stdout is empty,
/// the target may not know the flag.
fn help_succeeds(run: &RunView) -> Option<Assertion> {
    let prints_help = !run.observation.stdout.bytes.is_empty() && run.observation.stderr.bytes.is_empty();
    match run.exit() {
        Some(exit) if exit != 0 && prints_help => {
            let detail = format!("`--help` prints help, but exits with {exit}, expected 0");
            Some(run.failed_at_start("help", Stream::Stdout, detail))
        }
        _ => None,
    }
}

fn exits_with(context: &CheckContext, probe: &Probe, code: i32) -> Assertion {
    let (mut wrong, mut unnamed) = (None, None);
    let mut correct = 0;
    for format in &probe.formats {
        let Some(run) = context.plain_run(probe, *format) else { continue };
        // A rejected format is a usage error, whatever the probe expects. A derived probe has no format flag in text.
        let asks = probe.is_source() || format.is_json();
        if asks && matches!(context.format_support(*format), FormatSupport::No(_))
            || run.is_rejected_for_format()
        {
            continue;
        }
        match run.exited()? {
            exit if exit == code
                && has_own_usage(context)
                && is_invalid_usage(probe)
                && !names_invalid_word(&run) =>
            {
                unnamed = unnamed.or(Some(run));
            }
            exit if exit == code => correct += 1,
            _ => wrong = wrong.or(Some(run)),
        }
    }
    match (wrong, correct) {
        (None, 0) if let Some(run) = unnamed => judge_unnamed_rejection(&run, code),
        (None, 0) => inconclusive(no_format(context, probe)),
        (None, _) => Ok(()),
        // The codes of derived probes are compared nowhere else.
        (Some(run), correct) if correct == 0 || !probe.is_source() => {
            let detail = format!("exited with {}, expected {code}", display_exit(run.exit()));
            run.failed_at_reason("wrong-code", Stream::Stderr, detail)
        }
        (Some(run), _) => {
            let what = format!("{} exits with {code} only in some formats", probe.name);
            inconclusive(run.blocked_by(CheckId::P2ExitConsistent, what))
        }
    }
}

/// True if the message of a call with invalid usage contains its invalid word, such as the unknown flag.
fn names_invalid_word(run: &RunView) -> bool {
    run.probe.call.args.last().is_some_and(|word| run.mentions(word.trim_start_matches('-')))
}

/// Judges invalid usage that exited with the target's own usage code, but whose message does not name the invalid word:
/// another failure may be the reason. A successful call with an added unknown flag decides; without such a call, the
/// declared probes with this exit code decide.
fn judge_unnamed_rejection(run: &RunView, code: i32) -> Assertion {
    let context = run.context;
    let flag = || {
        context
            .derived_probes(DerivedKind::IgnoredFlag)
            .find_map(|probe| context.plain_run(probe, OutputFormat::Text))
    };
    if run.probe.is_kind(DerivedKind::UnknownFlag)
        && let Some(tried) = flag()
        && let Some(source) = context.source_of(tried.probe).filter(|source| source.exit == Some(0))
    {
        // After `--`, or if it is printed, the flag is data.
        let is_data = source.call.args.iter().any(|arg| arg == "--") || names_invalid_word(&tried);
        match tried.exited()? {
            exit if exit == code => return Ok(()),
            0 if !is_data => {
                let detail = format!("invalid usage exits with 0, expected {code}");
                return tried.failed_at_reason("accepted", Stream::Stdout, detail);
            }
            _ => {}
        }
    }
    let mut declared =
        context.sources().filter(|probe| probe.exit == Some(code) && !probe.prints_data()).peekable();
    if declared.peek().is_none() {
        return inconclusive(format!(
            "{} exited with {code} and does not name what is unknown, so another failure may be the reason: declare \
             a probe of invalid usage with `exit = {code}`",
            run.label()
        ));
    }
    declared.try_for_each(|probe| {
        let wrong = probe.formats.iter().filter_map(|format| context.plain_run(probe, *format));
        match wrong.into_iter().find(|run| run.exit() != Some(code)) {
            Some(wrong) => Err(wrong.why_unusable().unwrap_or_default().into()),
            None => Ok(()),
        }
    })
}

/// Returns the reason why nothing is known about a probe: all its runs were in formats that the target rejects.
fn no_format(context: &CheckContext, probe: &Probe) -> Reason {
    let rejected = |format: &&OutputFormat| matches!(context.format_support(**format), FormatSupport::No(_));
    let cause = probe.formats.iter().find(rejected);
    Reason {
        message: format!("{} was not run in any format that the target accepts", probe.name),
        blocked_by: cause.map(|format| BlockedBy {
            id: CheckId::P2OutputFormat,
            probe: Some(probe.name.clone()),
            format: Some(*format),
        }),
        ..Reason::default()
    }
}

/// Judges `p2-exit-consistent`: the exit code is the same in every format, matches the payload, and is not a signal.
pub fn judge_exit_consistency(context: &CheckContext) -> Judgement {
    // A call without a home may fail, but not crash.
    let bare_runs = context.probes.iter().copied().flat_map(|probe| context.runs_under(probe, Variant::Bare));
    let runs = context.runs().chain(bare_runs).filter(|run| !run.probe.has_special_end());
    let signals = runs.filter_map(|run| unexpected_signal(&run));
    let formats = context.sources().flat_map(|probe| same_code(context, probe));
    let payloads = context
        .sources()
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Json))
        .filter_map(|run| judge_payload(&run));
    Judgement::from_assertions(signals.chain(formats).chain(payloads), declare_success(""))
}

/// Fails if a signal killed the run; `None` otherwise. [`super::termination::broken_pipe`] judges runs whose consumer
/// closed the pipe.
fn unexpected_signal(run: &RunView) -> Option<Assertion> {
    match run.observation.end {
        RunEnd::Signaled(signal) if run.variant() != Variant::ClosedPipe => {
            let detail = format!("killed by {}; expected an exit code", signal_words(signal));
            Some(run.failed_at_reason("signal", Stream::Stderr, detail))
        }
        _ => None,
    }
}

/// Passes if the exit code of a probe is the same in every format, under every condition and in every repetition. Runs
/// in text on a terminal are not compared, since their output is for users.
fn same_code<'a>(context: &'a CheckContext<'a>, probe: &'a Probe) -> Vec<Assertion> {
    let compared = |run: &RunView| match run.variant() {
        Variant::HostileEnv => !run.variant().has_rare_locale(run.observation.key.nth),
        Variant::UsedHome => true,
        Variant::Tty => run.format().is_json(),
        _ => run.expects_plain_stdout(),
    };
    let runs = context.runs_of(probe).filter(|run| compared(run) && !context.rejects(probe, run.format()));
    let (mut first, mut undecided) = (None::<(RunView, i32)>, None);
    for run in runs {
        match (run.exited(), &first) {
            (Ok(exit), None) => first = Some((run, exit)),
            (Ok(exit), Some((other, code))) if exit != *code => {
                // An option such as `--json` can select another work, which succeeds.
                let is_doubtful = exit == 0 && context.explored_call().is_some();
                let codes = different_codes(&run, exit, other, *code).into_iter();
                return codes.map(|assertion| doubt(assertion, |_| !is_doubtful)).collect();
            }
            (Ok(_), Some(_)) => {}
            (Err(reason), _) => undecided = undecided.or(Some(reason)),
        }
    }
    vec![match (undecided, first) {
        (Some(reason), _) => Err(reason.into()),
        (None, Some(_)) => Ok(()),
        (None, None) => inconclusive(no_format(context, probe)),
    }]
}

/// Returns a failure: `run` has the exit code `exit`, but `other` has `code`. If repetitions of `other` have other
/// codes as well, the failure says that the exit code changes from run to run.
fn different_codes(run: &RunView, exit: i32, other: &RunView, code: i32) -> Vec<Assertion> {
    let fails = |detail| run.failed_at_reason("changes", Stream::Stderr, detail);
    let differs = format!("exited with {exit}, but with {code} in {}", other.label());
    match run.context.repeated_runs(other.probe, other.format()) {
        Ok(again) if again.iter().any(|again| again.exit().is_some_and(|again| again != code)) => {
            let (here, there) = (run.label(), other.label());
            vec![fails(format!("the exit code changes from run to run: {exit} in {here}, {code} in {there}"))]
        }
        Ok(_) => vec![fails(differs)],
        Err(reason) => vec![fails(differs), inconclusive(reason)],
    }
}

/// Passes if the member `ok` or `success` of the JSON output agrees with the exit code, and fails otherwise. Also fails
/// for an error object with exit code 0. `None` if the output has no such member.
fn judge_payload(run: &RunView) -> Option<Assertion> {
    // `p2-contract-exit` judges contracts with rules for exit codes.
    if run.context.contract_of(run).is_some_and(|contract| !contract.exit_codes().is_empty()) {
        return None;
    }
    // The payload of a declared outcome may report success, or that something was found.
    let exit = run.exit().filter(|exit| *exit == 0 || !run.gave_data())?;
    let value = run.value(Stream::Stdout)?;
    if exit == 0
        && run.probe.exit == Some(0)
        && value.as_object().is_some_and(|object| lacking_keys(object).next().is_none())
    {
        let detail =
            "the payload is an error object with `error`, `kind` and `message`, but the exit code is 0";
        return Some(run.failed_at_start("payload", Stream::Stdout, detail));
    }
    let (key, ok) = ["ok", "success"]
        .into_iter()
        .find_map(|key| Some((key, value.get(key).and_then(Value::as_bool)?)))?;
    if ok == (exit == 0) {
        return Some(Ok(()));
    }
    let detail = format!("the payload contains `\"{key}\": {ok}`, but the exit code is {exit}");
    Some(run.failed_at_start("payload", Stream::Stdout, detail))
}
