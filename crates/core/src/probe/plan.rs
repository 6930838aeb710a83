//! The plan of a check: each run that a selected check needs, exactly once.

use super::derive::{command_helps, deduplicate, derive_calls};
use super::{Probe, TargetProfile};
use crate::catalogue::{Check, DerivedKind, ExploredPolicy};
use crate::config::CommonOption;
use crate::model::{
    COMBINED, CallOutcome, Condition, Layer, NARROW_TERMINAL, OutputFormat, ProbeId, TURKISH_LOCALE, Variant,
    single_conditions,
};
use crate::run::RunKey;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Number of repetitions of a plain run in JSON. They show which parts of its output vary.
const REPETITIONS: u8 = 2;

/// Kinds of calls that are derived from explored calls. Others need a declaration, such as of a secret, or are too rare
/// to be tried with each call.
const EXPLORED_KINDS: [DerivedKind; 13] = [
    DerivedKind::NoFormat,
    DerivedKind::InvalidFormat,
    DerivedKind::IgnoredFlag,
    DerivedKind::InvalidValue,
    DerivedKind::Alias,
    DerivedKind::Limit,
    DerivedKind::Quiet,
    DerivedKind::NoInput,
    DerivedKind::NoPager,
    DerivedKind::GlobalFlag,
    DerivedKind::EnvFlag,
    DerivedKind::DryRun,
    DerivedKind::Confirmed,
];

/// Returns all probes, the declared ones before the explored and the derived ones, and the keys of the runs that
/// `checks` need. `sources` are the declared probes and the explored calls.
pub fn plan(
    checks: &[&Check],
    sources: Vec<Probe>,
    profile: &TargetProfile,
    timeout: Duration,
) -> (Vec<Probe>, Vec<RunKey>) {
    let (mut probes, explored): (Vec<Probe>, Vec<Probe>) =
        sources.into_iter().partition(|probe| probe.explored.is_none());
    let needs = Needs::new(checks.iter().copied(), profile);
    let mut derived = derive_calls(&needs.kinds, &probes, profile, timeout);
    let judging_explored = checks.iter().copied().filter(|check| check.explored != ExploredPolicy::Ignored);
    let explored_needs = Needs::new(judging_explored, profile);
    let kinds = explored_needs.kinds.iter().copied().filter(|kind| EXPLORED_KINDS.contains(kind)).collect();
    for probe in explored.iter().filter(|probe| probe.is_kept()) {
        let calls = derive_calls(&kinds, std::slice::from_ref(probe), profile, timeout);
        derived.extend(calls.into_iter().filter(|call| call.source().is_some()));
    }
    probes.extend(explored);
    if explored_needs.kinds.contains(&DerivedKind::CommandHelp) {
        derived.extend(command_helps(&probes, &profile.called_commands));
    }
    deduplicate(&mut derived, &probes);
    probes.extend(derived);
    let needs_of = |probe: &Probe| if probe.explored.is_some() { &explored_needs } else { &needs };
    let mut runs: Vec<RunKey> =
        probes.iter().flat_map(|probe| runs_of(probe, profile, &needs_of(probe).variants)).collect();
    // A derived call in JSON is compared with the one that it is derived from.
    let by_name: BTreeMap<&str, &Probe> =
        probes.iter().filter(|probe| probe.is_source()).map(|probe| (&*probe.name, probe)).collect();
    let compared = |probe: &Probe| {
        let source = probe.source().and_then(|name| by_name.get(name).copied());
        let formats = probe.formats.iter().filter(|format| {
            format.is_json() && source.is_some_and(|source| source.formats.contains(format))
        });
        formats.filter_map(|format| Some(source?.plain_run(*format))).collect::<Vec<_>>()
    };
    let planned: BTreeSet<RunKey> = runs.iter().cloned().collect();
    let sources: BTreeSet<RunKey> = probes.iter().flat_map(compared).collect();
    runs.extend(sources.difference(&planned).cloned());
    // Repetitions come last: a value that is equal before and after all other runs did not change in between.
    runs.sort_by_key(|run| match run.variant {
        Variant::File => 1,
        Variant::Repeat => 2 + run.nth,
        _ => 0,
    });
    (probes, runs)
}

/// What checks need: kinds of derived calls, and the variants in which probes run, by format.
struct Needs {
    kinds: BTreeSet<DerivedKind>,
    variants: BTreeMap<OutputFormat, BTreeSet<Variant>>,
}

