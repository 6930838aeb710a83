//! Runs in scenarios: calls that are derived from a declared probe and made once, such as one with a confirmation.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Finding};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Evidence;
use agentnative_core::probe::Probe;

/// Returns the run of the call of `kind` that is derived from `probe`; `None` if it was not made.
pub fn scenario_run<'a>(
    context: &'a CheckContext<'a>,
    kind: DerivedKind,
    probe: &Probe,
) -> Option<RunView<'a>> {
    let call = context.derived_from(kind, probe).next()?;
    context.plain_run(call, call.formats.first().copied()?)
}

/// Returns a failed assertion: the configuration has `flags.KEY = false` for `probe`, so the required option is
/// missing. `option` is what to add.
pub fn lacking(probe: &Probe, key: &str, option: &str) -> Assertion {
    let detail = format!(
        "the configuration has `flags.{key} = false` for {}: add {option}, then declare it",
        probe.name
    );
    let evidence = Evidence { probe: Some(probe.name.clone()), detail, ..Evidence::default() };
    Err(Finding::new("lacking", evidence).into())
}
