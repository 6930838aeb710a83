//! `p8-bundle-current`: the instructions for agents use subcommands and options that exist.

use crate::context::{CheckContext, NO_PROJECT};
use crate::kit::{ExampleValidator, Pages, target_names};
use crate::verdict::{Assertion, Finding, Judgement, inconclusive};
use agentnative_core::facts::AgentInstructions;
use agentnative_core::model::Evidence;
use agentnative_core::targets::{Example, TargetNames};

/// Judges `p8-bundle-current`: the instructions for agents use subcommands and options that exist.
pub fn current(context: &CheckContext) -> Judgement {
    let Ok(project) = context.project else {
        return Judgement::NotApplicable(NO_PROJECT.to_owned());
    };
    if project.bundles.is_empty() {
        return Judgement::NotApplicable("the project contains no AGENTS.md and no SKILL.md".to_owned());
    }
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let names = target_names(context);
    let examples = ExampleValidator::new(&pages);
    let mut calls = project.bundles.iter().flat_map(|bundle| calls(bundle, &names)).peekable();
    if calls.peek().is_none() {
        return Judgement::NotApplicable("the instructions for agents show no call of the target".to_owned());
    }
    Judgement::from_assertions(calls.map(|(bundle, call)| is_current(&examples, bundle, &call)), "")
}

/// Returns the calls of the target in the code blocks of an instruction file such as AGENTS.md. Each call is paired
/// with `bundle`, the file that contains it.
fn calls<'b>(
    bundle: &'b AgentInstructions,
    names: &'b TargetNames,
) -> impl Iterator<Item = (&'b AgentInstructions, Example)> {
    let lines = bundle.code.iter();
    lines.filter_map(move |code| {
        Some((bundle, Example::from_code_line(code.line as usize, &code.text, names)?))
    })
}

fn is_current(examples: &ExampleValidator, bundle: &AgentInstructions, call: &Example) -> Assertion {
    let Some(invalid) = examples.find_error(&call.args) else { return Ok(()) };
    match invalid.into_problem() {
        Ok((kind, detail)) => {
            let line = Some(call.line as u64);
            let detail = format!("{detail}, which {} uses", bundle.file);
            let evidence = Evidence { file: Some(bundle.file.clone()), line, detail, ..Evidence::default() };
            Err(Finding::new(kind, evidence).into())
        }
        Err(reason) => inconclusive(reason),
    }
}
