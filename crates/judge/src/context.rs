//! The input of the checks: probes, target profile, observations and files.

use super::scan::Scans;
use super::source_checks::Code;
use super::verdict::Judgement;
use agentnative_contract::Contract;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::facts::{BuildTimes, ProjectDocument, ProjectDocuments};
use agentnative_core::model::{Case, CheckId, OutputFormat, ProbeId, Variant};
use agentnative_core::probe::{Effect, Probe, TargetProfile};
use agentnative_core::run::{Observation, RunEnd, RunKey};
use agentnative_diff::lock::Lock;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// All evidence that a verdict may rest on.
pub struct CheckContext<'a> {
    /// Profile of the target.
    pub profile: &'a TargetProfile,
    /// Contracts that probes name.
    pub contracts: &'a BTreeMap<String, Contract>,
    /// All probes that were run.
    pub probes: &'a [Probe],
    /// Last accepted interface and shapes of the probes.
    pub lock: Option<&'a Lock>,
    /// Files of the project, or why there are none.
    pub project: Result<&'a ProjectDocuments, CodeUnavailable>,
    /// Manual page of the target, if it has one.
    pub manual: Option<&'a ProjectDocument>,
    /// Build time of the program and modification time of its code, if known.
    pub built: Option<&'a BuildTimes>,
    /// Code of the target, or why there is none.
    pub code: Result<Code<'a>, CodeUnavailable>,
    /// Error message of bash for the completion script, if bash rejects it.
    pub completion_error: Option<&'a str>,
    /// Selected checks. If two checks detect the same fault, one of them reports it if it is selected.
    pub selected: BTreeSet<CheckId>,
    /// True if the runs were interrupted.
    pub interrupted: bool,
    /// True if only plain runs were made.
    pub fast: bool,
    /// True if no runs were to be made.
    pub no_runs: bool,
    /// Name of the configuration file, if there is one.
    pub config: Option<&'a str>,
    runs: BTreeMap<&'a RunKey, &'a Observation>,
    /// Memo of what was read of the streams.
    pub scans: Scans,
    /// Memo of which runs behave like their plain run.
    pub(super) like_plain: RefCell<BTreeMap<RunKey, bool>>,
}

/// Message for a target without a project.
pub const NO_PROJECT: &str = "the target has no known project: a program was named, or its command comes from \
                              PATH or from outside the folder of the configuration; name the project's folder to check \
                              its code";

/// Why the code, or the files around it, are unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeUnavailable {
    /// A program was named, or the configured command belongs to no project here.
    NoProject,
    /// The recording was made without the checks of this layer.
    NotRecorded,
    /// This build cannot read code.
    NoReader,
}

/// Why a run was not made after another run hung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HangCause<'a> {
    /// This check reports the hang, which this run shows.
    Reported(CheckId, &'a RunKey),
    /// The call hung only under this condition, one of several similar ones.
    Under(Variant, u8),
}

/// Whether a target supports a format.
pub enum FormatSupport<'a> {
    /// A probe ended as expected in the format.
    Yes,
    /// No probe that ends as expected without the format does so with it; this is one of the rejected runs.
    No(RunView<'a>),
    /// No probe shows it.
    Unknown,
}

#[derive(Clone, Copy)]
pub struct RunView<'a> {
    pub context: &'a CheckContext<'a>,
    pub probe: &'a Probe,
    pub observation: &'a Observation,
}

impl<'a> CheckContext<'a> {
    /// Creates a context from these observations alone, without a lock, files or code.
    pub fn new(
        profile: &'a TargetProfile,
        contracts: &'a BTreeMap<String, Contract>,
        probes: &'a [Probe],
        observations: &'a [Observation],
    ) -> Self {
        Self {
            profile,
            contracts,
            probes,
            lock: None,
            project: Err(CodeUnavailable::NoProject),
            interrupted: false,
            fast: false,
            no_runs: false,
            config: None,
            manual: None,
            completion_error: None,
            selected: BTreeSet::new(),
            built: None,
            code: Err(CodeUnavailable::NoProject),
            runs: observations.iter().map(|observation| (&observation.key, observation)).collect(),
            scans: Scans::default(),
            like_plain: RefCell::default(),
        }
    }

