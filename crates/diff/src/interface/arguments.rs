//! Compares the positional arguments of two versions of a command.

use super::comparer::Comparer;
use super::model::{ArgumentInterface, CommandInterface};
use super::options::compare_values;
use crate::change::Change;

/// Compares the positional arguments of a command by their positions, unless one side does not state them.
pub(super) fn compare(
    comparer: &mut Comparer<'_>,
    name: &str,
    old: &CommandInterface,
    new: &CommandInterface,
) {
    let (Some(before), Some(after)) = (&old.arguments, &new.arguments) else {
        if old.arguments.as_ref().or(new.arguments.as_ref()).is_some_and(|arguments| !arguments.is_empty()) {
            comparer.not_stated("positional arguments", name, "");
        }
        return;
    };
    let is_repeatable =
        |arguments: &[ArgumentInterface]| arguments.iter().any(|argument| argument.repeatable);
    let old_required = before.iter().filter(|argument| argument.required).count();
    let required: Vec<&ArgumentInterface> = after.iter().filter(|argument| argument.required).collect();
    if let Some(argument) = required.get(old_required) {
        let words = format!("the argument `{}` is now required", argument.name);
        comparer.report(name, &["arguments"], Change::breaking("diff-argument-required", words));
    }
    if is_repeatable(before) && !is_repeatable(after) && !after.is_empty() {
        let words = "no argument can be repeated any more";
        comparer.report(name, &["arguments"], Change::breaking("diff-repeatable-dropped", words));
    } else if !is_repeatable(after)
        && let Some(argument) = before.get(after.len())
    {
        let words = format!("the argument `{}` was removed", argument.name);
        comparer.report(name, &["arguments"], Change::breaking("diff-argument-removed", words));
    }
    for (old, new) in before.iter().zip(after) {
        compare_values(comparer, name, &["arguments"], &new.name, &old.values, &new.values);
    }
}
