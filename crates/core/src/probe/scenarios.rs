//! Derives calls from probes that change something, can be interrupted or call the stalled server. Each run starts in a
//! fresh copy of the workspace.

use super::args::insert_behind_format;
use super::derived_call::{UNKNOWN_FLAG, derive_from, insert_option};
use super::{Effect, Probe, TargetProfile};
use crate::catalogue::DerivedKind;
use crate::config::CommonOption;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;
use std::time::Duration;

/// Time limit of a run that calls a server that never answers. If the target has an option for a time limit, the call
/// itself has a limit of one second.
pub const STALLED_CALL_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn calls(
    kinds: &BTreeSet<DerivedKind>,
    declared: &[Probe],
    profile: &TargetProfile,
) -> Vec<Probe> {
    let in_json = accepts_json(declared, profile);
    let scenarios = declared.iter().map(|probe| Scenarios { probe, profile, in_json });
    scenarios.flat_map(|scenarios| kinds.iter().flat_map(move |kind| scenarios.calls_of(*kind))).collect()
}

/// Returns whether the format flag of `json` certainly does not name a file to write: it is declared, or another probe
/// accepted it.
fn accepts_json(declared: &[Probe], profile: &TargetProfile) -> bool {
    let accepted = |probe: &Probe| probe.asks_format && probe.formats.contains(&OutputFormat::Json);
    !profile.asks_first || declared.iter().any(|probe| probe.effect.is_none() && accepted(probe))
}

/// Derives calls from one probe that changes something, can be interrupted or calls the stalled server.
#[derive(Clone, Copy)]
struct Scenarios<'a> {
    probe: &'a Probe,
    profile: &'a TargetProfile,
    in_json: bool,
}

