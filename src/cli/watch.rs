//! `agentnative check --watch`: again whenever something changes that the check depends on.

use super::check_args::CheckArgs;
use super::check_one::{check, session};
use super::shown_path::shown;
use crate::check::{Look, Watched, first_change};
use agentnative_contract::error::{Error, ErrorKind, Result, exit_of_signal};
use agentnative_core::run::{Hearing, RunnerOptions};
use agentnative_output::{Output, OutputFormat};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// So long at least, and more where looking takes long, from one look at the files to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// And so long at most.
const LONGEST: Duration = Duration::from_secs(2);

/// Checks, and checks again at each change, until a signal; gives the exit code of that.
pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    if output.config().format != OutputFormat::Text {
        let error = Error::usage("--watch prints text reports, one after the other");
        return Err(error.hint("leave --output, --json and --jsonl out"));
    }
    let signal = Signal::listen()?;
    let session = session(args, runner)?;
    let (mut command, mut first) = (Vec::new(), true);
    // A baseline that each check writes anew is no change.
    let baseline = args.baseline.clone().filter(|_| args.write_baseline.is_none());
    let mut watched = session.watched(&command).with(baseline.clone());
    loop {
        let before = watched.contents();
        let mut built = None;
        let done = check(args, output, runner, Some(&mut || built = Some(watched.look())));
        output.clear_progress();
        let wrote = !matches!(&done, Ok(done) if !done.wrote);
        let by_runs = built.filter(|_| wrote).and_then(|built| watched.changed_in_runs(&built));
        match done {
            Ok(done) => match done.signal {
                Some(signal) => return Ok(exit_of_signal(signal)),
                None => command = done.command,
            },
            Err(error) if first && error.kind == ErrorKind::Usage => return Err(error),
            // What is wrong may be mended.
            Err(error) => output.error(&error),
        }
        if let Some(path) = by_runs {
            let message = format!("{} changed during the runs, and a run may have changed it", shown(&path));
            let error = Error::general(format!("{message}: nothing more is executed"));
            return Err(error.hint("look at the change, then start `agentnative check --watch` again"));
        }
        first = false;
        let edited = first_change(&before, &watched.contents());
        watched = session.watched(&command).with(baseline.clone());
        let look = watched.look();
        if output.is_closed() {
            return Ok(0);
        }
        if edited.is_none() && signal.number().is_none() {
            output.diagnostic("watching for changes; press Ctrl-C to end");
        }
        match edited.or_else(|| change(&watched, look, &signal)) {
            Some(path) if signal.number().is_none() => output.text(&separator(&path))?,
            _ => return Ok(signal.number().map_or(0, exit_of_signal)),
        }
    }
}

/// Waits until a file changes, and then until no further one does. None when a signal comes first.
fn change(watched: &Watched, mut before: Look, signal: &Signal) -> Option<PathBuf> {
    let mut changed = None;
    loop {
        let begun = Instant::now();
        let now = watched.look();
        if signal.number().is_some() {
            return None;
        }
        match first_change(&before, &now) {
            None if changed.is_some() => return changed,
            None => {}
            path => changed = path,
        }
        before = now;
        let pause = (begun.elapsed() * 10).clamp(PAUSE, LONGEST);
        while begun.elapsed() < pause && signal.number().is_none() {
            sleep(PAUSE);
        }
    }
}

/// The line between two reports.
fn separator(changed: &Path) -> String {
    format!("\n--- {} changed ---\n\n", shown(changed))
}

/// The signal that ends the loop; while runs are made, they end with it as well.
struct Signal {
    number: Arc<AtomicUsize>,
    _hearing: Hearing,
}

impl Signal {
    fn listen() -> Result<Self> {
        let cannot = |error: io::Error| Error::general(format!("cannot listen to signals: {error}"));
        let (signals, number) = ([SIGINT, SIGTERM, SIGHUP], Arc::new(AtomicUsize::new(0)));
        let hearing = Hearing::begin(&signals).map_err(cannot)?;
        for signal in signals {
            signal_hook::flag::register_usize(signal, number.clone(), signal as usize).map_err(cannot)?;
        }
        Ok(Self { number, _hearing: hearing })
    }

    fn number(&self) -> Option<i32> {
        i32::try_from(self.number.load(Ordering::SeqCst)).ok().filter(|number| *number > 0)
    }
}
