//! Compares the options of two versions of a command.

use super::comparer::Comparer;
use super::model::{CommandInterface, OptionInterface, is_short};
use super::renames;
use crate::change::{Change, ChangeSeverity};
use std::collections::BTreeSet;

/// Compares the options of a command, which is called `now` in the new interface.
pub(super) fn compare(
    comparer: &mut Comparer<'_>,
    name: &str,
    old: &CommandInterface,
    now: &str,
    new: &CommandInterface,
) {
    let (old_side, new_side) = (comparer.old, comparer.new);
    for (key, option) in &old.options {
        match new_side.find_option(now, key, option) {
            Some(found) => compare_option(comparer, name, (key, option), now, found),
            None => removed(comparer, name, (key, option), now),
        }
    }
    for (key, option) in &new.options {
        let is_known = old_side.find_option(name, key, option).is_some()
            || option.names(key).any(|own| old_side.has_option(name, own) && !is_short(own));
        if !is_known && !option.hidden {
            let change = Change::compatible("diff-option-added", format!("`{key}` is new"));
            comparer.report(name, &["options", key], change.new_value(&option.description));
        }
    }
    let mut changed = Vec::new();
    for (key, option) in &old.options {
        let found = new_side.find_option(now, key, option).map(|(_, found)| &found.description);
        let found = found.filter(|about| !about.is_empty() && !option.description.is_empty());
        if found.is_some_and(|about| renames::plain(about) != renames::plain(&option.description)) {
            changed.push(format!("`{key}`"));
        }
    }
    if !changed.is_empty() {
        let words = format!("the descriptions of options changed: {}", changed.join(", "));
        comparer.report(name, &["options"], Change::compatible("diff-description-changed", words));
    }
}

type Named<'a> = (&'a str, &'a OptionInterface);

/// Reports an option that the new version of the command does not have.
fn removed(comparer: &mut Comparer<'_>, name: &str, (key, option): (&String, &OptionInterface), now: &str) {
    if let Some(why) = why_unclear(comparer, key, now) {
        return comparer.report(name, &["options", key], Change::undecided(why));
    }
    let own = comparer.new.commands.get(now).into_iter().flat_map(|command| &command.options);
    let added = own.filter(|(other, found)| comparer.old.find_option(name, other, found).is_none());
    let described = added.map(|(other, found)| (other.as_str(), found.description.as_str()));
    let note = renames::note(key, &option.description, described);
    let change = Change::breaking("diff-option-removed", format!("`{key}` was removed"));
    let is_renamed = note.is_some();
    comparer.report(name, &["options", key], Change { note, ..change.old(&option.description) });
    for short in option.short.iter().filter(|short| !is_renamed && *short != key) {
        if let Some((other, _)) = owner(comparer, now, short) {
            short_reassigned(comparer, name, key, short, &other);
        }
    }
}

/// Returns why it is unclear whether an option was removed that the help no longer lists; `None` if it was.
fn why_unclear(comparer: &Comparer<'_>, key: &str, now: &str) -> Option<String> {
    let twin = match key.strip_prefix("--no-") {
        Some(name) => format!("--{name}"),
        None => format!("--no-{}", key.trim_start_matches('-')),
    };
    if !is_short(key) && comparer.new.has_option(now, &twin) {
        return Some(format!("the help lists `{twin}` in the place of `{key}`"));
    }
    let is_unclear = comparer.new.commands.get(now).is_some_and(|command| command.unclear.contains(key));
    is_unclear.then(|| {
        format!("the help no longer lists `{key}`, and a call shows neither that it is accepted nor that it is rejected")
    })
}

/// Returns the option of the new version of a command that has this short name, with its key.
fn owner(comparer: &Comparer<'_>, now: &str, short: &str) -> Option<(String, OptionInterface)> {
    let options = comparer.new.options_of(now).into_iter();
    let mut owners = options.filter(|(key, option)| option.names(key).any(|own| own == short));
    owners.next().map(|(key, option)| (key.to_owned(), option.clone()))
}

/// Returns whether an option is probably another one with a new name.
fn is_renamed(key: &str, old: &OptionInterface, other: &str, found: &OptionInterface) -> bool {
    renames::note(key, &old.description, [(other, &*found.description)].into_iter()).is_some()
}

