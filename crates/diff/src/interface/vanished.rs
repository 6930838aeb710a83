//! Finds the commands and options that an older interface has and a newer one does not state.

use super::lookup::{join, parent};
use super::model::{OptionInterface, ProgramInterface};
use std::collections::BTreeMap;

/// An option of a command, or a value of it, that the help no longer lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VanishedOption {
    /// Name of the command in the newer interface.
    pub command: String,
    /// Name of the option.
    pub name: String,
    /// The option in the older interface.
    pub option: OptionInterface,
    /// The value; `None` if the option itself vanished.
    pub value: Option<String>,
}

/// Returns the commands of `old` that `new` does not have, below commands that it has, by their names in `new`.
pub fn vanished_commands(old: &ProgramInterface, new: &ProgramInterface) -> Vec<String> {
    let vanished = old.commands.keys().filter(|name| new.resolve(name).is_none());
    let name_now = |name: &String| {
        let above = new.resolve(parent(name)?)?;
        Some(join(&above, name.rsplit(' ').next()?))
    };
    vanished.filter_map(name_now).collect()
}

/// Returns the options and values of `old` that the same commands of `new` do not have. A global option
/// counts once if the command that defines it has lost it. The first command of each option comes first, then the second
/// one of each, and so on.
pub fn vanished_options(old: &ProgramInterface, new: &ProgramInterface) -> Vec<VanishedOption> {
    let mut vanished: Vec<VanishedOption> = Vec::new();
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut turn_of = Vec::new();
    for (name, command) in &old.commands {
        let Some(now) = new.resolve(name) else { continue };
        let is_read =
            new.commands.get(&now).is_some_and(|new| new.reader.is_some() && command.reader.is_some());
        for (key, option) in old.options_of(name).into_iter().filter(|_| is_read) {
            let is_inherited = !command.options.contains_key(key);
            let is_known = is_inherited && vanished.iter().any(|known| known.name == *key);
            let values: Vec<Option<String>> = match new.find_option(&now, key, option) {
                None if is_known => Vec::new(),
                None => vec![None],
                Some(_) if is_inherited => Vec::new(),
                Some((_, found)) if found.value.is_none() && option.value.is_some() && !found.hidden => {
                    vec![Some(option.any_value().to_owned())]
                }
                Some((_, found)) if found.values.is_empty() => Vec::new(),
                Some((_, found)) => option.values.difference(&found.values).cloned().map(Some).collect(),
            };
            for value in values {
                let turn = turns.entry(key.to_owned()).or_default();
                turn_of.push(*turn);
                *turn += 1;
                vanished.push(VanishedOption {
                    command: now.clone(),
                    name: key.to_owned(),
                    option: option.clone(),
                    value,
                });
            }
        }
    }
    let mut turns = turn_of.into_iter().zip(vanished).collect::<Vec<_>>();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, option)| option).collect()
}
