//! Finds example calls in help pages. They are then called with an unknown flag, which the target should reject.

use crate::check::help_pages::help_text;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Case, ProbeId};
use agentnative_core::probe::Recording;
use agentnative_core::run::{Observation, RunEnd};
use agentnative_core::targets::{CommandPage, HelpPage, Interface, META_ARGUMENTS, TargetNames};

/// Maximum number of examples that are called.
const MAX_EXAMPLES: usize = 40;

/// Returns the arguments of the example calls in help pages, those of the root page first. Skips commands that forward
/// their arguments to another program, since that program would interpret the unknown flag.
pub(super) fn find_examples<'a>(
    root: &'a Observation,
    command_pages: impl Iterator<Item = &'a Observation>,
) -> Vec<Vec<String>> {
    let page = HelpPage::parse(&help_text(root));
    let commands = Interface::of_command(&page, &[]).commands;
    let names = TargetNames::new(&page, &commands, root.argv.split_last().map_or(&[][..], |(_, argv)| argv));
    let read = |seen: &Observation| {
        let command = match &seen.key.probe {
            ProbeId::Derived { case: Case::Words(command), .. } => command.clone(),
            _ => Vec::new(),
        };
        let path: Vec<&str> = command.iter().map(String::as_str).collect();
        let page = CommandPage::new(&HelpPage::parse(&help_text(seen)), &path, &names, &commands);
        (command, page)
    };
    let pages: Vec<(Vec<String>, CommandPage)> =
        std::iter::once(root).chain(command_pages).map(read).collect();
    let passes_on = |args: &[String]| {
        pages
            .iter()
            .any(|(path, page)| page.forwards_arguments() && path.iter().all(|word| args.contains(word)))
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    for example in pages.iter().flat_map(|(_, page)| &page.examples) {
        let args = &example.args;
        let is_meta = args.iter().any(|arg| META_ARGUMENTS.contains(&arg.as_str()) || arg == "--");
        if !is_meta && example.is_complete() && !found.contains(args) && !passes_on(args) {
            found.push(args.clone());
        }
    }
    found.truncate(MAX_EXAMPLES);
    found
}

/// Returns whether the target rejected each declared probe that was called with an unknown flag. A target that ignores
/// unknown flags might execute an example.
pub(super) fn are_safe(recording: &Recording) -> bool {
    let mut with_unknown_flag = recording
        .observations
        .iter()
        .filter(|seen| seen.key.probe.kind() == Some(DerivedKind::IgnoredFlag))
        .peekable();
    let is_rejected = |seen: &Observation| matches!(seen.end, RunEnd::Exited(code) if code != 0);
    with_unknown_flag.peek().is_some() && with_unknown_flag.all(is_rejected)
}
