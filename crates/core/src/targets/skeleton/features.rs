//! Detects features of a target for the template: common options, lists, authentication.

use super::ConfigTemplate;
use crate::targets::commands::LeafCommand;
use crate::targets::effect::Effect;
use serde_json::{Value, json};

/// Common spellings of the option that disables prompts.
const NO_INPUT: [&str; 4] = ["--no-input", "--non-interactive", "--no-interactive", "--no-prompt"];
/// Last words in the names of commands that destroy something: `cache purge`.
const DESTROYS: [&str; 8] = ["delete", "destroy", "drop", "prune", "purge", "remove", "reset", "rm"];
/// Last words in the names of commands that print lists: `user list`.
const LISTS: [&str; 3] = ["list", "ls", "search"];

impl ConfigTemplate<'_> {
    /// Returns template values: which features the help shows, and values that are derived from the target's name.
    pub(super) fn features(&self) -> Value {
        let has_option = |name: &&str| self.commands.help.has_option(name);
        let any = |is: fn(&LeafCommand) -> bool| self.commands.leaves.iter().any(is);
        let token = self.name.to_uppercase().replace(|char: char| !char.is_ascii_alphanumeric(), "_");
        json!({
            "no_input": NO_INPUT.into_iter().find(has_option).unwrap_or(NO_INPUT[0]),
            "timeout": has_option(&"--timeout"),
            "changes": any(changes),
            "lists": any(lists),
            "signs_in": any(|call| call.words.iter().any(|word| word == "login" || word == "auth")),
            "token": format!("{token}_TOKEN"),
            "skill": any(|call| call.words.first().is_some_and(|word| word == "skill" || word == "skills")),
            "config_file": format!(".config/{}/config.toml", self.name.replace('/', "-")),
        })
    }
}

pub(super) fn changes(call: &LeafCommand) -> bool {
    call.effect() == Effect::Changes
}

pub(super) fn destroys(call: &LeafCommand) -> bool {
    call.words.last().is_some_and(|word| DESTROYS.contains(&word.as_str()))
}

pub(super) fn lists(call: &LeafCommand) -> bool {
    call.words.last().is_some_and(|word| LISTS.contains(&word.as_str())) && call.effect() == Effect::Reads
}
