//! Finds other calls in which the target accepts a common option, such as `--quiet`.

use crate::context::CheckContext;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::probe::Probe;

/// Returns where the target accepts a common option that it rejects in `call`, such as `before the subcommand` or by
/// another probe. `None` if it is accepted nowhere. Calls of `kind` are derived from other probes with the same option.
pub fn accepted_elsewhere(
    context: &CheckContext,
    call: &Probe,
    kind: DerivedKind,
    flag: CommonOption,
) -> Option<String> {
    let is_accepted = |other: &&Probe| {
        let run = other.formats.iter().find_map(|format| context.plain_run(other, *format));
        let expected = context.source_of(other).and_then(|source| source.exit);
        run.is_some_and(|run| run.exit().is_some() && run.exit() == expected)
    };
    let starts_with_flag = |other: &&Probe| {
        let flag_args = other.common_option(flag, context.profile).args().unwrap_or_default();
        other.call.args.starts_with(flag_args)
    };
    let mut before_subcommand = context.derived_probes(DerivedKind::GlobalFlag).filter(starts_with_flag);
    if before_subcommand.any(|other| is_accepted(&other)) {
        return Some("before the subcommand".into());
    }
    let mut others = context.derived_probes(kind).filter(|other| other.name != call.name);
    let data = |other: &&Probe| context.source_of(other).is_some_and(Probe::prints_data);
    let other = others.find(|other| data(other) && is_accepted(other))?;
    Some(format!("by `{}`", other.source().unwrap_or(&other.name)))
}
