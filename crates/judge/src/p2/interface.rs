//! `p2-interface-locked`: compares the commands and options with the lock.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::OutputFormat;
use agentnative_diff::interface::compare_interfaces;
use agentnative_diff::{Change, ChangeSeverity};

/// Judges `p2-interface-locked`: the interface has no breaking change against the lock.
pub fn judge_against_lock(context: &CheckContext) -> Judgement {
    let Some(lock) = context.lock else {
        let words = "there is no lock next to the configuration: `agentnative contract lock` writes one";
        return Judgement::NotApplicable(words.into());
    };
    let Some(old) = &lock.interface else {
        let words = "the lock contains no interface: `agentnative contract lock --update` adds it";
        return Judgement::NotApplicable(words.into());
    };
    let Some(help) = context.known_runs(DerivedKind::Help).next() else {
        return Judgement::unverified("`--help` was not run");
    };
    let Some(new) = context.interface() else {
        return Judgement::unverified("the help pages of the commands were not run");
    };
    let compared = compare_interfaces(old, new.interface.as_ref());
    let assertions: Vec<Assertion> =
        compared.changes.iter().filter_map(|change| judge_change(context, &help, change)).collect();
    let assertions = if assertions.is_empty() { vec![Ok(())] } else { assertions };
    Judgement::from_assertions(assertions, "nothing was compared")
}

fn judge_change(context: &CheckContext, help: &RunView, change: &Change) -> Option<Assertion> {
    let command = change.command.as_deref().unwrap_or_default();
    let place = if command.is_empty() { String::new() } else { format!("`{command}`: ") };
    let note = change.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    let more = match change.also.len() {
        0 => String::new(),
        more => format!(" (and in {more} more commands)"),
    };
    let detail = format!("{}: {place}{}{note}{more}", change.rule, change.message);
    match change.class {
        ChangeSeverity::Breaking => {
            let page = page_of(context, command);
            Some(page.as_ref().unwrap_or(help).failed(&change.rule, detail))
        }
        ChangeSeverity::Undecided => Some(inconclusive(detail)),
        ChangeSeverity::Risky | ChangeSeverity::Compatible => None,
    }
}

/// Returns the run that printed the help page of a command.
fn page_of<'a>(context: &'a CheckContext<'a>, command: &str) -> Option<RunView<'a>> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_page = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.strip_prefix(&["help"]).or(args.split_last().map(|(_, words)| words)) == Some(&words[..])
    };
    let probes = context.by_id.values().filter(|probe| probe.is_kind(DerivedKind::Interface));
    let mut pages = probes.filter(|probe| is_page(&probe.call.args));
    context.plain_run(pages.next()?, OutputFormat::Text)
}
