//! Finds commands and options in an interface: by alias, and among the global options of the commands above.

use super::model::{CommandInterface, OptionInterface, ProgramInterface, is_short};
use std::collections::BTreeSet;

impl ProgramInterface {
    /// Returns the name of the command that a call with the words of `name` reaches. Each word can be an alias.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        name.split_whitespace().try_fold(String::new(), |above, word| {
            let own = join(&above, word);
            if self.commands.contains_key(&own) {
                return Some(own);
            }
            let alias = self.children(&above).find(|(_, command)| command.aliases.contains(word));
            alias.map(|(name, _)| name.to_owned())
        })
    }

    /// Returns the commands directly below `above`.
    pub(super) fn children<'a>(
        &'a self,
        above: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a CommandInterface)> {
        let commands = self.commands.iter().filter(move |(name, _)| parent(name) == Some(above));
        commands.map(|(name, command)| (name.as_str(), command))
    }

    /// Returns the commands below `above`, at any level.
    pub(super) fn descendants<'a>(
        &'a self,
        above: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a CommandInterface)> {
        let commands = self.commands.iter().filter(move |(name, _)| is_below(name, above));
        commands.map(|(name, command)| (name.as_str(), command))
    }

    /// Returns the options that the command `name` accepts: its own, then the global ones of the commands above.
    pub(super) fn options_of<'a>(&'a self, name: &'a str) -> Vec<(&'a str, &'a OptionInterface)> {
        let Some(command) = self.commands.get(name) else { return Vec::new() };
        let mut options: Vec<(&str, &OptionInterface)> =
            command.options.iter().map(|(name, option)| (name.as_str(), option)).collect();
        for above in ancestors(name).filter_map(|above| self.commands.get(above)) {
            let global = above.options.iter().filter(|(name, option)| {
                option.global && !command.without.contains(*name) && !command.options.contains_key(*name)
            });
            options.extend(global.map(|(name, option)| (name.as_str(), option)));
        }
        options
    }

    /// Returns the option of the command `name` that has one of the long names of another option, or a short name of
    /// it if one of the two has no long name.
    pub(super) fn find_option<'a>(
        &'a self,
        name: &'a str,
        key: &str,
        option: &OptionInterface,
    ) -> Option<(&'a str, &'a OptionInterface)> {
        let wanted: BTreeSet<&str> = option.names(key).collect();
        let is_long = |names: &BTreeSet<&str>| names.iter().any(|name| !is_short(name));
        let options = self.options_of(name);
        let named = |(key, other): &&(&'a str, &'a OptionInterface)| {
            other.names(key).any(|name| !is_short(name) && wanted.contains(name))
        };
        let by_short = |(key, other): &&(&'a str, &'a OptionInterface)| {
            let names: BTreeSet<&str> = other.names(key).collect();
            (!is_long(&names) || !is_long(&wanted)) && names.intersection(&wanted).next().is_some()
        };
        options.iter().find(named).or_else(|| options.iter().find(by_short)).copied()
    }

    /// Returns whether an option of the command `name` has this name.
    pub fn has_option(&self, name: &str, option_name: &str) -> bool {
        self.options_of(name).iter().any(|(key, option)| option.names(key).any(|own| own == option_name))
    }

    /// Returns the environment variables of all options.
    pub(super) fn variables(&self) -> BTreeSet<&str> {
        let options = self.commands.values().flat_map(|command| command.options.values());
        options.filter_map(|option| option.variable.as_deref()).collect()
    }
}

/// Returns the name of the command with the word `word` below the command `above`.
pub(super) fn join(above: &str, word: &str) -> String {
    if above.is_empty() { word.to_owned() } else { format!("{above} {word}") }
}

/// Returns the name of the command above `name`; `None` for the program itself.
pub(super) fn parent(name: &str) -> Option<&str> {
    (!name.is_empty()).then(|| name.rsplit_once(' ').map_or("", |(above, _)| above))
}

/// Returns the names of the commands above `name`, the nearest first.
pub(super) fn ancestors(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(name), |above| parent(above))
}

/// Returns whether the command `name` is below the command `above`.
fn is_below(name: &str, above: &str) -> bool {
    ancestors(name).any(|other| other == above)
}
