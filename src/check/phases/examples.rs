//! The examples in the help pages that can be tried: with an unknown flag behind them, which is to be refused.

use crate::check::help_pages::page_of;
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{Case, ProbeId};
use agentnative_core::probe::Recording;
use agentnative_core::run::{End, Observation};
use agentnative_core::targets::{HelpPage, Interface, Names, Page};

/// More examples are not tried.
const MOST: usize = 40;
/// What asks for a page, whatever else is wrong.
const META: [&str; 5] = ["help", "--help", "-h", "--version", "-V"];

/// The arguments of the examples of these pages, those of the target's own page first. Not of a command that passes
/// its arguments on: an unknown flag is none of its own there.
pub(super) fn of_pages<'a>(
    root: &'a Observation,
    of_commands: impl Iterator<Item = &'a Observation>,
) -> Vec<Vec<String>> {
    let page = HelpPage::read(&page_of(root));
    let commands = Interface::of_command(&page, &[]).commands;
    let names = Names::of(&page, &commands, root.argv.split_last().map_or(&[][..], |(_, argv)| argv));
    let read = |seen: &Observation| {
        let command = match &seen.key.probe {
            ProbeId::Derived { case: Case::Words(command), .. } => command.clone(),
            _ => Vec::new(),
        };
        let path: Vec<&str> = command.iter().map(String::as_str).collect();
        let page = Page::of(&HelpPage::read(&page_of(seen)), &path, &names, &commands);
        (command, page)
    };
    let pages: Vec<(Vec<String>, Page)> = std::iter::once(root).chain(of_commands).map(read).collect();
    let passes_on = |args: &[String]| {
        pages.iter().any(|(path, page)| page.passes_on() && path.iter().all(|word| args.contains(word)))
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    for example in pages.iter().flat_map(|(_, page)| &page.examples) {
        let args = &example.args;
        let is_meta = args.iter().any(|arg| META.contains(&arg.as_str()) || arg == "--");
        if !is_meta && example.is_complete() && !found.contains(args) && !passes_on(args) {
            found.push(args.clone());
        }
    }
    found.truncate(MOST);
    found
}

/// Whether each declared probe with an unknown flag was rejected: an example that is not rejected does what it says.
pub(super) fn are_safe(recording: &Recording) -> bool {
    let mut tried = recording
        .observations
        .iter()
        .filter(|seen| seen.key.probe.kind() == Some(Derived::IgnoredFlag))
        .peekable();
    let is_rejected = |seen: &Observation| matches!(seen.end, End::Exited(code) if code != 0);
    tried.peek().is_some() && tried.all(is_rejected)
}
