//! Probes that are made, not declared. All are harmless: a target's own commands are never guessed.

use super::args::{behind, placed_last};
use super::derived_call::{UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_FORMAT, UNKNOWN_VALUE, bare, made, placed};
use super::{Probe, TargetProfile, env_flags, flagged, scenes, secrets};
use crate::catalogue::Derived;
use crate::config::{
    Asking, CallConfig, Contracts, FORMAT_PLACE, Flag, ListConfig, SHELL_PLACE, Workspace, place_format,
};
use crate::model::{Case, OutputFormat, ProbeId};
use crate::targets::Choices;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// So long may an example take, whose last argument is refused.
const EXAMPLE: Duration = Duration::from_secs(5);

/// The shells that completion scripts are asked for.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The probes of these kinds, from what is declared and promised.
///
/// Those that are made from a declared probe take the ones that give data: trying another flag on a
/// call that fails anyway shows nothing.
pub fn derived(
    kinds: &BTreeSet<Derived>,
    declared: &[Probe],
    profile: &TargetProfile,
    timeout: Duration,
) -> Vec<Probe> {
    // What changes something is not tried in all ways.
    let usual: Vec<Probe> = declared.iter().filter(|probe| !probe.is_apart()).cloned().collect();
    let sources: Vec<&Probe> = usual.iter().filter(|probe| probe.gives_data()).collect();
    let mut probes: Vec<Probe> =
        kinds.iter().filter_map(|kind| standalone(*kind, profile, timeout)).collect();
    // In a format that the target may lack, a call that is wrong shows nothing; and `--output json` is
    // often the name of a file to be written.
    let has = |format: &OutputFormat| match sources.is_empty() {
        true => profile.known_formats.contains(format),
        false => sources.iter().any(|probe| probe.formats.contains(format)),
    };
    let (workspace, cwd) = start_of(declared);
    for probe in &mut probes {
        probe.call.workspace.clone_from(&workspace);
        probe.call.cwd.clone_from(&cwd);
    }
    for probe in probes.iter_mut().filter(|probe| !probe.is(Derived::Schema)) {
        let asked =
            |format: &OutputFormat| profile.conventions.formats.args(*format).is_some() && has(format);
        probe.formats.retain(|format| *format == OutputFormat::Text || asked(format));
    }
    for (at, probe) in sources.iter().enumerate() {
        probes.extend(kinds.iter().flat_map(|kind| variations(*kind, probe, profile, at == 0)));
    }
    probes.extend(flagged::calls(kinds, &usual, profile));
    probes.extend(scenes::calls(kinds, declared, profile));
    probes.extend(secrets::calls(kinds, &usual, profile));
    if kinds.contains(&Derived::Completions) {
        probes.extend(completions(profile, timeout));
    }
    if kinds.contains(&Derived::EnvFlag) {
        probes.extend(env_flags::calls(&usual, profile));
    }
    if kinds.contains(&Derived::Example) {
        probes.extend(examples(declared, profile));
    }
    if kinds.contains(&Derived::BundleInstall) {
        probes.extend(bundle_install(profile, timeout));
    }
    if kinds.contains(&Derived::CommandHelp) {
        probes.extend(command_helps(declared, &profile.called_commands));
    }
    distinguish(&mut probes, declared);
    probes
}

/// Where the calls of the target itself start: where all declared probes do; else in the first of their workspaces that
/// are not empty, by its path; else in the target's folder.
fn start_of(declared: &[Probe]) -> (Option<Workspace>, Option<PathBuf>) {
    let starts: BTreeSet<_> =
        declared.iter().map(|probe| (probe.call.workspace.clone(), probe.call.cwd.clone())).collect();
    if starts.len() == 1 {
        return starts.into_iter().next().unwrap_or_default();
    }
    let workspaces = starts.into_iter().filter_map(|(workspace, _)| workspace);
    (workspaces.into_iter().find(|workspace| *workspace != Workspace::Empty), None)
}