impl Scenarios<'_> {
    fn calls_of(self, kind: DerivedKind) -> Vec<Probe> {
        let probe = self.probe;
        let changing = probe.effect.as_ref().map(|effect| self.changing_calls(kind, effect));
        if probe.is_stalled() {
            return self.stalled_call(kind).into_iter().collect();
        }
        let interrupted = probe.call.interrupt.is_some().then(|| self.interrupted_calls(kind));
        changing.filter(|calls| !calls.is_empty()).or(interrupted).unwrap_or_default()
    }

    /// Returns the call of this kind for a probe that calls the stalled server; `None` if the kind is of another
    /// scenario. If the probe has an option for a time limit, the call contains it.
    fn stalled_call(self, kind: DerivedKind) -> Option<Probe> {
        let spelling =
            self.probe.common_option(CommonOption::Timeout, self.profile).args().unwrap_or_default();
        let options = CommonOption::Timeout.with_value(spelling, "1");
        let args = self.placed(&self.probe.call.args, &options);
        let (label, args) = match kind {
            DerivedKind::Timeout if options.is_empty() => ("no time limit".to_owned(), args),
            DerivedKind::Timeout => (options.join(" "), args),
            DerivedKind::InvalidRequest => {
                ("unknown flag".to_owned(), self.placed(&args, &[UNKNOWN_FLAG.to_owned()]))
            }
            DerivedKind::AnonymousRequest if self.probe.call.secret => ("no secret".to_owned(), args),
            _ => return None,
        };
        let mut call = self.call(kind, &label, args, self.simplest_format());
        call.call.secret &= kind != DerivedKind::AnonymousRequest;
        Some(Probe { exit: None, timeout: STALLED_CALL_TIMEOUT, ..call })
    }

    fn interrupted_calls(self, kind: DerivedKind) -> Vec<Probe> {
        let (label, exit) = match kind {
            DerivedKind::Interrupted => ("interrupted", None),
            DerivedKind::Sigint => ("SIGINT", None),
            DerivedKind::After => ("after an interrupted one", self.probe.exit),
            DerivedKind::Confirmed => ("in full", self.probe.exit),
            _ => return Vec::new(),
        };
        vec![Probe { exit, ..self.call(kind, label, self.probe.call.args.clone(), self.simplest_format()) }]
    }

    fn changing_calls(self, kind: DerivedKind, effect: &Effect) -> Vec<Probe> {
        let probe = self.probe;
        let unconfirmed = effect.unconfirmed.as_ref().unwrap_or(&probe.call.args);
        match kind {
            DerivedKind::DryRun => {
                let Some(options) = probe.common_option(CommonOption::DryRun, self.profile).args() else {
                    return Vec::new();
                };
                let args = self.placed(unconfirmed, options);
                let mut formats = vec![self.simplest_format()];
                let json = self.in_json && effect.formats.contains(&OutputFormat::Json);
                formats.extend(json.then_some(OutputFormat::Json));
                formats.dedup();
                let label = |format: &OutputFormat| match formats[0] == *format {
                    true => options.join(" "),
                    false => format!("{} in {}", options.join(" "), format.name()),
                };
                let dry = |format: &OutputFormat| Probe {
                    exit: effect.dry_run_exit,
                    ..self.call_of_case(Case::Format(*format), kind, &label(format), args.clone(), *format)
                };
                formats.iter().map(dry).collect()
            }
            DerivedKind::Unconfirmed => {
                let args = effect.unconfirmed.iter();
                let call = |args: &Vec<String>| {
                    let mut call = self.call(kind, "unconfirmed", args.clone(), self.simplest_format());
                    call.call.result = false;
                    Probe { exit: None, ..call }
                };
                args.map(call).collect()
            }
            DerivedKind::Confirmed => {
                vec![self.call(kind, "in full", probe.call.args.clone(), self.simplest_format())]
            }
            DerivedKind::Concurrent => {
                vec![self.call(kind, "twice at once", probe.call.args.clone(), self.simplest_format())]
            }
            DerivedKind::Again => {
                let mut again = self.call(kind, "again", probe.call.args.clone(), self.simplest_format());
                again.call.setup.push(again.args_in(again.formats[0], self.profile));
                vec![again]
            }
            // With the confirmation, if required: if the unknown flag is ignored, the call changes something.
            DerivedKind::IgnoredFlag
                if probe.runs_only_in_scenarios() && !probe.call.args.iter().any(|arg| arg == "--") =>
            {
                let flag = UNKNOWN_FLAG;
                let placed = (Case::Only, "unknown flag", self.placed(&probe.call.args, &[flag.to_owned()]));
                let behind = insert_behind_format(&probe.call.args, flag);
                let behind = behind.map(|args| (Case::words([flag]), "unknown flag behind", args));
                let call = |(case, label, args)| Probe {
                    exit: None,
                    ..self.call_of_case(case, kind, label, args, self.simplest_format())
                };
                [placed].into_iter().chain(behind).map(call).collect()
            }
            // Without the confirmation, which would answer the prompt.
            DerivedKind::NoInput if probe.runs_only_in_scenarios() => {
                let options = probe.common_option(CommonOption::NoInput, self.profile).args();
                let call = |options: &[String]| {
                    let args = self.placed(unconfirmed, options);
                    Probe { exit: None, ..self.call(kind, &options.join(" "), args, self.simplest_format()) }
                };
                options.map(call).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn placed(&self, args: &[String], option: &[String]) -> Vec<String> {
        insert_option(args, option, self.probe, self.profile)
    }

    /// Returns the format for a call that runs in only one format: text, else the first format of the probe.
    fn simplest_format(&self) -> OutputFormat {
        let probe = self.probe;
        let formats = probe.effect.as_ref().map_or(&probe.formats, |effect| &effect.formats);
        match formats.contains(&OutputFormat::Text) {
            true => OutputFormat::Text,
            false => formats.first().copied().unwrap_or(self.profile.conventions.default_format),
        }
    }

    fn call(&self, kind: DerivedKind, label: &str, args: Vec<String>, format: OutputFormat) -> Probe {
        self.call_of_case(Case::Only, kind, label, args, format)
    }

    fn call_of_case(
        &self,
        case: Case,
        kind: DerivedKind,
        label: &str,
        args: Vec<String>,
        format: OutputFormat,
    ) -> Probe {
        let is_default =
            format == OutputFormat::Text && self.profile.conventions.default_format == OutputFormat::Text;
        let mut call = derive_from(kind, case, self.probe, label).with_args(args);
        call.call.stream = false;
        Probe { asks_format: !is_default, formats: vec![format], ..call }
    }
}
