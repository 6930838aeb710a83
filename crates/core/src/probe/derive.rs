//! Derives calls from probes and from the help. All are harmless: the commands of a target are never guessed.

use super::args::{insert_behind_format, insert_last};
use super::derived_call::{
    UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_FORMAT, UNKNOWN_VALUE, derive_from, insert_option, target_call,
};
use super::{Probe, TargetProfile, flagged, scenarios, secrets, variable_options};
use crate::catalogue::DerivedKind;
use crate::config::{
    CallConfig, CommonOption, Contracts, FORMAT_PLACEHOLDER, FormatFlag, ListConfig, SHELL_PLACEHOLDER,
    Workspace, insert_format_flag,
};
use crate::model::{Case, OutputFormat, ProbeId};
use crate::targets::OptionChoices;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Time limit of a call that is made from an example in the help. The call ends with an unknown flag, which the target
/// should reject immediately.
const EXAMPLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The shells whose completion scripts are requested.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Returns the derived calls of the given kinds, for the target itself and from the declared probes. `timeout` is the
/// time limit of calls of the target itself.
///
/// Calls are derived only from declared probes that print data: another flag for a call that fails anyway shows
/// nothing.
pub fn derive_calls(
    kinds: &BTreeSet<DerivedKind>,
    declared: &[Probe],
    profile: &TargetProfile,
    timeout: Duration,
) -> Vec<Probe> {
    // Calls that change something are derived only in the scenarios for that.
    let base_probes: Vec<Probe> =
        declared.iter().filter(|probe| !probe.runs_only_in_scenarios()).cloned().collect();
    let sources: Vec<&Probe> = base_probes.iter().filter(|probe| probe.prints_data()).collect();
    let mut probes: Vec<Probe> =
        kinds.iter().filter_map(|kind| target_calls(*kind, profile, timeout)).collect();
    // Invalid usage shows nothing in a format that the target may not have; and `--output json` often names a file to
    // write.
    let has = |format: &OutputFormat| match sources.is_empty() {
        true => profile.known_formats.contains(format),
        false => sources.iter().any(|probe| probe.formats.contains(format)),
    };
    let (workspace, cwd) = start_folder(declared);
    for probe in &mut probes {
        probe.call.workspace.clone_from(&workspace);
        probe.call.cwd.clone_from(&cwd);
    }
    for probe in probes.iter_mut().filter(|probe| !probe.is_kind(DerivedKind::Schema)) {
        let is_known =
            |format: &OutputFormat| profile.conventions.formats.args(*format).is_some() && has(format);
        probe.formats.retain(|format| *format == OutputFormat::Text || is_known(format));
    }
    for (index, probe) in sources.iter().enumerate() {
        probes.extend(kinds.iter().flat_map(|kind| from_probe(*kind, probe, profile, index == 0)));
    }
    probes.extend(flagged::calls(kinds, &base_probes, profile));
    probes.extend(scenarios::calls(kinds, declared, profile));
    probes.extend(secrets::calls(kinds, &base_probes, profile));
    if kinds.contains(&DerivedKind::Completions) {
        probes.extend(completions(profile, timeout));
    }
    if kinds.contains(&DerivedKind::EnvFlag) {
        probes.extend(variable_options::calls(&base_probes, profile));
    }
    if kinds.contains(&DerivedKind::Example) {
        probes.extend(examples(declared, profile));
    }
    if kinds.contains(&DerivedKind::BundleInstall) {
        probes.extend(bundle_install(profile, timeout));
    }
    if kinds.contains(&DerivedKind::CommandHelp) {
        probes.extend(command_helps(declared, &profile.called_commands));
    }
    deduplicate(&mut probes, declared);
    probes
}

/// Returns the workspace and the working directory for calls of the target itself. If all declared probes have the same
/// ones, returns these. Else returns the first non-empty workspace of the probes, ordered by path. If there is none,
/// both are `None`, which means the folder of the target.
fn start_folder(declared: &[Probe]) -> (Option<Workspace>, Option<PathBuf>) {
    let starts: BTreeSet<_> =
        declared.iter().map(|probe| (probe.call.workspace.clone(), probe.call.cwd.clone())).collect();
    if starts.len() == 1 {
        return starts.into_iter().next().unwrap_or_default();
    }
    let workspaces = starts.into_iter().filter_map(|(workspace, _)| workspace);
    (workspaces.into_iter().find(|workspace| *workspace != Workspace::Empty), None)
}