/// `COMMAND --help` for each of these commands, as the first of the declared probes calls it that does: if the flag
/// is ignored, what runs is what was declared to run.
pub fn command_helps(declared: &[Probe], commands: &[Vec<String>]) -> Vec<Probe> {
    let of_command = |command: &Vec<String>| {
        let probe = declared.iter().find(|probe| probe.calls(command))?;
        let args = [&command[..], &["--help".to_owned()]].concat();
        Some(Probe {
            id: ProbeId::Derived {
                kind: Derived::CommandHelp,
                from: Some(probe.name.clone()),
                case: Case::words(command),
            },
            name: args.join(" "),
            call: CallConfig {
                args,
                result: false,
                asking: BTreeMap::new(),
                contract: Contracts::default(),
                stream: false,
                stdin: None,
                setup: Vec::new(),
                ..probe.call.clone()
            },
            exit: Some(0),
            asks_format: false,
            formats: vec![OutputFormat::Text],
            place: None,
            ..probe.clone()
        })
    };
    let mut probes = commands.iter().filter_map(of_command).collect();
    distinguish(&mut probes, declared);
    probes
}

/// The examples with an unknown flag, each as the first of the declared probes that calls the same command: if the
/// flag is ignored, what runs is such a call, confined.
fn examples(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let of_example = |args: &Vec<String>| {
        let call = declared.first()?.clone().with_args(placed_last(args, &[UNKNOWN_FLAG.to_owned()]));
        let command = profile.called_commands.iter().filter(|command| call.calls(command));
        let command = command.max_by_key(|command| command.len());
        let source = declared.iter().find(|probe| command.is_none_or(|command| probe.calls(command)))?;
        (command.is_some() || profile.commands.is_empty()).then(|| Probe {
            id: ProbeId::Derived {
                kind: Derived::Example,
                from: Some(source.name.clone()),
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
            timeout: EXAMPLE,
            ..bare(Derived::Example, &[], EXAMPLE)
        })
    };
    profile.examples.iter().filter_map(of_example).collect()
}

/// The call that installs the instructions for agents, in an empty folder.
fn bundle_install(profile: &TargetProfile, timeout: Duration) -> Option<Probe> {
    let args: Vec<&str> = profile.conventions.bundle_install.args()?.iter().map(String::as_str).collect();
    let mut probe = Probe {
        exit: Some(0),
        asks_format: false,
        formats: vec![OutputFormat::Text],
        ..bare(Derived::BundleInstall, &args, timeout)
    };
    probe.call.workspace = Some(Workspace::Empty);
    Some(probe)
}

/// The calls that print completion scripts, as the configuration or the name of a command says.
fn completions(profile: &TargetProfile, timeout: Duration) -> Vec<Probe> {
    let guess = ["completions", "completion"];
    let listed = guess.into_iter().find(|name| profile.commands.iter().any(|command| command == name));
    let args = match (&profile.conventions.completions, listed) {
        (Asking::With(args), _) => args.clone(),
        (Asking::Undeclared, Some(command)) => vec![command.to_owned(), SHELL_PLACE.to_owned()],
        _ => return Vec::new(),
    };
    let of_shell = |shell: &str| {
        let args: Vec<String> = args.iter().map(|arg| arg.replace(SHELL_PLACE, shell)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Probe {
            id: ProbeId::Derived { kind: Derived::Completions, from: None, case: Case::words([shell]) },
            exit: Some(0),
            asks_format: false,
            formats: vec![OutputFormat::Text],
            ..bare(Derived::Completions, &args, timeout)
        }
    };
    SHELLS.into_iter().map(of_shell).collect()
}

/// Removes all but the first of derivations that are equal, and makes the names of the others unique.
fn distinguish(probes: &mut Vec<Probe>, declared: &[Probe]) {
    let mut ids = BTreeSet::new();
    probes.retain(|probe| ids.insert(probe.id.clone()));
    let mut names: BTreeSet<String> = declared.iter().map(|probe| probe.name.clone()).collect();
    for probe in probes {
        while !names.insert(probe.name.clone()) {
            probe.name.push('\'');
        }
    }
}

/// What is to be asked before anything else: each open probe with a format that no program has.
pub fn questions(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    // A folder of its own is one that may be written to.
    let open = declared.iter().filter(|probe| probe.is_open(profile) && probe.call.workspace.is_none());
    let mut probes: Vec<Probe> =
        open.flat_map(|probe| variations(Derived::InvalidFormat, probe, profile, true)).collect();
    distinguish(&mut probes, declared);
    probes
}

/// A probe of the target itself.
pub fn standalone(kind: Derived, profile: &TargetProfile, timeout: Duration) -> Option<Probe> {
    let (args, exit): (&[&str], _) = match kind {
        Derived::Help => (&["--help"], 0),
        Derived::HelpShort if !profile.other_short_help => (&["-h"], 0),
        Derived::Version => (&["--version"], 0),
        Derived::UnknownFlag => (&[UNKNOWN_FLAG], profile.conventions.usage),
        Derived::UnknownCommand if profile.tries_command => (&[UNKNOWN_COMMAND], profile.conventions.usage),
        Derived::Schema => {
            let args: Vec<&str> = profile.conventions.schema.args()?.iter().map(String::as_str).collect();
            let mut probe = bare(kind, &args, timeout);
            probe.exit = Some(0);
            probe.asks_format = false;
            probe.formats = vec![OutputFormat::Json];
            return Some(probe);
        }
        _ => return None,
    };
    let mut probe = bare(kind, args, timeout);
    probe.exit = Some(exit);
    // What they say to people is what is looked at.
    if matches!(kind, Derived::Help | Derived::HelpShort | Derived::Version) {
        probe.formats = vec![OutputFormat::Text];
    }
    // Before the unknown word, so that a parser which stops there has seen the format.
    if matches!(kind, Derived::UnknownFlag | Derived::UnknownCommand) {
        probe.call.args.insert(0, FORMAT_PLACE.into());
    }
    Some(probe)
}

/// The probes of this kind that are made from a declared one.
fn variations(kind: Derived, probe: &Probe, profile: &TargetProfile, first: bool) -> Vec<Probe> {
    use OutputFormat::{Json, Jsonl, Text};
    let call = |case, label: &str, asking: &[&str], exit, format| {
        let asking: Vec<String> = asking.iter().map(|arg| (*arg).to_owned()).collect();
        let mut call = Probe {
            asks_format: false,
            exit,
            formats: vec![format],
            ..made(kind, case, probe, label).with_args(place_format(&probe.call.args, &asking))
        };
        call.call.result &= exit.is_some();
        call
    };
    let with = |label: &str, asking: &[&str], exit, format| call(Case::Only, label, asking, exit, format);
    match kind {
        Derived::NoFormat => vec![with("no format", &[], probe.exit, Text)],
        Derived::InvalidFormat if first => {
            let wrong = |format| invalid(probe.asking(format, profile), format);
            let Some(asking) = [Json, Jsonl, Text].into_iter().find_map(wrong) else { return Vec::new() };
            let asking: Vec<&str> = asking.iter().map(String::as_str).collect();
            let mut invalid = with("invalid format", &asking, None, Text);
            if probe.is_open(profile) {
                invalid.call.workspace.get_or_insert(Workspace::Empty);
            }
            vec![invalid]
        }
        Derived::Alias => [(Json, "--json"), (Jsonl, "--jsonl")]
            .into_iter()
            .filter(|(format, _)| probe.formats.contains(format) && probe.asks_with_output(*format, profile))
            .map(|(format, flag)| call(Case::Format(format), flag, &[flag], probe.exit, format))
            .collect(),
        Derived::InvalidValue if !probe.call.args.iter().any(|arg| arg == "--") => {
            let wrong =
                profile.choices.iter().find_map(|choices| with_invalid_value(choices, &probe.call.args));
            let call = |args| with("invalid value", &[], None, Text).with_args(args);
            wrong.map(call).into_iter().collect()
        }
        Derived::IgnoredFlag if !probe.call.args.iter().any(|arg| arg == "--") || first => {
            let behind = behind(&probe.call.args, UNKNOWN_FLAG);
            let case = Case::words([UNKNOWN_FLAG]);
            let behind =
                behind.map(|args| call(case, "unknown flag behind", &[], None, Text).with_args(args));
            [with("unknown flag", &[UNKNOWN_FLAG], None, Text)].into_iter().chain(behind).collect()
        }
        Derived::Raw if first => vec![with("--raw", &["--raw"], None, Text)],
        Derived::MoreFormats if first && probe.asks_with_output(Json, profile) && !probe.is_unasked() => {
            ["csv", "tsv", "yaml"]
                .into_iter()
                .map(|format| call(Case::words([format]), format, &["--output", format], None, Text))
                .collect()
        }
        Derived::Limit if probe.formats.contains(&Json) => {
            let Some(spelling) = probe.flag(Flag::Limit, profile).args() else { return Vec::new() };
            let limited = |limit: u64| {
                let option = Flag::Limit.with_value(spelling, &limit.to_string());
                let call = call(Case::Limit(limit), &format!("limit {limit}"), &[], probe.exit, Json);
                let args = placed(&probe.call.args, &option, probe, profile);
                Probe { asks_format: probe.asks_format, ..call.with_args(args) }
            };
            probe.call.list.iter().flat_map(limits).map(limited).collect()
        }
        _ => Vec::new(),
    }
}

/// The limits that a list is asked for: two that show whether they are obeyed, and one that is more than comes
/// without any.
fn limits(list: &ListConfig) -> BTreeSet<u64> {
    [1, 2].into_iter().chain(list.max.map(|max| max + 1)).collect()
}

/// These arguments with a value that the option does not have; none where they do not use it.
fn with_invalid_value(choices: &Choices, args: &[String]) -> Option<Vec<String>> {
    let mut wrong = args.to_vec();
    let joined = format!("{}=", choices.flag);
    if let Some(at) = args.iter().position(|arg| arg.starts_with(&joined)) {
        wrong[at] = joined + UNKNOWN_VALUE;
    } else {
        let at = args.iter().position(|arg| *arg == choices.flag)? + 1;
        UNKNOWN_VALUE.clone_into(wrong.get_mut(at)?);
    }
    Some(wrong)
}

/// The arguments that ask for a format, with a value that no program knows. One flag alone, such as `-j`, has
/// no value that could be wrong.
fn invalid(asking: &[String], format: OutputFormat) -> Option<Vec<String>> {
    let is_value = |at: &usize| *at > 0 && asking[at - 1].starts_with('-') && !asking[*at].starts_with('-');
    let name = format.name();
    // The name of the format, else a word such as `json1`, of which the format's name is a part.
    let named = |word: &str| word == name;
    let meant = |word: &str| word.to_lowercase().contains(OutputFormat::Json.name());
    let find = |fits: &dyn Fn(&str) -> bool| {
        (0..asking.len()).rev().find_map(|at| match asking[at].split_once('=') {
            Some((flag, value)) if fits(value) => Some((at, format!("{flag}={UNKNOWN_FORMAT}"))),
            None if fits(&asking[at]) && is_value(&at) => Some((at, UNKNOWN_FORMAT.to_owned())),
            _ => None,
        })
    };
    let (at, wrong) = find(&named).or_else(|| find(&meant))?;
    let mut asking = asking.to_vec();
    asking[at] = wrong;
    Some(asking)
}
