//! Makes one run, with its preparations and its cleanup.

use super::blocking::spawn_blocking;
use super::call_kind::CallKind;
use super::common::Common;
use super::folder::RunFolder;
use super::plan::errno_message;
use super::redaction::Redaction;
use super::secret_patterns::SecretPatterns;
use super::snapshot::FileSnapshot;
use super::stalled::StalledServer;
use super::stop::Stop;
use super::supervised_run::supervise_call;
use crate::outcome::{CANNOT_MAKE_RUN, ETIMEDOUT};
use crate::{Job, Leak, Outcome, RunEnd, SetupCall, Variant, Workspace};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Makes the run of a job, or runs a service. An error that keeps the program from starting is part of the outcome.
pub(super) async fn execute(common: &Common, job: &Job, kind: CallKind, stop: Stop) -> Outcome {
    if let Some(obstacle) = &job.skip_reason {
        return not_started(0, obstacle.clone());
    }
    let run = async {
        // Copying the template and removing the files of the target can take long, so both leave the thread of the
        // other runs.
        let (reserved, job_of_folder) = (common.root.reserve(), job.clone());
        let tripwires = common.root.tripwires();
        let folder =
            spawn_blocking(move || RunFolder::create(reserved, &job_of_folder, &tripwires)).await??;
        if let Some(outcome) = run_setup_calls(common, job, &folder, &stop).await? {
            return Ok(outcome);
        }
        if let Some(outcome) = make_earlier_calls(common, job, &folder, &stop).await? {
            return Ok(outcome);
        }
        folder.prepare_config_file(job)?;
        let folder = Arc::new(folder);
        let before = snapshot(job, &folder).await?;
        let stalled = job
            .stalled_server_placeholder
            .as_ref()
            .map(|placeholder| StalledServer::start(placeholder))
            .transpose()?;
        let with_address = stalled.as_ref().map(|server| server.with_address(job));
        let job = with_address.as_ref().unwrap_or(job);
        let with_file = folder.place_secret(job)?;
        let job = with_file.as_ref().unwrap_or(job);
        let mut result = match job.is_doubled {
            false => supervise_call(common, job, &folder, kind, stop).await,
            true => supervise_pair(common, job, &folder, stop).await,
        };
        if let (Ok(outcome), Some(server)) = (&mut result, stalled) {
            outcome.connections = Some(server.connections());
        }
        if let (Ok(outcome), Some(before)) = (&mut result, before) {
            outcome.changes = snapshot(job, &folder).await?.map(|after| before.changes(&after));
            outcome.leaks = leaks(job, outcome, &folder);
        }
        if let Ok(outcome) = &mut result {
            outcome.trips = folder.tripwire_calls();
        }
        if let (Ok(outcome), Some(Workspace::Empty)) = (&mut result, &job.workspace) {
            outcome.wrote = folder.is_workspace_used();
        }
        spawn_blocking(move || drop(folder)).await?;
        result
    };
    let outcome = run.await.unwrap_or_else(|error| cannot_make(&error));
    redacted(common, job, outcome).await.unwrap_or_else(|error| cannot_make(&error))
}

fn cannot_make(error: &io::Error) -> Outcome {
    let number = error.raw_os_error().unwrap_or(0);
    let reason = if number == 0 { error.to_string() } else { errno_message(number) };
    not_started(number, format!("{CANNOT_MAKE_RUN}{reason}"))
}

/// Removes the secrets from an outcome. Must be called after the search for leaks, which needs the original text.
async fn redacted(common: &Common, job: &Job, mut outcome: Outcome) -> io::Result<Outcome> {
    let own = Redaction::new(job.secret.as_ref().map(|secret| &secret.value));
    let redaction = common.redaction.borrow().union(own);
    // The output of the caller's own tools goes to the caller alone.
    let is_reported = !job.trusted || job.shows_output;
    if redaction.is_empty() || !is_reported {
        return Ok(outcome);
    }
    let redact = move || redaction.redact(&mut outcome).map(|()| outcome);
    spawn_blocking(redact).await?
}

