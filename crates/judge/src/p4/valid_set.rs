//! `p4-valid-set`: an error about a closed set of values lists the values.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CallOutcome, CheckId, OutputFormat, Stream};
use agentnative_core::probe::{Probe, UNKNOWN_FORMAT, UNKNOWN_VALUE};

/// Maximum size of a set of values that a message has to list completely. Of a larger set, one value is sufficient.
const MAX_LISTED: usize = 12;

/// Judges `p4-valid-set`: an error about a closed set of values lists the values.
pub fn valid_set(context: &CheckContext) -> Judgement {
    let runs =
        |kind| context.derived_probes(kind).filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
    let formats = runs(DerivedKind::InvalidFormat).filter_map(|run| match formats_of(context, &run) {
        Err(reason) => Some(Err(reason.into())),
        Ok(values) if values.is_empty() => None,
        Ok(values) => Some(match run.exited() {
            Err(reason) => Err(reason.into()),
            Ok(0) => {
                inconclusive(run.blocked_by(CheckId::P2OutputFormat, "an invalid format is accepted".into()))
            }
            Ok(_) => judge_message(&run, &values),
        }),
    });
    let values = runs(DerivedKind::InvalidValue).filter_map(|run| {
        let (_, flag) = option_with_value(&run, UNKNOWN_VALUE)?;
        let set = context.profile.choices.iter().find(|set| set.flag == flag)?;
        Some(match run.exited() {
            Err(reason) => Err(reason.into()),
            Ok(0) => inconclusive(format!("{} accepts a value that its help does not list", run.label())),
            Ok(_) => judge_message(&run, &set.values),
        })
    });
    let explored = context.explored_call().and_then(|call| judge_explored(context, call));
    // Only an option that selects a format by a value can have an invalid value.
    let has_values = |probe: &Probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(
            |format| matches!(probe.format_args(format, context.profile), [_, value] if value == format.name()),
        )
    };
    let not_run = context.data_probes().any(has_values)
        && !context
            .derived_probes(DerivedKind::InvalidFormat)
            .any(|probe| context.plain_run(probe, OutputFormat::Text).is_some());
    let mut assertions = formats.chain(values).chain(explored).peekable();
    if assertions.peek().is_none() && !not_run {
        return Judgement::NotApplicable("no probe uses an option with a known closed set of values".into());
    }
    Judgement::from_assertions(assertions, "no call with an invalid value was made")
}

/// Judges the message of an explored call with an invalid value of an option whose values the help lists. `None` for
/// any other call, and if the message is not about this value.
fn judge_explored(context: &CheckContext, call: &Probe) -> Option<Assertion> {
    let origin = call.explored.as_ref().filter(|origin| !origin.values.is_empty())?;
    let word = origin.invalid.as_deref().filter(|_| call.has_outcome(CallOutcome::Invalid))?;
    let run = context.probe(&call.id).and_then(|call| context.plain_run(call, OutputFormat::Text))?;
    run.mentions(word).then(|| judge_message(&run, &origin.values))
}

/// Returns the formats that the target accepts as values of the option that `run` gave an unknown format. Empty if
/// there is no such option. Fails if no run shows whether the target accepts one of the formats.
fn formats_of(context: &CheckContext, run: &RunView) -> Result<Vec<String>, Reason> {
    let Some((_, flag)) = option_with_value(run, UNKNOWN_FORMAT) else { return Ok(Vec::new()) };
    let mut values = Vec::new();
    for format in OutputFormat::ALL {
        let value = match run.probe.format_args(format, context.profile) {
            [own, value] if *own == flag => Some(value.clone()),
            [joined] => joined.strip_prefix(&format!("{flag}=")).map(str::to_owned),
            _ => None,
        };
        match (value, context.format_support(format)) {
            (None, _) | (_, FormatSupport::No(_)) => {}
            (Some(value), FormatSupport::Yes) => values.push(value),
            (Some(value), FormatSupport::Unknown) => {
                return Err(format!("no run shows whether the target accepts {flag} {value}").into());
            }
        }
    }
    Ok(values)
}

/// Finds the option of a call with this value, as `--option VALUE` or `--option=VALUE`. Returns the index of the
/// argument that contains the value, and the name of the option.
fn option_with_value(run: &RunView, value: &str) -> Option<(usize, String)> {
    let args = &run.probe.call.args;
    let index = args.iter().position(|arg| arg.contains(value))?;
    match args[index].split_once('=') {
        Some((flag, _)) => Some((index, flag.to_owned())),
        None => Some((index, args.get(index.checked_sub(1)?)?.clone())),
    }
}

fn judge_message(run: &RunView, values: &[String]) -> Assertion {
    let missing: Vec<&str> = values.iter().map(String::as_str).filter(|value| !run.mentions(value)).collect();
    let enough = if values.len() > MAX_LISTED { missing.len() < values.len() } else { missing.is_empty() };
    if enough {
        return Ok(());
    }
    let detail = format!("the message does not list the valid values: {} missing", missing.join(", "));
    run.failed_at_reason("unlisted", Stream::Stderr, detail)
}
