//! Whether an error says what to do.

use super::message::no_message;
use crate::context::{CheckContext, RunView};
use crate::kit::NO_FAILURE;
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{OutputFormat, Stream};
use serde_json::Value;

/// `p4-remedy`
pub fn remedy(context: &CheckContext) -> Judgement {
    let failing = || context.declared().filter(|probe| !probe.gives_data());
    let runs = failing()
        .filter(|probe| !probe.call.remedy.is_empty())
        .flat_map(|probe| OutputFormat::ALL.into_iter().filter_map(|format| context.plain(probe, format)));
    let missing = match failing().next() {
        None => NO_FAILURE.to_owned(),
        Some(probe) => format!(
            "no probe that fails has a `remedy`: declare the commands or settings that help, one of which has to be in \
             the message, such as for `{}`",
            probe.name
        ),
    };
    Judgement::of(runs.map(|run| told(&run)), missing)
}

fn told(run: &RunView) -> Assertion {
    run.usable()?;
    let remedies = &run.probe.call.remedy;
    let value = run.value(run.context.profile.conventions.errors);
    let told =
        |remedy: &String| run.names(remedy) || value.as_ref().is_some_and(|value| holds(value, remedy));
    if remedies.iter().any(told) {
        return Ok(());
    }
    match no_message(run) {
        Some(reason) => Err(reason.into()),
        None => {
            let expected: Vec<String> = remedies.iter().map(|remedy| format!("`{remedy}`")).collect();
            let detail = format!("the message does not say what to do; expected {}", expected.join(" or "));
            run.failed_at_reason("no-remedy", Stream::Stderr, detail)
        }
    }
}

/// Whether a string in the value has these words in it, which may be escaped where it is printed.
fn holds(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| holds(item, words)),
        Value::Object(members) => members.values().any(|member| holds(member, words)),
        _ => false,
    }
}
