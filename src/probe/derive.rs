//! Probes that are made, not declared. All are harmless: a target's own commands are never guessed.

use super::{Probe, Promises, env_flags, flagged, scenes, secrets};
use crate::catalogue::Derived;
use crate::config::{
    Asking, Contracts, FORMAT_PLACE, Flag, ListConfig, SHELL_PLACE, Workspace, place_format,
};
use crate::model::{Case, OutputFormat, ProbeId};
use crate::target::Choices;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// An unknown flag.
pub const UNKNOWN_FLAG: &str = "--agentnative-unknown-flag";
/// So long may an example take, whose last argument is refused.
const EXAMPLE: Duration = Duration::from_secs(5);
/// A command that no program has.
pub const UNKNOWN_COMMAND: &str = "agentnative-unknown-command";
/// A value that no option has.
pub const UNKNOWN_VALUE: &str = "agentnative-unknown-value";
/// The shells that completion scripts are asked for.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];
/// A format that no program has.
pub const UNKNOWN_FORMAT: &str = "agentnative-unknown-format";

/// The probes of these kinds, from what is declared and promised.
///
/// Those that are made from a declared probe take the ones that give data: trying another flag on a
/// call that fails anyway shows nothing.
pub fn derived(
    kinds: &BTreeSet<Derived>,
    declared: &[Probe],
    promises: &Promises,
    timeout: Duration,
) -> Vec<Probe> {
    // What changes something is not tried in all ways.
    let usual: Vec<Probe> = declared.iter().filter(|probe| !probe.is_apart()).cloned().collect();
    let sources: Vec<&Probe> = usual.iter().filter(|probe| probe.gives_data()).collect();
    let mut probes: Vec<Probe> =
        kinds.iter().filter_map(|kind| standalone(*kind, promises, timeout)).collect();
    // In a format that the target may lack, a call that is wrong shows nothing; and `--output json` is
    // often the name of a file to be written.
    let has = |format: &OutputFormat| match sources.is_empty() {
        true => promises.known_formats.contains(format),
        false => sources.iter().any(|probe| probe.formats.contains(format)),
    };
    let (workspace, cwd) = start_of(declared);
    for probe in &mut probes {
        probe.workspace.clone_from(&workspace);
        probe.cwd.clone_from(&cwd);
    }
    for probe in probes.iter_mut().filter(|probe| !probe.is(Derived::Schema)) {
        let asked = |format: &OutputFormat| promises.formats.args(*format).is_some() && has(format);
        probe.formats.retain(|format| *format == OutputFormat::Text || asked(format));
    }
    for (at, probe) in sources.iter().enumerate() {
        probes.extend(kinds.iter().flat_map(|kind| variations(*kind, probe, promises, at == 0)));
    }
    probes.extend(flagged::calls(kinds, &usual, promises));
    probes.extend(scenes::calls(kinds, declared, promises));
    probes.extend(secrets::calls(kinds, &usual, promises));
    if kinds.contains(&Derived::Completions) {
        probes.extend(completions(promises, timeout));
    }
    if kinds.contains(&Derived::EnvFlag) {
        probes.extend(env_flags::calls(&usual, promises));
    }
    if kinds.contains(&Derived::Example) {
        probes.extend(examples(declared, promises));
    }
    if kinds.contains(&Derived::BundleInstall) {
        probes.extend(bundle_install(promises, timeout));
    }
    if kinds.contains(&Derived::CommandHelp) {
        probes.extend(command_helps(declared, &promises.called_commands));
    }
    distinguish(&mut probes, declared);
    probes
}

/// Where the calls of the target itself start: where all declared probes do; else in the first of their workspaces that
/// are not empty, by its path; else in the target's folder.
fn start_of(declared: &[Probe]) -> (Option<Workspace>, Option<PathBuf>) {
    let starts: BTreeSet<_> =
        declared.iter().map(|probe| (probe.workspace.clone(), probe.cwd.clone())).collect();
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
            args,
            exit: Some(0),
            result: false,
            asks_format: false,
            formats: vec![OutputFormat::Text],
            asking: BTreeMap::new(),
            place: None,
            contract: Contracts::default(),
            stream: false,
            stdin: None,
            setup: Vec::new(),
            ..probe.clone()
        })
    };
    let mut probes = commands.iter().filter_map(of_command).collect();
    distinguish(&mut probes, declared);
    probes
}

