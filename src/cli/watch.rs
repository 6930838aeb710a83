//! `agentnative check --watch`: repeats the check when a file that it depends on changes.

use super::check_args::CheckArgs;
use super::check_one::{check, session};
use super::shown_path::shown;
use crate::check::{FileSnapshot, WatchedFiles, first_change};
use agentnative_contract::error::{Error, ErrorKind, Result, signal_exit_code};
use agentnative_core::run::{RunnerOptions, SignalHandling};
use agentnative_output::{Output, OutputFormat};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Minimum time between two snapshots; longer if taking a snapshot is slow.
const MIN_PAUSE: Duration = Duration::from_millis(100);
/// Maximum time between two snapshots.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Checks the target at the start and after each change of a watched file, until a signal arrives. Returns the exit
/// code of that signal.
pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    if output.config().format != OutputFormat::Text {
        let error = Error::usage("--watch prints text reports only");
        return Err(error.hint("remove --output, --json and --jsonl"));
    }
    let signal = StopSignal::register()?;
    let (session, _) = session(args, runner)?;
    let (mut command, mut first) = (Vec::new(), true);
    // A baseline that each check rewrites is not a change.
    let baseline = args.baseline.clone().filter(|_| args.write_baseline.is_none());
    let mut files = session.watched_files(&command).with_edited_file(baseline.clone());
    loop {
        let before = files.content_hashes();
        let mut built = None;
        let done = check(args, output, runner, Some(&mut || built = Some(files.snapshot())));
        output.clear_progress();
        let wrote = !matches!(&done, Ok(done) if !done.wrote);
        let by_runs = built.filter(|_| wrote).and_then(|built| files.changed_in_runs(&built));
        match done {
            Ok(done) => match done.signal {
                Some(signal) => return Ok(signal_exit_code(signal)),
                None => command = done.command,
            },
            Err(error) if first && error.kind == ErrorKind::Usage => return Err(error),
            // The user may fix the error and continue.
            Err(error) => output.error(&error),
        }
        if let Some(path) = by_runs {
            let message = format!("{} changed during the runs, and a run may have changed it", shown(&path));
            let error = Error::general(format!("stopped: {message}"));
            return Err(error.hint("review the change, then start `agentnative check --watch` again"));
        }
        first = false;
        let edited = first_change(&before, &files.content_hashes());
        files = session.watched_files(&command).with_edited_file(baseline.clone());
        let snapshot = files.snapshot();
        if output.is_closed() {
            return Ok(0);
        }
        if edited.is_none() && signal.number().is_none() {
            output.diagnostic("watching for changes; press Ctrl-C to stop");
        }
        match edited.or_else(|| wait_for_change(&files, snapshot, &signal)) {
            Some(path) if signal.number().is_none() => output.text(&separator(&path))?,
            _ => return Ok(signal.number().map_or(0, signal_exit_code)),
        }
    }
}

/// Waits until a watched file changes, and then until no further file changes. Returns a file that changed; `None` if a
/// signal arrives first.
fn wait_for_change(files: &WatchedFiles, mut before: FileSnapshot, signal: &StopSignal) -> Option<PathBuf> {
    let mut changed = None;
    loop {
        let start = Instant::now();
        let now = files.snapshot();
        if signal.number().is_some() {
            return None;
        }
        match first_change(&before, &now) {
            None if changed.is_some() => return changed,
            None => {}
            path => changed = path,
        }
        before = now;
        let pause = (start.elapsed() * 10).clamp(MIN_PAUSE, MAX_PAUSE);
        while start.elapsed() < pause && signal.number().is_none() {
            sleep(MIN_PAUSE);
        }
    }
}

/// Returns the line between two reports, which names the file that changed.
fn separator(changed: &Path) -> String {
    format!("\n--- {} changed ---\n\n", shown(changed))
}

/// Records the signal that ends the loop of `--watch`. The signal also ends runs that are being made.
struct StopSignal {
    received_signal: Arc<AtomicUsize>,
    _hearing: SignalHandling,
}

impl StopSignal {
    fn register() -> Result<Self> {
        let cannot = |error: io::Error| Error::general(format!("cannot install signal handlers: {error}"));
        let (signals, number) = ([SIGINT, SIGTERM, SIGHUP], Arc::new(AtomicUsize::new(0)));
        let hearing = SignalHandling::start(&signals).map_err(cannot)?;
        for signal in signals {
            signal_hook::flag::register_usize(signal, number.clone(), signal as usize).map_err(cannot)?;
        }
        Ok(Self { received_signal: number, _hearing: hearing })
    }

    fn number(&self) -> Option<i32> {
        i32::try_from(self.received_signal.load(Ordering::SeqCst)).ok().filter(|number| *number > 0)
    }
}
