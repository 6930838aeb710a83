//! Questions on a terminal: a call asks none if only stdin is a terminal, or with the option that disables prompts.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, judge_hang, looks_like_question, shows_pages};
use crate::lines::{has_words, quotation};
use crate::verdict::{Assertion, Finding, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FormatFlag};
use agentnative_core::model::{CheckId, Stream, Variant};
use agentnative_core::probe::Probe;

/// Judges `p1-tty-detection`: a call with captured output asks no question on the terminal.
pub fn tty_detection(context: &CheckContext) -> Judgement {
    let runs = context.declared_under(Variant::TerminalIn);
    Judgement::from_assertions(runs.map(|run| asks_nothing(&run)), declare_success(""))
}

/// Passes if a call asks no question on the terminal that is its stdin, while its stdout and stderr are captured.
fn asks_nothing(run: &RunView) -> Assertion {
    if !run.waits_for_input() {
        run.plain()?.usable()?;
        run.ended()?;
        return Ok(());
    }
    let context = run.context;
    let declared = context.source_of(run.probe).unwrap_or(run.probe);
    let mut others = context.runs_of(run.probe).chain(context.runs_of(declared));
    if let Some(other) = others.find(is_reported) {
        let what = format!("{} did not end", other.label());
        return inconclusive(other.blocked_by(other.check_reporting_hang(), what));
    }
    match question(run)? {
        // A filter reads its input to the end, and asks nothing.
        None => Ok(()),
        // The terminal may be the input of the call, as in a shell.
        Some(_) if run.probe.explored.is_some() && !looks_like_question(run) => {
            inconclusive(format!("{} may be interactive on purpose", run.label()))
        }
        Some(question) => {
            let detail = format!(
                "stdout and stderr are captured, but the command waits for an answer on the terminal{question}"
            );
            match Stream::ALL.into_iter().find(|stream| !run.bytes(*stream).is_empty()) {
                Some(_) => run.failed_at_last_line("asks", detail),
                None => run.failed("asks", detail),
            }
        }
    }
}

/// True if a run did not end and another check reports this.
fn is_reported(run: &RunView) -> bool {
    let is_made = matches!(run.variant(), Variant::Plain | Variant::Tty | Variant::OpenStdin);
    is_made && run.did_not_end() && matches!(judge_hang(run), Err(Unmet::Failed(_)))
}

/// Returns the question of a run that waits for input, or `None` if it asked nothing. The string is the text on the
/// terminal; it is empty if the question is a line on stdout or stderr that the plain run does not print.
fn question(run: &RunView) -> Result<Option<String>, Unmet> {
    let terminal = String::from_utf8_lossy(&run.observation.terminal);
    if has_words(&terminal) {
        return Ok(Some(quotation(&terminal)));
    }
    let plain = run.plain()?;
    for stream in Stream::ALL {
        let (Some(lines), Some(plain_lines)) = (run.lines(stream), plain.lines(stream)) else {
            return Err(run.too_long().into());
        };
        if lines.iter().any(|line| has_words(line) && !plain_lines.contains(line)) {
            return Ok(Some(String::new()));
        }
    }
    Ok(None)
}

/// Judges `p1-no-input`: the option that disables prompts disables all questions.
pub fn no_input(context: &CheckContext) -> Judgement {
    match context.profile.conventions.flags.get(CommonOption::NoInput) {
        FormatFlag::Absent => return Judgement::violated(vec![lacking()]),
        FormatFlag::Unspecified
            if !context.sources().any(|probe| probe.call.flags.contains_key(&CommonOption::NoInput)) =>
        {
            return Judgement::NotApplicable(
                "no option that disables prompts is declared (`flags.no_input`)".into(),
            );
        }
        _ => {}
    }
    let calls = || {
        context.derived_probes(DerivedKind::NoInput).filter_map(|call| {
            let run = context.runs_under(call, Variant::FullTerminal).next()?;
            Some((call, run))
        })
    };
    let prompting = calls()
        .filter(|(call, _)| context.source_of(call).is_some_and(|source| asks_on_terminal(context, source)))
        .count();
    let assertions = calls().map(|(call, run)| judge_no_input(context, call, &run));
    let shown = (prompting == 0).then(|| {
        inconclusive(
            "no probe asks a question on a terminal: declare one that asks a question, and that succeeds with the option; if there is none, omit `flags.no_input`",
        )
    });
    let subject = if prompting == 1 { "1 probe asks".to_owned() } else { format!("{prompting} probes ask") };
    Judgement::from_assertions(assertions.chain(shown), declare_success(""))
        .with_note(&format!("{subject} a question on a terminal without the option"))
}

fn lacking() -> Finding {
    Finding::lacking("flags.no_input", "add an option that disables prompts, then declare it")
}

/// True if a call of `probe` waits for an answer when stdin, stdout and stderr are a terminal. A pager does not count.
fn asks_on_terminal(context: &CheckContext, probe: &Probe) -> bool {
    let kinds = [DerivedKind::Unconfirmed, DerivedKind::Confirmed].into_iter();
    let calls = std::iter::once(probe).chain(kinds.flat_map(|kind| context.derived_from(kind, probe)));
    let mut runs = calls.flat_map(|call| context.runs_under(call, Variant::FullTerminal));
    runs.any(|run| run.waits_for_input() && !shows_pages(&run))
}

/// Returns the exit code of a call that changes something, without the option that disables prompts: from its run
/// without confirmation, or else from its run with confirmation. `None` if there is no such run.
fn exit_in_scenario(context: &CheckContext, call: &Probe) -> Option<i32> {
    let source = context.source_of(call)?;
    let mut kinds = [DerivedKind::Unconfirmed, DerivedKind::Confirmed].into_iter();
    kinds.find_map(|kind| {
        let call = context.derived_from(kind, source).next()?;
        context.plain_run(call, call.formats.first().copied()?)?.exit()
    })
}

/// Passes if a call with the option that disables prompts asks no question on a terminal.
fn judge_no_input(context: &CheckContext, call: &Probe, run: &RunView) -> Assertion {
    let spelling =
        call.common_option(CommonOption::NoInput, context.profile).args().unwrap_or_default().join(" ");
    if run.waits_for_input() && !shows_pages(run) {
        let detail = format!("the command waits for an answer despite `{spelling}`");
        return run.failed_at_last_line("asks", detail);
    }
    let plain = context.plain_run(call, run.format());
    let expected = call.exit.or_else(|| exit_in_scenario(context, call));
    if let Some(plain) = plain.filter(|plain| plain.exit().is_some() && plain.exit() != expected) {
        let what = format!("`{spelling}` is rejected by {}", call.source().unwrap_or(&call.name));
        return inconclusive(plain.blocked_by(CheckId::P6GlobalFlags, what));
    }
    if !shows_pages(run) {
        run.ended()?;
    }
    Ok(())
}
