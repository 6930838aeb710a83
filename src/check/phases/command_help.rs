//! Which commands the declared probes call, and the help pages of these: the words that a probe begins with, as long
//! as the help lists them, read level by level.

use super::runs_so_far::{RunsSoFar, Step, join};
use crate::check::help_pages::help_of;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{self, Probe};
use agentnative_core::targets::Interface;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The levels of commands that are searched.
const MAX_DEPTH: usize = 4;

/// The commands that the declared probes call, each in words. `root` is the help page of the target.
pub(super) fn called_commands(
    declared: &[Probe],
    root: &Interface,
    so_far: &RunsSoFar,
) -> Step<Vec<Vec<String>>> {
    let mut pages = BTreeMap::from([(Vec::new(), root.clone())]);
    let mut paths: Vec<Vec<String>> = vec![Vec::new(); declared.len()];
    for level in 0..MAX_DEPTH {
        let commands = lengthen(&mut paths, declared, &pages, level);
        let probes = probe::command_helps(declared, &commands);
        if probes.is_empty() {
            break;
        }
        let runs = join(probes.iter().map(|probe| so_far.plain(probe, OutputFormat::Text)))?;
        for (path, seen) in commands.into_iter().zip(runs) {
            let Some(page) = seen.map(|seen| help_of(seen, &path)) else { continue };
            // The page of a command above it says nothing of this one.
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

/// Adds the next word to the path of each declared probe where the page of its path lists that word; returns the
/// paths that are new, each once.
fn lengthen(
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