fn short_reassigned(comparer: &mut Comparer<'_>, name: &str, key: &str, short: &str, other: &str) {
    let now = if other == short { "an option of its own".to_owned() } else { format!("`{other}`") };
    let words = format!("`{short}` is now {now}, and was `{key}`");
    let change = Change::breaking("diff-short-option-reassigned", words);
    comparer.report(name, &["options", key, "short"], change.old(key).new_value(other));
}

/// Compares two versions of an option.
fn compare_option(
    comparer: &mut Comparer<'_>,
    name: &str,
    (key, old): (&String, &OptionInterface),
    now: &str,
    (_, new): Named<'_>,
) {
    compare_names(comparer, name, (key, old), now, new);
    if !old.hidden && new.hidden {
        let words = format!("the help no longer lists `{key}`, which is still accepted");
        comparer.report(name, &["options", key], Change::compatible("diff-hidden", words));
    }
    if old.hidden || new.hidden {
        return; // Only the name of a hidden option is known.
    }
    compare_value(comparer, name, key, old, new);
    let can_be_omitted = old.required.map_or(comparer.states_required(name), |required| !required);
    let mut report = |rule: &str, class, field: &str, words: String, sides: [Option<String>; 2]| {
        let [before, after] = sides;
        let change = Change::new(rule, class, words).with_old_and_new(before, after);
        comparer.report(name, &["options", key, field], change);
    };
    if can_be_omitted && new.required == Some(true) {
        let words = format!("`{key}` is now required");
        report("diff-argument-required", ChangeSeverity::Breaking, "required", words, [None, None]);
    }
    if old.repeatable == Some(true) && new.repeatable == Some(false) {
        let words = format!("`{key}` can no longer be repeated");
        report("diff-repeatable-dropped", ChangeSeverity::Breaking, "repeatable", words, [None, None]);
    }
    if !old.deprecated && new.deprecated {
        let words = format!("`{key}` is deprecated");
        report("diff-deprecated", ChangeSeverity::Risky, "deprecated", words, [None, None]);
    }
    if !is_same_default(old, new) {
        let words = format!("`{key}` has another default");
        let sides = [old.default.clone(), new.default.clone()];
        report("diff-default-changed", ChangeSeverity::Risky, "default", words, sides);
    }
    let variables = comparer.new.variables();
    if let Some(variable) = old.variable.as_deref().filter(|variable| !variables.contains(variable)) {
        let words = format!("the variable `{variable}` of `{key}` was removed");
        let change = Change::new("diff-variable-removed", ChangeSeverity::Risky, words);
        comparer.report(
            name,
            &["options", key, "variable"],
            change.with_old_and_new(Some(variable), new.variable.as_ref()),
        );
    }
    for (what, is_one_sided) in [
        ("defaults", old.default.is_some() != new.default.is_some()),
        ("allowed values", old.values.is_empty() != new.values.is_empty()),
        ("required options", old.required.is_none() && !can_be_omitted && new.required == Some(true)),
        ("repeatable options", old.repeatable == Some(true) && new.repeatable.is_none()),
    ] {
        if is_one_sided {
            comparer.not_stated(what, name, key);
        }
    }
    compare_scope(comparer, name, key, old);
}

/// Returns whether two versions of an option have the same default, or only one states it. `20` and `20.0` are the same,
/// and so are `OUTPUTDIR/trees` and `[OUTPUT_DIR/trees]`.
fn is_same_default(old: &OptionInterface, new: &OptionInterface) -> bool {
    let (Some(old), Some(new)) = (&old.default, &new.default) else { return true };
    let numbers = old.parse::<f64>().ok().zip(new.parse::<f64>().ok());
    let plain = |text: &str| text.replace(['[', ']', '(', ')', '"', '\'', '_', ' '], "").to_lowercase();
    plain(old) == plain(new) || numbers.is_some_and(|(old, new)| old == new)
}

/// Compares the long and short names of an option.
fn compare_names(
    comparer: &mut Comparer<'_>,
    name: &str,
    (key, old): (&String, &OptionInterface),
    now: &str,
    new: &OptionInterface,
) {
    let is_hidden = new.hidden;
    for own in old.names(key).filter(|own| !comparer.new.has_option(now, own)).collect::<Vec<_>>() {
        let (rule, what, field) = match is_short(own) {
            true => ("diff-short-option-removed", "short name", "short"),
            false => ("diff-alias-removed", "name", "long"),
        };
        if !is_hidden {
            let change = Change::breaking(rule, format!("the {what} `{own}` of `{key}` was removed"));
            comparer.report(name, &["options", key, field], change.old(own));
        }
    }
    for short in &old.short {
        if let Some((other, found)) = owner(comparer, now, short)
            && found != *new
            && !(is_hidden && is_renamed(key, old, &other, &found))
        {
            short_reassigned(comparer, name, key, short, &other);
        }
    }
}

