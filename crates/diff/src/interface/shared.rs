//! Global options: the options that the help pages of most commands below a command repeat.

use super::model::{OptionInterface, ProgramInterface};

impl ProgramInterface {
    /// Marks an option as global if at least three quarters of the commands below have the same one, and removes it
    /// from them. A command without it lists it in `without`. Commands whose options are unknown do not count.
    #[must_use]
    pub fn with_global_options(mut self) -> Self {
        let names: Vec<String> = self.commands.keys().cloned().collect();
        for above in &names {
            let below: Vec<String> = self
                .descendants(above)
                .filter(|(_, command)| command.reader.is_some())
                .map(|(name, _)| name.to_owned())
                .collect();
            let options = self.commands.get(above).map(|command| command.options.clone()).unwrap_or_default();
            for (key, option) in options {
                self.share(above, &below, &key, &option);
            }
        }
        self
    }

    fn share(&mut self, above: &str, below: &[String], key: &str, option: &OptionInterface) {
        let own = |name: &String| self.commands.get(name).and_then(|command| command.options.get(key));
        let (with, rest): (Vec<&String>, Vec<&String>) =
            below.iter().partition(|name| own(name).is_some_and(|own| is_same(own, option)));
        let most_stated = with.iter().filter_map(|name| own(name)).max_by_key(|own| statements(own)).cloned();
        let most_stated = most_stated.filter(|own| statements(own) > statements(option));
        if with.len() < 2 || 4 * with.len() < 3 * below.len() {
            return;
        }
        let without: Vec<&String> = rest.into_iter().filter(|name| own(name).is_none()).collect();
        for name in with {
            self.commands.get_mut(name).and_then(|command| command.options.remove(key));
        }
        for name in without {
            self.commands.get_mut(name).map(|command| command.without.insert(key.to_owned()));
        }
        if let Some(option) = self.commands.get_mut(above).and_then(|command| command.options.get_mut(key)) {
            if let Some(most_stated) = most_stated {
                *option = OptionInterface { description: option.description.clone(), ..most_stated };
            }
            option.global = true;
        }
    }
}

/// Returns whether two options can be the same one: they differ at most in their descriptions, and in what only one of
/// them states. The page of a program can be shorter than those of its commands.
fn is_same(one: &OptionInterface, other: &OptionInterface) -> bool {
    let is_compatible =
        |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
    one.long == other.long
        && one.short == other.short
        && one.value.is_some() == other.value.is_some()
        && one.value_optional == other.value_optional
        && (one.values.is_empty() || other.values.is_empty() || one.values == other.values)
        && is_compatible(&one.default, &other.default)
        && is_compatible(&one.variable, &other.variable)
        && one.deprecated == other.deprecated
        && one.required == other.required
}

/// Returns how much is stated about an option.
fn statements(option: &OptionInterface) -> usize {
    let OptionInterface { values, default, variable, repeatable, .. } = option;
    [!values.is_empty(), default.is_some(), variable.is_some(), repeatable.is_some()]
        .iter()
        .filter(|stated| **stated)
        .count()
}
