//! The input of the checks: probes, target profile, observations and files.

use super::scan::Scans;
use super::source_checks::Code;
use super::verdict::Judgement;
use agentnative_contract::Contract;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::facts::{BuildTimes, ProjectDocument, ProjectDocuments};
use agentnative_core::interface::{ReadInterface, recorded_interface};
use agentnative_core::model::{CallOutcome, Case, CheckId, Exploration, OutputFormat, ProbeId, Variant};
use agentnative_core::probe::{Effect, Probe, TargetProfile};
use agentnative_core::run::{Observation, RunEnd, RunKey};
use agentnative_diff::lock::Lock;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Outcomes of explored calls that are judged like declared probes. Calls with other outcomes show only crashes,
/// prompts and processes that are left behind.
const JUDGED_OUTCOMES: [CallOutcome; 4] =
    [CallOutcome::Succeeded, CallOutcome::Invalid, CallOutcome::Refused, CallOutcome::NotReachable];

/// Everything that a check may use for its verdict: the profile of the target, its runs, its files and its code.
pub struct CheckContext<'a> {
    /// Profile of the target.
    pub profile: &'a TargetProfile,
    /// Contracts by name. Probes refer to them.
    pub contracts: &'a BTreeMap<String, Contract>,
    /// The calls of the target that are judged together: declared probes, and calls that are derived from them or are
    /// calls of the target itself; or a single explored call with the calls that are derived from it.
    pub probes: Vec<&'a Probe>,
    /// Calls of the target itself, such as for help pages, that are known here and judged elsewhere.
    pub(super) background: Vec<&'a Probe>,
    pub(super) by_id: BTreeMap<&'a ProbeId, &'a Probe>,
    /// What exploration found; `None` if the target was not explored.
    pub exploration: Option<&'a Exploration>,
    /// The explored calls, each with a context of its own. Empty in these contexts.
    pub(super) families: Vec<Family<'a>>,
    /// For each probe of a family, the index of the family.
    pub(super) family_of: BTreeMap<&'a ProbeId, usize>,
    /// The probes of the recording, also those of the families.
    pub all_probes: &'a [Probe],
    /// The lock: the last accepted interface of the target and shapes of its outputs. `None` without a lock file.
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
    /// IDs of the selected checks. If two checks detect the same fault, this decides which of them reports it.
    pub selected: BTreeSet<CheckId>,
    /// True if the runs were interrupted, so that some are missing.
    pub interrupted: bool,
    /// True if only plain runs were made, without any special condition (`--fast`).
    pub fast: bool,
    /// True if the target was deliberately not run, because no behavioral checks are selected.
    pub no_runs: bool,
    /// Name of the configuration file, if there is one.
    pub config: Option<&'a str>,
    /// All runs of the recording, also those of other contexts.
    runs: Rc<BTreeMap<&'a RunKey, &'a Observation>>,
    /// Cache of the scans of the streams, so that each stream is read once.
    pub scans: Scans,
    /// For each run that was compared: true if it behaves like the plain run of its call.
    pub(super) like_plain: RefCell<BTreeMap<RunKey, bool>>,
}

/// Message of checks that need the code or files of a target's project, if there is no project.
pub const NO_PROJECT: &str = "the target has no known project: a program was named, or its command comes from \
                              PATH or from outside the folder of the configuration; name the project's folder to check \
                              its code";

/// Why the code of the target, or the files around it, are unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeUnavailable {
    /// The target has no project: a program was named, or the configured command is not in the folder of the
    /// configuration.
    NoProject,
    /// The recording contains no code or files, because it was made without the checks that need them.
    NotRecorded,
    /// This program was built without the feature that reads code.
    NoReader,
}

/// Why a run was skipped: another run hung, so this run would probably hang as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HangCause<'a> {
    /// Contains the check that reports the hang, and the run that hung.
    Reported(CheckId, &'a RunKey),
    /// The call hung only under this special condition. The number distinguishes conditions of the same variant, from
    /// 0.
    Under(Variant, u8),
}

/// Whether the target supports an output format, such as `json`.
pub enum FormatSupport<'a> {
    /// Supported: a probe ended as expected in the format and printed data.
    Yes,
    /// Not supported: a call that prints data without the format is rejected with it, and no call prints data with it.
    /// Contains one of the rejected runs.
    No(RunView<'a>),
    /// Unknown: no run shows whether the format is supported.
    Unknown,
}

