//! `p6-global-flags`: each subcommand accepts the common options.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{accepted_elsewhere, help_run};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FormatFlag};
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat, Stream};
use agentnative_core::probe::{FlagPosition, Probe};

/// Options that every subcommand should accept, each with the kind of derived calls that use the option.
const COMMON_FLAGS: [(DerivedKind, CommonOption); 2] =
    [(DerivedKind::Quiet, CommonOption::Quiet), (DerivedKind::NoInput, CommonOption::NoInput)];

/// Judges `p6-global-flags`: common options are accepted after every subcommand.
pub fn global_flags(context: &CheckContext) -> Judgement {
    if context.profile.commands.is_empty() {
        return no_commands(context);
    }
    let probes = || context.data_probes().filter(|probe| probe.begins_with_word());
    let flags = probes().flat_map(|probe| {
        COMMON_FLAGS.into_iter().filter_map(move |(kind, flag)| judge_flag(context, probe, kind, flag))
    });
    let formats = probes().filter_map(|probe| judge_format(context, probe));
    Judgement::from_assertions(
        flags.chain(formats),
        "no run used a common option: declare a probe that begins with a subcommand and succeeds in json",
    )
}

/// Returns the judgement of a target without subcommands: not applicable, or unverified if the help is not available.
fn no_commands(context: &CheckContext) -> Judgement {
    match help_run(context) {
        Some(help) if help.exit() == Some(0) => {
            Judgement::NotApplicable("the help lists no subcommands".into())
        }
        _ => Judgement::unverified("`--help` does not show whether the target has subcommands"),
    }
}

/// Judges whether a probe accepts the common option `flag` after its arguments. `None` if no such call was run.
fn judge_flag(
    context: &CheckContext,
    probe: &Probe,
    kind: DerivedKind,
    flag: CommonOption,
) -> Option<Assertion> {
    // The page of an explored command has to list the option.
    let is_listed = matches!(probe.call.flags.get(&flag), Some(FormatFlag::Given(_)));
    let call = context.derived_from(kind, probe).next().filter(|_| probe.explored.is_none() || is_listed)?;
    let run = call.formats.iter().find_map(|format| context.plain_run(call, *format))?;
    Some(accepted_after_arguments(context, probe, &run, kind, flag))
}

fn accepted_after_arguments(
    context: &CheckContext,
    probe: &Probe,
    run: &RunView,
    kind: DerivedKind,
    flag: CommonOption,
) -> Assertion {
    let without = context.plain_run(probe, run.format());
    without.map_or(Ok(()), |without| without.usable())?;
    let exit = run.exited()?;
    if Some(exit) == probe.exit {
        return Ok(());
    }
    let spelling = spelling(context, probe, flag);
    match accepted_elsewhere(context, run.probe, kind, flag) {
        Some(place) => {
            let detail = format!(
                "`{spelling}` is rejected after the arguments (exit code {exit}), but accepted {place}"
            );
            run.failed_at_reason("flag", Stream::Stderr, detail)
        }
        None if kind == DerivedKind::Quiet => {
            Err(run.blocked_by(CheckId::P7Quiet, format!("`{spelling}` is rejected everywhere")).into())
        }
        None => {
            let key = flag.name();
            let reason = run.quoted_reason();
            inconclusive(format!(
                "no probe accepts `{spelling}`{reason}; accept it, or correct `flags.{key}` (`false` if there is none)"
            ))
        }
    }
}

fn spelling(context: &CheckContext, probe: &Probe, flag: CommonOption) -> String {
    probe.common_option(flag, context.profile).args().unwrap_or_default().join(" ")
}

/// Judges whether a probe accepts its format flag for json, such as `--output json`, after its arguments. `None` if the
/// probe has no such flag.
fn judge_format(context: &CheckContext, probe: &Probe) -> Option<Assertion> {
    const FORMAT: OutputFormat = OutputFormat::Json;
    let flag_args = probe.format_args(FORMAT, context.profile);
    if flag_args.is_empty() || context.profile.contract.is_some() {
        return None;
    }
    let run = context.plain_run(probe, FORMAT)?;
    if matches!(context.format_support(FORMAT), FormatSupport::No(_)) {
        return Some(Err(run.format_rejected().into()));
    }
    if let Err(reason) = run.usable() {
        return Some(Err(reason.into()));
    }
    let rejected = context.derived_from(DerivedKind::Refused, probe).next();
    let after_arguments =
        context.derived_from(DerivedKind::GlobalFlag, probe).find(|call| call.formats == [FORMAT]);
    // Otherwise the declared call has the flag there.
    let Some(call) = rejected.or(after_arguments) else { return Some(Ok(())) };
    let run = context.runs_of(call).next()?;
    Some(format_accepted(context, probe, &run, &flag_args.join(" ")))
}

fn format_accepted(context: &CheckContext, probe: &Probe, run: &RunView, flag_args: &str) -> Assertion {
    let exit = run.exited()?;
    if Some(exit) == probe.exit {
        return Ok(());
    }
    let place = probe.flag_position.unwrap_or(FlagPosition::Front);
    if probe.flag_position.is_some() && !(place == FlagPosition::Front && context.profile.global_format) {
        let id = CheckId::P2OutputFormat;
        return inconclusive(Reason {
            message: format!("`{flag_args}` is rejected after the arguments of {}: see {id}", probe.name),
            blocked_by: Some(BlockedBy { id, probe: Some(probe.name.clone()), format: None }),
            ..Reason::default()
        });
    }
    let words = place.description();
    let detail =
        format!("`{flag_args}` is rejected after the arguments (exit code {exit}), but accepted {words}");
    run.failed_at_reason("format", Stream::Stderr, detail)
}
