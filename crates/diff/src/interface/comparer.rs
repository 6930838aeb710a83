//! What the comparison of two interfaces has found so far.

use super::model::{InterfaceReader, ProgramInterface};
use crate::change::Change;
use std::collections::{BTreeMap, BTreeSet};

/// Compares two interfaces, and collects what it finds.
pub(super) struct Comparer<'a> {
    pub old: &'a ProgramInterface,
    pub new: &'a ProgramInterface,
    pub changes: Vec<Change>,
    /// Places of what only one side states, by what it is, such as `default`.
    pub not_compared: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Comparer<'_> {
    /// Adds a change of the command `command`. `tokens` lead to its place within the command.
    pub fn report(&mut self, command: &str, tokens: &[&str], change: Change) {
        let path = ["commands", command].into_iter().chain(tokens.iter().copied());
        let change = path.rev().fold(change, |change, token| change.with_parent_token(token));
        self.changes.push(Change { command: Some(command.to_owned()), ..change });
    }

    /// Returns whether the old version of a command states which options are required.
    pub fn states_required(&self, command: &str) -> bool {
        let reader = self.old.commands.get(command).and_then(|command| command.reader);
        reader.is_some_and(InterfaceReader::states_required)
    }

    /// Returns whether both versions of a command state which options take a value: each was written by a parser, or
    /// shows the value of at least one option.
    pub fn states_values(&self, command: &str) -> bool {
        let now = self.new.resolve(command);
        let sides = [self.old.commands.get(command), now.and_then(|now| self.new.commands.get(&now))];
        sides.into_iter().flatten().all(|command| {
            command.reader != Some(InterfaceReader::Plain)
                || command.options.values().any(|option| option.value.is_some())
        })
    }

    /// Notes that only one side states something about an option or argument.
    pub fn not_stated(&mut self, what: &'static str, command: &str, name: &str) {
        let place = [command, name].join(" ").trim().to_owned();
        self.not_compared.entry(what).or_default().insert(format!("`{place}`"));
    }
}