/// Makes the setup calls of a job. Returns `None` if the run can be made; if a setup call fails, returns the outcome
/// that the run has instead.
async fn run_setup_calls(
    common: &Common,
    job: &Job,
    folder: &RunFolder,
    stop: &Stop,
) -> io::Result<Option<Outcome>> {
    for setup in &job.setup {
        let SetupCall { args, env, interrupt } = setup.clone();
        // The setup calls store their files where the run looks for them.
        let variant = if job.variant == Variant::Xdg { Variant::Xdg } else { Variant::Plain };
        let call = Job { args, env, interrupt, variant, environment: 0, stdin: None, ..job.clone() };
        let outcome = supervise_call(common, &call, folder, CallKind::Run, stop.clone()).await?;
        let how = match &outcome.end {
            RunEnd::Exited(0) => continue,
            RunEnd::Exited(_) | RunEnd::Signaled(_) | RunEnd::TimedOut if outcome.signalled.is_some() => {
                continue;
            }
            RunEnd::Exited(code) => format!("exited with {code}"),
            RunEnd::Signaled(signal) => format!("was terminated by signal {signal}"),
            RunEnd::NotStarted(..) | RunEnd::Interrupted => return Ok(Some(outcome)),
            RunEnd::TooMuch(limit) => return Ok(Some(RunEnd::TooMuch(*limit).into())),
            RunEnd::TimedOut | RunEnd::Waited => "did not end".to_owned(),
        };
        let number = if outcome.end == RunEnd::TimedOut { ETIMEDOUT } else { 0 };
        let message: Vec<_> = setup.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let message = format!("the preceding call `{}` {how}", message.join(" "));
        return Ok(Some(not_started(number, message)));
    }
    Ok(None)
}

/// Makes the call of a job in the folder of its run as often as its variant requires, and makes the files in the home
/// old if the variant requires that. Returns `None` if the run can be made; if a call does not end by itself, returns the
/// outcome that the run has instead.
async fn make_earlier_calls(
    common: &Common,
    job: &Job,
    folder: &RunFolder,
    stop: &Stop,
) -> io::Result<Option<Outcome>> {
    let call = Job { variant: Variant::Plain, environment: 0, ..job.clone() };
    for _ in 0..job.variant.earlier_calls(job.environment) {
        let outcome = supervise_call(common, &call, folder, CallKind::Run, stop.clone()).await?;
        if !matches!(outcome.end, RunEnd::Exited(_) | RunEnd::Signaled(_)) {
            return Ok(Some(outcome));
        }
    }
    if job.variant.has_old_files(job.environment) {
        folder.make_home_old()?;
    }
    Ok(None)
}

/// Makes the call of a job twice at the same time in the folder of its run. Returns the outcome of the call that did not
/// exit with 0, or of the first one.
async fn supervise_pair(common: &Common, job: &Job, folder: &RunFolder, stop: Stop) -> io::Result<Outcome> {
    let call = |stop| supervise_call(common, job, folder, CallKind::Run, stop);
    let (first, second) = tokio::join!(call(stop.clone()), call(stop));
    let (first, second) = (first?, second?);
    Ok(if first.end == RunEnd::Exited(0) { second } else { first })
}

/// Takes a snapshot of the files of a run. `None` if the job needs no snapshot or a folder cannot be read.
async fn snapshot(job: &Job, folder: &Arc<RunFolder>) -> io::Result<Option<FileSnapshot>> {
    if !job.snapshots {
        return Ok(None);
    }
    let folder = Arc::clone(folder);
    spawn_blocking(move || FileSnapshot::take(&folder).ok()).await
}

/// Returns the places where the secret of a run appears. `None` if it has no secret or not all output could be
/// searched.
fn leaks(job: &Job, outcome: &Outcome, folder: &RunFolder) -> Option<Vec<Leak>> {
    let patterns = SecretPatterns::new(job.secret.as_ref()?.value.as_bytes())?;
    let changes = outcome.changes.as_ref().filter(|changes| changes.count == changes.list.len())?;
    patterns.search([&outcome.stdout, &outcome.stderr], changes, folder).ok()
}

pub(super) fn not_started(number: i32, message: String) -> Outcome {
    RunEnd::NotStarted(number, message).into()
}
