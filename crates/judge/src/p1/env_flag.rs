//! `p1-env-flag`: an environment variable has the effect of its option, and none if it is switched off.

use crate::context::{CheckContext, RunView};
use crate::kit::{
    SwitchRuns, are_equal_by_file, fail_at_difference, has_same_output, judge_variables, variable_run,
    without_config_file,
};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::probe::{DISABLED_VALUES, ENABLED_VALUE, Probe, VariableOption};

/// Judges `p1-env-flag`: an environment variable has the effect of its option, and no effect if it is false or empty.
pub fn env_flag(context: &CheckContext) -> Judgement {
    judge_variables(context, |probe, pair| match pair.format {
        Some(format) => judge_format_variable(context, probe, pair, format),
        None => judge_switch(context, probe, pair),
    })
}

/// Judges whether a variable such as `MYCLI_QUIET=1` has the effect of its flag on `probe`.
fn judge_switch<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    pair: &VariableOption,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let runs = SwitchRuns::find(context, probe, pair)?;
    Some(runs.map(|runs| {
        let SwitchRuns { with_option, without } = &runs;
        if runs.is_without_effect() {
            return vec![inconclusive(overridden_by_file(with_option))];
        }
        let set = |value: &str| variable_run(context, probe, &pair.case(value));
        let on = set(ENABLED_VALUE).map(|run| judge_switched_on(&run, with_option, without, pair));
        let off = DISABLED_VALUES
            .into_iter()
            .filter_map(|value| Some(judge_switched_off(&set(value)?, without, pair, value)));
        on.into_iter().chain(off).collect()
    }))
}

/// Creates the reason why a call shows nothing: the configuration file overrides what selects its output.
fn overridden_by_file(run: &RunView) -> Reason {
    run.blocked_by(
        CheckId::P6Precedence,
        format!("the configuration file hides the effect of {}", run.label()),
    )
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
        if are_equal_by_file(run, without)? {
            return inconclusive(overridden_by_file(run));
        }
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
    let run = variable_run(context, probe, &pair.case(format.name()))?;
    let judged = || {
        let with_flag = context.plain_run(probe, format).ok_or("the probe has no plain run")?;
        with_flag.parsed()?;
        Ok(with_flag)
    };
    Some(judged().map(|with_flag| {
        let selected = || {
            run.ended()?;
            // The configuration file may override the variable, or select the same format.
            let equal = context.without_format(probe).filter(|without| has_same_output(&run, without));
            let alone = equal.map(|without| without_config_file(&run, &without)).transpose()?.flatten();
            let shown =
                alone.map(|[alone, _]| alone).filter(|alone| alone.exit() == run.exit()).unwrap_or(run);
            if shown.exit() == with_flag.exit()
                && shown.scan_as_document(Stream::Stdout).first_structural_problem().is_none()
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
