//! `p5-dry-run`: a call that changes something has a dry run, which changes nothing.

use super::announced;
use super::changing::{complete_run, judge_changing, wrong_code};
use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{RunChanges, is_result, lacking};
use crate::verdict::{Assertion, Finding, Judgement, doubt, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::probe::{Effect, Probe};
use strict_json::sanitize;

/// Maximum length of a list of paths that a message quotes, in characters.
const MAX_LIST: usize = 200;

/// Judges `p5-dry-run`: a dry run reports what would change, and changes nothing.
pub fn dry_run(context: &CheckContext) -> Judgement {
    judge_changing(context, |probe, effect| {
        let assertions = judge_probe(context, probe, effect).into_iter();
        // What an explored call prints, and how it ends, may have other reasons.
        let is_certain = |finding: &Finding| probe.explored.is_none() || finding.evidence.kind == "changes";
        assertions.map(|assertion| doubt(assertion, is_certain)).collect()
    })
}

fn judge_probe(context: &CheckContext, probe: &Probe, effect: &Effect) -> Vec<Assertion> {
    let Some(option) = probe.common_option(CommonOption::DryRun, context.profile).args() else {
        return vec![lacking(probe, "dry_run", "an option that shows what the call would change")];
    };
    let option = option.join(" ");
    let mut calls: Vec<Assertion> = Vec::new();
    for call in context.derived_from(DerivedKind::DryRun, probe) {
        let runs = call.formats.iter().filter_map(|format| context.plain_run(call, *format));
        calls.extend(runs.map(|run| judge_run(&run, &option).and_then(|()| announces(&run, &option, probe))));
    }
    if calls.is_empty() {
        calls.push(inconclusive(format!("{} was not run with `{option}`", probe.name)));
    }
    let in_json = |call: &Probe| call.formats.contains(&OutputFormat::Json);
    if effect.formats.contains(&OutputFormat::Json)
        && !context.derived_from(DerivedKind::DryRun, probe).any(in_json)
    {
        calls.push(inconclusive(format!(
            "{} was not run in json: neither the help nor the configuration shows that `--output` selects a format; declare formats.json under [target]",
            probe.name
        )));
    }
    calls.push(changes_something(context, probe));
    calls
}

/// Passes if the call of `probe` changes something without the dry-run option. Otherwise a dry run that changes nothing
/// proves nothing.
fn changes_something(context: &CheckContext, probe: &Probe) -> Assertion {
    let run = complete_run(context, probe)?;
    if !RunChanges::from_run(&run)?.changed_anything() {
        return inconclusive(format!(
            "{} changes nothing in the workspace or the home, so its dry run is no evidence",
            run.label()
        ));
    }
    Ok(())
}

/// Passes if the files that a dry run lists in JSON are the files that the call of `probe` changes without `option`.
/// Also passes if the dry run prints no JSON.
fn announces(run: &RunView, option: &str, probe: &Probe) -> Assertion {
    let document = (run.format() == OutputFormat::Json).then(|| run.value(Stream::Stdout)).flatten();
    let Some(document) = document else { return Ok(()) };
    let Ok(complete_run) = complete_run(run.context, probe) else { return Ok(()) };
    let changed = RunChanges::from_run(&complete_run)?;
    match announced::differing_list(&document, &changed) {
        None => Ok(()),
        Some(list) => {
            let list: Vec<String> = list.iter().map(|path| format!("`{path}`")).collect();
            let list = sanitize::sanitize_capped(list.join(", "), MAX_LIST);
            let detail = format!(
                "with `{option}`, the call lists {list}; without it, the call {}",
                changed.in_words()
            );
            run.failed_at_start("differs", Stream::Stdout, detail)
        }
    }
}

fn judge_run(run: &RunView, option: &str) -> Assertion {
    let changed = RunChanges::from_run(run)?;
    if !changed.changed_nothing(run)? {
        if run.probe.explored.is_some() && !changed.all.iter().any(|change| is_result(change)) {
            return inconclusive(format!("{} only changes settings or caches", run.label()));
        }
        return run.failed("changes", format!("with `{option}`, the call {}", changed.in_words()));
    }
    let code = run.exited()?;
    if run.probe.exit.is_some_and(|expected| expected != code) {
        if matches!(run.context.format_support(run.format()), FormatSupport::No(_)) {
            return inconclusive(run.format_rejected());
        }
        return wrong_code(run, option, code, "exit-code");
    }
    if !run.prints_words() {
        let detail = format!("with `{option}`, stdout does not describe what the call would change");
        return run.failed("silent", detail);
    }
    match run.format() {
        OutputFormat::Json if let Some(problem) = run.scan().first_structural_problem() => {
            let detail = format!("with `{option}`, stdout is not one JSON document: {}", problem.message);
            run.failed_at("not-json", Stream::Stdout, problem.position, detail)
        }
        _ => Ok(()),
    }
}
