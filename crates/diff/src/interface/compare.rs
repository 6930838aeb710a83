//! Compares the interfaces of two versions of a program: its commands.

use super::comparer::Comparer;
use super::lookup::{ancestors, parent};
use super::model::{CommandInterface, InterfaceReader, ProgramInterface};
use super::{arguments, options, renames};
use crate::change::{Change, ChangeSeverity, OtherOutput};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of commands or options that a reader can overlook: if the new page of a command shows none of them,
/// it probably has another layout.
const MIN_OVERLOOKED: usize = 3;

/// The result of comparing two interfaces.
#[derive(Debug, Clone, Default)]
pub struct InterfaceComparison {
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
    /// What was not compared, because only one of the interfaces states it; one sentence for each kind.
    pub not_compared: Vec<String>,
}

/// Returns the changes between the interfaces of two versions of a program. A call that the old version accepts and the
/// new one rejects is a breaking change.
///
/// What only one of the interfaces states is not compared. A command is undecided if its options are known on one side
/// only, or were read from help pages of two styles. If `new` is `None`, its help could not be read.
pub fn compare_interfaces(old: &ProgramInterface, new: Option<&ProgramInterface>) -> InterfaceComparison {
    let Some(new) = new else {
        let words = "the interface is known on the old side only: there is no help page any more";
        let change = Change { command: Some(String::new()), ..Change::undecided(words) };
        return InterfaceComparison { changes: vec![change], not_compared: Vec::new() };
    };
    let mut comparer = Comparer { old, new, changes: Vec::new(), not_compared: BTreeMap::new() };
    comparer.compare_commands();
    let Comparer { changes, not_compared, .. } = comparer;
    let mut changes = merge_commands(changes);
    changes.sort_by_key(|change| change.class);
    let not_compared = not_compared.into_iter().map(|(what, places)| {
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        format!("{what}, stated on one side only: {}", places.join(", "))
    });
    InterfaceComparison { changes, not_compared: not_compared.collect() }
}

