//! Calls that change something, with and without what makes them harmless: each in a fresh copy of its workspace.

use super::derive::placed_last;
use super::flagged::made;
use super::{Effect, Probe, Promises};
use crate::catalogue::Derived;
use crate::config::Flag;
use crate::model::OutputFormat;
use std::collections::BTreeSet;

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    let in_json = takes_json(declared, promises);
    let changing = declared.iter().filter_map(|probe| Some((probe, probe.effect.as_ref()?)));
    let scenes = changing.map(|(probe, effect)| Scenes { probe, effect, promises, in_json });
    scenes.flat_map(|scenes| kinds.iter().flat_map(move |kind| scenes.of(*kind))).collect()
}

/// Whether json can be asked for where a file of that name must not be written: the target says how, or another
/// probe was asked first and took it.
fn takes_json(declared: &[Probe], promises: &Promises) -> bool {
    let took = |probe: &Probe| probe.asks_format && probe.formats.contains(&OutputFormat::Json);
    !promises.asks_first || declared.iter().any(|probe| probe.effect.is_none() && took(probe))
}

#[derive(Clone, Copy)]
struct Scenes<'a> {
    probe: &'a Probe,
    effect: &'a Effect,
    promises: &'a Promises,
    in_json: bool,
}

impl Scenes<'_> {
    fn of(self, kind: Derived) -> Vec<Probe> {
        let Self { probe, effect, .. } = self;
        let unconfirmed = effect.unconfirmed.as_ref().unwrap_or(&probe.args);
        match kind {
            Derived::DryRun => {
                let Some(options) = probe.flag(Flag::DryRun, self.promises).args() else { return Vec::new() };
                let args = placed_last(unconfirmed, options);
                let mut formats = vec![self.plainest()];
                let json = self.in_json && effect.formats.contains(&OutputFormat::Json);
                formats.extend(json.then_some(OutputFormat::Json));
                formats.dedup();
                let label = |format: &OutputFormat| match formats[0] == *format {
                    true => options.join(" "),
                    false => format!("{} in {}", options.join(" "), format.name()),
                };
                let dry = |format: &OutputFormat| Probe {
                    exit: effect.dry_run_exit,
                    ..self.call(kind, &label(format), args.clone(), *format)
                };
                formats.iter().map(dry).collect()
            }
            Derived::Unconfirmed => {
                let args = effect.unconfirmed.iter();
                let call = |args: &Vec<String>| self.call(kind, "unconfirmed", args.clone(), self.plainest());
                args.map(|args| Probe { exit: None, result: false, ..call(args) }).collect()
            }
            Derived::Confirmed => {
                vec![self.call(kind, "in full", probe.args.clone(), self.plainest())]
            }
            Derived::Again if effect.idempotent => {
                let mut again = self.call(kind, "again", probe.args.clone(), self.plainest());
                again.setup.push(again.call(again.formats[0], self.promises));
                vec![again]
            }
            // Confirmed, if it has to be: an unknown flag that is ignored does what the call does.
            Derived::IgnoredFlag if probe.is_apart() && !probe.args.iter().any(|arg| arg == "--") => {
                let args = placed_last(&probe.args, &[super::UNKNOWN_FLAG.to_owned()]);
                vec![Probe { exit: None, ..self.call(kind, "unknown flag", args, self.plainest()) }]
            }
            // Without the confirmation, which is an answer as well.
            Derived::NoInput if probe.is_apart() => {
                let options = probe.flag(Flag::NoInput, self.promises).args();
                let call = |options: &[String]| {
                    let args = placed_last(unconfirmed, options);
                    Probe { exit: None, ..self.call(kind, &options.join(" "), args, self.plainest()) }
                };
                options.map(call).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The format that a call is made in once: text, for which no option is needed where it is the default.
    fn plainest(&self) -> OutputFormat {
        let formats = &self.effect.formats;
        match formats.contains(&OutputFormat::Text) {
            true => OutputFormat::Text,
            false => formats.first().copied().unwrap_or_default(),
        }
    }

    fn call(&self, kind: Derived, label: &str, args: Vec<String>, format: OutputFormat) -> Probe {
        let is_default = format == OutputFormat::Text && self.promises.default_format == OutputFormat::Text;
        Probe {
            args,
            asks_format: !is_default,
            formats: vec![format],
            stream: false,
            ..made(kind, self.probe, label)
        }
    }
}
