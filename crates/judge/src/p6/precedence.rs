//! `p6-precedence`: an option overrides its environment variable, and both override the configuration file.

use crate::context::{CheckContext, RunView};
use crate::kit::{
    SwitchRuns, are_equal_by_file, fail_at_difference, has_same_output, judge_variables, variable_run,
};
use crate::verdict::{Assertion, Judgement, Reason, Unmet, inconclusive};
use agentnative_core::model::{Case, CheckId, OutputFormat, Stream};
use agentnative_core::probe::{ENABLED_VALUE, OFF_VALUE, Probe, VariableOption};

/// Judges `p6-precedence`: an option overrides its environment variable, and both override the configuration file.
pub fn precedence(context: &CheckContext) -> Judgement {
    let judgement = judge_variables(context, |probe, pair| match pair.format {
        Some(format) => judge_format(context, probe, pair, format),
        None => judge_switch(context, probe, pair),
    });
    judgement.with_note(match context.profile.conventions.config_file {
        Some(_) => "whether the configuration file sets these options is unknown",
        None => "no configuration file was used: `config_file` is not declared",
    })
}

/// Judges a call with the option and with its variable switched off, and a call with the variable switched on.
fn judge_switch<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    pair: &VariableOption,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let run = variable_run(context, probe, &Case::OptionOver(pair.variable.clone()))?;
    let over_variable = |SwitchRuns { with_option, without }: &SwitchRuns| -> Assertion {
        run.ended()?;
        if has_same_output(&run, with_option) {
            return Ok(());
        }
        let set = pair.set(OFF_VALUE);
        match has_same_output(&run, without) {
            true => {
                let detail = format!("`{set}` overrides `{}`; expected the effect of the option", pair.flag);
                fail_at_difference(&run, with_option, "variable-wins", detail)
            }
            false => {
                let detail = format!("`{}` has another effect with `{set}`", pair.flag);
                fail_at_difference(&run, with_option, "differs", detail)
            }
        }
    };
    let judge = |runs: SwitchRuns| {
        if runs.is_without_effect() {
            return vec![file_wins(&runs.with_option, &pair.flag)];
        }
        let declared = context.profile.conventions.config_file.as_ref();
        let variable = declared.and_then(|_| variable_run(context, probe, &pair.case(ENABLED_VALUE)));
        let over_file = variable
            .map(|variable| judge_over_file(&variable, &variable, &runs.without, &pair.set(ENABLED_VALUE)));
        [over_variable(&runs)].into_iter().chain(over_file).collect()
    };
    Some(SwitchRuns::find(context, probe, pair)?.map(judge))
}

/// Judges a call with the option that selects text and with a variable that selects `format`, and calls with only one
/// of them.
fn judge_format(
    context: &CheckContext,
    probe: &Probe,
    pair: &VariableOption,
    format: OutputFormat,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let run = variable_run(context, probe, &Case::OptionOver(pair.variable.clone()))?;
    let text = context.plain_run(probe, OutputFormat::Text)?;
    let over_variable = || -> Result<(), Unmet> {
        text.usable()?;
        run.ended()?;
        if has_same_output(&run, &text) {
            return Ok(());
        }
        let json = context.plain_run(probe, format).filter(|json| has_same_output(&run, json));
        let set = pair.set(format.name());
        match json {
            Some(_) => {
                let detail = format!("`{set}` overrides the option that selects text");
                fail_at_difference(&run, &text, "variable-wins", detail)
            }
            None => {
                inconclusive(format!("the text of {} changes with `{set}`, or from run to run", text.label()))
            }
        }
    };
    let over_file = judge_format_over_file(context, probe, pair, &text, format);
    Some(Ok([over_variable()].into_iter().chain(over_file.into_iter().flatten()).collect()))
}

/// Judges a call with the option that selects text, whose run is `text`, and a call with only the variable. `None` if
/// no configuration file is declared.
fn judge_format_over_file(
    context: &CheckContext,
    probe: &Probe,
    pair: &VariableOption,
    text: &RunView,
    format: OutputFormat,
) -> Option<[Assertion; 2]> {
    context.profile.conventions.config_file.as_ref()?;
    let json = context.plain_run(probe, format)?;
    let option = || {
        json.parsed()?;
        match has_same_output(text, &json) && are_equal_by_file(text, &json)? {
            true => file_wins(text, &context.profile.format_args(OutputFormat::Text).join(" ")),
            false => Ok(()),
        }
    };
    let set_to = |format: OutputFormat| variable_run(context, probe, &pair.case(format.name()));
    let (without, variable) = (context.without_format(probe)?, set_to(format)?);
    // The value has to be one that the file does not select.
    let is_selected = has_same_output(&variable, &without) && has_same_output(&variable, &json);
    let value = if is_selected { OutputFormat::Text } else { format };
    Some([option(), judge_over_file(&set_to(value)?, &variable, &without, &pair.set(value.name()))])
}

/// Judges `run`, a call with a variable that is `set` to another value than the configuration file selects: it differs
/// from the call `without` the variable. `variable` is a call with a value that changes the output if there is no file.
fn judge_over_file(run: &RunView, variable: &RunView, without: &RunView, set: &str) -> Assertion {
    run.usable()?;
    if !has_same_output(run, without) {
        return Ok(());
    }
    match are_equal_by_file(variable, without)? {
        true => file_wins(run, set),
        false => inconclusive(run.blocked_by(CheckId::P1EnvFlag, format!("`{set}` has no effect"))),
    }
}

/// Returns the failure of a call with an option or a variable, `what`, that has an effect only without the
/// configuration file.
fn file_wins(run: &RunView, what: &str) -> Assertion {
    run.failed_at_start("file-wins", Stream::Stdout, format!("the configuration file overrides `{what}`"))
}
