//! Adds what the declared probes show: options and exit codes that no help page states.

use crate::probe::Probe;
use crate::run::{Observation, RunEnd};
use agentnative_diff::interface::{OptionInterface, ProgramInterface};

/// Adds the long options and the exit code of a declared probe that ended as declared. An option that no help page lists
/// is hidden, and the meaning of such an exit code is empty.
pub(super) fn add_probe(interface: &mut ProgramInterface, probe: &Probe, seen: &Observation) {
    let RunEnd::Exited(code) = seen.end else { return };
    if probe.exit != Some(code) {
        return;
    }
    let words: Vec<&str> = probe.command_words().collect();
    let names = (0..=words.len()).rev().map(|count| words[..count].join(" "));
    let Some(name) = names.into_iter().find(|name| interface.commands.contains_key(name)) else { return };
    let args = probe.call.args.iter().take_while(|arg| *arg != "--");
    let options = args.filter(|arg| arg.starts_with("--")).filter_map(|arg| arg.split('=').next());
    let unlisted: Vec<String> =
        options.filter(|option| !interface.has_option(&name, option)).map(str::to_owned).collect();
    let Some(command) = interface.commands.get_mut(&name) else { return };
    command.exit_codes.entry(code.to_string()).or_default();
    if code == 0 && command.reader.is_some() {
        let hidden = OptionInterface { hidden: true, ..OptionInterface::default() };
        command.options.extend(unlisted.into_iter().map(|option| (option, hidden.clone())));
    }
}