/// An explored call with the calls that are derived from it.
pub(super) struct Family<'a> {
    /// Words of the command.
    pub command: &'a [String],
    /// True if the call runs under all conditions.
    pub is_kept: bool,
    pub context: CheckContext<'a>,
}

#[derive(Clone, Copy)]
pub struct RunView<'a> {
    pub context: &'a CheckContext<'a>,
    pub probe: &'a Probe,
    pub observation: &'a Observation,
}

impl<'a> CheckContext<'a> {
    /// Creates a context with these observations (recorded runs), and without a lock, files or code.
    pub fn new(
        profile: &'a TargetProfile,
        contracts: &'a BTreeMap<String, Contract>,
        probes: &'a [Probe],
        observations: &'a [Observation],
    ) -> Self {
        let all_probes = probes;
        let known: Vec<&Probe> = all_probes.iter().filter(|probe| probe.explored.is_none()).collect();
        // Only one check judges the calls that read the interface.
        let kinds = [DerivedKind::Interface, DerivedKind::VanishedOption];
        let is_judged = |probe: &&&Probe| !kinds.iter().any(|kind| probe.is_kind(*kind));
        Self {
            profile,
            contracts,
            by_id: known.iter().map(|probe| (&probe.id, *probe)).collect(),
            probes: known.iter().filter(is_judged).copied().collect(),
            all_probes,
            background: Vec::new(),
            exploration: None,
            families: Vec::new(),
            family_of: BTreeMap::new(),
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
            runs: Rc::new(observations.iter().map(|observation| (&observation.key, observation)).collect()),
            scans: Scans::default(),
            like_plain: RefCell::default(),
        }
    }

    /// Returns the context of one explored call: its own `probes`, and calls that are only known as `background`.
    pub(super) fn for_family(&self, probes: Vec<&'a Probe>, background: Vec<&'a Probe>) -> Self {
        Self {
            by_id: probes.iter().chain(&background).map(|probe| (&probe.id, *probe)).collect(),
            probes,
            background,
            families: Vec::new(),
            family_of: BTreeMap::new(),
            selected: self.selected.clone(),
            runs: Rc::clone(&self.runs),
            scans: self.scans.clone(),
            like_plain: RefCell::default(),
            ..*self
        }
    }

    /// True if this is the context of one explored call.
    pub fn is_family(&self) -> bool {
        self.probes.first().is_some_and(|probe| probe.explored.is_some())
    }

