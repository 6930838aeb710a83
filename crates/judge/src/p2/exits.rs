//! Exit codes.

use crate::context::{Accepted, CheckContext, RunView};
use crate::kit::{declare_success, display_exit, exit_check, is_plain_call, lacking_keys};
use crate::run_view::signal_words;
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::TargetConfig;
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::End;
use serde_json::Value;

/// `p2-exit-error`: also the codes that are a target's own, which no other check judges.
pub fn error(context: &CheckContext) -> Judgement {
    let ends = context.declared().filter_map(|probe| {
        let code = probe.exit.filter(|_| exit_check(context.profile, probe) == CheckId::P2ExitError)?;
        Some(ends_with(context, probe, code))
    });
    let mut assertions: Vec<Assertion> = ends.collect();
    let has_one = context.profile.conventions.exit_codes.contains(&1);
    if !has_one && assertions.is_empty() {
        return Judgement::NotApplicable(
            "the target has no exit code 1 according to its configuration".into(),
        );
    }
    if has_one && !context.declared().any(|probe| probe.exit == Some(1)) {
        assertions.push(inconclusive(declare_exit(1)));
    }
    Judgement::of(assertions, declare_success(""))
}

/// `p2-exit-usage`
pub fn usage(context: &CheckContext) -> Judgement {
    let expected = context.profile.conventions.usage;
    let judgement = match code(context, CheckId::P2ExitUsage, expected) {
        Judgement::NotApplicable(why) => return no_wrong_call_succeeds(context, why),
        judgement => match &context.profile.no_command {
            Some(why) => judgement.noted(&format!("no unknown command was tried: {why}")),
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

/// Whether the target's code for wrong calls is not the usual one, and so may be that of any other failure.
fn has_own_usage(context: &CheckContext) -> bool {
    context.profile.conventions.usage != TargetConfig::default().conventions.usage
}

/// A target that has no code for wrong calls has to refuse them all the same.
fn no_wrong_call_succeeds(context: &CheckContext, why: String) -> Judgement {
    let wrong = context.probes.iter().filter(|probe| is_plain_call(probe));
    let assertions = wrong.flat_map(|probe| context.runs_of(probe)).map(|run| match run.exited()? {
        0 => {
            let detail = "invalid usage exits with 0; expected a failure";
            run.failed_at_reason("accepted", Stream::Stdout, detail)
        }
        _ => Ok(()),
    });
    match Judgement::of(assertions, "no run with invalid usage was made") {
        Judgement::Pass(_) => Judgement::NotApplicable(why),
        judgement => judgement,
    }
}

/// `p2-exit-success`, `p2-exit-auth`, `p2-exit-config` and a part of `p2-exit-usage`: each probe of this check
/// ends with its code.
pub fn code(context: &CheckContext, check: CheckId, code: i32) -> Judgement {
    if !context.profile.conventions.exit_codes.contains(&code) {
        return Judgement::NotApplicable(format!(
            "the target has no exit code {code} according to its configuration"
        ));
    }
    let expected = |probe: &&Probe| {
        !probe.is_apart()
            && (probe.is_declared() || is_plain_call(probe))
            && exit_check(context.profile, probe) == check
    };
    let (own, derived): (Vec<&Probe>, Vec<&Probe>) =
        context.probes.iter().filter(expected).partition(|probe| probe.is_declared());
    let declared = own.len();
    let mut assertions: Vec<Assertion> =
        own.into_iter().chain(derived).map(|probe| ends_with(context, probe, code)).collect();
    if code == 0 {
        let help =
            context.derived(Derived::Help).filter_map(|probe| context.plain(probe, OutputFormat::Text));
        assertions.extend(help.filter_map(|run| help_given(&run)));
    }
    // Help and version say nothing about the target's real work.
    if code == 0 && declared == 0 {
        assertions
            .push(inconclusive(format!("only `--help` and `--version` were run: {}", declare_success(""))));
    }
    Judgement::of(assertions, declare_exit(code))
}

/// What to do where no probe shows an exit code.
fn declare_exit(code: i32) -> String {
    format!("no probe ends with {code}: declare one with that `exit`, or remove the code from `exit_codes`")
}

/// Whether some call that is wrong did end with the code of a usage error.
pub fn has_usage_code(context: &CheckContext) -> bool {
    let usage = Some(context.profile.conventions.usage);
    let wrong = context.probes.iter().filter(|probe| probe.exit == usage && !probe.gives_data());
    wrong.filter_map(|probe| context.plain(probe, OutputFormat::Text)).any(|run| run.exit() == usage)
}

/// Help that was given is a success. Where there is none on stdout, the target may not know the flag.
fn help_given(run: &RunView) -> Option<Assertion> {
    let given = !run.observation.stdout.bytes.is_empty() && run.observation.stderr.bytes.is_empty();
    match run.exit() {
        Some(exit) if exit != 0 && given => {
            let detail = format!("`--help` prints help, but exits with {exit} instead of 0");
            Some(run.failed_at_start("help", Stream::Stdout, detail))
        }
        _ => None,
    }
}

fn ends_with(context: &CheckContext, probe: &Probe, code: i32) -> Assertion {
    let (mut wrong, mut unnamed) = (None, None);
    let mut right = 0;
    for format in &probe.formats {
        let Some(run) = context.plain(probe, *format) else { continue };
        // A refused format is a usage error of its own, whatever the probe is expected to do. A derived
        // probe asks for none in text.
        let asks = probe.is_declared() || format.is_json();
        if asks && matches!(context.accepted(*format), Accepted::No(_)) || run.stumbles_over_format() {
            continue;
        }
        match run.exited()? {
            exit if exit == code
                && has_own_usage(context)
                && is_plain_call(probe)
                && !names_wrong_word(&run) =>
            {
                unnamed = unnamed.or(Some(run));
            }
            exit if exit == code => right += 1,
            _ => wrong = wrong.or(Some(run)),
        }
    }
    match (wrong, right) {
        (None, 0) if let Some(run) = unnamed => refused_otherwise(&run, code),
        (None, 0) => inconclusive(no_format(context, probe)),
        (None, _) => Ok(()),
        // The codes of derived probes are compared nowhere else.
        (Some(run), right) if right == 0 || !probe.is_declared() => {
            let detail = format!("exit code {} instead of {code}", display_exit(run.exit()));
            run.failed_at_reason("wrong-code", Stream::Stderr, detail)
        }
        (Some(run), _) => {
            let what = format!("{} exits with {code} only in some formats", probe.name);
            inconclusive(run.blocked_by(CheckId::P2ExitConsistent, what))
        }
    }
}

/// Whether what a derived probe gets wrong stands in what is said of it.
fn names_wrong_word(run: &RunView) -> bool {
    run.probe.call.args.last().is_some_and(|word| run.names(word.trim_start_matches('-')))
}

/// Of a wrong call that ended with the target's own code and does not say what was wrong, any other failure may be
/// the reason. Then it is told by a call that succeeds without the unknown flag, else by the declared probes with
/// that code.
fn refused_otherwise(run: &RunView, code: i32) -> Assertion {
    let context = run.context;
    let flag =
        || context.derived(Derived::IgnoredFlag).find_map(|probe| context.plain(probe, OutputFormat::Text));
    if run.probe.is(Derived::UnknownFlag)
        && let Some(tried) = flag()
        && let Some(source) = context.source_of(tried.probe).filter(|source| source.exit == Some(0))
    {
        // Behind `--`, and where it is printed, it is data.
        let is_data = source.call.args.iter().any(|arg| arg == "--") || names_wrong_word(&tried);
        match tried.exited()? {
            exit if exit == code => return Ok(()),
            0 if !is_data => {
                let detail = format!("invalid usage exits with 0 instead of {code}");
                return tried.failed_at_reason("accepted", Stream::Stdout, detail);
            }
            _ => {}
        }
    }
    let mut declared =
        context.declared().filter(|probe| probe.exit == Some(code) && !probe.gives_data()).peekable();
    if declared.peek().is_none() {
        return inconclusive(format!(
            "{} exited with {code} without naming what is unknown, so another failure may be the reason: declare a \
             probe with `exit = {code}` that is invalid usage",
            run.label()
        ));
    }
    declared.try_for_each(|probe| {
        let wrong = probe.formats.iter().filter_map(|format| context.plain(probe, *format));
        match wrong.into_iter().find(|run| run.exit() != Some(code)) {
            Some(wrong) => Err(wrong.unusable().unwrap_or_default().into()),
            None => Ok(()),
        }
    })
}

/// That all runs of a probe were in formats that the target refuses.
fn no_format(context: &CheckContext, probe: &Probe) -> Reason {
    let refused = |format: &&OutputFormat| matches!(context.accepted(**format), Accepted::No(_));
    let cause = probe.formats.iter().find(refused);
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

/// `p2-exit-consistent`
pub fn consistent(context: &CheckContext) -> Judgement {
    // A call without a home may fail, but not crash.
    let bare = context.probes.iter().flat_map(|probe| context.runs_under(probe, Variant::Bare));
    let runs = context.runs().chain(bare).filter(|run| !run.probe.is_cut_short());
    let signals = runs.filter_map(|run| died(&run));
    let formats = context.declared().flat_map(|probe| same_code(context, probe));
    let payloads = context
        .declared()
        .filter_map(|probe| context.plain(probe, OutputFormat::Json))
        .filter_map(|run| payload(&run));
    Judgement::of(signals.chain(formats).chain(payloads), declare_success(""))
}

/// Death of a signal that nobody sent. A closed reader is [`super::termination::broken_pipe`]'s.
fn died(run: &RunView) -> Option<Assertion> {
    match run.observation.end {
        End::Signaled(signal) if run.variant() != Variant::ClosedPipe => {
            let detail = format!("killed by {}; expected an exit code", signal_words(signal));
            Some(run.failed_at_reason("signal", Stream::Stderr, detail))
        }
        _ => None,
    }
}

/// The same code in every format, for every consumer and every time. Text on a terminal is for people.
fn same_code<'a>(context: &'a CheckContext<'a>, probe: &'a Probe) -> Vec<Assertion> {
    let compared = |run: &RunView| match run.variant() {
        Variant::HostileEnv => true,
        Variant::Tty => run.format().is_json(),
        _ => run.prints_the_same(),
    };
    let runs = context.runs_of(probe).filter(|run| compared(run) && !context.rejects(probe, run.format()));
    let (mut first, mut open) = (None::<(RunView, i32)>, None);
    for run in runs {
        match (run.exited(), &first) {
            (Ok(exit), None) => first = Some((run, exit)),
            (Ok(exit), Some((other, code))) if exit != *code => return other_code(&run, exit, other, *code),
            (Ok(_), Some(_)) => {}
            (Err(reason), _) => open = open.or(Some(reason)),
        }
    }
    vec![match (open, first) {
        (Some(reason), _) => Err(reason.into()),
        (None, Some(_)) => Ok(()),
        (None, None) => inconclusive(no_format(context, probe)),
    }]
}

/// Two runs of a call end with different codes: for their conditions, or by chance where the code of the first changes
/// when it is repeated.
fn other_code(run: &RunView, exit: i32, other: &RunView, code: i32) -> Vec<Assertion> {
    let fails = |detail| run.failed_at_reason("changes", Stream::Stderr, detail);
    let differs = format!("exit code {exit} here, but {code} in {}", other.label());
    match run.context.repeated(other.probe, other.format()) {
        Ok(again) if again.iter().any(|again| again.exit().is_some_and(|again| again != code)) => {
            let (here, there) = (run.label(), other.label());
            vec![fails(format!("the exit code changes from run to run: {exit} in {here}, {code} in {there}"))]
        }
        Ok(_) => vec![fails(differs)],
        Err(reason) => vec![fails(differs), inconclusive(reason)],
    }
}

/// The payload's own word on success agrees with the exit code.
fn payload(run: &RunView) -> Option<Assertion> {
    // A contract that says which code goes with which payload is p2-contract-exit's.
    if run.context.contract_of(run).is_some_and(|contract| !contract.exit_codes().is_empty()) {
        return None;
    }
    // Of an outcome the payload may say that it is a success, or that something was found.
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
