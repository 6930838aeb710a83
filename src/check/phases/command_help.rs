//! Finds the subcommands that the declared probes call: `remote add` in `mycli remote add origin`. A word is a
//! subcommand if the help page of the command before it lists the word.

use super::runs_so_far::{PhaseResult, RunsSoFar, join_all};
use crate::check::help_pages::parse_help;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{self, Probe};
use agentnative_core::targets::Interface;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Maximum number of words of a subcommand; `remote add` has two.
const MAX_DEPTH: usize = 4;

/// Returns the subcommands that the declared probes call, each as its words: `["remote", "add"]`. `root` is the parsed
/// root help page of the target.
pub(super) fn called_commands(
    declared: &[Probe],
    root: &Interface,
    so_far: &RunsSoFar,
) -> PhaseResult<Vec<Vec<String>>> {
    let mut pages = BTreeMap::from([(Vec::new(), root.clone())]);
    let mut paths: Vec<Vec<String>> = vec![Vec::new(); declared.len()];
    for level in 0..MAX_DEPTH {
        let commands = extend_paths(&mut paths, declared, &pages, level);
        let probes = probe::command_helps(declared, &commands);
        if probes.is_empty() {
            break;
        }
        let runs = join_all(probes.iter().map(|probe| so_far.plain_run(probe, OutputFormat::Text)))?;
        for (path, seen) in commands.into_iter().zip(runs) {
            let Some(page) = seen.map(|seen| parse_help(seen, &path)) else { continue };
            // A page that repeats that of a parent command does not describe this command.
            if !pages.values().any(|above| above.commands == page.commands) {
                pages.insert(path, page);
            }
        }
    }
    let mut commands: Vec<Vec<String>> = Vec::new();
    for path in paths.into_iter().filter(|path| !path.is_empty()) {
        if !commands.contains(&path) {
            commands.push(path);
        }
    }
    ControlFlow::Continue(commands)
}

/// Appends the next word of each declared probe to its subcommand in `paths`, if the help page of that subcommand lists
/// the word. Only paths of length `level` are extended. Returns the extended paths without duplicates.
fn extend_paths(
    paths: &mut [Vec<String>],
    declared: &[Probe],
    pages: &BTreeMap<Vec<String>, Interface>,
    level: usize,
) -> Vec<Vec<String>> {
    let mut longer: Vec<Vec<String>> = Vec::new();
    for (probe, path) in declared.iter().zip(paths).filter(|(_, path)| path.len() == level) {
        let word = probe.command_words().nth(level);
        let is_listed = |word: &&str| {
            pages.get(path).is_some_and(|page| page.commands.iter().any(|command| command.name == *word))
        };
        let Some(word) = word.filter(is_listed) else { continue };
        path.push(word.to_owned());
        if !longer.contains(path) {
            longer.push(path.clone());
        }
    }
    longer
}
