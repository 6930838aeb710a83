//! `agentnative contract lock`

use super::bound;
use super::diff::told;
use super::live::{Call, Told};
use super::subject::SubjectArgs;
use crate::judge::{CheckContext, learn};
use crate::report::CheckId;
use agentnative_contract::diff::{Change, Class, compare};
use agentnative_contract::error::{Error, Issue, Result};
use agentnative_contract::lock::{LOCK_FOLDER, Lock, lock_path};
use agentnative_output::{Cell, Output, OutputFormat, Page, Tone, pretty};
use schemars::JsonSchema;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "The lock is a folder beside the configuration, agentnative.lock/TARGET: \
a file for each probe and format, to be kept under version control and reviewed.")]
pub(super) struct LockArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Compare with the lock, and change nothing; exit code 1 when something breaks readers.
    #[arg(long, conflicts_with = "update")]
    check: bool,
    /// Accept what there is now, and tell what changed.
    #[arg(long)]
    update: bool,
    /// How many runs go side by side (default: twice the cores).
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// When a run is ended by force, unless the configuration says otherwise (default: 10).
    #[arg(long, value_name = "SECONDS", value_parser = super::check::seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
}

/// What locking came to.
#[derive(Serialize, JsonSchema)]
pub(super) struct Locked {
    /// Name of the target.
    target: String,
    /// The folder of its lock.
    folder: String,
    /// What the target says of its version.
    version: Option<String>,
    /// How many promises there are: one for each probe and format.
    promises: usize,
    /// The lock was written.
    written: bool,
    /// Nothing that changed breaks readers.
    compatible: bool,
    /// What changed, the worst first.
    changes: Vec<Change>,
}

pub(super) fn run(args: &LockArgs, output: &mut Output, executable: &Path) -> Result<u8> {
    let call =
        Call { subject: &args.subject, probes: &[], contract: None, timeout: args.timeout, jobs: args.jobs };
    let live = call.make(&[CheckId::P2ContractLocked.check()], executable, &mut |told| {
        if let Told::Ended(observation, count, runs) = told {
            output.progress(&format!("{count}/{runs} {}", observation.key.probe));
        }
        Ok(())
    })?;
    output.clear_progress();
    let recording = live.recording;
    if let Some(signal) = live.signal {
        output.error(&Error::general("interrupted: the lock is as it was"));
        return Ok(u8::try_from(128 + signal).unwrap_or(1));
    }
    let Some(root) = live.root else {
        return Err(Error::config("there is no agentnative.toml: a lock stands beside one")
            .hint("`agentnative init` writes one"));
    };
    let contracts = bound::load_all(&recording.probes)?;
    let context =
        CheckContext::new(&recording.promises, &contracts, &recording.probes, &recording.observations);
    let learnt = learn(&context, &recording.target.name, args.check);
    if !learnt.unknown.is_empty() || learnt.lock.promises.is_empty() {
        let issue = |message: String| Issue { place: None, message };
        let message = match learnt.unknown.is_empty() {
            true => "no probe is declared: there is nothing to lock",
            false => "some probes say nothing that can be locked",
        };
        return Err(Error::general(message)
            .issues(learnt.unknown.into_iter().map(issue).collect())
            .hint("`agentnative check` tells more"));
    }
    let (old, new) = (recording.lock, learnt.lock);
    let folder = lock_path(&root, &new.target);
    match (&old, args.check, args.update) {
        (None, true, _) => {
            return Err(Error::config(format!("there is no lock at {}", folder.display()))
                .hint("`agentnative contract lock` writes it"));
        }
        (Some(_), false, false) => {
            return Err(Error::usage(format!("there is a lock at {}", folder.display()))
                .hint("--check compares with it, --update accepts what there is now"));
        }
        _ => {}
    }
    let changes = old.as_ref().map_or_else(Vec::new, |old| compare(&old.compared(), &new.compared_with(old)));
    let write = !args.check && old.as_ref() != Some(&new);
    if write {
        new.write(&folder, pretty)?;
    }
    let breaking = changes.iter().filter(|change| change.class == Class::Breaking).count();
    let locked = Locked {
        target: new.target.clone(),
        folder: folder.display().to_string(),
        version: new.version.clone(),
        promises: new.promises.len(),
        written: write,
        compatible: breaking == 0,
        changes,
    };
    let ok = !args.check || breaking == 0;
    match output.config().format {
        OutputFormat::Text => show(&locked, old.as_ref(), output)?,
        OutputFormat::Json => output.document("contract lock", ok, &locked)?,
        OutputFormat::Jsonl => output.record(&locked)?,
    }
    if !ok {
        let message = format!("{breaking} breaking {}", if breaking == 1 { "change" } else { "changes" });
        output.error(&Error::general(message).hint("--update accepts them"));
    }
    Ok(u8::from(!ok))
}

fn show(locked: &Locked, old: Option<&Lock>, output: &mut Output) -> Result<()> {
    let mut page = Page::new(output.config());
    let plain = |text: &str| Cell::new(Tone::Plain, text);
    for change in &locked.changes {
        told(change, &mut page);
        page.blank();
    }
    if let Some(was) = old.map(|old| &old.version).filter(|version| **version != locked.version) {
        let words = |version: &Option<String>| version.clone().unwrap_or_else(|| "unknown".to_owned());
        page.line(0, &[plain(&format!("version: {}, was {}", words(&locked.version), words(was)))]);
    }
    let outcome = match (old, locked.written) {
        (None, _) => {
            format!("{} promises of {} written to {}", locked.promises, locked.target, locked.folder)
        }
        (Some(_), true) => format!("{} updated: {} changes accepted", locked.folder, locked.changes.len()),
        (Some(_), false) if locked.changes.is_empty() => format!("{} holds", locked.folder),
        (Some(_), false) => format!("{} changes since {} was written", locked.changes.len(), LOCK_FOLDER),
    };
    page.line(0, &[plain(&outcome)]);
    output.text(&page.finish())
}
