//! Checks of whether the target prints help on request.

use crate::context::{CheckContext, RunView};
use crate::kit::{Pages, command_help_runs, help_run, prints_own_page, runs_of_kind, stdout_start};
use crate::lines::has_words;
use crate::verdict::{Assertion, Judgement};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, Stream};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Judges `p3-help`: `--help` prints help on stdout and exits with 0.
pub fn help(context: &CheckContext) -> Judgement {
    let page = help_run(context);
    let long = page.iter().map(judge_help);
    let short =
        page.as_ref().and_then(|page| Some((page, runs_of_kind(context, DerivedKind::HelpShort).next()?)));
    let (short, note) = match short {
        _ if context.profile.other_short_help => (None, Some("`-h` is not a help option of the target")),
        // A fault of both is reported once.
        Some((page, short)) if is_help(page, &short) => {
            (judge_help(page).is_ok().then(|| judge_help(&short)), None)
        }
        Some((_, short)) if short.exit().is_some() => (None, Some("`-h` prints no help")),
        Some((_, short)) => (short.why_unusable().map(|reason| Err(reason.into())), None),
        None => (None, None),
    };
    let judgement = Judgement::from_assertions(long.chain(short), "`--help` was not run");
    note.into_iter().fold(judgement, Judgement::with_note)
}

/// Judges `p3-about`: `-h` prints a shorter help than `--help`.
pub fn about(context: &CheckContext) -> Judgement {
    if context.profile.other_short_help {
        return Judgement::NotApplicable("`-h` is not a help option of the target".to_owned());
    }
    let short = runs_of_kind(context, DerivedKind::HelpShort).next();
    match help_run(context).zip(short) {
        Some((page, short)) if short.exit().is_some() && !is_help(&page, &short) => {
            Judgement::NotApplicable("`-h` prints no help".to_owned())
        }
        pages => Judgement::from_assertions(
            pages.map(|(page, short)| is_shorter(&page, &short)),
            "`--help` and `-h` were not run",
        ),
    }
}

fn is_shorter(page: &RunView, short: &RunView) -> Assertion {
    for run in [page, short] {
        if judge_help(run).is_err() {
            let what = format!("`{}` prints no help", run.probe.name);
            return Err(run.blocked_by(CheckId::P3Help, what).into());
        }
    }
    let length = |run: &RunView| run.bytes(Stream::Stdout).len();
    let (kind, detail) = match length(short).cmp(&length(page)) {
        Ordering::Less => return Ok(()),
        Ordering::Equal => ("same", "`-h` prints as much as `--help`; expected a summary"),
        Ordering::Greater => ("longer", "`-h` prints more than `--help`; expected a summary"),
    };
    short.failed_at_start(kind, Stream::Stdout, detail)
}

/// True if `-h` prints help: the run `short` is not rejected, and prints a line of the page that `--help` prints.
fn is_help(page: &RunView, short: &RunView) -> bool {
    if short.exit() != Some(0) && !short.prints_words() {
        return false;
    }
    let lines = |run: &RunView| -> BTreeSet<String> {
        let streams = [Stream::Stdout, Stream::Stderr].into_iter().filter_map(|stream| run.lines(stream));
        streams.flatten().map(|line| line.trim().to_owned()).filter(|line| has_words(line)).collect()
    };
    !lines(page).is_disjoint(&lines(short))
}

/// Judges `p3-command-help`: each subcommand prints its own help.
pub(super) fn command_help(context: &CheckContext) -> Judgement {
    match Pages::read(context) {
        Err(reason) => Judgement::unverified(reason),
        Ok(pages) => pages.without_commands().unwrap_or_else(|| {
            let bytes = stdout_start(&pages.root.run);
            Judgement::from_assertions(
                command_help_runs(context).map(|run| prints_own_page(&run, &bytes)),
                "the help of no command was requested",
            )
        }),
    }
}

/// Passes if a run prints help on stdout and nothing on stderr, and exits with 0.
fn judge_help(run: &RunView) -> Assertion {
    let call = &run.probe.name;
    let exit = run.exited()?;
    let on_stdout = run.prints_words();
    let stderr = run.bytes(Stream::Stderr);
    if exit != 0 {
        if on_stdout && stderr.is_empty() && run.probe.is_kind(DerivedKind::Help) {
            let what = format!("`{call}` exits with {exit}");
            return Err(run.blocked_by(CheckId::P2ExitSuccess, what).into());
        }
        let detail = format!("`{call}` exits with {exit}; expected help and exit code 0");
        return run.failed_at_reason("exit", Stream::Stderr, detail);
    }
    if !on_stdout && stderr.is_empty() {
        return run.failed_at_start("nothing", Stream::Stdout, format!("`{call}` prints nothing"));
    }
    if !on_stdout {
        let detail = format!("`{call}` prints its help on stderr; expected it on stdout");
        return run.failed_at_start("stderr", Stream::Stderr, detail);
    }
    if !stderr.is_empty() {
        let detail = format!("`{call}` also prints text on stderr");
        return run.failed_at_reason("stderr", Stream::Stderr, detail);
    }
    Ok(())
}