impl Needs {
    fn new<'c>(checks: impl Iterator<Item = &'c Check> + Clone, profile: &TargetProfile) -> Self {
        let behavioral = || checks.clone().filter(|check| check.layer == Layer::Behavioral);
        let mut kinds: BTreeSet<DerivedKind> =
            checks.clone().flat_map(|check| check.derived.iter().copied()).collect();
        if behavioral().next().is_some() {
            // Every check of runs needs to know whether the target has formats, and which options and invalid calls it
            // has.
            kinds.insert(DerivedKind::NoFormat);
            kinds.insert(DerivedKind::Help);
        }
        if profile.contract.is_some() {
            // The contract defines the other formats and the invalid usage.
            kinds.retain(|kind| {
                use DerivedKind::{
                    Alias, Example, IgnoredFlag, InvalidFormat, InvalidRequest, InvalidValue, Limit,
                    MoreFormats, NoFormat, Raw, Refused, UnknownCommand, UnknownFlag,
                };
                let formats = matches!(kind, NoFormat | InvalidFormat | Alias | Raw | MoreFormats | Refused);
                let invalid_usage = matches!(
                    kind,
                    UnknownFlag | UnknownCommand | IgnoredFlag | InvalidValue | InvalidRequest | Example
                );
                !formats && !invalid_usage && *kind != Limit
            });
        }
        let mut variants: BTreeMap<OutputFormat, BTreeSet<Variant>> = BTreeMap::new();
        for check in behavioral() {
            for format in &check.runs.formats {
                variants.entry(*format).or_default().extend(&check.runs.variants);
            }
        }
        Self { kinds, variants }
    }
}

/// Returns the keys of the repetitions of a probe's plain run. They are made if a verdict depends on them: if outputs
/// also differ between repetitions, another condition did not cause the difference.
pub fn repetitions(probe: &Probe, format: OutputFormat) -> Vec<RunKey> {
    let count = if format.is_json() { REPETITIONS } else { 1 };
    let plain = probe.plain_run(format);
    (0..count).map(|nth| plain.with_condition((Variant::Repeat, nth))).collect()
}

/// Returns the key of the run of `--help`, which shows whether the target has commands.
pub fn help_run() -> RunKey {
    RunKey::plain_run_key(ProbeId::derived(DerivedKind::Help, None), OutputFormat::Text)
}

fn runs_of(
    probe: &Probe,
    profile: &TargetProfile,
    wanted: &BTreeMap<OutputFormat, BTreeSet<Variant>>,
) -> Vec<RunKey> {
    let mut runs = Vec::new();
    for format in &probe.formats {
        let wanted = wanted.get(format).into_iter().flatten().copied();
        let variants: BTreeSet<Variant> = match probe.id.kind() {
            Some(kind) => {
                let possible = variants_of(kind);
                let replaces_text = kind != DerivedKind::NoFormat || has_call_without_format(profile);
                let idempotent = probe.effect.as_ref().is_some_and(|effect| effect.idempotent);
                let has_repetition =
                    idempotent || kind == DerivedKind::Concurrent || probe.call.interrupt.is_some();
                let is_confirmation = matches!(kind, DerivedKind::Unconfirmed | DerivedKind::Confirmed);
                let has_no_input = probe.common_option(CommonOption::NoInput, profile).args().is_some();
                let fits = |variant: &Variant| {
                    possible.contains(variant)
                        && replaces_text
                        && (*variant != Variant::Repeat || has_repetition)
                        && (!is_confirmation || *variant != Variant::FullTerminal || has_no_input)
                        && (*variant != Variant::TerminalIn || probe.call.stdin.is_none())
                };
                wanted.filter(fits).chain([Variant::Plain]).collect()
            }
            // A limit of the exploration came before the call.
            None if probe.has_outcome(CallOutcome::NotMade) => BTreeSet::new(),
            None if !probe.is_kept() => wanted.filter(|variant| *variant == Variant::Plain).collect(),
            None => wanted.filter(|variant| is_informative(probe, profile, *format, *variant)).collect(),
        };
        let single = variants
            .into_iter()
            .flat_map(|variant| indices(variant, probe, profile, *format).map(move |nth| (variant, nth)));
        let plain = probe.plain_run(*format);
        runs.extend(combine(single.collect()).into_iter().map(|condition| plain.with_condition(condition)));
    }
    runs
}

/// Replaces single conditions by a combined condition, if all conditions that it includes are present.
fn combine(mut conditions: BTreeSet<Condition>) -> BTreeSet<Condition> {
    for (combined, parts) in COMBINED {
        if parts.iter().all(|part| conditions.contains(part)) {
            conditions.retain(|condition| !parts.contains(condition));
            conditions.insert(*combined);
        }
    }
    conditions
}

