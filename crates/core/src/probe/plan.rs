//! The plan: each run that some selected check needs, once.

use super::{Probe, TargetProfile, derived};
use crate::catalogue::{Check, Derived};
use crate::config::Flag;
use crate::model::{COMBINED, Condition, Layer, OutputFormat, ProbeId, Variant, parts};
use crate::run::RunKey;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often a run is made again to see what changes.
const REPEATS: u8 = 2;

/// All probes, the declared ones first, and the runs over them that `checks` need.
pub fn plan(
    checks: &[&Check],
    declared: Vec<Probe>,
    profile: &TargetProfile,
    timeout: Duration,
) -> (Vec<Probe>, Vec<RunKey>) {
    let behavioral = || checks.iter().filter(|check| check.layer == Layer::Behavioral);
    let mut kinds: BTreeSet<Derived> =
        checks.iter().flat_map(|check| check.derived.iter().copied()).collect();
    if behavioral().next().is_some() {
        // It shows whether the target takes a format at all, whatever is checked.
        kinds.insert(Derived::NoFormat);
        // And its help, which flags and which wrong calls there are.
        kinds.insert(Derived::Help);
    }
    if profile.contract.is_some() {
        // Other formats and wrong calls are the contract's own affair.
        kinds.retain(|kind| {
            use Derived::{
                Alias, Example, IgnoredFlag, InvalidFormat, InvalidRequest, InvalidValue, Limit, MoreFormats,
                NoFormat, Raw, Refused, UnknownCommand, UnknownFlag,
            };
            let formats = matches!(kind, NoFormat | InvalidFormat | Alias | Raw | MoreFormats | Refused);
            let wrong = matches!(
                kind,
                UnknownFlag | UnknownCommand | IgnoredFlag | InvalidValue | InvalidRequest | Example
            );
            !formats && !wrong && *kind != Limit
        });
    }
    let mut wanted: BTreeMap<OutputFormat, BTreeSet<Variant>> = BTreeMap::new();
    for check in behavioral() {
        for format in &check.runs.formats {
            wanted.entry(*format).or_default().extend(&check.runs.variants);
        }
    }
    let mut probes = declared;
    probes.extend(derived(&kinds, &probes, profile, timeout));
    let mut runs: Vec<RunKey> = probes.iter().flat_map(|probe| runs_of(probe, profile, &wanted)).collect();
    // A derived call in JSON is compared with the one that it is derived from.
    let compared = |probe: &Probe| {
        let source = probes.iter().find(|source| source.is_declared() && Some(&*source.name) == probe.of());
        let formats = probe.formats.iter().filter(|format| {
            format.is_json() && source.is_some_and(|source| source.formats.contains(format))
        });
        formats.filter_map(|format| Some(source?.plain(*format))).collect::<Vec<_>>()
    };
    let planned: BTreeSet<RunKey> = runs.iter().cloned().collect();
    let sources: BTreeSet<RunKey> = probes.iter().flat_map(compared).collect();
    runs.extend(sources.difference(&planned).cloned());
    // The same calls come last: a value that is the same before and after all else did not change meanwhile.
    runs.sort_by_key(|run| match run.variant {
        Variant::File => 1,
        Variant::Repeat => 2 + run.nth,
        _ => 0,
    });
    (probes, runs)
}

/// The runs that make a declared probe's call again: what changes from run to run is no fault of another condition.
/// They are made where a verdict depends on them.
pub fn repetitions(probe: &Probe, format: OutputFormat) -> Vec<RunKey> {
    let count = if format.is_json() { REPEATS } else { 1 };
    let plain = probe.plain(format);
    (0..count).map(|nth| plain.under((Variant::Repeat, nth))).collect()
}

/// The run whose output shows whether the target has commands.
pub fn help_run() -> RunKey {
    RunKey::plain(ProbeId::derived(Derived::Help, None), OutputFormat::Text)
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
                let own = conditions(kind);
                let stands_in = kind != Derived::NoFormat || has_call_without_format(profile);
                let idempotent = probe.effect.as_ref().is_some_and(|effect| effect.idempotent);
                let twice = idempotent || probe.call.interrupt.is_some();
                let scene = matches!(kind, Derived::Unconfirmed | Derived::Confirmed);
                let has_no_input = probe.flag(Flag::NoInput, profile).args().is_some();
                let fits = |variant: &Variant| {
                    own.contains(variant)
                        && stands_in
                        && (*variant != Variant::Repeat || twice)
                        && (!scene || *variant != Variant::FullTerminal || has_no_input)
                        && (*variant != Variant::TerminalIn || probe.call.stdin.is_none())
                };
                wanted.filter(fits).chain([Variant::Plain]).collect()
            }
            None => wanted.filter(|variant| concerns(probe, profile, *format, *variant)).collect(),
        };
        let single = variants
            .into_iter()
            .flat_map(|variant| numbers(variant, probe, profile, *format).map(move |nth| (variant, nth)));
        let plain = probe.plain(*format);
        runs.extend(at_once(single.collect()).into_iter().map(|condition| plain.under(condition)));
    }
    runs
}

