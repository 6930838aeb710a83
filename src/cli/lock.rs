//! The command `agentnative contract lock`.

use super::diff::{show_changes, show_not_compared};
use super::group;
use super::progress::progress_observer;
use super::target_args::{RunArgs, TargetArgs};
use crate::check::{InterfaceReading, LockMode, Locked, Session, SessionOptions, lock, lock_checks};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result};
use agentnative_core::run::RunnerOptions;
use agentnative_diff::ChangeSeverity;
use agentnative_diff::lock::{LOCK_FOLDER, Lock};
use agentnative_output::{Output, Page, StyledText};

#[derive(clap::Args)]
#[command(after_help = "The lock is the folder agentnative.lock/TARGET next to the configuration, with the \
interface and a file per probe and format. Keep it under version control.

Exit codes: 0 no breaking change, 1 a breaking change (with --check).

Examples:
  agentnative contract lock
  agentnative contract lock --check
  agentnative contract lock --update")]
pub(super) struct LockArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    target: TargetArgs,
    /// Compare with the lock and write nothing.
    #[arg(long, conflicts_with = "update", help_heading = group::LOCK)]
    check: bool,
    /// Accept the present interface and output, and report what changed.
    #[arg(long, help_heading = group::LOCK)]
    update: bool,
    #[command(flatten, next_help_heading = group::RUNS)]
    runs: RunArgs,
}

pub(super) fn run(args: &LockArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    let options =
        SessionOptions { interface: InterfaceReading::Always, ..args.target.options(&args.runs, runner) };
    let session = Session::new(args.target.selector(), options);
    let session_output = session.run(&lock_checks(), &mut progress_observer(output))?;
    output.clear_progress();
    if let Some(signal) = session_output.signal {
        return Err(Error::interrupted(signal, "interrupted; the lock was not changed"));
    }
    let mode = match (args.check, args.update) {
        (true, _) => LockMode::Check,
        (false, true) => LockMode::Update,
        (false, false) => LockMode::Write,
    };
    let locked = lock(&session_output, mode)?;
    let ok = !args.check || locked.compatible;
    output.emit("contract lock", ok, &locked, |page| {
        show(&locked, session_output.recording.lock.as_ref(), page)
    })?;
    if !ok {
        let breaking =
            locked.changes.iter().filter(|change| change.class == ChangeSeverity::Breaking).count();
        let message = counted(breaking, "breaking change");
        output.error(&Error::findings(message).hint("accept them with --update"));
    }
    Ok(u8::from(!ok))
}

fn show(locked: &Locked, old: Option<&Lock>, page: &mut Page) {
    show_changes(locked.changes.iter(), None, page);
    page.blank();
    if let Some(old_version) = old.map(|old| &old.version).filter(|version| **version != locked.version) {
        let words = |version: &Option<String>| version.clone().unwrap_or_else(|| "unknown".to_owned());
        page.line(
            0,
            &[StyledText::plain(format!(
                "version: {}, before {}",
                words(&locked.version),
                words(old_version)
            ))],
        );
    }
    let changes = counted(locked.changes.len(), "change");
    let outcome = match (old, locked.written) {
        (None, _) => {
            let promises = counted(locked.promises, "output");
            let commands = locked.commands.map(|count| format!(" and {}", counted(count, "command")));
            let commands = commands.unwrap_or_default();
            format!("{promises}{commands} of {} written to {}", locked.target, locked.folder)
        }
        (Some(_), true) => format!("{} updated: {changes} accepted", locked.folder),
        (Some(_), false) if locked.changes.is_empty() => format!("{} is up to date", locked.folder),
        (Some(_), false) => format!("{changes} since {LOCK_FOLDER} was written"),
    };
    page.line(0, &[StyledText::plain(&outcome)]);
    show_not_compared(&locked.not_compared, page);
    if let Some(note) = &locked.note {
        page.line(0, &[StyledText::dim("note: "), StyledText::plain(note)]);
    }
}
