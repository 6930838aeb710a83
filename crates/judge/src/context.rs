//! What checks are judged by: the probes, the profile of the target, the observations, the files.

use super::scan::Scans;
use super::source_checks::Code;
use super::verdict::Judgement;
use agentnative_contract::Contract;
use agentnative_core::catalogue::Derived;
use agentnative_core::facts::{Built, Document, Project};
use agentnative_core::model::{Case, CheckId, OutputFormat, ProbeId, Variant};
use agentnative_core::probe::{Effect, Probe, TargetProfile};
use agentnative_core::run::{End, Observation, RunKey};
use agentnative_diff::lock::Lock;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// All that a verdict may rest on.
pub struct CheckContext<'a> {
    /// The profile of the target.
    pub profile: &'a TargetProfile,
    /// The contracts that probes name.
    pub contracts: &'a BTreeMap<String, Contract>,
    /// All probes that were run.
    pub probes: &'a [Probe],
    /// What the probes promised when that was last accepted.
    pub lock: Option<&'a Lock>,
    /// The files of the project, or why there are none to look at.
    pub project: Result<&'a Project, NoCode>,
    /// The page of the target's manual, if it has one.
    pub manual: Option<&'a Document>,
    /// When the program was built and its code changed, where that is known.
    pub built: Option<&'a Built>,
    /// The code of the target, or why there is none to look at.
    pub code: Result<Code<'a>, NoCode>,
    /// What bash says of the completion script for it, where it rejects that.
    pub completion_error: Option<&'a str>,
    /// The checks that are made; of two that see the same fault, one tells it if it is among them.
    pub selected: BTreeSet<CheckId>,
    /// The runs were cut short.
    pub interrupted: bool,
    /// Only plain runs were made.
    pub fast: bool,
    /// No run was to be made.
    pub no_runs: bool,
    /// The name of the file that holds the configuration, if there is one.
    pub config: Option<&'a str>,
    runs: BTreeMap<&'a RunKey, &'a Observation>,
    /// What was read of their streams.
    pub scans: Scans,
    /// Which of the runs that were compared with their plain one are like it.
    pub(super) like_plain: RefCell<BTreeMap<RunKey, bool>>,
}

/// What is said where there is no project.
pub const NO_PROJECT: &str = "the target has no known project: a program was named, or its command comes from \
                              PATH or from outside the folder of the configuration; name the project's folder to check \
                              at its code";

/// Why there is no code, or there are no files around it, to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCode {
    /// A program was named, or the configured command is of no project here.
    NoProject,
    /// The recording was made without checks of them.
    NotRecorded,
    /// This build cannot read code.
    NoReader,
}

/// Why a run was not made because another one hung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hung<'a> {
    /// This check reports it, of this run.
    Reported(CheckId, &'a RunKey),
    /// It hung under this condition only, one of several alike.
    Under(Variant, u8),
}

/// Whether a target takes a format.
pub enum Accepted<'a> {
    /// Some probe did as expected when asked for it.
    Yes,
    /// Each probe that does as expected without it does not when asked for it; this is one.
    No(RunView<'a>),
    /// No probe can tell.
    Unknown,
}

/// One run with its probe.
#[derive(Clone, Copy)]
pub struct RunView<'a> {
    pub context: &'a CheckContext<'a>,
    pub probe: &'a Probe,
    pub observation: &'a Observation,
}

