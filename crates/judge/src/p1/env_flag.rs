//! `p1-env-flag`: an environment variable has the effect of its option, and none if it is switched off.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Case, OutputFormat, Stream};
use agentnative_core::probe::{DISABLED_VALUES, ENABLED_VALUE, Probe, VariableOption, variable_options};

/// Judges `p1-env-flag`: an environment variable has the effect of its option, and no effect if it is false or empty.
pub fn env_flag(context: &CheckContext) -> Judgement {
    let pairs = variable_options(context.profile);
    if pairs.is_empty() {
        return Judgement::NotApplicable(
            "no option with a variable is known: the help shows no `[env: NAME]`, and `env_flags` is not declared"
                .into(),
        );
    }
    let assertions = pairs.iter().flat_map(|pair| judge_pair(context, pair));
    Judgement::from_assertions(
        assertions,
        "no option with a variable was tried: declare a probe that succeeds",
    )
}

fn judge_pair(context: &CheckContext, pair: &VariableOption) -> Vec<Assertion> {
    let tried: Vec<Result<Vec<Assertion>, Reason>> = context
        .data_probes()
        .filter_map(|probe| match pair.format {
            Some(format) => judge_format_variable(context, probe, pair, format),
            None => judge_switch(context, probe, pair),
        })
        .collect();
    let (shown, undecided): (Vec<_>, Vec<_>) = tried.into_iter().partition(Result::is_ok);
    if shown.is_empty() {
        let reason = undecided.into_iter().find_map(Result::err);
        let none = || format!("no probe was called with `{}`", pair.flag).into();
        return vec![inconclusive(reason.unwrap_or_else(none))];
    }
    shown.into_iter().flatten().flatten().collect()
}

/// Returns the run of `probe` to which `case` adds an option, or an environment variable that replaces the option.
/// `None` if it was not made.
fn run<'a>(context: &'a CheckContext<'a>, probe: &Probe, case: &Case) -> Option<RunView<'a>> {
    let call = context.derived_for_case(DerivedKind::EnvFlag, probe, case)?;
    call.formats.iter().find_map(|format| context.plain_run(call, *format))
}

/// Judges whether a variable such as `MYCLI_QUIET=1` has the effect of its flag on `probe`. Returns `None` if the probe
/// was not run with the flag, and an error if the flag has no visible effect on this probe, which then proves nothing.
fn judge_switch<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    pair: &VariableOption,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let with_flag = run(context, probe, &Case::OptionOf(pair.variable.clone()))?;
    let judged = || {
        let without = match context.profile.contract.is_some() {
            true => context.plain_run(probe, with_flag.format()),
            false => context.without_format(probe),
        };
        let without = without.ok_or_else(|| format!("{} was not run without a format", probe.name))?;
        without.usable()?;
        if with_flag.exited()? != without.exited()? {
            return Err(format!("`{}` is rejected by {}: correct `env_flags`", pair.flag, probe.name).into());
        }
        is_reproducible(context, probe)?;
        if has_same_output(&with_flag, &without) {
            return Err(format!(
                "`{}` has no effect on {}: declare a probe with output that it changes",
                pair.flag, probe.name
            )
            .into());
        }
        Ok(without)
    };
    Some(judged().map(|without| {
        let set = |value: &str| run(context, probe, &pair.case(value));
        let on = set(ENABLED_VALUE).map(|run| judge_switched_on(&run, &with_flag, &without, pair));
        let off = DISABLED_VALUES
            .into_iter()
            .filter_map(|value| Some(judge_switched_off(&set(value)?, &without, pair, value)));
        on.into_iter().chain(off).collect()
    }))
}

/// Fails if repeated runs of `probe` print different output. Words with a digit, such as times, are not compared.
fn is_reproducible(context: &CheckContext, probe: &Probe) -> Result<(), Reason> {
    let mut again: Vec<RunView> = context.runs_of(probe).filter(RunView::is_repetition).collect();
    if again.is_empty()
        && let Some(format) = probe.formats.first()
    {
        again = context.repeated_runs(probe, *format)?;
    }
    match again.iter().find(|again| again.plain().is_ok_and(|plain| !has_same_output(again, &plain))) {
        Some(_) => Err(format!("the output of {} changes from run to run", probe.name).into()),
        None => Ok(()),
    }
}

fn judge_switched_on(
    run: &RunView,
    with_flag: &RunView,
    without: &RunView,
    pair: &VariableOption,
) -> Assertion {
    run.ended()?;
    let (set, flag) = (pair.set(ENABLED_VALUE), &pair.flag);
    if has_same_output(run, with_flag) {
        Ok(())
    } else if has_same_output(run, without) {
        fail_at_difference(
            run,
            without,
            "ignored",
            format!("`{set}` has no effect; expected the effect of `{flag}`"),
        )
    } else {
        fail_at_difference(run, with_flag, "differs", format!("`{set}` has another effect than `{flag}`"))
    }
}

fn judge_switched_off(run: &RunView, without: &RunView, pair: &VariableOption, value: &str) -> Assertion {
    run.ended()?;
    if has_same_output(run, without) {
        return Ok(());
    }
    let detail = format!("`{}` has an effect; expected none, as without the variable", pair.set(value));
    fail_at_difference(run, without, "falsey", detail)
}

/// Judges whether a variable selects `format` as its option does. Returns `None` if the probe was not run with the
/// variable, and an error if the run with the option proves nothing.
fn judge_format_variable(
    context: &CheckContext,
    probe: &Probe,
    pair: &VariableOption,
    format: OutputFormat,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let run = run(context, probe, &pair.case(format.name()))?;
    let judged = || {
        let with_flag = context.plain_run(probe, format).ok_or("the probe has no plain run")?;
        with_flag.parsed()?;
        Ok(with_flag)
    };
    Some(judged().map(|with_flag| {
        let selected = || {
            run.ended()?;
            if run.exit() == with_flag.exit()
                && run.scan_as_document(Stream::Stdout).first_structural_problem().is_none()
            {
                return Ok(());
            }
            let detail =
                format!("`{}` does not select the format as `{}` does", pair.set(format.name()), pair.flag);
            run.failed_at_start("ignored", Stream::Stdout, detail)
        };
        vec![selected()]
    }))
}

/// True if two runs have the same exit code and print the same. Words with a digit, such as times, are not compared.
fn has_same_output(a: &RunView, b: &RunView) -> bool {
    a.exit() == b.exit()
        && Stream::ALL.into_iter().all(|stream| a.normalized_lines(stream) == b.normalized_lines(stream))
}

/// Returns a failure of `run` at its first line that differs from the output of `other`.
fn fail_at_difference(run: &RunView, other: &RunView, kind: &str, detail: String) -> Assertion {
    for stream in Stream::ALL {
        let (Some(own), Some(others)) = (run.normalized_lines(stream), other.normalized_lines(stream)) else {
            continue;
        };
        if own != others {
            let line = own.iter().zip(&others).take_while(|(a, b)| a == b).count();
            return run.failed_at_line(kind, stream, line.min(own.len().saturating_sub(1)), detail);
        }
    }
    run.failed_at_start(kind, Stream::Stdout, detail)
}