    /// Returns the run of `probe` in `format` under `variant`, if it was made.
    pub fn run(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
        variant: Variant,
        nth: u8,
    ) -> Option<RunView<'a>> {
        let key = RunKey { probe: probe.id.clone(), format, variant, nth };
        let observation = self.runs.get(&key).copied().filter(|_| !self.is_superseded_by_split(&key))?;
        Some(RunView { context: self, probe, observation })
    }

    /// Returns the run of `probe` in `format` under `variant`, alone or combined with other conditions.
    pub fn under(&'a self, probe: &'a Probe, format: OutputFormat, variant: Variant) -> Option<RunView<'a>> {
        self.runs_under(probe, variant).find(|run| run.format() == format)
    }

    /// Returns the run with this key, if it was made and is not superseded by runs under each condition alone.
    pub fn run_by_key(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        self.find_run(key).filter(|_| !self.is_superseded_by_split(key))
    }

    /// Returns the run with this key, even if it is superseded.
    pub(super) fn find_run(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        let probe = self.probe(&key.probe)?;
        let observation = self.runs.get(key).copied()?;
        Some(RunView { context: self, probe, observation })
    }

    /// Returns the probe with this ID.
    pub fn probe(&self, id: &ProbeId) -> Option<&'a Probe> {
        self.probes.iter().find(|probe| probe.id == *id)
    }

    /// Returns the name of a run's probe.
    pub fn name_of(&self, run: &RunKey) -> &'a str {
        self.probe(&run.probe).map_or("", |probe| &probe.name)
    }

    /// True if a run would show nothing: under a special condition, in a format that the target does not support.
    pub fn is_pointless(&'a self, run: &RunKey) -> bool {
        let of_declared = self.probe(&run.probe).is_some_and(Probe::is_declared);
        let selects_format = of_declared && run.format.is_json() && run.variant != Variant::Plain;
        selects_format && matches!(self.format_support(run.format), FormatSupport::No(_))
    }

    /// Returns the name of the contract for the whole target, if it replaces a check.
    pub fn replaced_by_contract(&self, check: CheckId) -> Option<&'a str> {
        let name = self.profile.contract.as_ref()?;
        let format = self.contracts.get(name)?.framing().format();
        check.check().replaced_by_contract.contains(&format).then_some(name)
    }

    /// Whether a run was made.
    pub fn has_run(&self, key: &RunKey) -> bool {
        self.runs.contains_key(key)
    }

    /// Returns the declared probes that were not run with a format.
    pub fn probes_without_format(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.declared().filter(|probe| probe.omits_format_flag())
    }

    /// Returns why a run is not made after a run of the same call timed out: the check that reports it, or the special
    /// condition of that run. A call that hangs in json would hang in jsonl as well, and so would the calls derived
    /// from it.
    pub fn skipped_after_hang(&self, run: &RunKey) -> Option<HangCause<'a>> {
        let source = run.probe.from().map(ProbeId::declared);
        let is_related = |key: &RunKey| match key.probe == run.probe {
            true => {
                let are_json = key.format.is_json() && run.format.is_json();
                key.format == run.format || key.variant == Variant::Plain && are_json
            }
            false => key.variant == Variant::Plain && source.as_ref() == Some(&key.probe),
        };
        // Runs under each single condition show which one of a combination makes the call hang.
        let related = self.runs.iter().filter(|(key, _)| is_related(key) && key.parts().is_none());
        let hung = related
            .filter(|(_, observation)| observation.end == RunEnd::TimedOut)
            .map(|(_, observation)| *observation);
        let (special, common): (Vec<&Observation>, Vec<&Observation>) =
            hung.partition(|observation| observation.key.variant.is_special());
        let Some(first) = common.first() else {
            let first = special.first().filter(|_| run.variant.is_special())?;
            return Some(HangCause::Under(first.key.variant, first.key.nth));
        };
        let closed = common.iter().all(|observation| observation.key.variant == Variant::ClosedPipe);
        let waiting = common.iter().all(|observation| observation.waits_for_input());
        let check = match (closed, waiting) {
            (true, _) => CheckId::P2BrokenPipe,
            (_, true) => self.check_reporting_wait(),
            _ => CheckId::P2Completes,
        };
        Some(HangCause::Reported(check, &first.key))
    }

    /// Returns the check that reports runs that wait for input.
    pub fn check_reporting_wait(&self) -> CheckId {
        match self.selected.contains(&CheckId::P1NoPrompt) {
            true => CheckId::P1NoPrompt,
            false => CheckId::P2Completes,
        }
    }

    /// Returns the plain run of `probe` in `format`.
    pub fn plain(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        self.run(probe, format, Variant::Plain, 0)
    }

    /// Returns all runs under common conditions, probe by probe.
    pub fn runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.probes.iter().flat_map(|probe| self.runs_of(probe))
    }

    /// Returns all runs of `probe` under common conditions.
    pub fn runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(|run| !run.variant().is_special())
    }

    /// Returns all runs of declared probes under this condition, including those without a format, except in formats
    /// that the target does not support.
    pub fn declared_under(&'a self, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        let runs = move |probe| self.runs_under(probe, variant);
        let is_supported = |run: &RunView| !matches!(self.format_support(run.format()), FormatSupport::No(_));
        let in_formats = self.declared().flat_map(runs).filter(is_supported);
        in_formats.chain(self.derived(DerivedKind::NoFormat).flat_map(runs))
    }

    /// Returns all runs of `probe` under this condition, in all formats.
    pub fn runs_under(&'a self, probe: &'a Probe, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(move |run| run.variant() == variant)
    }

    fn all_runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        let own =
            self.runs.iter().filter(|(key, _)| key.probe == probe.id && !self.is_superseded_by_split(key));
        own.map(move |(_, observation)| RunView { context: self, probe, observation })
    }

    /// Returns all runs in a JSON format of declared probes with data.
    pub fn data_runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.data_probes().flat_map(|probe| self.runs_of(probe)).filter(|run| run.format().is_json())
    }

    /// Returns the runs of a call in a format whose stdout has to equal that of the plain run.
    pub fn runs_with_same_stdout(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
    ) -> impl Iterator<Item = RunView<'a>> {
        self.runs_of(probe).filter(move |run| run.format() == format && run.expects_plain_stdout())
    }

    /// Returns those of [`runs_with_same_stdout`](Self::runs_with_same_stdout) that are data.
    pub fn same_data(&'a self, probe: &'a Probe, format: OutputFormat) -> Vec<RunView<'a>> {
        self.runs_with_same_stdout(probe, format)
            .filter(|run| run.unusable().is_none() && run.scan().structural().is_none())
            .collect()
    }

    /// Returns the declared probes that are run under all conditions.
    pub fn declared(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| probe.is_declared() && !probe.runs_only_in_scenarios())
    }

    /// Returns the declared probes that change something, with their declared effect.
    pub fn changing(&'a self) -> impl Iterator<Item = (&'a Probe, &'a Effect)> {
        let declared = self.probes.iter().filter(|probe| probe.is_declared());
        declared.filter_map(|probe| Some((probe, probe.effect.as_ref()?)))
    }

    /// Returns the declared probes whose stdout is data.
    pub fn data_probes(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.declared().filter(|probe| probe.prints_data())
    }

    /// Returns the probes that are expected to fail: declared ones, and those with an unknown flag or command.
    pub fn failures(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| {
            let unknown =
                probe.is_kind(DerivedKind::UnknownFlag) || probe.is_kind(DerivedKind::UnknownCommand);
            probe.is_declared() && !probe.runs_only_in_scenarios() && !probe.prints_data() || unknown
        })
    }

    /// Returns the probes of a derived kind.
    pub fn derived(&'a self, kind: DerivedKind) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(move |probe| probe.is_kind(kind))
    }

    /// Returns the probes of `kind` that are derived from `probe`.
    pub fn derived_from(&'a self, kind: DerivedKind, probe: &Probe) -> impl Iterator<Item = &'a Probe> {
        let name = probe.name.clone();
        self.derived(kind).filter(move |derived| derived.source() == Some(&name))
    }

    /// Returns the probe of `kind` that is derived from `probe` as this case.
    pub fn case(&'a self, kind: DerivedKind, probe: &Probe, case: &Case) -> Option<&'a Probe> {
        let id = ProbeId::Derived { kind, source: Some(probe.name.clone()), case: case.clone() };
        self.probe(&id)
    }

    /// Returns the declared probe that a derived one comes from.
    pub fn source_of(&self, derived: &Probe) -> Option<&'a Probe> {
        let name = derived.source()?;
        self.probes.iter().find(|probe| probe.name == name)
    }

    /// Returns whether the target supports `format`, as the declared probes with data show.
    pub fn format_support(&'a self, format: OutputFormat) -> FormatSupport<'a> {
        let mut rejected = None;
        for probe in self.data_probes() {
            if probe.omits_format_flag() {
                continue;
            }
            let Some(with_format) = self.plain(probe, format) else { continue };
            if with_format.exit().is_none() {
                continue;
            }
            if with_format.gave_data() {
                return FormatSupport::Yes;
            }
            rejected = self.rejected_run(probe, format).or(rejected);
        }
        rejected.map_or(FormatSupport::Unknown, FormatSupport::No)
    }

    /// True if the target rejects a format, for all probes or for this one.
    pub fn rejects(&'a self, probe: &'a Probe, format: OutputFormat) -> bool {
        matches!(self.format_support(format), FormatSupport::No(_))
            || self.rejected_run(probe, format).is_some()
    }

    /// Returns the run of a probe in a format that is rejected there, although the same call prints data without a
    /// format.
    pub fn rejected_run(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        let with_format = self.plain(probe, format)?;
        // Text replaces the call without a format if that was not run.
        let without_format = self
            .derived_from(DerivedKind::NoFormat, probe)
            .find_map(|probe| self.plain(probe, OutputFormat::Text))
            .or_else(|| self.plain(probe, OutputFormat::Text));
        let is_rejected = !with_format.gave_data() && with_format.rejects_format();
        (is_rejected && without_format.is_some_and(|without_format| without_format.gave_data()))
            .then_some(with_format)
    }

    /// Returns the judgement of a check of these formats alone, if none of them can be selected: it is not applicable
    /// to a target that declares to have none of them.
    pub fn judge_without_formats(&self, formats: &[OutputFormat]) -> Option<Judgement> {
        let probes = || self.probes.iter().filter(|probe| probe.is_declared());
        let is_selectable = |format: &OutputFormat| {
            self.profile.conventions.formats.args(*format).is_some()
                || probes().any(|probe| probe.formats.contains(format))
        };
        if formats.is_empty() || formats.iter().any(is_selectable) {
            return None;
        }
        let names = |formats: &[OutputFormat], between| {
            formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(between)
        };
        let (lacking, undeclared): (Vec<_>, Vec<_>) =
            formats.iter().copied().partition(|format| self.profile.lacks(*format));
        Some(if undeclared.is_empty() {
            Judgement::NotApplicable(format!(
                "the target has no {} according to its configuration",
                names(&lacking, " and no ")
            ))
        } else {
            let keys: Vec<String> =
                undeclared.iter().map(|format| format!("formats.{}", format.name())).collect();
            Judgement::unverified(format!(
                "the configuration does not define how to request {}: declare {} under [target], or `false` for a format that does not exist (p2-output-format then fails: the standard requires it)",
                names(&undeclared, " or "),
                keys.join(" and "),
            ))
        })
    }

    /// Returns the contract for a run's stdout.
    pub fn contract_of(&self, run: &RunView<'_>) -> Option<&'a Contract> {
        self.contract_for(run.probe, run.format())
    }

    /// Returns the contract for a probe's stdout in a format.
    pub fn contract_for(&self, probe: &Probe, format: OutputFormat) -> Option<&'a Contract> {
        let contract = &probe.call.contract;
        let name = match format {
            OutputFormat::Json => contract.json.as_ref(),
            OutputFormat::Jsonl => contract.jsonl.as_ref(),
            OutputFormat::Text => None,
        };
        self.contracts.get(name?)
    }
}
