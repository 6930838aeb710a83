//! Reads the interface of a target from its help pages.

use super::call::{InterfaceCall, key, page};
use crate::explore::FindRun;
use crate::run::{Observation, RunEnd};
use crate::targets::{CommandTree, TreeLimits, described_command, is_deprecated, listed_aliases};
use agentnative_contract::counted;
use agentnative_diff::interface::{CommandInterface, ProgramInterface};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The interface of a target, as its help pages describe it.
#[derive(Debug, Clone)]
pub struct ReadInterface {
    /// The interface; `None` if `--help` prints no help page.
    pub interface: Option<ProgramInterface>,
    /// Message about help pages that were not read; `None` if all were read.
    pub unread: Option<String>,
}

/// Reads the interface of a target from its help pages. `root` is the run of `mycli --help`, and `find` looks up other
/// runs. Returns `Break` with the help calls that are still needed.
pub fn read_interface<'r>(
    root: &'r Observation,
    find: &FindRun<'r>,
) -> ControlFlow<Vec<InterfaceCall>, ReadInterface> {
    let (mut needed, mut not_ended) = (Vec::new(), 0);
    let text = match root.end {
        RunEnd::Exited(_) => page(root),
        _ => Vec::new(),
    };
    let tree = CommandTree::explore(&text, &TreeLimits::default(), &mut |requests| {
        let mut answers = Vec::new();
        for args in requests {
            match find(&key(args)) {
                None => needed.push(args.clone()),
                Some(seen) => {
                    not_ended += usize::from(seen.is_some_and(|seen| seen.end == RunEnd::TimedOut));
                    answers.push(seen.filter(|seen| seen.end == RunEnd::Exited(0)).map(page));
                }
            }
        }
        // Fewer answers than requests end the reading until the missing runs are made.
        if needed.is_empty() { answers } else { Vec::new() }
    });
    if !needed.is_empty() {
        return ControlFlow::Break(needed);
    }
    let interface = interface_of(&tree);
    let root = interface.commands.get("").filter(|root| !root.options.is_empty());
    let is_help_page = root.is_some() || interface.commands.len() > 1;
    let late = (not_ended > 0)
        .then(|| format!("{} did not end before the time limit", counted(not_ended, "call of a help page")));
    let unread = tree.unread.or(late);
    ControlFlow::Continue(ReadInterface { interface: is_help_page.then_some(interface), unread })
}

/// Returns the interface that the help pages of a command tree describe.
fn interface_of(tree: &CommandTree) -> ProgramInterface {
    let aliases: Vec<BTreeMap<String, _>> = tree
        .nodes
        .iter()
        .map(|node| node.page.as_ref().map(|(bytes, _)| listed_aliases(bytes)).unwrap_or_default())
        .collect();
    let commands = tree.nodes.iter().map(|node| {
        let path: Vec<&str> = node.words.iter().map(String::as_str).collect();
        let page = node.page.as_ref().filter(|(bytes, _)| !bytes.trim_ascii().is_empty());
        let mut command =
            page.map_or_else(CommandInterface::default, |(bytes, _)| described_command(bytes, &path));
        command.description.clone_from(&node.about);
        command.deprecated = is_deprecated(&node.about);
        if let Some((parent, word)) = node.parent.zip(path.last()) {
            command.aliases.extend(aliases[parent].get(*word).cloned().unwrap_or_default());
        }
        (node.words.join(" "), command)
    });
    ProgramInterface::new(commands.collect()).with_global_options()
}