/// The examples with an unknown flag, each as the first of the declared probes that calls the same command: if the
/// flag is ignored, what runs is such a call, confined.
fn examples(declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    let of_example = |args: &Vec<String>| {
        let call = Probe { args: placed_last(args, &[UNKNOWN_FLAG.to_owned()]), ..declared.first()?.clone() };
        let command = promises.called_commands.iter().filter(|command| call.calls(command));
        let command = command.max_by_key(|command| command.len());
        let source = declared.iter().find(|probe| command.is_none_or(|command| probe.calls(command)))?;
        (command.is_some() || promises.commands.is_empty()).then(|| Probe {
            id: ProbeId::Derived {
                kind: Derived::Example,
                from: Some(source.name.clone()),
                case: Case::words(args),
            },
            name: format!("example `{}`", args.join(" ")),
            args: call.args,
            asks_format: false,
            formats: vec![OutputFormat::Text],
            exit: None,
            timeout: EXAMPLE,
            workspace: source.workspace.clone().or(Some(Workspace::Empty)),
            cwd: None,
            ..bare(Derived::Example, &[], EXAMPLE)
        })
    };
    promises.examples.iter().filter_map(of_example).collect()
}

/// The call that installs the instructions for agents, in an empty folder.
fn bundle_install(promises: &Promises, timeout: Duration) -> Option<Probe> {
    let args: Vec<&str> = promises.bundle_install.args()?.iter().map(String::as_str).collect();
    Some(Probe {
        exit: Some(0),
        asks_format: false,
        formats: vec![OutputFormat::Text],
        workspace: Some(Workspace::Empty),
        ..bare(Derived::BundleInstall, &args, timeout)
    })
}

