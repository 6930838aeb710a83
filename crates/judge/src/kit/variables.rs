//! Calls with an option that an environment variable can replace, and with this variable.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Case, Stream, Variant};
use agentnative_core::probe::{Probe, VariableOption, variable_options};

/// Judges each option that a variable can replace, with each probe that was called with it. `judge` returns `None` for a
/// probe that was not called, and an error for one that shows nothing.
pub fn judge_variables(
    context: &CheckContext,
    judge: impl Fn(&Probe, &VariableOption) -> Option<Result<Vec<Assertion>, Reason>>,
) -> Judgement {
    let pairs = variable_options(context.profile);
    if pairs.is_empty() {
        return Judgement::NotApplicable(
            "no option with a variable is known: the help shows no `[env: NAME]`, and `env_flags` is not declared"
                .into(),
        );
    }
    let assertions = pairs.iter().flat_map(|pair| {
        let tried = context.data_probes().filter_map(|probe| judge(probe, pair));
        let (shown, undecided): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
        if shown.is_empty() {
            let reason = undecided.into_iter().find_map(Result::err);
            let none = || format!("no probe was called with `{}`", pair.flag).into();
            return vec![inconclusive(reason.unwrap_or_else(none))];
        }
        shown.into_iter().flatten().flatten().collect()
    });
    Judgement::from_assertions(
        assertions,
        "no option with a variable was tried: declare a probe that succeeds",
    )
}

/// The runs of a probe with and without an option that has a visible effect.
pub struct SwitchRuns<'a> {
    pub with_option: RunView<'a>,
    pub without: RunView<'a>,
}

impl<'a> SwitchRuns<'a> {
    /// Returns the runs of `probe` with and without the option of `pair`: `None` if the probe was not called with it, and an
    /// error if the option has no visible effect on this probe, which then shows nothing.
    pub fn find(
        context: &'a CheckContext<'a>,
        probe: &'a Probe,
        pair: &VariableOption,
    ) -> Option<Result<Self, Reason>> {
        let with_option = variable_run(context, probe, &Case::OptionOf(pair.variable.clone()))?;
        let find = || {
            let without = match context.profile.contract.is_some() {
                true => context.plain_run(probe, with_option.format()),
                false => context.without_format(probe),
            };
            let without = without.ok_or_else(|| format!("{} was not run without a format", probe.name))?;
            without.usable()?;
            if with_option.exited()? != without.exited()? {
                let what = format!("`{}` is rejected by {}: correct `env_flags`", pair.flag, probe.name);
                return Err(what.into());
            }
            is_reproducible(context, probe)?;
            let runs = Self { with_option, without };
            if runs.is_without_effect() && !runs.is_overridden_by_file()? {
                return Err(format!(
                    "`{}` has no effect on {}: declare a probe with output that it changes",
                    pair.flag, probe.name
                )
                .into());
            }
            Ok(runs)
        };
        Some(find())
    }

    /// True if the option has no effect. The runs of [`find`](Self::find) then show that the configuration file
    /// overrides it.
    pub fn is_without_effect(&self) -> bool {
        has_same_output(&self.with_option, &self.without)
    }

    /// True if the option has an effect only without the configuration file, which by itself changes nothing: the file
    /// then does not have the effect of the option.
    fn is_overridden_by_file(&self) -> Result<bool, Reason> {
        Ok(without_config_file(&self.with_option, &self.without)?.is_some_and(|[with_option, without]| {
            has_same_output(&self.without, &without) && !has_same_output(&with_option, &without)
        }))
    }
}

/// Returns the run of `probe` to which `case` adds an option, or an environment variable that replaces the option.
/// `None` if it was not made.
pub fn variable_run<'a>(context: &'a CheckContext<'a>, probe: &Probe, case: &Case) -> Option<RunView<'a>> {
    let call = context.derived_for_case(DerivedKind::EnvFlag, probe, case)?;
    call.formats.iter().find_map(|format| context.plain_run(call, *format))
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

/// True if two runs have the same exit code and print the same. Words with a digit, such as times, are not compared.
pub fn has_same_output(a: &RunView, b: &RunView) -> bool {
    a.exit() == b.exit()
        && Stream::ALL.into_iter().all(|stream| a.normalized_lines(stream) == b.normalized_lines(stream))
}

/// Returns the runs of the same two calls without the configuration file of the target; `None` if it is not declared.
/// If a run was not made, the error requests both.
pub fn without_config_file<'a>(a: &RunView<'a>, b: &RunView<'a>) -> Result<Option<[RunView<'a>; 2]>, Reason> {
    let context = a.context;
    // Explored calls start with an empty home.
    if context.profile.conventions.config_file.is_none() || a.probe.explored.is_some() {
        return Ok(None);
    }
    let keys = [a, b].map(|run| run.observation.key.with_condition((Variant::Unconfigured, 0)));
    let [a, b] = keys.each_ref().map(|key| context.run_or_request(key, &keys));
    Ok(Some([a?, b?]))
}

/// True if two calls with equal output print different output without the configuration file, which they do not need.
pub fn are_equal_by_file(a: &RunView, b: &RunView) -> Result<bool, Reason> {
    let is_needed = |alone: &RunView| alone.exit() != b.exit();
    let alone = without_config_file(a, b)?;
    Ok(alone.is_some_and(|[a, b]| !is_needed(&b) && !has_same_output(&a, &b)))
}

/// Returns a failure of `run` at its first line that differs from the output of `other`.
pub fn fail_at_difference(run: &RunView, other: &RunView, kind: &str, detail: String) -> Assertion {
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
