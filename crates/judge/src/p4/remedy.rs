//! `p4-remedy`: an error names the command or the setting that helps.

use super::message::no_message;
use crate::context::{CheckContext, RunView};
use crate::kit::NO_FAILURE;
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{OutputFormat, Stream};
use serde_json::Value;

/// Judges `p4-remedy`: an error names the command or setting that helps.
pub fn remedy(context: &CheckContext) -> Judgement {
    let failing = || context.sources().filter(|probe| !probe.prints_data());
    let runs = failing().filter(|probe| !probe.call.remedy.is_empty()).flat_map(|probe| {
        OutputFormat::ALL.into_iter().filter_map(|format| context.plain_run(probe, format))
    });
    let missing = match failing().next() {
        None => NO_FAILURE.to_owned(),
        Some(probe) => format!(
            "no failing probe has a `remedy`: declare the commands or settings that help, such as for `{}`; the message \
             must name one of them",
            probe.name
        ),
    };
    Judgement::from_assertions(runs.map(|run| names_remedy(&run)), missing)
}

fn names_remedy(run: &RunView) -> Assertion {
    run.usable()?;
    let remedies = &run.probe.call.remedy;
    let value = run.value(run.context.profile.conventions.errors);
    let is_named =
        |remedy: &String| run.mentions(remedy) || value.as_ref().is_some_and(|value| contains(value, remedy));
    if remedies.iter().any(is_named) {
        return Ok(());
    }
    match no_message(run) {
        Some(reason) => Err(reason.into()),
        None => {
            let expected: Vec<String> = remedies.iter().map(|remedy| format!("`{remedy}`")).collect();
            let detail = format!("the message does not name a remedy; expected {}", expected.join(" or "));
            run.failed_at_reason("no-remedy", Stream::Stderr, detail)
        }
    }
}

/// True if a string anywhere in a JSON value contains `words`. In the raw output, characters of `words` may be escaped.
fn contains(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| contains(item, words)),
        Value::Object(members) => members.values().any(|member| contains(member, words)),
        _ => false,
    }
}
