//! The formats and features that an explored target lacks: no help page lists them, and a call rejects them.

use crate::context::{CheckContext, RunView};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::OutputFormat;

/// Returns the explored call which shows that the target lacks a format; `None` if there is none.
pub fn absent_format<'a>(context: &'a CheckContext<'a>, format: OutputFormat) -> Option<RunView<'a>> {
    explored_call(context, context.exploration?.absent_formats.get(&format)?)
}

/// Returns the explored call which shows that the target lacks a feature; `None` if there is none.
pub fn absent_feature<'a>(context: &'a CheckContext<'a>, feature: DerivedKind) -> Option<RunView<'a>> {
    explored_call(context, context.exploration?.absent_features.get(&feature)?)
}

fn explored_call<'a>(context: &'a CheckContext<'a>, name: &str) -> Option<RunView<'a>> {
    let call = context.all_probes.iter().find(|probe| probe.name == name)?;
    context.context_of(&call.id).plain_run(call, OutputFormat::Text)
}
