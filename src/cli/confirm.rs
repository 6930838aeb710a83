//! Selects which of the commands that `init` found become probes: by options, or by questions on the terminal.

use agentnative_contract::error::{Error, Result};
use agentnative_core::config::ProbeConfig;
use agentnative_core::targets::{CommandTree, LeafCommand};
use agentnative_output::Output;

/// Number of attempts that the user has to answer a question.
const MAX_ATTEMPTS: usize = 3;

/// Adds the probes that `--safe NAME` and `--yes` select to `probes`, which contains those of `--probe`.
///
/// # Errors
/// A usage error if `--safe` names an unknown command or one that needs a value, or if a probe still contains a
/// placeholder for a value.
pub(super) fn add_from_options(
    commands: &CommandTree,
    target: &str,
    safe: &[String],
    yes: bool,
    probes: &mut Vec<ProbeConfig>,
) -> Result<()> {
    for probe in &*probes {
        if let Some(word) = commands.leaves.iter().find_map(|call| call.placeholder_in(&probe.call.args)) {
            let message = format!("--probe \"{}\": `{word}` is a placeholder", probe.name);
            return Err(Error::usage(message).hint(format!("replace `{word}` with a value")));
        }
    }
    for name in safe {
        let Some(call) = commands.leaves.iter().find(|call| call.name() == name.trim()) else {
            let names: Vec<String> = commands.leaves.iter().map(LeafCommand::name).collect();
            return Err(Error::usage(format!("--safe {name}: unknown command; the help does not list it"))
                .hint(format!("the commands found are: {}", names.join(", "))));
        };
        if !call.args_without_choices().is_empty() {
            let message =
                format!("--safe {name}: the command needs arguments, as in `{}`", call.usage_full());
            let hint = format!("write the call with its values: --probe \"{}\"", call.usage_required());
            return Err(Error::usage(message).hint(hint));
        }
        add(probes, call.probe(target, &[]));
    }
    let reads = |call: &&LeafCommand| yes && call.only_reads() && call.args_without_choices().is_empty();
    commands.leaves.iter().filter(reads).for_each(|call| add(probes, call.probe(target, &[])));
    Ok(())
}

fn add(probes: &mut Vec<ProbeConfig>, probe: ProbeConfig) {
    if !probes.iter().any(|other| other.name == probe.name) {
        probes.push(probe);
    }
}

/// Asks the user which commands are safe to repeat, and for the values of their arguments. Adds the chosen calls to
/// `probes`.
pub(super) fn ask_for_probes(
    commands: &CommandTree,
    target: &str,
    probes: &mut Vec<ProbeConfig>,
    output: &mut Output,
) {
    let calls = &commands.leaves;
    let usages: Vec<String> = calls
        .iter()
        .map(|call| {
            if call.words.is_empty() { format!("{target} {}", call.usage_full()) } else { call.usage_full() }
        })
        .collect();
    let width = usages.iter().map(|usage| usage.chars().count()).max().unwrap_or_default().min(40);
    output.question("A probe runs up to 40 times and must be safe to repeat. Commands found:\n\n");
    for (at, (call, usage)) in calls.iter().zip(&usages).enumerate() {
        let mark = if call.only_reads() { '*' } else { ' ' };
        let gap = " ".repeat(width.saturating_sub(usage.chars().count()) + 2);
        let about: String = call.about.chars().take(60).collect();
        output.question(&format!("{:4} {mark} {usage}{gap}{about}\n", at + 1));
    }
    output.question("\n* read-only, judging by name and description\n");
    for _ in 0..MAX_ATTEMPTS {
        output.question(
            "Which are safe? Numbers or names, such as 1,3-5; * for the marked ones; Enter for none: ",
        );
        let Some(answer) = read_answer() else { return };
        match parse_answer(&answer, calls) {
            Ok(chosen) => {
                for call in chosen {
                    if let Some(values) = ask_argument_values(call, output) {
                        add(probes, call.probe(target, &values));
                    }
                }
                return;
            }
            Err(word) => {
                output.question(&format!("`{word}` is neither a number nor a command of this list\n"))
            }
        }
    }
}

/// Asks the user for the value of each argument of a call. `None` if the user enters no value, which omits the command.
fn ask_argument_values(call: &LeafCommand, output: &mut Output) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for argument in call.args_without_choices() {
        output.question(&format!(
            "{}: value for <{}> (Enter omits the command): ",
            call.usage_full(),
            argument.name
        ));
        values.push(read_answer().filter(|value| !value.is_empty())?);
    }
    Some(values)
}

/// Reads a line of the terminal; `None` at end of input.
fn read_answer() -> Option<String> {
    let mut line = String::new();
    let length = std::io::stdin().read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim().to_owned())
}

/// Parses an answer such as `1,3-5`, `list` or `*`. Returns the commands that it selects, or its first invalid word as
/// the error.
fn parse_answer<'c>(
    answer: &str,
    calls: &'c [LeafCommand],
) -> std::result::Result<Vec<&'c LeafCommand>, String> {
    let mut chosen = Vec::new();
    for word in answer.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let named = |word: &str| calls.iter().find(|call| call.name() == word);
        let number =
            |word: &str| word.trim().parse().ok().filter(|number| (1..=calls.len()).contains(number));
        if word == "*" {
            chosen.extend(calls.iter().filter(|call| call.only_reads()));
        } else if let Some(call) = named(word) {
            chosen.push(call);
        } else if let Some(number) = number(word) {
            chosen.push(&calls[number - 1]);
        } else if let Some((Some(from), Some(to))) =
            word.split_once('-').map(|(from, to)| (number(from), number(to)))
        {
            chosen.extend(calls.get(from - 1..to).unwrap_or_default());
        } else {
            return Err(word.to_owned());
        }
    }
    Ok(chosen)
}