    /// Returns the explored call of this context, however it ended; `None` in other contexts.
    pub fn explored_call(&self) -> Option<&'a Probe> {
        self.probes.iter().copied().find(|probe| probe.explored.is_some() && probe.is_source())
    }

    /// Returns the run of a probe without a format flag.
    pub fn without_format(&'a self, probe: &'a Probe) -> Option<RunView<'a>> {
        let text = |probe| self.plain_run(probe, OutputFormat::Text);
        let derived = self.derived_from(DerivedKind::NoFormat, probe).find_map(text);
        derived.or_else(|| text(probe).filter(|_| probe.is_text_default(self.profile)))
    }

    /// Returns the context in which the runs of this probe are judged. It differs from `self` if the probe is explored.
    pub fn context_of(&self, probe: &ProbeId) -> &Self {
        self.family_of.get(probe).map_or(self, |index| &self.families[*index].context)
    }

    /// Returns run number `nth` (from 0) of `probe` in `format` under the condition `variant`. `None` if it was not
    /// made, or if separate runs replace this combined run.
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

    /// Returns the first run of `probe` in `format` under the condition `variant`, which may be combined with other
    /// conditions.
    pub fn find_run_under(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
        variant: Variant,
    ) -> Option<RunView<'a>> {
        self.runs_under(probe, variant).find(|run| run.format() == format)
    }

    /// Returns the run with this key. `None` if it was not made, or if it was made under combined conditions and runs
    /// under each condition alone replace it.
    pub fn run_by_key(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        self.find_run(key).filter(|_| !self.is_superseded_by_split(key))
    }

    /// Returns the run with this key, even if other runs replace it. `None` if it was not made.
    pub(super) fn find_run(&'a self, key: &RunKey) -> Option<RunView<'a>> {
        let probe = self.probe(&key.probe)?;
        let observation = self.runs.get(key).copied()?;
        Some(RunView { context: self, probe, observation })
    }

    /// Returns the probe with this ID.
    pub fn probe(&self, id: &ProbeId) -> Option<&'a Probe> {
        self.by_id.get(id).copied()
    }

    /// Returns the name of the probe that was run; empty if the probe is unknown.
    pub fn name_of(&self, run: &RunKey) -> &'a str {
        self.probe(&run.probe).map_or("", |probe| &probe.name)
    }

    /// True if a run of a declared or explored probe would show nothing, because it is not the plain run and uses a JSON
    /// format that the target does not support.
    pub fn is_pointless(&'a self, run: &RunKey) -> bool {
        let of_source = self.probe(&run.probe).is_some_and(Probe::is_source);
        let selects_format = of_source && run.format.is_json() && run.variant != Variant::Plain;
        selects_format && matches!(self.format_support(run.format), FormatSupport::No(_))
    }

    /// Returns the name of the target's contract if this contract replaces `check`, which is then not applicable.
    pub fn replaced_by_contract(&self, check: CheckId) -> Option<&'a str> {
        let name = self.profile.contract.as_ref()?;
        let format = self.contracts.get(name)?.framing().format();
        check.check().replaced_by_contract.contains(&format).then_some(name)
    }

    /// Returns the interface of the target, as the runs of its help pages show it. `None` if these runs were not made.
    pub fn interface(&self) -> Option<ReadInterface> {
        let probes: Vec<&Probe> = self.by_id.values().copied().collect();
        recorded_interface(&probes, &|key| self.runs.get(key).map(|seen| Some(*seen)))
    }

    /// True if the run with this key was made.
    pub fn has_run(&self, key: &RunKey) -> bool {
        self.runs.contains_key(key)
    }

    /// Returns the declared probes that are run without a format flag, such as `--output json`, because the probe may
    /// interpret the flag as something else.
    pub fn probes_without_format(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.sources().filter(|probe| probe.omits_format_flag())
    }

    /// Returns why `run` is skipped after a run of the same call, or of the probe from which it is derived, timed out.
    /// `None` if it is not skipped. A call that hangs in json would also hang in jsonl, and so would the calls derived
    /// from it.
    pub fn skipped_after_hang(&self, run: &RunKey) -> Option<HangCause<'a>> {
        let source = run.probe.from().and_then(|name| self.source_named(name)).map(|probe| &probe.id);
        let is_related = |key: &RunKey| match key.probe == run.probe {
            true => {
                let are_json = key.format.is_json() && run.format.is_json();
                key.format == run.format || key.variant == Variant::Plain && are_json
            }
            false => key.variant == Variant::Plain,
        };
        // Runs under each single condition show which one of a combination makes the call hang.
        let related =
            source.into_iter().chain([&run.probe]).flat_map(|probe| self.recorded_runs(probe)).filter(
                |observation| is_related(&observation.key) && observation.key.replaced_run_keys().is_none(),
            );
        let hung = related.filter(|observation| observation.end == RunEnd::TimedOut);
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

    /// Returns the check that reports runs that wait for input: `p1-no-prompt` if it is selected, otherwise
    /// `p2-completes`.
    pub fn check_reporting_wait(&self) -> CheckId {
        match self.selected.contains(&CheckId::P1NoPrompt) {
            true => CheckId::P1NoPrompt,
            false => CheckId::P2Completes,
        }
    }

    /// Returns the plain run of `probe` in `format`, which is the run without any special condition.
    pub fn plain_run(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        self.run(probe, format, Variant::Plain, 0)
    }

    /// Returns the runs of all probes, probe by probe, without those under special conditions, which only few checks
    /// use.
    pub fn runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.probes.iter().copied().flat_map(|probe| self.runs_of(probe))
    }

    /// Returns the runs of `probe`, without those under special conditions, which only few checks use.
    pub fn runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(|run| !run.variant().is_special())
    }

    /// Returns the runs of declared probes under the condition `variant`. This includes runs without a format flag, and
    /// excludes runs in formats that the target does not support.
    pub fn declared_under(&'a self, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        let runs = move |probe| self.runs_under(probe, variant);
        let is_supported = |run: &RunView| !matches!(self.format_support(run.format()), FormatSupport::No(_));
        let in_formats = self.sources().flat_map(runs).filter(is_supported);
        in_formats.chain(self.derived_probes(DerivedKind::NoFormat).flat_map(runs))
    }

    /// Returns the runs of `probe` under the condition `variant`, in all formats.
    pub fn runs_under(&'a self, probe: &'a Probe, variant: Variant) -> impl Iterator<Item = RunView<'a>> {
        self.all_runs_of(probe).filter(move |run| run.variant() == variant)
    }

    fn all_runs_of(&'a self, probe: &'a Probe) -> impl Iterator<Item = RunView<'a>> {
        let own = self.recorded_runs(&probe.id);
        own.filter(|observation| !self.is_superseded_by_split(&observation.key))
            .map(move |observation| RunView { context: self, probe, observation })
    }

    /// Returns all runs of a probe, even if other runs replace them.
    fn recorded_runs(&self, probe: &ProbeId) -> impl Iterator<Item = &'a Observation> {
        let first = RunKey::plain_run_key(probe.clone(), OutputFormat::Text);
        let runs = self.runs.range::<RunKey, _>(&first..);
        runs.take_while(move |(key, _)| key.probe == first.probe).map(|(_, observation)| *observation)
    }

    /// Returns the runs in JSON formats of all declared probes that print data.
    pub fn data_runs(&'a self) -> impl Iterator<Item = RunView<'a>> {
        self.data_probes().flat_map(|probe| self.runs_of(probe)).filter(|run| run.format().is_json())
    }

    /// Returns the runs of `probe` in `format` that have to print the same stdout as the plain run, including the plain
    /// run.
    pub fn runs_with_same_stdout(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
    ) -> impl Iterator<Item = RunView<'a>> {
        self.runs_of(probe).filter(move |run| run.format() == format && run.expects_plain_stdout())
    }

    /// Returns the runs of [`runs_with_same_stdout`](Self::runs_with_same_stdout) that ended as expected and printed
    /// valid data.
    pub fn same_data(&'a self, probe: &'a Probe, format: OutputFormat) -> Vec<RunView<'a>> {
        self.runs_with_same_stdout(probe, format)
            .filter(|run| run.why_unusable().is_none() && run.scan().first_structural_problem().is_none())
            .collect()
    }

    /// Returns the declared probes, without those that only run in scenarios because they change something or wait for
    /// a server. In the context of an explored call, returns this call, unless it ended in a way that only few checks
    /// can judge.
    pub fn sources(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().copied().filter(|probe| self.is_source(probe))
    }

    /// True for the probes of [`sources`](Self::sources).
    pub fn is_source(&self, probe: &Probe) -> bool {
        probe.is_source()
            && match &probe.explored {
                Some(origin) => JUDGED_OUTCOMES.contains(&origin.outcome),
                None => !probe.runs_only_in_scenarios(),
            }
    }

    /// Returns the declared probes that change something, each with its declared effect. In the context of an explored
    /// call, returns this call if it changes something and has a dry run.
    pub fn changing_probes(&'a self) -> impl Iterator<Item = (&'a Probe, &'a Effect)> {
        let has_dry_run =
            |probe: &Probe| probe.common_option(CommonOption::DryRun, self.profile).args().is_some();
        let sources = self.probes.iter().copied().filter(|probe| probe.is_source());
        sources
            .filter(move |probe| probe.explored.is_none() || has_dry_run(probe))
            .filter_map(|probe| Some((probe, probe.effect.as_ref()?)))
    }

    /// Returns the sources that print data to stdout, instead of an error.
    pub fn data_probes(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.sources().filter(|probe| probe.prints_data())
    }

    /// Returns the probes that should fail: sources that print no data, and calls of the target itself with an unknown
    /// flag or command.
    pub fn failing_probes(&'a self) -> impl Iterator<Item = &'a Probe> {
        let is_unknown = |probe: &&Probe| {
            probe.is_kind(DerivedKind::UnknownFlag) || probe.is_kind(DerivedKind::UnknownCommand)
        };
        let fails = move |probe: &&Probe| is_unknown(probe) || !probe.prints_data() && self.is_source(probe);
        self.probes.iter().copied().filter(fails)
    }

    /// Returns the text runs of calls of this kind, also of those that are not judged here.
    pub fn known_runs(&'a self, kind: DerivedKind) -> impl Iterator<Item = RunView<'a>> {
        self.known_probes(kind).filter_map(|probe| self.plain_run(probe, OutputFormat::Text))
    }

    /// Returns the calls of this kind, also those that are not judged here.
    pub fn known_probes(&'a self, kind: DerivedKind) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().chain(&self.background).copied().filter(move |probe| probe.is_kind(kind))
    }

    /// True if the calls of this probe are judged here, and are not only known.
    pub fn judges(&self, probe: &Probe) -> bool {
        !self.background.iter().any(|page| page.id == probe.id)
    }

    /// Returns the derived calls of `kind`, such as all calls of `--help`.
    pub fn derived_probes(&'a self, kind: DerivedKind) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().copied().filter(move |probe| probe.is_kind(kind))
    }

    /// Returns the calls of `kind`, such as calls with an unknown flag, that are derived from `probe`.
    pub fn derived_from(&'a self, kind: DerivedKind, probe: &Probe) -> impl Iterator<Item = &'a Probe> {
        let name = probe.name.clone();
        self.derived_probes(kind).filter(move |derived| derived.source() == Some(&name))
    }

    /// Returns the call of `kind` that is derived from `probe` for `case`, which distinguishes several calls of the
    /// same kind.
    pub fn derived_for_case(&'a self, kind: DerivedKind, probe: &Probe, case: &Case) -> Option<&'a Probe> {
        let id = ProbeId::Derived { kind, source: Some(probe.name.clone()), case: case.clone() };
        self.probe(&id)
    }

    /// Returns the declared or explored probe that the derived call `derived` comes from; `None` if there is none.
    pub fn source_of(&self, derived: &Probe) -> Option<&'a Probe> {
        self.source_named(derived.source()?)
    }

    /// Returns the declared or explored probe with this name.
    fn source_named(&self, name: &str) -> Option<&'a Probe> {
        self.probes.iter().copied().find(|probe| probe.name == name && probe.is_source())
    }

    /// Returns whether the target supports `format`, according to the runs of declared probes that print data.
    pub fn format_support(&'a self, format: OutputFormat) -> FormatSupport<'a> {
        let mut rejected = None;
        for probe in self.data_probes() {
            if probe.omits_format_flag() {
                continue;
            }
            let Some(with_format) = self.plain_run(probe, format) else { continue };
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

    /// True if the target rejects `format` in all calls, or in the call of `probe`.
    pub fn rejects(&'a self, probe: &'a Probe, format: OutputFormat) -> bool {
        matches!(self.format_support(format), FormatSupport::No(_))
            || self.rejected_run(probe, format).is_some()
    }

    /// Returns the run of `probe` in `format` if the target rejected the format in this call. `None` if the format was
    /// accepted, or if the same call prints no data without the format.
    pub fn rejected_run(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<RunView<'a>> {
        let with_format = self.plain_run(probe, format)?;
        // Text replaces the call without a format if that was not run.
        let without_format = self
            .derived_from(DerivedKind::NoFormat, probe)
            .find_map(|probe| self.plain_run(probe, OutputFormat::Text))
            .or_else(|| self.plain_run(probe, OutputFormat::Text));
        let is_rejected = !with_format.gave_data() && with_format.rejects_format();
        (is_rejected && without_format.is_some_and(|without_format| without_format.gave_data()))
            .then_some(with_format)
    }

    /// Returns the judgement of a check that is only about `formats`, if neither the configuration nor a probe selects
    /// one of them. The check is not applicable if the configuration declares that the target has none of them,
    /// otherwise unverified. `None` if at least one can be selected or `formats` is empty.
    pub fn judge_without_formats(&self, formats: &[OutputFormat]) -> Option<Judgement> {
        let probes = || self.probes.iter().filter(|probe| probe.is_source());
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

    /// Returns the contract that the stdout of a run has to meet, if its probe declares one.
    pub fn contract_of(&self, run: &RunView<'_>) -> Option<&'a Contract> {
        self.contract_for(run.probe, run.format())
    }

    /// Returns the contract that the stdout of `probe` in `format` has to meet, if the probe declares one. Text has
    /// none.
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
