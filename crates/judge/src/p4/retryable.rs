//! `p4-retryable`: the error object states whether a retry can help.

use crate::context::CheckContext;
use crate::verdict::Judgement;
use agentnative_contract::counted;
use agentnative_core::model::OutputFormat;
use serde_json::Value;

const KEYS: [&str; 2] = ["retryable", "is_retryable"];

/// Judges `p4-retryable`: each error object has a boolean that states whether a retry can help.
pub fn retryable(context: &CheckContext) -> Judgement {
    let channel = context.profile.conventions.errors;
    let runs = context.failing_probes().flat_map(|probe| {
        let formats = [OutputFormat::Json, OutputFormat::Jsonl].into_iter();
        formats.filter_map(|format| context.plain_run(probe, format))
    });
    let objects: Vec<Value> = runs
        .filter(|run| run.exit().is_some_and(|exit| exit != 0))
        .filter_map(|run| run.value(channel).filter(Value::is_object))
        .collect();
    let stating = objects.iter().filter(|object| states_retry(object)).count();
    match objects.len() {
        0 => Judgement::NotApplicable("no call prints an error object".to_owned()),
        all if stating == all => Judgement::Pass(format!("stated by {}", counted(all, "error object"))),
        all => Judgement::NotApplicable(format!(
            "{stating} of {} state whether a retry can help",
            counted(all, "error object")
        )),
    }
}

fn states_retry(object: &Value) -> bool {
    let places = [Some(object), object.get("error")];
    places.into_iter().flatten().any(|place| KEYS.iter().any(|key| place[*key].is_boolean()))
}
