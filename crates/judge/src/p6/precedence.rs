//! `p6-precedence`: an option overrides its environment variable.

use crate::context::CheckContext;
use crate::kit::{SwitchRuns, fail_at_difference, has_same_output, judge_variables, variable_run};
use crate::verdict::{Assertion, Judgement, Reason, Unmet, inconclusive};
use agentnative_core::model::{Case, OutputFormat};
use agentnative_core::probe::{OFF_VALUE, Probe, VariableOption};

/// Judges `p6-precedence`: an option overrides its environment variable.
pub fn precedence(context: &CheckContext) -> Judgement {
    judge_variables(context, |probe, pair| match pair.format {
        Some(format) => judge_format(context, probe, pair, format),
        None => judge_switch(context, probe, pair),
    })
}

/// Judges a call with the option and with its variable switched off.
fn judge_switch<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    pair: &VariableOption,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let run = variable_run(context, probe, &Case::OptionOver(pair.variable.clone()))?;
    let judge = |SwitchRuns { with_option, without }| -> Assertion {
        run.ended()?;
        if has_same_output(&run, &with_option) {
            return Ok(());
        }
        let set = pair.set(OFF_VALUE);
        match has_same_output(&run, &without) {
            true => {
                let detail = format!("`{set}` overrides `{}`; expected the effect of the option", pair.flag);
                fail_at_difference(&run, &with_option, "variable-wins", detail)
            }
            false => {
                let detail = format!("`{}` has another effect with `{set}`", pair.flag);
                fail_at_difference(&run, &with_option, "differs", detail)
            }
        }
    };
    Some(SwitchRuns::find(context, probe, pair)?.map(|runs| vec![judge(runs)]))
}

/// Judges a call with the option that selects text and with a variable that selects `format`.
fn judge_format(
    context: &CheckContext,
    probe: &Probe,
    pair: &VariableOption,
    format: OutputFormat,
) -> Option<Result<Vec<Assertion>, Reason>> {
    let run = variable_run(context, probe, &Case::OptionOver(pair.variable.clone()))?;
    let text = context.plain_run(probe, OutputFormat::Text)?;
    let judge = || -> Result<(), Unmet> {
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
    Some(Ok(vec![judge()]))
}
