//! Checks of how invalid usage is rejected: with a failure, and with a message that names the invalid word.

use super::message::no_message;
use crate::context::{CheckContext, RunView};
use crate::kit::{exit_check, fails_anyway, requires_argument, scenario_run};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CallOutcome, Case, CheckId, OutputFormat, ProbeId, Stream};
use agentnative_core::probe::{Probe, UNKNOWN_COMMAND, UNKNOWN_FLAG};

/// Message for the user if no call with an unknown flag is evidence: what to declare.
const DECLARE_SUCCESS: &str = "no call decides this: declare a probe that succeeds and does not pass its arguments on to another program";

/// Judges `p4-unknown-flag`: every command rejects an unknown flag.
pub fn unknown_flag(context: &CheckContext) -> Judgement {
    let usage = |probe: &&Probe| exit_check(context.profile, probe) == CheckId::P2ExitUsage;
    let of_the_target = [DerivedKind::UnknownFlag, DerivedKind::UnknownCommand].into_iter();
    let of_the_target = of_the_target.flat_map(|kind| context.known_probes(kind));
    let accepted = (context.probes.iter().copied().filter(usage).chain(of_the_target))
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Text))
        .any(|run| run.exit() == Some(0));
    let assertions = with_unknown_flag(context).map(|run| match run.exited()? {
        0 if accepted => {
            let what = "the target accepts other invalid usage as well".to_owned();
            inconclusive(run.blocked_by(CheckId::P2ExitUsage, what))
        }
        0 => {
            let detail = format!("the call exits with 0; expected {UNKNOWN_FLAG} to be rejected");
            run.failed_at_reason("accepted", Stream::Stdout, detail)
        }
        _ => Ok(()),
    });
    Judgement::from_assertions(assertions, DECLARE_SUCCESS)
}

/// Judges `p4-names-culprit`: an error about an unknown flag or command names it.
pub fn names_culprit(context: &CheckContext) -> Judgement {
    let of_the_target =
        [(DerivedKind::UnknownFlag, UNKNOWN_FLAG), (DerivedKind::UnknownCommand, UNKNOWN_COMMAND)]
            .into_iter()
            .flat_map(|(kind, word)| context.derived_probes(kind).map(move |probe| (probe, word)))
            .filter(|(probe, _)| !fails_anyway(context, probe))
            .flat_map(|(probe, word)| context.runs_of(probe).map(move |run| (run, word)))
            .filter(|(run, _)| !run.is_rejected_for_format() && !lacks_command(run) && !lacks_argument(run))
            .filter(|(run, _)| !is_taken_as_argument(run));
    // After the arguments, a tool with options before them may only report too many arguments.
    let is_placed = |run: &RunView| matches!(run.probe.id, ProbeId::Derived { case: Case::Only, .. });
    let mut of_probes = with_unknown_flag(context)
        .filter(is_placed)
        .map(|run| (run, UNKNOWN_FLAG))
        .chain(explored_unknown_word(context))
        .peekable();
    let not_shown = of_probes.peek().is_none().then(|| inconclusive(DECLARE_SUCCESS));
    let assertions = of_probes.chain(of_the_target).map(|(run, word)| names_rejected_word(&run, word));
    Judgement::from_assertions(assertions.chain(not_shown), DECLARE_SUCCESS)
}

/// Returns the run of an explored call with an unknown flag or command, with this word.
fn explored_unknown_word<'a>(context: &'a CheckContext<'a>) -> Option<(RunView<'a>, &'static str)> {
    let call = context.explored_call().filter(|call| call.has_outcome(CallOutcome::Invalid))?;
    let word = call.explored.as_ref()?.invalid.as_deref()?;
    let word = [UNKNOWN_FLAG, UNKNOWN_COMMAND].into_iter().find(|unknown| *unknown == word)?;
    Some((context.plain_run(call, OutputFormat::Text)?, word))
}

/// True if the target may have rejected the call because it has no subcommand, and not because of the unknown flag.
fn lacks_command(run: &RunView) -> bool {
    let profile = run.context.profile;
    let has_commands = profile.tries_command || profile.no_command.is_some();
    has_commands && run.probe.is_kind(DerivedKind::UnknownFlag) && run.exit() != Some(0)
}

