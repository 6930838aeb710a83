//! Calls of a scenario, which are made once from a declared probe, such as a confirmed one.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Finding};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Evidence;
use agentnative_core::probe::Probe;

/// Returns the run of the call of `kind` that is derived from `probe`.
pub fn scenario_run<'a>(
    context: &'a CheckContext<'a>,
    kind: DerivedKind,
    probe: &Probe,
) -> Option<RunView<'a>> {
    let call = context.derived_from(kind, probe).next()?;
    context.plain(call, call.formats.first().copied()?)
}

/// Fails because the configuration declares that there is no such option.
pub fn lacking(probe: &Probe, key: &str, option: &str) -> Assertion {
    let detail = format!(
        "the configuration has `flags.{key} = false` for {}: add {option}, then declare it",
        probe.name
    );
    let evidence = Evidence { probe: Some(probe.name.clone()), detail, ..Evidence::default() };
    Err(Finding::new("lacking", evidence).into())
}
