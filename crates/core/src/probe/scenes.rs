//! Calls that change something, with and without what makes them harmless: each in a fresh copy of its workspace.

use super::args::behind;
use super::derived_call::{UNKNOWN_FLAG, made, placed};
use super::{Effect, Probe, TargetProfile};
use crate::catalogue::Derived;
use crate::config::Flag;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;
use std::time::Duration;

/// So long may a call take whose time limit is one second.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let in_json = takes_json(declared, profile);
    let scenes = declared.iter().map(|probe| Scenes { probe, profile, in_json });
    scenes.flat_map(|scenes| kinds.iter().flat_map(move |kind| scenes.of(*kind))).collect()
}

/// Whether json can be asked for where a file of that name must not be written: the target says how, or another
/// probe was asked first and took it.
fn takes_json(declared: &[Probe], profile: &TargetProfile) -> bool {
    let took = |probe: &Probe| probe.asks_format && probe.formats.contains(&OutputFormat::Json);
    !profile.asks_first || declared.iter().any(|probe| probe.effect.is_none() && took(probe))
}

#[derive(Clone, Copy)]
struct Scenes<'a> {
    probe: &'a Probe,
    profile: &'a TargetProfile,
    in_json: bool,
}

impl Scenes<'_> {
    fn of(self, kind: Derived) -> Vec<Probe> {
        let probe = self.probe;
        let changing = probe.effect.as_ref().map(|effect| self.of_changing(kind, effect));
        if probe.is_stalled() {
            return self.of_stalled(kind).into_iter().collect();
        }
        let interrupted = probe.call.interrupt.is_some().then(|| self.of_interrupted(kind));
        changing.filter(|calls| !calls.is_empty()).or(interrupted).unwrap_or_default()
    }

    /// Those of a probe that calls a server which never answers: with a time limit, if it has one.
    fn of_stalled(self, kind: Derived) -> Option<Probe> {
        let spelling = self.probe.flag(Flag::Timeout, self.profile).args().unwrap_or_default();
        let options = Flag::Timeout.with_value(spelling, "1");
        let args = self.placed(&self.probe.call.args, &options);
        let (label, args) = match kind {
            Derived::Timeout if options.is_empty() => ("no time limit".to_owned(), args),
            Derived::Timeout => (options.join(" "), args),
            Derived::InvalidRequest => {
                ("unknown flag".to_owned(), self.placed(&args, &[UNKNOWN_FLAG.to_owned()]))
            }
            Derived::AnonymousRequest if self.probe.call.secret => ("no secret".to_owned(), args),
            _ => return None,
        };
        let mut call = self.call(kind, &label, args, self.plainest());
        call.call.secret &= kind != Derived::AnonymousRequest;
        Some(Probe { exit: None, timeout: TIMEOUT, ..call })
    }

    /// Those of a probe that can be interrupted.
    fn of_interrupted(self, kind: Derived) -> Vec<Probe> {
        let (label, exit) = match kind {
            Derived::Interrupted => ("interrupted", None),
            Derived::Sigint => ("SIGINT", None),
            Derived::After => ("after an interrupted one", self.probe.exit),
            Derived::Confirmed => ("in full", self.probe.exit),
            _ => return Vec::new(),
        };
        vec![Probe { exit, ..self.call(kind, label, self.probe.call.args.clone(), self.plainest()) }]
    }

    /// Those of a probe that changes something.
    fn of_changing(self, kind: Derived, effect: &Effect) -> Vec<Probe> {
        let probe = self.probe;
        let unconfirmed = effect.unconfirmed.as_ref().unwrap_or(&probe.call.args);
        match kind {
            Derived::DryRun => {
                let Some(options) = probe.flag(Flag::DryRun, self.profile).args() else { return Vec::new() };
                let args = self.placed(unconfirmed, options);
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
                    ..self.case(Case::Format(*format), kind, &label(format), args.clone(), *format)
                };
                formats.iter().map(dry).collect()
            }
            Derived::Unconfirmed => {
                let args = effect.unconfirmed.iter();
                let call = |args: &Vec<String>| {
                    let mut call = self.call(kind, "unconfirmed", args.clone(), self.plainest());
                    call.call.result = false;
                    Probe { exit: None, ..call }
                };
                args.map(call).collect()
            }
            Derived::Confirmed => {
                vec![self.call(kind, "in full", probe.call.args.clone(), self.plainest())]
            }
            Derived::Again if effect.idempotent => {
                let mut again = self.call(kind, "again", probe.call.args.clone(), self.plainest());
                again.call.setup.push(again.args_in(again.formats[0], self.profile));
                vec![again]
            }
            // Confirmed, if it has to be: an unknown flag that is ignored does what the call does.
            Derived::IgnoredFlag if probe.is_apart() && !probe.call.args.iter().any(|arg| arg == "--") => {
                let flag = UNKNOWN_FLAG;
                let placed = (Case::Only, "unknown flag", self.placed(&probe.call.args, &[flag.to_owned()]));
                let behind = behind(&probe.call.args, flag);
                let behind = behind.map(|args| (Case::words([flag]), "unknown flag behind", args));
                let call = |(case, label, args)| Probe {
                    exit: None,
                    ..self.case(case, kind, label, args, self.plainest())
                };
                [placed].into_iter().chain(behind).map(call).collect()
            }
            // Without the confirmation, which is an answer as well.
            Derived::NoInput if probe.is_apart() => {
                let options = probe.flag(Flag::NoInput, self.profile).args();
                let call = |options: &[String]| {
                    let args = self.placed(unconfirmed, options);
                    Probe { exit: None, ..self.call(kind, &options.join(" "), args, self.plainest()) }
                };
                options.map(call).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn placed(&self, args: &[String], option: &[String]) -> Vec<String> {
        placed(args, option, self.probe, self.profile)
    }

    /// The format that a call is made in once: text, for which no option is needed where it is the default.
    fn plainest(&self) -> OutputFormat {
        let probe = self.probe;
        let formats = probe.effect.as_ref().map_or(&probe.formats, |effect| &effect.formats);
        match formats.contains(&OutputFormat::Text) {
            true => OutputFormat::Text,
            false => formats.first().copied().unwrap_or(self.profile.conventions.default_format),
        }
    }

    fn call(&self, kind: Derived, label: &str, args: Vec<String>, format: OutputFormat) -> Probe {
        self.case(Case::Only, kind, label, args, format)
    }

    fn case(&self, case: Case, kind: Derived, label: &str, args: Vec<String>, format: OutputFormat) -> Probe {
        let is_default =
            format == OutputFormat::Text && self.profile.conventions.default_format == OutputFormat::Text;
        let mut call = made(kind, case, self.probe, label).with_args(args);
        call.call.stream = false;
        Probe { asks_format: !is_default, formats: vec![format], ..call }
    }
}