/// Returns the call `COMMAND --help` for each of these commands. It is derived from the first declared probe that calls
/// the command. If there is none, it is a call of the target itself, with the settings of the first explored probe that
/// calls the command. Other commands are omitted. If the target ignores the flag, only a command that is called anyway
/// runs.
pub fn command_helps(sources: &[Probe], commands: &[Vec<String>]) -> Vec<Probe> {
    let help_call = |command: &Vec<String>| {
        let callers = sources.iter().filter(|probe| probe.calls(command));
        let probe = callers.min_by_key(|probe| probe.explored.is_some())?;
        let args = [&command[..], &["--help".to_owned()]].concat();
        Some(Probe {
            id: ProbeId::Derived {
                kind: DerivedKind::CommandHelp,
                source: probe.explored.is_none().then(|| probe.name.clone()),
                case: Case::words(command),
            },
            name: args.join(" "),
            call: CallConfig {
                args,
                result: false,
                format_flags: BTreeMap::new(),
                contract: Contracts::default(),
                stream: false,
                stdin: None,
                setup: Vec::new(),
                ..probe.call.clone()
            },
            exit: Some(0),
            asks_format: false,
            formats: vec![OutputFormat::Text],
            flag_position: None,
            ..probe.clone()
        })
    };
    let mut probes = commands.iter().filter_map(help_call).collect();
    deduplicate(&mut probes, sources);
    probes
}

/// Returns calls for the examples in the help, each with an unknown flag at its end. Each is derived from the first
/// declared probe that calls the same command. If the target ignores the flag, only a call of this command runs, and it
/// is confined.
fn examples(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let example_call = |args: &Vec<String>| {
        let call = declared.first()?.clone().with_args(insert_last(args, &[UNKNOWN_FLAG.to_owned()]));
        let command = profile.called_commands.iter().filter(|command| call.calls(command));
        let command = command.max_by_key(|command| command.len());
        let source = declared.iter().find(|probe| command.is_none_or(|command| probe.calls(command)))?;
        (command.is_some() || profile.commands.is_empty()).then(|| Probe {
            id: ProbeId::Derived {
                kind: DerivedKind::Example,
                source: Some(source.name.clone()),
                case: Case::words(args),
            },
            name: format!("example `{}`", args.join(" ")),
            call: CallConfig {
                args: call.call.args,
                workspace: source.call.workspace.clone().or(Some(Workspace::Empty)),
                ..CallConfig::default()
            },
            asks_format: false,
            formats: vec![OutputFormat::Text],
            exit: None,
            timeout: EXAMPLE_TIMEOUT,
            ..target_call(DerivedKind::Example, &[], EXAMPLE_TIMEOUT)
        })
    };
    profile.examples.iter().filter_map(example_call).collect()
}

/// Returns the call that installs the target's instructions for agents, in an empty workspace; `None` if it is not
/// declared.
fn bundle_install(profile: &TargetProfile, timeout: Duration) -> Option<Probe> {
    let args: Vec<&str> = profile.conventions.bundle_install.args()?.iter().map(String::as_str).collect();
    let mut probe = Probe {
        exit: Some(0),
        asks_format: false,
        formats: vec![OutputFormat::Text],
        ..target_call(DerivedKind::BundleInstall, &args, timeout)
    };
    probe.call.workspace = Some(Workspace::Empty);
    Some(probe)
}

