//! `p7-verbose`: the help lists an option that prints more details.

use crate::context::{CheckContext, RunView};
use crate::kit::Pages;
use crate::verdict::{Assertion, Finding, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FormatFlag};
use agentnative_core::model::{Case, OutputFormat, ProbeId, Stream};
use agentnative_core::probe::Probe;

/// Judges `p7-verbose`: the help lists an option that prints more details.
pub fn verbose(context: &CheckContext) -> Judgement {
    let option = context.profile.conventions.flags.get(CommonOption::Verbose);
    if *option == FormatFlag::Absent {
        let remedy = "add an option that prints more details, then remove the key";
        return Judgement::violated(vec![Finding::lacking("flags.verbose", remedy)]);
    }
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let Some(name) = option.args().and_then(<[String]>::first) else {
        return Judgement::unverified("the verbose option is unknown: declare `flags.verbose`");
    };
    let mut assertions: Vec<Assertion> = vec![is_listed(&pages, name)];
    assertions.extend(context.data_probes().filter_map(|probe| {
        let calls = context.derived_from(DerivedKind::Verbose, probe).filter(|call| !is_debug_option(call));
        let runs: Vec<_> = calls.filter_map(|call| context.plain_run(call, *call.formats.first()?)).collect();
        is_accepted(context, probe, &runs, name)
    }));
    Judgement::from_assertions(assertions, "")
}

/// True for a call with an option that the help lists in addition to the verbose option, such as `--debug`.
fn is_debug_option(call: &Probe) -> bool {
    matches!(&call.id, ProbeId::Derived { case: Case::Words(_), .. })
}

fn is_listed(pages: &Pages, name: &str) -> Assertion {
    if pages.all().any(|page| page.page.mentions_flag(name)) {
        return Ok(());
    }
    let is_read = |command: &str| pages.of_commands().any(|page| page.path == [command]);
    let commands = &pages.root.page.interface.commands;
    let unread = commands.iter().map(|command| command.name.as_str()).find(|command| !is_read(command));
    match unread {
        None => {
            let detail = format!("no help page lists `{name}`");
            pages.root.run.failed_at_start("missing", Stream::Stdout, detail)
        }
        Some(command) => inconclusive(format!(
            "the help does not list `{name}`, and the help of `{command}` was not read: declare a probe of `{command}`, or `flags.verbose`"
        )),
    }
}

/// Passes if the target accepts the option at one of its places. `None` if the probe was not called with the option.
fn is_accepted(context: &CheckContext, probe: &Probe, runs: &[RunView], name: &str) -> Option<Assertion> {
    let first = runs.first()?;
    let without = context.without_format(probe).or_else(|| context.plain_run(probe, OutputFormat::Text))?;
    Some(match without.exited() {
        Err(reason) => inconclusive(reason),
        Ok(exit) if runs.iter().any(|run| run.exit() == Some(exit)) => Ok(()),
        Ok(_) => first.exited().map_err(Into::into).and_then(|exit| {
            let detail = format!("`{name}` is rejected: exit code {exit}, although the help lists it");
            first.failed_at_reason("refused", Stream::Stderr, detail)
        }),
    })
}