/// Returns the variants, in addition to the plain one, in which derived calls of this kind can run.
const fn variants_of(kind: DerivedKind) -> &'static [Variant] {
    match kind {
        DerivedKind::Help => &[Variant::NoPager, Variant::ColourPipe, Variant::NoColour, Variant::Bare],
        DerivedKind::Version | DerivedKind::Completions => &[Variant::Bare],
        DerivedKind::NoInput => &[Variant::FullTerminal],
        DerivedKind::NoPager => &[Variant::FullTerminal],
        DerivedKind::Unconfirmed => &[Variant::Tty, Variant::OpenStdin, Variant::FullTerminal],
        DerivedKind::Confirmed => &[Variant::Repeat, Variant::FullTerminal, Variant::Xdg],
        DerivedKind::Timeout => &[Variant::Bare],
        DerivedKind::Concurrent => &[Variant::Repeat],
        DerivedKind::NoFormat => &[
            Variant::TerminalIn,
            Variant::ColourPipe,
            Variant::NoColour,
            Variant::NoPager,
            Variant::Full,
            Variant::Bare,
            Variant::Xdg,
        ],
        _ => &[],
    }
}

/// Returns whether a run of a declared or explored probe in this variant can give evidence. A call that fails has little output
/// that a condition could change. A call with declared input does not wait for a prompt. Text in a file or for a slow
/// reader is for people.
fn is_informative(probe: &Probe, profile: &TargetProfile, format: OutputFormat, variant: Variant) -> bool {
    // The derived call without a format flag, which every target accepts, is made under these conditions instead.
    let has_no_format = has_call_without_format(profile) && !probe.is_text_default(profile);
    let is_replaced = format == OutputFormat::Text && probe.prints_data() && has_no_format;
    match variant {
        Variant::Plain => true,
        variant if is_replaced && variants_of(DerivedKind::NoFormat).contains(&variant) => false,
        // In one format, unless the call without a format flag runs in these variants.
        Variant::Bare | Variant::Xdg => {
            !has_no_format && probe.formats.first() == Some(&format) && probe.prints_data()
        }
        Variant::ReadOnlyHome => {
            let json = probe.formats.iter().find(|format| format.is_json());
            let compared = json.or(probe.formats.first());
            compared == Some(&format) && probe.prints_data() && probe.effect.is_none()
        }
        Variant::UsedHome => probe.prints_data() && probe.effect.is_none() && format.is_json(),
        // A prompt does not depend on the format, and a call that fails may prompt before.
        Variant::TerminalIn => {
            let json = probe.prints_data() && format == OutputFormat::Json;
            probe.call.stdin.is_none() && (json || probe.formats.first() == Some(&format))
        }
        Variant::FullTerminal => {
            probe.call.stdin.is_none() && probe.common_option(CommonOption::NoInput, profile).args().is_some()
        }
        Variant::ColourPipe | Variant::NoColour => true,
        Variant::NoPager => probe.prints_data(),
        // Debug output of a call that fails may contain its secret as well.
        Variant::HostileEnv if probe.has_secret(profile) => true,
        Variant::OpenStdin => probe.call.stdin.is_none() && format != OutputFormat::Jsonl,
        Variant::SlowReader | Variant::File => probe.prints_data() && format.is_json(),
        // Verdicts request these runs.
        Variant::Repeat | Variant::Unconfigured => false,
        _ => probe.prints_data(),
    }
}

/// Returns whether calls without a format flag are made and print text.
fn has_call_without_format(profile: &TargetProfile) -> bool {
    profile.contract.is_none() && profile.conventions.default_format == OutputFormat::Text
}

/// Returns the indices of the environments or repetitions in which a probe runs in this variant. Omits the indices of
/// combined conditions, which [`combine`] adds.
fn indices(
    variant: Variant,
    probe: &Probe,
    profile: &TargetProfile,
    format: OutputFormat,
) -> impl Iterator<Item = u8> {
    let is_target_call = !probe.is_source() && probe.source().is_none();
    let all = match variant {
        // An invalid file needs a declared path, and most calls except those of the target itself need a home.
        Variant::Bare => u8::from(!is_target_call)..1 + u8::from(profile.conventions.config_file.is_some()),
        Variant::Repeat if format.is_json() || probe.is_kind(DerivedKind::Concurrent) => 0..REPETITIONS,
        // The second run can be combined with others in JSON only.
        Variant::UsedHome => u8::from(format != OutputFormat::Json)..2,
        _ => 0..variant.environments().len().max(1) as u8,
    };
    // Text may depend on the width, and only JSON can be combined with the Turkish locale.
    let is_left_out = move |nth: &u8| match (variant, format) {
        (Variant::HostileEnv, OutputFormat::Text) => matches!(*nth, NARROW_TERMINAL | TURKISH_LOCALE),
        (Variant::HostileEnv, OutputFormat::Jsonl) => *nth == TURKISH_LOCALE,
        _ => false,
    };
    all.filter(move |nth| !is_left_out(nth) && single_conditions(variant, *nth).is_none())
}
