//! Which commands the declared probes call, and the help pages of these: the words that a probe begins with, as long
//! as the help lists them, read level by level.

use super::locate::help_of;
use super::runs::Make;
use crate::model::OutputFormat;
use crate::probe::{self, Probe};
use crate::run::{Observation, RunKey};
use crate::target::Interface;
use agentnative_contract::error::Result;
use std::collections::BTreeMap;

/// Commands of commands are looked for so many levels down.
const DEPTH: usize = 4;

/// The commands, and the runs that asked them for help. `root` is what the help of the target says.
pub(super) fn find(
    declared: &[Probe],
    root: &Interface,
    make: &mut Make<'_>,
) -> Result<(Vec<Vec<String>>, Vec<Observation>)> {
    let mut pages = BTreeMap::from([(Vec::new(), root.clone())]);
    let mut paths: Vec<Vec<String>> = vec![Vec::new(); declared.len()];
    let mut seen: Vec<Observation> = Vec::new();
    for level in 0..DEPTH {
        let mut wanted = Vec::new();
        for (probe, path) in declared.iter().zip(&mut paths).filter(|(_, path)| path.len() == level) {
            let word = probe.command_words().nth(level);
            let is_listed = |word: &&str| {
                pages.get(path).is_some_and(|page| page.commands.iter().any(|command| command.name == *word))
            };
            let Some(word) = word.filter(is_listed) else { continue };
            path.push(word.to_owned());
            if !wanted.contains(path) {
                wanted.push(path.clone());
            }
        }
        let probes = probe::command_helps(declared, &wanted);
        let keys: Vec<RunKey> = probes.iter().map(|probe| probe.plain(OutputFormat::Text)).collect();
        if keys.is_empty() {
            break;
        }
        let asked = make(&keys, &probes)?;
        for (path, key) in wanted.into_iter().zip(&keys) {
            let Some(seen) = asked.iter().find(|seen| seen.key == *key) else { continue };
            let page = help_of(seen, &path);
            // The page of a command above it says nothing of this one.
            if !pages.values().any(|above| above.commands == page.commands) {
                pages.insert(path, page);
            }
        }
        seen.extend(asked);
    }
    let mut commands: Vec<Vec<String>> = Vec::new();
    for path in paths.into_iter().filter(|path| !path.is_empty()) {
        if !commands.contains(&path) {
            commands.push(path);
        }
    }
    Ok((commands, seen))
}