impl<'a> CheckContext<'a> {
    /// A context of these observations alone: without a lock, files or code.
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
            project: Err(NoCode::NoProject),
            interrupted: false,
            fast: false,
            no_runs: false,
            config: None,
            manual: None,
            completion_error: None,
            selected: BTreeSet::new(),
            built: None,
            code: Err(NoCode::NoProject),
            runs: observations.iter().map(|observation| (&observation.key, observation)).collect(),
            scans: Scans::default(),
            like_plain: RefCell::default(),
        }
    }

    /// The run of `probe` in `format` under `variant`, if it was made.
    pub fn run(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
        variant: Variant,
        nth: u8,
    ) -> Option<RunView<'a>> {
        let key = RunKey { probe: probe.id.clone(), format, variant, nth };
        let observation = self.runs.get(&key).copied().filter(|_| !self.is_told_apart(&key))?;
        Some(RunView { context: self, probe, observation })
    }

    /// The run of `probe` in `format` under `variant`, alone or with others at once, if one was made.
    pub fn under(&'a self, probe: &'a Probe, format: OutputFormat, variant: Variant) -> Option<RunView<'a>> {
        self.runs_under(probe, variant).find(|run| run.format() == format)
    }

    /// The run of this name, if it was made.
    pub fn run_of(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        self.seen(key).filter(|_| !self.is_told_apart(key))
    }

    /// The same, also where what it shows was told apart.
    pub(super) fn seen(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        let probe = self.probe(&key.probe)?;
        let observation = self.runs.get(key).copied()?;
        Some(RunView { context: self, probe, observation })
    }

    /// The probe with this identity.
    pub fn probe(&self, id: &ProbeId) -> Option<&'a Probe> {
        self.probes.iter().find(|probe| probe.id == *id)
    }

    /// The name of a run's probe.
    pub fn name_of(&self, run: &RunKey) -> &'a str {
        self.probe(&run.probe).map_or("", |probe| &probe.name)
    }

    /// Whether a run would show nothing: one under a special condition in a format that the target does not take.
    pub fn is_pointless(&'a self, run: &RunKey) -> bool {
        let of_declared = self.probe(&run.probe).is_some_and(Probe::is_declared);
        let asks = of_declared && run.format.is_json() && run.variant != Variant::Plain;
        asks && matches!(self.accepted(run.format), Accepted::No(_))
    }

    /// The contract for the whole target, if it takes the place of a check.
    pub fn replaced_by_contract(&self, check: CheckId) -> Option<&'a str> {
        let name = self.profile.contract.as_ref()?;
        let format = self.contracts.get(name)?.framing().format();
        check.check().replaced_by_contract.contains(&format).then_some(name)
    }

    /// Whether a run was made.
    pub fn has_run(&self, key: &RunKey) -> bool {
        self.runs.contains_key(key)
    }

    /// The declared probes that were not asked for formats.
    pub fn unasked(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.declared().filter(|probe| probe.is_unasked())
    }

    /// Why a run was not made, where one of the same call did not end in time: the check that reports that, or the
    /// special condition that it was under. A call that hangs in json would in jsonl, and so would the calls that are
    /// derived from it.
    pub fn hung(&self, run: &RunKey) -> Option<Hung<'a>> {
        let source = run.probe.from().map(ProbeId::declared);
        let is_kin = |key: &RunKey| match key.probe == run.probe {
            true => {
                let are_json = key.format.is_json() && run.format.is_json();
                key.format == run.format || key.variant == Variant::Plain && are_json
            }
            false => key.variant == Variant::Plain && source.as_ref() == Some(&key.probe),
        };
        // Under which of several conditions it hung, runs under each will show.
        let kin = self.runs.iter().filter(|(key, _)| is_kin(key) && key.parts().is_none());
        let hung = kin.filter(|(_, seen)| seen.end == End::TimedOut).map(|(_, seen)| *seen);
        let (special, common): (Vec<&Observation>, Vec<&Observation>) =
            hung.partition(|seen| seen.key.variant.is_special());
        let Some(first) = common.first() else {
            let first = special.first().filter(|_| run.variant.is_special())?;
            return Some(Hung::Under(first.key.variant, first.key.nth));
        };
        let closed = common.iter().all(|seen| seen.key.variant == Variant::ClosedPipe);
        let waiting = common.iter().all(|seen| seen.waits_for_input());
        let check = match (closed, waiting) {
            (true, _) => CheckId::P2BrokenPipe,
            (_, true) => self.tells_of_waiting(),
            _ => CheckId::P2Completes,
        };
        Some(Hung::Reported(check, &first.key))
    }

    /// The check that tells of runs that wait for input.
    pub fn tells_of_waiting(&self) -> CheckId {
        match self.selected.contains(&CheckId::P1NoPrompt) {
            true => CheckId::P1NoPrompt,
            false => CheckId::P2Completes,
        }
    }

    /// The plain run of `probe` in `format`.
    pub fn plain(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        self.run(probe, format, Variant::Plain, 0)
    }

    /// All runs under common conditions, probe by probe.
    pub fn runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.probes.iter().flat_map(|probe| self.runs_of(probe))
    }

    /// All runs of `probe` under common conditions.
    pub fn runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(|run| !run.variant().is_special())
    }

    /// All runs of declared probes under this condition, those without a format among them, but for those in a
    /// format that the target does not take at all.
    pub fn declared_under(&'a self, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        let runs = move |probe| self.runs_under(probe, variant);
        let taken = |run: &RunView| !matches!(self.accepted(run.format()), Accepted::No(_));
        let asked = self.declared().flat_map(runs).filter(taken);
        asked.chain(self.derived(Derived::NoFormat).flat_map(runs))
    }

    /// All runs of `probe` under this condition, in all formats.
    pub fn runs_under(&'a self, probe: &'a Probe, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(move |run| run.variant() == variant)
    }

    fn all_runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        let own = self.runs.iter().filter(|(key, _)| key.probe == probe.id && !self.is_told_apart(key));
        own.map(move |(_, observation)| RunView { context: self, probe, observation })
    }

    /// All runs of declared probes that give data, in a JSON format.
    pub fn data_runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.data_probes().flat_map(|probe| self.runs_of(probe)).filter(|run| run.format().is_json())
    }

    /// The runs of a call in a format whose stdout is by contract the same.
    pub fn same_calls(&'a self, probe: &'a Probe, format: OutputFormat) -> impl Iterator<Item = RunView<'a>> {
        self.runs_of(probe).filter(move |run| run.format() == format && run.prints_the_same())
    }

    /// Those of them that are data.
    pub fn same_data(&'a self, probe: &'a Probe, format: OutputFormat) -> Vec<RunView<'a>> {
        self.same_calls(probe, format)
            .filter(|run| run.unusable().is_none() && run.scan().structural().is_none())
            .collect()
    }

    /// The declared probes that are run in all ways.
    pub fn declared(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| probe.is_declared() && !probe.is_apart())
    }

    /// The declared probes that change something, with what is said of that.
    pub fn changing(&'a self) -> impl Iterator<Item = (&'a Probe, &'a Effect)> {
        let declared = self.probes.iter().filter(|probe| probe.is_declared());
        declared.filter_map(|probe| Some((probe, probe.effect.as_ref()?)))
    }

    /// The declared probes whose standard output is data.
    pub fn data_probes(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.declared().filter(|probe| probe.gives_data())
    }

    /// The probes that are expected to fail: declared, and those with an unknown flag or command.
    pub fn failures(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| {
            let unknown = probe.is(Derived::UnknownFlag) || probe.is(Derived::UnknownCommand);
            probe.is_declared() && !probe.is_apart() && !probe.gives_data() || unknown
        })
    }

    /// The probes of a derived kind.
    pub fn derived(&'a self, kind: Derived) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(move |probe| probe.is(kind))
    }

    /// The probe that was made as `kind` from `probe`.
    pub fn made_from(&'a self, kind: Derived, probe: &Probe) -> impl Iterator<Item = &'a Probe> {
        let name = probe.name.clone();
        self.derived(kind).filter(move |derived| derived.of() == Some(&name))
    }

    /// The probe of a derived kind that was made from `probe` as this case.
    pub fn case(&'a self, kind: Derived, probe: &Probe, case: &Case) -> Option<&'a Probe> {
        let id = ProbeId::Derived { kind, from: Some(probe.name.clone()), case: case.clone() };
        self.probe(&id)
    }

    /// The declared probe that a derived one was made from.
    pub fn source_of(&self, derived: &Probe) -> Option<&'a Probe> {
        let name = derived.of()?;
        self.probes.iter().find(|probe| probe.name == name)
    }

    /// Whether the target takes `format`, told by the declared probes that give data.
    pub fn accepted(&'a self, format: OutputFormat) -> Accepted<'a> {
        let mut refused = None;
        for probe in self.data_probes() {
            if probe.is_unasked() {
                continue;
            }
            let Some(asked) = self.plain(probe, format) else { continue };
            if asked.exit().is_none() {
                continue;
            }
            if asked.gave_data() {
                return Accepted::Yes;
            }
            refused = self.refusal(probe, format).or(refused);
        }
        refused.map_or(Accepted::Unknown, Accepted::No)
    }

    /// Whether the target rejects a format, for all probes or for this one.
    pub fn rejects(&'a self, probe: &'a Probe, format: OutputFormat) -> bool {
        matches!(self.accepted(format), Accepted::No(_)) || self.refusal(probe, format).is_some()
    }

    /// The run of a probe in a format that is rejected there: without a format, the same call gives data.
    pub fn refusal(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        let asked = self.plain(probe, format)?;
        // Text stands in for the call without a format where that was not made.
        let bare = self
            .made_from(Derived::NoFormat, probe)
            .find_map(|probe| self.plain(probe, OutputFormat::Text))
            .or_else(|| self.plain(probe, OutputFormat::Text));
        let is_refused = !asked.gave_data() && asked.refuses_format();
        (is_refused && bare.is_some_and(|bare| bare.gave_data())).then_some(asked)
    }

    /// What is left to say of a check of these formats alone, where none of them can be asked for: it does not
    /// concern a target that says it has none of them.
    pub fn unavailable(&self, formats: &[OutputFormat]) -> Option<Judgement> {
        let probes = || self.probes.iter().filter(|probe| probe.is_declared());
        let asked = |format: &OutputFormat| {
            self.profile.conventions.formats.args(*format).is_some()
                || probes().any(|probe| probe.formats.contains(format))
        };
        if formats.is_empty() || formats.iter().any(asked) {
            return None;
        }
        let names = |formats: &[OutputFormat], between| {
            formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(between)
        };
        let (lacking, open): (Vec<_>, Vec<_>) =
            formats.iter().copied().partition(|format| self.profile.lacks(*format));
        Some(if open.is_empty() {
            Judgement::NotApplicable(format!(
                "the target has no {} according to its configuration",
                names(&lacking, " and no ")
            ))
        } else {
            let keys: Vec<String> = open.iter().map(|format| format!("formats.{}", format.name())).collect();
            Judgement::unverified(format!(
                "the configuration does not say how to request {}: declare {} under [target], or `false` for a format that does not exist (p2-output-format then fails: the standard requires it)",
                names(&open, " or "),
                keys.join(" and "),
            ))
        })
    }

    /// The contract that a run's standard output is held to.
    pub fn contract_of(&self, run: &RunView<'_>) -> Option<&'a Contract> {
        self.contract_for(run.probe, run.format())
    }

    /// The contract that a probe's standard output is held to in a format.
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
