//! `p6-global-flags`: the common options are taken after each subcommand.

use crate::context::{Accepted, CheckContext, RunView};
use crate::kit::taken_elsewhere;
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::Flag;
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat, Stream};
use agentnative_core::probe::{Place, Probe};

/// The common options that belong to every subcommand, each with the calls that show it.
const EVERYWHERE: [(Derived, Flag); 2] = [(Derived::Quiet, Flag::Quiet), (Derived::NoInput, Flag::NoInput)];

/// `p6-global-flags`
pub fn global_flags(context: &CheckContext) -> Judgement {
    if context.profile.commands.is_empty() {
        return no_commands(context);
    }
    let probes = || context.data_probes().filter(|probe| probe.begins_with_word());
    let flags = probes().flat_map(|probe| {
        EVERYWHERE.into_iter().filter_map(move |(kind, flag)| flag_behind(context, probe, kind, flag))
    });
    let formats = probes().filter_map(|probe| format_behind(context, probe));
    Judgement::of(
        flags.chain(formats),
        "no common option was tried: declare a probe that begins with a subcommand and succeeds in json",
    )
}

/// A target without subcommands has one place for its options.
fn no_commands(context: &CheckContext) -> Judgement {
    let help = context.derived(Derived::Help).find_map(|probe| context.plain(probe, OutputFormat::Text));
    match help {
        Some(help) if help.exit() == Some(0) => {
            Judgement::NotApplicable("the help lists no subcommands".into())
        }
        _ => Judgement::unverified("`--help` does not show whether the target has subcommands"),
    }
}

/// Whether a probe takes a common option after its arguments; none where that is not asked.
fn flag_behind(context: &CheckContext, probe: &Probe, kind: Derived, flag: Flag) -> Option<Assertion> {
    let call = context.made_from(kind, probe).next()?;
    let run = call.formats.iter().find_map(|format| context.plain(call, *format))?;
    Some(taken_behind(context, probe, &run, kind, flag))
}

fn taken_behind(
    context: &CheckContext,
    probe: &Probe,
    run: &RunView,
    kind: Derived,
    flag: Flag,
) -> Assertion {
    let without = context.plain(probe, run.format());
    without.map_or(Ok(()), |without| without.usable())?;
    let exit = run.exited()?;
    if Some(exit) == probe.exit {
        return Ok(());
    }
    let spelt = spelt(context, probe, flag);
    match taken_elsewhere(context, run.probe, kind, flag) {
        Some(place) => {
            let detail =
                format!("`{spelt}` is rejected after the arguments (exit code {exit}), but accepted {place}");
            run.failed_at_reason("flag", Stream::Stderr, detail)
        }
        None if kind == Derived::Quiet => {
            Err(run.blocked_by(CheckId::P7Quiet, format!("`{spelt}` is rejected everywhere")).into())
        }
        None => {
            let key = flag.name();
            inconclusive(format!("no probe accepts `{spelt}`: correct `flags.{key}`, or set it to `false`"))
        }
    }
}

fn spelt(context: &CheckContext, probe: &Probe, flag: Flag) -> String {
    probe.flag(flag, context.profile).args().unwrap_or_default().join(" ")
}

/// Whether a probe takes the json option after its arguments; none where it is not asked for json.
fn format_behind(context: &CheckContext, probe: &Probe) -> Option<Assertion> {
    const FORMAT: OutputFormat = OutputFormat::Json;
    let asking = probe.asking(FORMAT, context.profile);
    if asking.is_empty() || context.profile.contract.is_some() {
        return None;
    }
    let run = context.plain(probe, FORMAT)?;
    if matches!(context.accepted(FORMAT), Accepted::No(_)) {
        return Some(Err(run.refused_format().into()));
    }
    if let Err(reason) = run.usable() {
        return Some(Err(reason.into()));
    }
    let refused = context.made_from(Derived::Refused, probe).next();
    let behind = context.made_from(Derived::GlobalFlag, probe).find(|call| call.formats == [FORMAT]);
    // Otherwise the declared call has it there.
    let Some(call) = refused.or(behind) else { return Some(Ok(())) };
    let run = context.runs_of(call).next()?;
    Some(format_taken(context, probe, &run, &asking.join(" ")))
}

fn format_taken(context: &CheckContext, probe: &Probe, run: &RunView, asking: &str) -> Assertion {
    let exit = run.exited()?;
    if Some(exit) == probe.exit {
        return Ok(());
    }
    let place = probe.place.unwrap_or(Place::Front);
    if probe.place.is_some() && !(place == Place::Front && context.profile.global_format) {
        let id = CheckId::P2OutputFormat;
        return inconclusive(Reason {
            message: format!("`{asking}` is rejected after the arguments of {}: see {id}", probe.name),
            blocked_by: Some(BlockedBy { id, probe: Some(probe.name.clone()), format: None }),
            ..Reason::default()
        });
    }
    let words = place.words();
    let detail =
        format!("`{asking}` is rejected after the arguments (exit code {exit}), but accepted {words}");
    run.failed_at_reason("format", Stream::Stderr, detail)
}
