//! `p5-dry-run`: what changes something can be tried, and the trial changes nothing.

use super::announced;
use super::changing::{in_full, of_changing, wrong_code};
use crate::context::{Accepted, CheckContext, RunView};
use crate::kit::{Changed, lacking};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::Flag;
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::probe::{Effect, Probe};
use strict_json::sanitize;

/// The longest list of paths that is shown, in characters.
const LISTED: usize = 200;

/// `p5-dry-run`
pub fn dry_run(context: &CheckContext) -> Judgement {
    of_changing(context, |probe, effect| of_probe(context, probe, effect))
}

fn of_probe(context: &CheckContext, probe: &Probe, effect: &Effect) -> Vec<Assertion> {
    let Some(option) = probe.flag(Flag::DryRun, context.profile).args() else {
        return vec![lacking(probe, "dry_run", "an option that shows what the call would change")];
    };
    let option = option.join(" ");
    let mut calls: Vec<Assertion> = Vec::new();
    for call in context.made_from(Derived::DryRun, probe) {
        let runs = call.formats.iter().filter_map(|format| context.plain(call, *format));
        calls.extend(runs.map(|run| of_run(&run, &option).and_then(|()| announces(&run, &option, probe))));
    }
    if calls.is_empty() {
        calls.push(inconclusive(format!("{} was not tried with `{option}`", probe.name)));
    }
    let in_json = |call: &Probe| call.formats.contains(&OutputFormat::Json);
    if effect.formats.contains(&OutputFormat::Json) && !context.made_from(Derived::DryRun, probe).any(in_json)
    {
        calls.push(inconclusive(format!(
            "{} was not tried in json: neither the help nor the configuration shows that `--output` selects a format; declare formats.json under [target]",
            probe.name
        )));
    }
    calls.push(changes_something(context, probe));
    calls
}

/// The call without the option changes something: else a trial that changes nothing shows nothing.
fn changes_something(context: &CheckContext, probe: &Probe) -> Assertion {
    let run = in_full(context, probe)?;
    if !Changed::of(&run)?.is_something() {
        return inconclusive(format!(
            "{} changes nothing in the workspace or the home, so its dry run shows nothing",
            run.label()
        ));
    }
    Ok(())
}

/// The files that a dry run lists in JSON are those that the call changes.
fn announces(run: &RunView, option: &str, probe: &Probe) -> Assertion {
    let document = (run.format() == OutputFormat::Json).then(|| run.value(Stream::Stdout)).flatten();
    let Some(document) = document else { return Ok(()) };
    let Ok(in_full) = in_full(run.context, probe) else { return Ok(()) };
    let changed = Changed::of(&in_full)?;
    match announced::differs(&document, &changed) {
        None => Ok(()),
        Some(list) => {
            let list: Vec<String> = list.iter().map(|path| format!("`{path}`")).collect();
            let list = sanitize::capped(list.join(", "), LISTED);
            let detail = format!("with `{option}`, the call lists {list}; in full, it {}", changed.words());
            run.failed_at_start("differs", Stream::Stdout, detail)
        }
    }
}

fn of_run(run: &RunView, option: &str) -> Assertion {
    let changed = Changed::of(run)?;
    if !changed.none(run)? {
        return run.failed("changes", format!("with `{option}`, the call {}", changed.words()));
    }
    let code = run.exited()?;
    if run.probe.exit.is_some_and(|expected| expected != code) {
        if matches!(run.context.accepted(run.format()), Accepted::No(_)) {
            return inconclusive(run.refused_format());
        }
        return wrong_code(run, option, code, "exit-code");
    }
    if !run.prints_words() {
        let detail = format!("with `{option}`, nothing on stdout says what would be changed");
        return run.failed("silent", detail);
    }
    match run.format() {
        OutputFormat::Json if let Some(problem) = run.scan().structural() => {
            let detail = format!("with `{option}`, stdout is not one JSON document: {}", problem.message);
            run.failed_at("not-json", Stream::Stdout, problem.at, detail)
        }
        _ => Ok(()),
    }
}
