//! One run, with all that is before and after it.

use super::all_runs::Common;
use super::folder::Folder;
use super::kind::Kind;
use super::live::live;
use super::needles::Needles;
use super::plan::errno_message;
use super::redaction::Redaction;
use super::snapshot::Snapshot;
use super::stalled::StalledServer;
use super::stop::Stop;
use super::unblock::unblock;
use crate::outcome::{CANNOT_MAKE, ETIMEDOUT};
use crate::{End, Job, Leak, Outcome, SetupCall, Variant, Workspace};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Makes a run, or runs a service. What keeps it from starting is part of the outcome.
pub(super) async fn execute(common: &Common, job: &Job, kind: Kind, stop: Stop) -> Outcome {
    if let Some(obstacle) = &job.obstacle {
        return not_started(0, obstacle.clone());
    }
    let run = async {
        // There may be much to copy, and a target may have left a great many files: other runs go on
        // meanwhile.
        let (place, wanted) = (common.root.next(), job.clone());
        let tripwires = common.root.tripwires();
        let folder = unblock(move || Folder::fresh(place, &wanted, &tripwires)).await??;
        if let Some(outcome) = set_up(common, job, &folder, &stop).await? {
            return Ok(outcome);
        }
        folder.place_config_file(job)?;
        let folder = Arc::new(folder);
        let before = snapshot(job, &folder).await?;
        let stalled = job.stalled.as_ref().map(|place| StalledServer::start(place)).transpose()?;
        let placed = stalled.as_ref().map(|server| server.place(job));
        let job = placed.as_ref().unwrap_or(job);
        let with_file = folder.place_secret(job)?;
        let job = with_file.as_ref().unwrap_or(job);
        let mut made = live(common, job, &folder, kind, stop).await;
        if let (Ok(outcome), Some(server)) = (&mut made, stalled) {
            outcome.connections = Some(server.connections());
        }
        if let (Ok(outcome), Some(before)) = (&mut made, before) {
            outcome.changes = snapshot(job, &folder).await?.map(|after| before.changes(&after));
            outcome.leaks = leaks(job, outcome, &folder);
        }
        if let Ok(outcome) = &mut made {
            outcome.trips = folder.trips();
        }
        if let (Ok(outcome), Some(Workspace::Empty)) = (&mut made, &job.workspace) {
            outcome.wrote = folder.has_written();
        }
        unblock(move || drop(folder)).await?;
        made
    };
    let outcome = run.await.unwrap_or_else(|error| cannot_make(&error));
    redacted(common, job, outcome).await.unwrap_or_else(|error| cannot_make(&error))
}

fn cannot_make(error: &io::Error) -> Outcome {
    let number = error.raw_os_error().unwrap_or(0);
    let reason = if number == 0 { error.to_string() } else { errno_message(number) };
    not_started(number, format!("{CANNOT_MAKE}{reason}"))
}

/// The outcome without secrets. Whoever searches for one has done so.
async fn redacted(common: &Common, job: &Job, mut outcome: Outcome) -> io::Result<Outcome> {
    let own = Redaction::of(job.secret.as_ref().map(|secret| &secret.value));
    let redaction = common.redaction.borrow().and(own);
    // What a tool of the caller's own prints is for the caller alone.
    let is_told = !job.trusted || job.shown;
    if redaction.is_empty() || !is_told {
        return Ok(outcome);
    }
    let redact = move || redaction.outcome(&mut outcome).map(|()| outcome);
    unblock(redact).await?
}

/// Makes the calls before the run; gives what came of the run if that is not made.
async fn set_up(common: &Common, job: &Job, folder: &Folder, stop: &Stop) -> io::Result<Option<Outcome>> {
    for setup in &job.setup {
        let SetupCall { args, env, interrupt } = setup.clone();
        // Where it stores things is the same as in the run.
        let variant = if job.variant == Variant::Xdg { Variant::Xdg } else { Variant::Plain };
        let call = Job { args, env, interrupt, variant, nth: 0, stdin: None, ..job.clone() };
        let outcome = live(common, &call, folder, Kind::Run, stop.clone()).await?;
        let how = match &outcome.end {
            End::Exited(0) => continue,
            End::Exited(_) | End::Signaled(_) | End::TimedOut if outcome.signalled.is_some() => continue,
            End::Exited(code) => format!("exited with {code}"),
            End::Signaled(signal) => format!("was terminated by signal {signal}"),
            End::NotStarted(..) | End::Interrupted => return Ok(Some(outcome)),
            End::TooMuch(limit) => return Ok(Some(End::TooMuch(*limit).into())),
            End::TimedOut | End::Waited => "did not end".to_owned(),
        };
        let number = if outcome.end == End::TimedOut { ETIMEDOUT } else { 0 };
        let words: Vec<_> = setup.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let words = format!("the call before it, `{}`, {how}", words.join(" "));
        return Ok(Some(not_started(number, words)));
    }
    Ok(None)
}

/// What is in the folder now, where that is asked for and can be told.
async fn snapshot(job: &Job, folder: &Arc<Folder>) -> io::Result<Option<Snapshot>> {
    if !job.snapshots {
        return Ok(None);
    }
    let folder = Arc::clone(folder);
    unblock(move || Snapshot::of(&folder).ok()).await
}

/// Where the secret of a run was seen, where it has one and all could be searched.
fn leaks(job: &Job, outcome: &Outcome, folder: &Folder) -> Option<Vec<Leak>> {
    let needles = Needles::of(job.secret.as_ref()?.value.as_bytes())?;
    let changes = outcome.changes.as_ref().filter(|changes| changes.count == changes.list.len())?;
    needles.search([&outcome.stdout, &outcome.stderr], changes, folder).ok()
}

/// What came of a run that never started.
pub(super) fn not_started(number: i32, words: String) -> Outcome {
    End::NotStarted(number, words).into()
}
