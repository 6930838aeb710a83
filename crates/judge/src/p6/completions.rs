//! `p6-completions`: completion scripts for shells need neither a home nor a valid configuration.

use crate::context::{CheckContext, RunView};
use crate::kit::{absent_feature, display_exit, target_names};
use crate::verdict::{Assertion, Finding, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{Stream, Variant, condition_phrase};
use agentnative_core::probe::SHELLS;

/// Judges `p6-completions`: the target prints completion scripts for bash, zsh and fish.
pub fn completions(context: &CheckContext) -> Judgement {
    let guessed = match context.profile.conventions.completions {
        FormatFlag::Absent => {
            let remedy = "print completion scripts, then declare the call";
            return Judgement::violated(vec![Finding::lacking("completions", remedy)]);
        }
        FormatFlag::Unspecified => true,
        FormatFlag::Given(_) => false,
    };
    let absent =
        absent_feature(context, DerivedKind::Completions, "names completion scripts", "prints none", "exit");
    if let Some(absent) = absent.filter(|_| guessed) {
        return Judgement::from_assertions([absent], "");
    }
    let calls = || context.derived_probes(DerivedKind::Completions);
    let runs = calls().flat_map(|probe| {
        let plain = probe.formats.iter().filter_map(|format| context.plain_run(probe, *format));
        plain.chain(context.runs_under(probe, Variant::Bare))
    });
    let judgement = Judgement::from_assertions(
        runs.map(|run| prints_script(&run)),
        "no call that prints completion scripts is known: declare `completions`, or `false` if there is none (this check then fails: the standard requires it)",
    );
    match judgement {
        // A word in the help is not a declaration.
        Judgement::Violated(..) if guessed => {
            let calls: Vec<String> = calls().map(|call| format!("`{}`", call.name)).collect();
            Judgement::unverified(format!(
                "no completion script is printed by {}: declare `completions`, or `false` if there are none (this check then fails: the standard requires them)",
                calls.join(", ")
            ))
        }
        other => other,
    }
}

fn prints_script(run: &RunView) -> Assertion {
    let (context, call) = (run.context, &run.probe.name);
    run.ended()?;
    let condition = condition_phrase(run.variant(), run.observation.key.nth, None);
    let condition = condition.map(|words| format!(" {words}")).unwrap_or_default();
    if run.exit() != Some(0) {
        let detail = format!("`{call}` exits with {}{condition}, expected 0", display_exit(run.exit()));
        return run.failed_at_reason("exit", Stream::Stderr, detail);
    }
    let Some(lines) = run.lines(Stream::Stdout) else { return inconclusive(run.too_long()) };
    let names = target_names(context);
    let names = names.programs();
    if !lines.iter().any(|line| names.iter().any(|name| line.contains(name))) {
        let expected: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let detail = format!("`{call}` prints no script with the name {}{condition}", expected.join(" or "));
        return run.failed_at_start("no-script", Stream::Stdout, detail);
    }
    match context.completion_error {
        Some(error)
            if run.variant() == Variant::Plain
                && run.probe.call.args.iter().any(|arg| arg.contains(SHELLS[0])) =>
        {
            let detail = format!("bash rejects the script: {error}");
            run.failed_at_start("syntax", Stream::Stdout, detail)
        }
        _ => Ok(()),
    }
}