/// The conditions, as many of them at once as can be.
fn at_once(mut conditions: BTreeSet<Condition>) -> BTreeSet<Condition> {
    for (whole, parts) in COMBINED {
        if parts.iter().all(|part| conditions.contains(part)) {
            conditions.retain(|condition| !parts.contains(condition));
            conditions.insert(*whole);
        }
    }
    conditions
}

/// The conditions that a probe of this kind is also run under.
const fn conditions(kind: Derived) -> &'static [Variant] {
    match kind {
        Derived::Help => &[Variant::NoPager, Variant::ColourPipe, Variant::NoColour, Variant::Bare],
        Derived::Version | Derived::Completions => &[Variant::Bare],
        Derived::NoInput => &[Variant::FullTerminal],
        Derived::NoPager => &[Variant::FullTerminal],
        Derived::Unconfirmed => &[Variant::Tty, Variant::OpenStdin, Variant::FullTerminal],
        Derived::Confirmed => &[Variant::Repeat, Variant::FullTerminal, Variant::Xdg],
        Derived::Timeout => &[Variant::Bare],
        Derived::NoFormat => &[
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

/// Whether a variant can show anything on a probe: a call that fails has little output to spoil, declared input
/// leaves no silence to wait in, and what comes of text in a file or late is for people.
fn concerns(probe: &Probe, profile: &TargetProfile, format: OutputFormat, variant: Variant) -> bool {
    // The call without a format, which is the same and which every target accepts, is made there.
    let stands_in = format == OutputFormat::Text && probe.gives_data() && has_call_without_format(profile);
    match variant {
        Variant::Plain => true,
        variant if stands_in && conditions(Derived::NoFormat).contains(&variant) => false,
        // Once, if not in the call without a format.
        Variant::Bare | Variant::Xdg => {
            let once = probe.formats.first() == Some(&format) && !has_call_without_format(profile);
            once && probe.gives_data()
        }
        // A question is asked whatever the format, and also by what fails in the end.
        Variant::TerminalIn => {
            let json = probe.gives_data() && format == OutputFormat::Json;
            probe.call.stdin.is_none() && (json || probe.formats.first() == Some(&format))
        }
        Variant::FullTerminal => {
            probe.call.stdin.is_none() && probe.flag(Flag::NoInput, profile).args().is_some()
        }
        Variant::ColourPipe | Variant::NoColour => true,
        Variant::NoPager => probe.gives_data(),
        // What fails may show its secret in debug output as well.
        Variant::HostileEnv if probe.has_secret(profile) => true,
        Variant::OpenStdin => probe.call.stdin.is_none() && format != OutputFormat::Jsonl,
        Variant::SlowReader | Variant::File => probe.gives_data() && format.is_json(),
        // See [`repetitions`].
        Variant::Repeat => false,
        _ => probe.gives_data(),
    }
}

/// Whether the call without a format prints text.
fn has_call_without_format(profile: &TargetProfile) -> bool {
    profile.contract.is_none() && profile.conventions.default_format == OutputFormat::Text
}

/// Which of the runs under a variant are made.
fn numbers(
    variant: Variant,
    probe: &Probe,
    profile: &TargetProfile,
    format: OutputFormat,
) -> impl Iterator<Item = u8> {
    let is_own = !probe.is_declared() && probe.of().is_none();
    let all = match variant {
        // Nobody says which file could be invalid; and most calls need a home.
        Variant::Bare => u8::from(!is_own)..1 + u8::from(profile.conventions.config_file.is_some()),
        Variant::Repeat if format.is_json() => 0..REPEATS,
        _ => 0..variant.environments().len().max(1) as u8,
    };
    all.filter(move |nth| parts(variant, *nth).is_none())
}