/// Returns the calls that print completion scripts, one per shell. The arguments are the declared ones, or else a
/// command `completions` or `completion` in the help. Empty if there is neither.
fn completions(profile: &TargetProfile, timeout: Duration) -> Vec<Probe> {
    let names = ["completions", "completion"];
    let listed = names.into_iter().find(|name| profile.commands.iter().any(|command| command == name));
    let args = match (&profile.conventions.completions, listed) {
        (FormatFlag::Given(args), _) => args.clone(),
        (FormatFlag::Unspecified, Some(command)) => vec![command.to_owned(), SHELL_PLACEHOLDER.to_owned()],
        _ => return Vec::new(),
    };
    let completion_call = |shell: &str| {
        let args: Vec<String> = args.iter().map(|arg| arg.replace(SHELL_PLACEHOLDER, shell)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Probe {
            id: ProbeId::Derived { kind: DerivedKind::Completions, source: None, case: Case::words([shell]) },
            exit: Some(0),
            asks_format: false,
            formats: vec![OutputFormat::Text],
            ..target_call(DerivedKind::Completions, &args, timeout)
        }
    };
    SHELLS.into_iter().map(completion_call).collect()
}

/// Removes probes that have the same identity as an earlier one. Makes the names of the others unique, and
/// different from those of their `sources`, by adding `'`.
pub(super) fn deduplicate(probes: &mut Vec<Probe>, sources: &[Probe]) {
    let mut ids = BTreeSet::new();
    probes.retain(|probe| ids.insert(probe.id.clone()));
    let mut names: BTreeSet<String> = sources.iter().map(|probe| probe.name.clone()).collect();
    for probe in probes {
        while !names.insert(probe.name.clone()) {
            probe.name.push('\'');
        }
    }
}

/// Returns the calls that verify an assumed format flag before all other runs: each probe whose flag is unverified is
/// called with an unknown format.
pub fn format_flag_calls(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    // A probe with a workspace may write files, so its format flag needs no separate call.
    let open = declared
        .iter()
        .filter(|probe| probe.has_unverified_format_flag(profile) && probe.call.workspace.is_none());
    let mut probes: Vec<Probe> =
        open.flat_map(|probe| from_probe(DerivedKind::InvalidFormat, probe, profile, true)).collect();
    deduplicate(&mut probes, declared);
    probes
}

/// Returns the call of this kind that does not depend on a declared probe, such as `--help`. Returns `None` if the kind
/// has no such call, or has none for this target.
pub fn target_calls(kind: DerivedKind, profile: &TargetProfile, timeout: Duration) -> Option<Probe> {
    let (args, exit): (&[&str], _) = match kind {
        DerivedKind::Help => (&["--help"], 0),
        DerivedKind::HelpShort if !profile.other_short_help => (&["-h"], 0),
        DerivedKind::Version => (&["--version"], 0),
        DerivedKind::UnknownFlag => (&[UNKNOWN_FLAG], profile.conventions.usage),
        DerivedKind::UnknownCommand if profile.tries_command => {
            (&[UNKNOWN_COMMAND], profile.conventions.usage)
        }
        DerivedKind::Schema => {
            let args: Vec<&str> = profile.conventions.schema.args()?.iter().map(String::as_str).collect();
            let mut probe = target_call(kind, &args, timeout);
            probe.exit = Some(0);
            probe.asks_format = false;
            probe.formats = vec![OutputFormat::Json];
            return Some(probe);
        }
        _ => return None,
    };
    let mut probe = target_call(kind, args, timeout);
    probe.exit = Some(exit);
    // The checks judge their text for people.
    if matches!(kind, DerivedKind::Help | DerivedKind::HelpShort | DerivedKind::Version) {
        probe.formats = vec![OutputFormat::Text];
    }
    // The format flag precedes the unknown argument, so that a parser that stops there has parsed it.
    if matches!(kind, DerivedKind::UnknownFlag | DerivedKind::UnknownCommand) {
        probe.call.args.insert(0, FORMAT_PLACEHOLDER.into());
    }
    Some(probe)
}

/// Returns the calls of this kind that are derived from a declared probe. `first` is true for the first declared probe,
/// from which alone some kinds are derived.
fn from_probe(kind: DerivedKind, probe: &Probe, profile: &TargetProfile, first: bool) -> Vec<Probe> {
    use OutputFormat::{Json, Jsonl, Text};
    let call = |case, label: &str, flag_args: &[&str], exit, format| {
        let flag_args: Vec<String> = flag_args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut call = Probe {
            asks_format: false,
            exit,
            formats: vec![format],
            ..derive_from(kind, case, probe, label)
                .with_args(insert_format_flag(&probe.call.args, &flag_args))
        };
        call.call.result &= exit.is_some();
        call
    };
    let with =
        |label: &str, flag_args: &[&str], exit, format| call(Case::Only, label, flag_args, exit, format);
    match kind {
        // The same call as that in text.
        DerivedKind::NoFormat if probe.is_text_default(profile) => Vec::new(),
        DerivedKind::NoFormat => vec![with("no format", &[], probe.exit, Text)],
        DerivedKind::InvalidFormat if first => {
            let unknown = |format| with_unknown_format(probe.format_args(format, profile), format);
            let Some(flag_args) = [Json, Jsonl, Text].into_iter().find_map(unknown) else {
                return Vec::new();
            };
            let flag_args: Vec<&str> = flag_args.iter().map(String::as_str).collect();
            let mut invalid = with("invalid format", &flag_args, None, Text);
            if probe.has_unverified_format_flag(profile) {
                invalid.call.workspace.get_or_insert(Workspace::Empty);
            }
            vec![invalid]
        }
        DerivedKind::Alias => [(Json, "--json"), (Jsonl, "--jsonl")]
            .into_iter()
            .filter(|(format, _)| probe.formats.contains(format) && probe.has_output_flag(*format, profile))
            .map(|(format, flag)| call(Case::Format(format), flag, &[flag], probe.exit, format))
            .collect(),
        DerivedKind::InvalidValue if !probe.call.args.iter().any(|arg| arg == "--") => {
            let invalid =
                profile.choices.iter().find_map(|choices| with_invalid_value(choices, &probe.call.args));
            let call = |args| with("invalid value", &[], None, Text).with_args(args);
            invalid.map(call).into_iter().collect()
        }
        DerivedKind::IgnoredFlag if !probe.call.args.iter().any(|arg| arg == "--") || first => {
            let behind = insert_behind_format(&probe.call.args, UNKNOWN_FLAG);
            let case = Case::words([UNKNOWN_FLAG]);
            let behind =
                behind.map(|args| call(case, "unknown flag behind", &[], None, Text).with_args(args));
            [with("unknown flag", &[UNKNOWN_FLAG], None, Text)].into_iter().chain(behind).collect()
        }
        DerivedKind::Raw if first => vec![with("--raw", &["--raw"], None, Text)],
        DerivedKind::MoreFormats
            if first && probe.has_output_flag(Json, profile) && !probe.omits_format_flag() =>
        {
            ["csv", "tsv", "yaml"]
                .into_iter()
                .map(|format| call(Case::words([format]), format, &["--output", format], None, Text))
                .collect()
        }
        DerivedKind::Limit if probe.formats.contains(&Json) => {
            let Some(spelling) = probe.common_option(CommonOption::Limit, profile).args() else {
                return Vec::new();
            };
            let limited = |limit: u64| {
                let option = CommonOption::Limit.with_value(spelling, &limit.to_string());
                let call = call(Case::Limit(limit), &format!("limit {limit}"), &[], probe.exit, Json);
                let args = insert_option(&probe.call.args, &option, probe, profile);
                Probe { asks_format: probe.asks_format, ..call.with_args(args) }
            };
            probe.call.list.iter().flat_map(limit_values).map(limited).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the values for the option that limits a list: 1 and 2, which show whether the target obeys the option, and
/// one more than the maximum that the list has without it.
fn limit_values(list: &ListConfig) -> BTreeSet<u64> {
    [1, 2].into_iter().chain(list.max.map(|max| max + 1)).collect()
}

/// Replaces the value of the option `choices.flag` in `args` by an invalid one; `None` if `args` does not contain the
/// option.
fn with_invalid_value(choices: &OptionChoices, args: &[String]) -> Option<Vec<String>> {
    let mut invalid = args.to_vec();
    let joined = format!("{}=", choices.flag);
    if let Some(index) = args.iter().position(|arg| arg.starts_with(&joined)) {
        invalid[index] = joined + UNKNOWN_VALUE;
    } else {
        let index = args.iter().position(|arg| *arg == choices.flag)? + 1;
        UNKNOWN_VALUE.clone_into(invalid.get_mut(index)?);
    }
    Some(invalid)
}

/// Replaces the format in the arguments that select it by an unknown one; `None` if the arguments contain no value,
/// such as `-j`.
fn with_unknown_format(flag_args: &[String], format: OutputFormat) -> Option<Vec<String>> {
    let is_value = |index: usize| {
        index > 0 && flag_args[index - 1].starts_with('-') && !flag_args[index].starts_with('-')
    };
    let name = format.name();
    // The name of the format, else a word that contains it, such as `json1`.
    let is_name = |word: &str| word == name;
    let contains_name = |word: &str| word.to_lowercase().contains(OutputFormat::Json.name());
    let find = |matches: &dyn Fn(&str) -> bool| {
        (0..flag_args.len()).rev().find_map(|index| match flag_args[index].split_once('=') {
            Some((flag, value)) if matches(value) => Some((index, format!("{flag}={UNKNOWN_FORMAT}"))),
            None if matches(&flag_args[index]) && is_value(index) => Some((index, UNKNOWN_FORMAT.to_owned())),
            _ => None,
        })
    };
    let (index, unknown) = find(&is_name).or_else(|| find(&contains_name))?;
    let mut flag_args = flag_args.to_vec();
    flag_args[index] = unknown;
    Some(flag_args)
}
