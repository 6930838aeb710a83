//! Finds commands that the help no longer lists and the target still accepts.
//!
//! Each is called with an unknown flag, and so is an unknown command in its place: a target that rejects the flag of the
//! one and the name of the other accepts the command.

use super::call::{InterfaceCall, call_with_unknown_flag, key, names_unknown_flag, output, rejection};
use crate::explore::FindRun;
use crate::model::ProbeId;
use crate::probe::{UNKNOWN_COMMAND, UNKNOWN_FLAG};
use crate::run::Observation;
use agentnative_diff::interface::{CommandInterface, ProgramInterface, vanished_commands};

/// Maximum number of commands that are tried.
const MAX_TRIES: usize = 100;

/// Returns the calls that show whether the target accepts the commands that only `reference`, an older interface, has.
pub(super) fn calls(reference: &ProgramInterface, interface: &ProgramInterface) -> Vec<InterfaceCall> {
    let vanished = vanished_commands(reference, interface).into_iter().take(MAX_TRIES);
    let words = |name: &str| name.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let tried = vanished.map(|name| [words(&name), vec![UNKNOWN_FLAG.to_owned()]].concat());
    tried.flat_map(|call| [with_unknown_command(&call), call]).collect()
}

/// Returns the call with an unknown command in the place of the command.
fn with_unknown_command(call: &InterfaceCall) -> InterfaceCall {
    let mut call = call.clone();
    if let Some(word) = call.iter_mut().rev().nth(1) {
        *word = UNKNOWN_COMMAND.to_owned();
    }
    call
}

/// Adds the commands to an interface that runs with an unknown flag accept. `ids` are the identities of the probes of
/// these runs.
#[must_use]
pub(super) fn with_hidden_commands<'r>(
    mut interface: ProgramInterface,
    ids: impl Iterator<Item = &'r ProbeId>,
    find: &FindRun<'r>,
) -> ProgramInterface {
    for args in ids.filter_map(call_with_unknown_flag) {
        let [above @ .., word, flag] = &args[..] else { continue };
        let name = args[..args.len() - 1].join(" ");
        let is_command = !above.iter().chain([word]).any(|word| word.starts_with('-'));
        let is_tried = flag == UNKNOWN_FLAG && word != UNKNOWN_COMMAND && is_command;
        if !is_tried || interface.commands.contains_key(&name) {
            continue;
        }
        let seen = |args: &InterfaceCall| find(&key(args)).flatten();
        let (Some(with), Some(control)) = (seen(args), seen(&with_unknown_command(args))) else { continue };
        match is_accepted(word, with, control) {
            Some(true) => {
                let hidden = CommandInterface { hidden: true, ..CommandInterface::default() };
                interface.commands.insert(name, hidden);
            }
            Some(false) => {}
            None => {
                if let Some(above) = interface.commands.get_mut(&above.join(" ")) {
                    above.unclear.insert(word.clone());
                }
            }
        }
    }
    interface
}

/// Returns whether the target accepts the command `word`. `with` is the run with the command and the unknown flag, and
/// `control` the same with an unknown command. `None` if the runs do not show it.
fn is_accepted(word: &str, with: &Observation, control: &Observation) -> Option<bool> {
    let (with_text, control_text) = (output(with), output(control));
    let as_control = |line: &str| line.replace(UNKNOWN_COMMAND, word);
    let names_command = |line: &&str| line.contains(UNKNOWN_COMMAND);
    let mut rejections = control_text.lines().filter(names_command).map(as_control);
    let is_same = with.end == control.end && with_text == as_control(&control_text);
    if is_same || rejections.any(|line| with_text.lines().any(|other| other == line)) {
        return Some(false);
    }
    // A log line with all arguments rejects nothing.
    let echoes = control_text.lines().any(|line| names_command(&line) && names_unknown_flag(line));
    let line = rejection(with).filter(|line| !echoes || !line.contains(word))?;
    control_text.lines().all(|other| as_control(other) != line).then_some(true)
}