/// Compares whether an option takes a value, and its allowed values.
fn compare_value(
    comparer: &mut Comparer<'_>,
    name: &str,
    key: &str,
    old: &OptionInterface,
    new: &OptionInterface,
) {
    let kind = |option: &OptionInterface| match (&option.value, option.value_optional) {
        (None, _) => "no value",
        (Some(_), true) => "an optional value",
        (Some(_), false) => "a value",
    };
    let (before, after) = (kind(old), kind(new));
    let states_values = old.value.is_some() == new.value.is_some() || comparer.states_values(name);
    if before != after && !states_values {
        comparer.not_stated("values", name, key);
    } else if old.value.is_some() && new.value.is_none() && !new.hidden_values.is_empty() {
        let words = format!("the help no longer shows a value of `{key}`, which still accepts one");
        return comparer.report(name, &["options", key, "value"], Change::compatible("diff-hidden", words));
    } else if before != after {
        let class = match (old.value.is_some(), new.value.is_some() && new.value_optional) {
            (_, false) => ChangeSeverity::Breaking,
            // A value that is a word of its own may now be an argument.
            (true, true) => ChangeSeverity::Risky,
            (false, true) => ChangeSeverity::Compatible,
        };
        let words = format!("`{key}` took {before}, and takes {after} now");
        let change = Change::new("diff-takes-value-changed", class, words);
        let change = change.with_old_and_new(old.value.as_ref(), new.value.as_ref());
        comparer.report(name, &["options", key, "value"], change);
    }
    let old_values = old.values.union(&old.hidden_values).cloned().collect();
    let new_values = new.values.union(&new.hidden_values).cloned().collect();
    compare_values(comparer, name, &["options", key], key, &old_values, &new_values);
    for value in old.values.intersection(&new.hidden_values) {
        let words =
            format!("the help no longer lists the value `{value}` of `{key}`, which is still accepted");
        comparer.report(
            name,
            &["options", key, "values"],
            Change::compatible("diff-hidden", words).old(value),
        );
    }
}

/// Compares two sets of allowed values, unless one of them is not stated.
pub(super) fn compare_values(
    comparer: &mut Comparer<'_>,
    name: &str,
    tokens: &[&str],
    key: &str,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
) {
    if old.is_empty() || new.is_empty() {
        return;
    }
    let path = [tokens, &["values"]].concat();
    for value in old.difference(new) {
        let change =
            Change::breaking("diff-value-removed", format!("`{key}` no longer accepts the value `{value}`"));
        comparer.report(name, &path, change.old(value));
    }
    for value in new.difference(old) {
        let change = Change::compatible("diff-value-added", format!("`{key}` accepts the value `{value}`"));
        comparer.report(name, &path, change.new_value(value));
    }
}

/// Reports the commands that no longer accept a global option of the command above them.
fn compare_scope(comparer: &mut Comparer<'_>, name: &str, key: &str, old: &OptionInterface) {
    if !old.global {
        return;
    }
    let lost = comparer.old.descendants(name).filter(|(below, command)| {
        let has_it = command.reader.is_some() && !command.without.contains(key);
        let found = comparer.new.resolve(below);
        let command_now = found.as_ref().and_then(|found| comparer.new.commands.get(found));
        let is_read = command_now.is_some_and(|now| now.reader.is_some() && now.reader == command.reader);
        let accepts = |found: &String| comparer.new.find_option(found, key, old).is_some();
        has_it && is_read && !found.as_ref().is_some_and(accepts)
    });
    let lost: Vec<String> = lost.map(|(below, _)| format!("`{below}`")).collect();
    if !lost.is_empty() {
        let words = format!("commands no longer accept the global option `{key}`: {}", lost.join(", "));
        let change = Change::breaking("diff-global-option-narrowed", words);
        comparer.report(name, &["options", key, "global"], change);
    }
}
