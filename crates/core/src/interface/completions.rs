//! Reads the options of commands from a completion script for fish, as clap and similar parsers generate it.

use crate::catalogue::DerivedKind;
use crate::explore::FindRun;
use crate::model::{Case, OutputFormat, ProbeId};
use crate::run::{Observation, RunEnd, RunKey};
use agentnative_diff::interface::{InterfaceReader, OptionInterface, ProgramInterface};

/// Maximum length of a script that is read, in bytes.
const MAX_SCRIPT: u64 = 4 << 20;

/// Adds the options of a completion script to the commands whose help pages were not read.
#[must_use]
pub(super) fn with_completions(mut interface: ProgramInterface, find: &FindRun<'_>) -> ProgramInterface {
    let id = ProbeId::Derived { kind: DerivedKind::Completions, source: None, case: Case::words(["fish"]) };
    let seen = find(&RunKey::plain_run_key(id, OutputFormat::Text)).flatten();
    let Some(seen) = seen.filter(|seen: &&Observation| seen.end == RunEnd::Exited(0)) else {
        return interface;
    };
    let script = seen.stdout.bytes.first(MAX_SCRIPT).to_vec();
    for line in String::from_utf8_lossy(&script).lines() {
        if let Some((command, name, option)) = option(line)
            && let Some(command) = interface.commands.get_mut(&command)
            && command.reader.is_none_or(|reader| reader == InterfaceReader::Completion)
        {
            command.reader = Some(InterfaceReader::Completion);
            command.options.insert(name, option);
        }
    }
    interface
}

/// Returns the command, the name and the option in a line such as
/// `complete -c notes -n "__fish_notes_using_subcommand add" -l tag -r -d 'Add a tag'`.
fn option(line: &str) -> Option<(String, String, OptionInterface)> {
    let words = shlex::split(line.strip_prefix("complete ")?)?;
    let after = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let command = after("-n").map_or(Some(String::new()), |condition| command(condition))?;
    let short = after("-s").map(|name| format!("-{name}"));
    let long = after("-l").map(|name| format!("--{name}"));
    let name = long.clone().or(short.clone())?;
    let option = OptionInterface {
        short: short.into_iter().filter(|_| long.is_some()).collect(),
        description: after("-d").cloned().unwrap_or_default(),
        value: words.iter().any(|word| word == "-r").then(|| "VALUE".to_owned()),
        ..OptionInterface::default()
    };
    Some((command, name, option))
}

/// Returns the command for which a condition holds; `None` if it holds for several commands.
fn command(condition: &str) -> Option<String> {
    let mut words = Vec::new();
    for part in condition.split("; and ").filter(|part| !part.starts_with("not ")) {
        let mut call = part.split_whitespace();
        let function = call.next()?;
        let names: Vec<&str> = call.collect();
        match (function.ends_with("needs_command") || function.ends_with("use_subcommand"), &names[..]) {
            (true, _) => {}
            (false, [name]) if function.contains("subcommand") => words.push(*name),
            _ => return None,
        }
    }
    Some(words.join(" "))
}