/// True if the target may have rejected the call because an argument is missing, and not because of the unknown flag.
/// The text message of this call does not name the flag, but the usage shows a required argument, or the message of a
/// call with all arguments names the flag.
fn lacks_argument(run: &RunView) -> bool {
    let names_flag = |run: &RunView| run.mentions(UNKNOWN_FLAG.trim_start_matches('-'));
    let text = run.context.plain_run(run.probe, OutputFormat::Text);
    run.probe.is_kind(DerivedKind::UnknownFlag)
        && text.is_some_and(|text| text.exit() != Some(0) && !names_flag(&text))
        && (requires_argument(run.context) || with_unknown_flag(run.context).any(|run| names_flag(&run)))
}

/// True if the target may have taken the unknown command as an argument of its default command: the text message of this
/// call does not name the word, but is about another argument that is missing.
fn is_taken_as_argument(run: &RunView) -> bool {
    let text = run.context.plain_run(run.probe, OutputFormat::Text);
    let is_about_other = |text: &RunView| {
        let lines = text.lines(Stream::Stderr).unwrap_or_default();
        let lower = lines.iter().map(|line| line.to_lowercase());
        !text.mentions(UNKNOWN_COMMAND) && lower.into_iter().any(|line| line.contains("missing argument"))
    };
    run.probe.is_kind(DerivedKind::UnknownCommand) && text.as_ref().is_some_and(is_about_other)
}

fn names_rejected_word(run: &RunView, word: &str) -> Assertion {
    if run.exited()? == 0 {
        let declared = run.probe.is_kind(DerivedKind::IgnoredFlag);
        let check = if declared { CheckId::P4UnknownFlag } else { CheckId::P2ExitUsage };
        return inconclusive(run.blocked_by(check, format!("{} is accepted", run.label())));
    }
    if run.mentions(word.trim_start_matches('-')) {
        return Ok(());
    }
    match no_message(run) {
        Some(reason) => Err(reason.into()),
        None => {
            let detail = format!("the message does not contain the rejected word `{word}`");
            run.failed_at_reason("unnamed", Stream::Stderr, detail)
        }
    }
}

/// Returns the runs of successful calls with an added unknown flag. Calls that may treat the flag as data, or pass it
/// on to another program, are left out.
fn with_unknown_flag<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    context.derived_probes(DerivedKind::IgnoredFlag).filter_map(move |probe| {
        let source = context
            .source_of(probe)
            .filter(|source| source.exit == Some(0) && !prints_help_or_version(source))?;
        let run = context.plain_run(probe, OutputFormat::Text)?;
        let is_data = run.exit() == Some(0) && run.mentions(UNKNOWN_FLAG.trim_start_matches('-'));
        // A call that fails without the flag as well may be rejected for another reason.
        let complete_run = scenario_run(context, DerivedKind::Confirmed, source);
        let fails = complete_run.is_some_and(|run| run.exit() != source.exit);
        (!is_data && !fails && !passes_on(context, source)).then_some(run)
    })
}

/// True if a call contains `--help`, `--version` or their short forms. Many parsers answer these before they parse
/// other arguments.
fn prints_help_or_version(probe: &Probe) -> bool {
    ["--help", "-h", "--version", "-V"].iter().any(|flag| probe.call.args.iter().any(|arg| arg == flag))
}

/// True if the last arguments of a call go to another program, as in `mycli run -- COMMAND`, according to the call
/// itself or to the help.
fn passes_on(context: &CheckContext, probe: &Probe) -> bool {
    let command = probe.call.args.iter().find(|arg| !arg.starts_with('-'));
    let of_command = Some(DerivedKind::CommandHelp).filter(|_| context.is_family());
    let kinds = [DerivedKind::Help].into_iter().chain(of_command);
    let helps = kinds.flat_map(|kind| context.known_runs(kind));
    let mut lines = helps.filter_map(|run| run.lines(Stream::Stdout)).flatten();
    probe.call.args.iter().any(|arg| arg == "--")
        || lines.any(|line| {
            let mut words = line.split_whitespace();
            command.is_none_or(|command| words.any(|word| word == command)) && passes_arguments_on(&line)
        })
}

/// True if a usage line has a placeholder for the arguments of another program: `-- COMMAND`, `[ARGS]...`.
fn passes_arguments_on(line: &str) -> bool {
    line.split_whitespace().any(|word| {
        let name = word.trim_matches(['[', ']', '<', '>', '(', ')', '.', '…']).to_lowercase();
        let several = word.contains("...") || word.contains('…');
        word.trim_matches(['[', ']']) == "--"
            || several && ["arg", "args", "argument", "arguments", "cmd", "command"].contains(&name.as_str())
    })
}