/// The calls that print completion scripts, as the configuration or the name of a command says.
fn completions(promises: &Promises, timeout: Duration) -> Vec<Probe> {
    let guess = ["completions", "completion"];
    let listed = guess.into_iter().find(|name| promises.commands.iter().any(|command| command == name));
    let args = match (&promises.completions, listed) {
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
pub fn questions(declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    // A folder of its own is one that may be written to.
    let open = declared.iter().filter(|probe| probe.is_open(promises) && probe.workspace.is_none());
    let mut probes: Vec<Probe> =
        open.flat_map(|probe| variations(Derived::InvalidFormat, probe, promises, true)).collect();
    distinguish(&mut probes, declared);
    probes
}

/// A probe of the target itself.
pub fn standalone(kind: Derived, promises: &Promises, timeout: Duration) -> Option<Probe> {
    let (args, exit): (&[&str], _) = match kind {
        Derived::Help => (&["--help"], 0),
        Derived::HelpShort if !promises.other_short_help => (&["-h"], 0),
        Derived::Version => (&["--version"], 0),
        Derived::UnknownFlag => (&[UNKNOWN_FLAG], promises.usage),
        Derived::UnknownCommand if promises.tries_command => (&[UNKNOWN_COMMAND], promises.usage),
        Derived::Schema => {
            let args: Vec<&str> = promises.schema.args()?.iter().map(String::as_str).collect();
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
        probe.args.insert(0, FORMAT_PLACE.into());
    }
    Some(probe)
}

fn bare(kind: Derived, args: &[&str], timeout: Duration) -> Probe {
    Probe {
        id: ProbeId::derived(kind, None),
        name: args.join(" "),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        exit: None,
        result: false,
        asks_format: true,
        formats: OutputFormat::ALL.to_vec(),
        asking: BTreeMap::new(),
        flags: BTreeMap::new(),
        place: None,
        contract: Contracts::default(),
        list: None,
        login: false,
        secret: false,
        stream: false,
        stdin: None,
        env: Default::default(),
        cwd: None,
        remedy: Vec::new(),
        workspace: None,
        setup: Vec::new(),
        interrupt: None,
        effect: None,
        timeout,
        network: false,
        writes: false,
    }
}

/// A declared probe as the source of a derived one.
pub(super) fn made(kind: Derived, case: Case, probe: &Probe, label: &str) -> Probe {
    Probe {
        id: ProbeId::Derived { kind, from: Some(probe.name.clone()), case },
        name: format!("{}, {label}", probe.name),
        ..probe.clone()
    }
}

/// The probes of this kind that are made from a declared one.
fn variations(kind: Derived, probe: &Probe, promises: &Promises, first: bool) -> Vec<Probe> {
    use OutputFormat::{Json, Jsonl, Text};
    let call = |case, label: &str, asking: &[&str], exit, format| {
        let asking: Vec<String> = asking.iter().map(|arg| (*arg).to_owned()).collect();
        Probe {
            args: place_format(&probe.args, &asking),
            asks_format: false,
            exit,
            result: probe.result && exit.is_some(),
            formats: vec![format],
            ..made(kind, case, probe, label)
        }
    };
    let with = |label: &str, asking: &[&str], exit, format| call(Case::Only, label, asking, exit, format);
    match kind {
        Derived::NoFormat => vec![with("no format", &[], probe.exit, Text)],
        Derived::InvalidFormat if first => {
            let wrong = |format| invalid(probe.asking(format, promises), format);
            let Some(asking) = [Json, Jsonl, Text].into_iter().find_map(wrong) else { return Vec::new() };
            let asking: Vec<&str> = asking.iter().map(String::as_str).collect();
            let probe_with = with("invalid format", &asking, None, Text);
            match (&probe.workspace, probe.is_open(promises)) {
                (None, true) => vec![Probe { workspace: Some(Workspace::Empty), ..probe_with }],
                _ => vec![probe_with],
            }
        }
        Derived::Alias => [(Json, "--json"), (Jsonl, "--jsonl")]
            .into_iter()
            .filter(|(format, _)| probe.formats.contains(format) && probe.asks_with_output(*format, promises))
            .map(|(format, flag)| call(Case::Format(format), flag, &[flag], probe.exit, format))
            .collect(),
        Derived::InvalidValue if !probe.args.iter().any(|arg| arg == "--") => {
            let wrong = promises.choices.iter().find_map(|choices| with_invalid_value(choices, &probe.args));
            let args = |args| Probe { args, ..with("invalid value", &[], None, Text) };
            wrong.map(args).into_iter().collect()
        }
        Derived::IgnoredFlag if !probe.args.iter().any(|arg| arg == "--") || first => {
            let behind = behind(&probe.args, UNKNOWN_FLAG);
            let behind = behind.map(|args| Probe {
                args,
                ..call(Case::words([UNKNOWN_FLAG]), "unknown flag behind", &[], None, Text)
            });
            [with("unknown flag", &[UNKNOWN_FLAG], None, Text)].into_iter().chain(behind).collect()
        }
        Derived::Raw if first => vec![with("--raw", &["--raw"], None, Text)],
        Derived::MoreFormats if first && probe.asks_with_output(Json, promises) && !probe.is_unasked() => {
            ["csv", "tsv", "yaml"]
                .into_iter()
                .map(|format| call(Case::words([format]), format, &["--output", format], None, Text))
                .collect()
        }
        Derived::Limit if probe.formats.contains(&Json) => {
            let Some(spelling) = probe.flag(Flag::Limit, promises).args() else { return Vec::new() };
            let limited = |limit: u64| Probe {
                args: placed(
                    &probe.args,
                    &Flag::Limit.with_value(spelling, &limit.to_string()),
                    probe,
                    promises,
                ),
                asks_format: probe.asks_format,
                ..call(Case::Limit(limit), &format!("limit {limit}"), &[], probe.exit, Json)
            };
            probe.list.iter().flat_map(limits).map(limited).collect()
        }
        _ => Vec::new(),
    }
}

/// The limits that a list is asked for: two that show whether they are obeyed, and one that is more than comes
/// without any.
fn limits(list: &ListConfig) -> BTreeSet<u64> {
    [1, 2].into_iter().chain(list.max.map(|max| max + 1)).collect()
}

/// `args` with further ones before the first `--`, else at the end.
pub(super) fn placed_last(args: &[String], further: &[String]) -> Vec<String> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    [&args[..end], further, &args[end..]].concat()
}

/// `args` without a format and with an option at their end, where the format stands before some of them.
pub(super) fn behind(args: &[String], option: &str) -> Option<Vec<String>> {
    let place = args.iter().position(|arg| arg == FORMAT_PLACE)?;
    let others = || args[place + 1..].iter().take_while(|arg| *arg != "--");
    others().next()?;
    Some(placed_last(&place_format(args, &[]), &[option.to_owned()]))
}

/// `args` of a probe with an option where its options are accepted: where the format option is, if that place was found
/// or is the only one, in a call without subcommands; else last.
pub fn placed(args: &[String], option: &[String], probe: &Probe, promises: &Promises) -> Vec<String> {
    let marked = args.iter().position(|arg| arg == FORMAT_PLACE);
    match marked.filter(|_| probe.place.is_some() || promises.commands.is_empty()) {
        Some(at) => [&args[..=at], option, &args[at + 1..]].concat(),
        None => placed_last(args, option),
    }
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
