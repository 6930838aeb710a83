//! Whether an error about a closed set of values lists them.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::probe::{Probe, UNKNOWN_FORMAT, UNKNOWN_VALUE};

/// Maximum number of values that have to be listed completely; of more, a part is enough.
const MAX_LISTED: usize = 12;

/// `p4-valid-set`
pub fn valid_set(context: &CheckContext) -> Judgement {
    let runs = |kind| context.derived(kind).filter_map(|probe| context.plain(probe, OutputFormat::Text));
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
    // Only an option that selects a format by a value can have an invalid value.
    let has_values = |probe: &Probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(
            |format| matches!(probe.format_args(format, context.profile), [_, value] if value == format.name()),
        )
    };
    let not_run = context.data_probes().any(has_values)
        && !context
            .derived(DerivedKind::InvalidFormat)
            .any(|probe| context.plain(probe, OutputFormat::Text).is_some());
    let mut assertions = formats.chain(values).peekable();
    if assertions.peek().is_none() && !not_run {
        return Judgement::NotApplicable("no probe uses an option with a known closed set of values".into());
    }
    Judgement::from_assertions(assertions, "no call with an invalid value was made")
}

/// Returns the values of the option that was called with an unknown format, as far as the target accepts them.
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

/// Returns the index and the name of the option that has this value in a call.
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