impl Comparer<'_> {
    fn compare_commands(&mut self) {
        let (old, new) = (self.old, self.new);
        // Commands whose descendants are not compared.
        let mut closed: BTreeSet<&str> = BTreeSet::new();
        let mut reached: BTreeSet<String> = BTreeSet::new();
        for (name, command) in &old.commands {
            if ancestors(name).any(|above| closed.contains(above)) {
                continue;
            }
            let Some(now) = new.resolve(name) else {
                self.command_removed(name, command);
                closed.insert(name);
                continue;
            };
            if let Some(command_now) = new.commands.get(&now)
                && !self.compare_command(name, command, &now, command_now)
            {
                closed.insert(name);
            }
            reached.insert(now);
        }
        for (name, command) in &new.commands {
            let is_known = reached.contains(name) || old.resolve(name).is_some();
            let is_below_known = parent(name).is_some_and(|above| reached.contains(above));
            let is_comparable = ancestors(name).all(|above| !closed.contains(above));
            if !is_known && is_below_known && is_comparable && !command.hidden {
                let change = Change::compatible("diff-command-added", format!("the command `{name}` is new"));
                self.report(name, &[], change.new_value(&command.description));
            }
        }
    }

    fn command_removed(&mut self, name: &str, command: &CommandInterface) {
        let above = parent(name).unwrap_or_default();
        let word = |name: &'_ str| name.rsplit(' ').next().unwrap_or_default().to_owned();
        let above_now = self.new.resolve(above).and_then(|above| self.new.commands.get(&above));
        if above_now.is_some_and(|above| above.unclear.contains(&word(name))) {
            let words = format!(
                "the help no longer lists the command `{name}`, and a call shows neither that it is accepted nor that it is rejected"
            );
            return self.report(name, &[], Change::undecided(words));
        }
        let added: Vec<(String, &str)> = self
            .new
            .children(above)
            .filter(|(other, _)| self.old.resolve(other).is_none())
            .map(|(other, command)| (word(other), command.description.as_str()))
            .collect();
        let added = added.iter().map(|(name, about)| (name.as_str(), *about));
        let note = renames::note(&word(name), &command.description, added);
        let change = Change::breaking("diff-command-removed", format!("the command `{name}` was removed"));
        self.report(name, &[], Change { note, ..change.old(&command.description) });
    }

    /// Compares two versions of a command. Returns whether the commands below it can be compared.
    fn compare_command(
        &mut self,
        name: &str,
        old: &CommandInterface,
        now: &str,
        new: &CommandInterface,
    ) -> bool {
        for alias in &old.aliases {
            let path = super::lookup::join(parent(name).unwrap_or_default(), alias);
            if !name.is_empty() && self.new.resolve(&path).is_none() {
                let change =
                    Change::breaking("diff-alias-removed", format!("the alias `{alias}` was removed"));
                self.report(name, &["aliases"], change.old(alias));
            }
        }
        if !old.deprecated && new.deprecated {
            let change = Change::new("diff-deprecated", ChangeSeverity::Risky, "the command is deprecated");
            self.report(name, &["deprecated"], change);
        }
        if !old.hidden && new.hidden {
            let words = "the help no longer lists the command, which still works";
            self.report(name, &["hidden"], Change::compatible("diff-hidden", words));
        }
        if [old, new].into_iter().any(|side| side.hidden && side.reader.is_none()) {
            return false; // Only the name of a hidden command is known.
        }
        if renames::plain(&old.description) != renames::plain(&new.description)
            && !old.description.is_empty()
            && !new.description.is_empty()
        {
            let change = Change::compatible("diff-description-changed", "the description changed");
            let change = change.old(&old.description).new_value(&new.description);
            self.report(name, &["description"], change);
        }
        if let Some(why) = self.why_undecided(name, old, now, new) {
            self.report(name, &[], Change::undecided(why));
            return false;
        }
        if old.reader.is_some() {
            options::compare(self, name, old, now, new);
            arguments::compare(self, name, old, new);
            self.compare_exit_codes(name, old, new);
        }
        true
    }

    /// Returns why two versions of a command cannot be compared; `None` if they can.
    fn why_undecided(
        &self,
        name: &str,
        old: &CommandInterface,
        now: &str,
        new: &CommandInterface,
    ) -> Option<String> {
        let is_exact = |reader| reader == InterfaceReader::Usage;
        match (old.reader, new.reader) {
            (Some(_), None) => return Some("the options are known on the old side only".to_owned()),
            (None, Some(_)) => return Some("the options are known on the new side only".to_owned()),
            (Some(one), Some(other)) if one != other && !is_exact(one) && !is_exact(other) => {
                let (one, other) = (one.name(), other.name());
                return Some(format!(
                    "the help page was of the style of {one}, and is now of that of {other}"
                ));
            }
            _ => {}
        }
        let (commands, options) = (self.old.children(name).count(), old.options.len());
        let overlooked = if commands >= MIN_OVERLOOKED && self.new.children(now).next().is_none() {
            format!("{commands} commands")
        } else if options >= MIN_OVERLOOKED && self.new.options_of(now).is_empty() {
            format!("{options} options")
        } else {
            return None;
        };
        Some(format!("the old side has {overlooked} and the new one none: its help may have another layout"))
    }

    fn compare_exit_codes(&mut self, name: &str, old: &CommandInterface, new: &CommandInterface) {
        let is_documented =
            |command: &CommandInterface| command.exit_codes.values().any(|text| !text.is_empty());
        for (code, meaning) in old.exit_codes.iter().filter(|(_, meaning)| !meaning.is_empty()) {
            match new.exit_codes.get(code) {
                Some(now) if now.is_empty() => self.not_stated("meaning of exit codes", name, code),
                Some(now) if renames::plain(now) != renames::plain(meaning) => {
                    let words = format!("the exit code {code} has another meaning");
                    let change = Change::new("diff-exit-code-meaning-changed", ChangeSeverity::Risky, words);
                    self.report(name, &["exit_codes", code], change.old(meaning).new_value(now));
                }
                Some(_) => {}
                None if !is_documented(new) => self.not_stated("exit codes", name, code),
                None => {
                    let words = format!("the exit code {code} was removed");
                    let change = Change::breaking("diff-exit-code-removed", words);
                    self.report(name, &["exit_codes", code], change.old(meaning));
                }
            }
        }
    }
}

/// Keeps the first of equal changes of the same option of several commands, and adds the others to its field `also`.
fn merge_commands(changes: Vec<Change>) -> Vec<Change> {
    let place = |change: &Change| {
        let own = change.command.as_deref().unwrap_or_default().len();
        change.pointer.get("/commands/".len() + own..).map(str::to_owned)
    };
    let mut merged: Vec<(Option<String>, Change)> = Vec::new();
    for change in changes {
        let own = place(&change).filter(|place| place.starts_with("/options/"));
        let is_same = |(place, known): &&mut (Option<String>, Change)| {
            let content = |change: &Change| {
                let Change { rule, old, new, message, note, .. } = change.clone();
                (rule, old, new, message, note)
            };
            own.is_some() && *place == own && content(known) == content(&change)
        };
        match merged.iter_mut().find(is_same) {
            Some((_, known)) => known.also.push(OtherOutput {
                command: change.command,
                pointer: Some(change.pointer),
                ..OtherOutput::default()
            }),
            None => merged.push((own, change)),
        }
    }
    merged.into_iter().map(|(_, change)| change).collect()
}
