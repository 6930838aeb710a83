//! The formats and features that an explored target lacks: no help page lists them, and a call rejects them.

use super::pages::Pages;
use crate::context::{CheckContext, RunView};
use crate::verdict::Assertion;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{OutputFormat, Stream};

/// Returns the run of an explored call which shows that the target lacks a format; `None` if no call shows it.
pub fn absent_format<'a>(context: &'a CheckContext<'a>, format: OutputFormat) -> Option<RunView<'a>> {
    explored_call(context, context.exploration?.absent_formats.get(&format)?)
}

/// Fails with a finding of this kind if exploration shows that the target lacks a feature; `None` if no call shows it.
/// `named` is what no help page does, such as `names a schema`; `lacking` is what its call does, such as `prints none`.
pub fn absent_feature(
    context: &CheckContext,
    feature: DerivedKind,
    named: &str,
    lacking: &str,
    kind: &str,
) -> Option<Assertion> {
    let run = explored_call(context, context.exploration?.absent_features.get(&feature)?)?;
    let detail = format!("no help page {named}, and `{}` {lacking}", run.probe.name);
    Some(run.failed_at_reason(kind, Stream::Stderr, detail))
}

/// Returns the run of an explored call; `None` if the target has no help page that could name what it lacks.
fn explored_call<'a>(context: &'a CheckContext<'a>, name: &str) -> Option<RunView<'a>> {
    Pages::read(context).ok()?;
    let call = context.all_probes.iter().find(|probe| probe.name == name)?;
    context.context_of(&call.id).plain_run(call, OutputFormat::Text)
}
