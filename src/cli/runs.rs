//! The runs that checks need, made or not.

use super::bound::{self, Bound};
use super::check::CheckArgs;
use super::subject;
use crate::config::{Config, ProbeConfig};
use crate::error::{Error, Result};
use crate::output::{Output, OutputFormat};
use crate::probe::{self, Probe, Promises, Recording};
use crate::report::catalogue::Check;
use crate::report::{Ended, Event, Layer, RunEvent, StartEvent, TargetInfo};
use crate::run::{End, Enforced, Observation, Runner};
use crate::target::{CodeBase, Target};
use std::collections::BTreeSet;
use std::path::Path;

/// Makes the runs of `target` that `checks` need: what was seen, and the signal that told us to stop.
pub(super) fn make(
    args: &CheckArgs,
    checks: &[&Check],
    mut target: Target,
    config: Option<Config>,
    runner: &mut Runner,
    output: &mut Output,
) -> Result<(Recording, Option<i32>)> {
    if let Some(timeout) = args.timeout {
        target.config.timeout = timeout;
    }
    let mut contracts = Bound::new();
    let mut declared = declared(&target, config.as_ref(), &args.probe, &mut contracts)?;
    let mut promises = Promises::of(&target.config);
    if let Some(name) = &args.contract {
        let name = bound::replace(name, &mut target.config, &mut declared, &mut contracts)?;
        promises = Promises { contract: Some(name), ..Promises::of(&target.config) };
    }

    // What the help says decides which further probes are harmless.
    let (probes, keys) = probe::plan(checks, declared.clone(), &promises, target.config.timeout);
    let help: Vec<_> = keys.iter().filter(|key| **key == probe::help_run()).cloned().collect();
    let first = runner.run_all_blocking(probe::specs(&help, &probes, &promises, &target), &mut |_| {})?;
    let help = first.observations.first().map(subject::help_of).unwrap_or_default();
    let promises = promises.with_help(!help.commands.is_empty(), help.json.as_deref(), help.jsonl.as_deref());
    let (probes, keys) = probe::plan(checks, declared, &promises, target.config.timeout);
    let info = target.info(&std::env::current_dir().unwrap_or_default());
    let needed = checks.iter().any(|check| check.layer == Layer::Behavioral);
    if needed && (keys.is_empty() || !first.observations.is_empty()) {
        something_ran(&info, &first.observations)?;
    }
    start(&info, checks, keys.len(), output)?;
    let mut observations = first.observations;
    for observation in &observations {
        ended(observation, output)?;
    }
    let done: BTreeSet<_> = observations.iter().map(|observation| observation.key.clone()).collect();
    let rest: Vec<_> = keys.iter().filter(|key| !done.contains(key)).cloned().collect();
    let mut failed = None;
    let mut count = observations.len();
    let (mut interrupted, mut sandbox) = (first.interrupted, first.sandbox);
    if interrupted.is_none() {
        let finished = runner.run_all_blocking(
            probe::specs(&rest, &probes, &promises, &target),
            &mut |observation| {
                count += 1;
                output.progress(&format!("{count}/{} {}", keys.len(), observation.key.probe));
                failed = failed.take().or(ended(observation, output).err());
            },
        )?;
        observations.extend(finished.observations);
        interrupted = finished.interrupted;
        sandbox = sandbox.max(finished.sandbox);
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let recording = Recording {
        target: info,
        promises,
        probes,
        observations,
        interrupted: interrupted.is_some(),
        waivers: config.map(|config| config.waivers).unwrap_or_default(),
        notes: sandbox.and_then(confined).into_iter().map(str::to_owned).collect(),
        facts: None,
        output_modules: Vec::new(),
        around: None,
    };
    if needed && interrupted.is_none() {
        something_ran(&recording.target, &recording.observations)?;
    }
    Ok((recording, interrupted))
}

/// No runs: the code alone is looked at. `why` is what kept us from running the program, if it was to be run.
pub(super) fn none(
    code: &CodeBase,
    why: Option<&Error>,
    checks: &[&Check],
    config: Option<Config>,
    output: &mut Output,
) -> Result<Recording> {
    let recording = Recording {
        target: code.info(&std::env::current_dir().unwrap_or_default()),
        promises: Promises::of(&code.config),
        probes: Vec::new(),
        observations: Vec::new(),
        interrupted: false,
        waivers: config.map(|config| config.waivers).unwrap_or_default(),
        notes: why.map(not_run).into_iter().collect(),
        facts: None,
        output_modules: Vec::new(),
        around: None,
    };
    start(&recording.target, checks, 0, output)?;
    Ok(recording)
}

fn not_run(why: &Error) -> String {
    let hint = why.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("nothing was run: {}{hint}", why.message)
}

/// What the reader has to know of a sandbox that was asked for.
fn confined(enforced: Enforced) -> Option<&'static str> {
    match enforced {
        Enforced::Fully => None,
        Enforced::Partly => Some(
            "the sandbox was enforced in part: this kernel cannot confine all of writes, connections and signals",
        ),
        Enforced::Not => Some("the sandbox was not enforced: this kernel has no Landlock"),
    }
}

/// Never a silent green: a target of which nothing could be run has no report.
fn something_ran(target: &TargetInfo, observations: &[Observation]) -> Result<()> {
    let mut words = None;
    for seen in observations {
        let End::NotStarted(_, why) = &seen.end else { return Ok(()) };
        words = words.or(Some(why));
    }
    let command = target.command.join(" ");
    Err(match words {
        Some(words) => Error::general(format!("nothing could be run: {command}: {words}")),
        None => Error::general(format!("nothing was run: no run of {command} would decide these checks"))
            .hint("declare probes: --probe \"ARGS\", or [[probe]] in agentnative.toml"),
    })
}

/// The probes of the configuration and those of the command line.
fn declared(
    target: &Target,
    config: Option<&Config>,
    flags: &[String],
    contracts: &mut Bound,
) -> Result<Vec<Probe>> {
    let root = config.map_or(Path::new("."), |config| &config.root);
    let of_flags = ProbeConfig::from_flags(flags)?;
    let of_config = config.into_iter().flat_map(|config| config.probes_of(&target.config));
    let mut probes: Vec<Probe> = Vec::new();
    for config in of_config.chain(&of_flags) {
        if probes.iter().any(|probe| probe.name == config.name) {
            return Err(Error::usage(format!("there are two probes `{}`", config.name)));
        }
        let mut probe = Probe::declared(config, target.config.timeout);
        bound::bind(&mut probe.contract, root, contracts)?;
        probes.push(probe);
    }
    Ok(probes)
}

/// Writes the record that a stream begins with.
pub(super) fn start(target: &TargetInfo, checks: &[&Check], runs: usize, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let checks = checks.iter().map(|check| check.id.clone()).collect();
    output.record(&Event::Start(StartEvent { target: target.clone(), checks, runs }))
}

/// Writes the record of a run.
pub(super) fn ended(run: &Observation, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let (ended, exit, signal) = match run.end {
        End::Exited(code) => (Ended::Exited, Some(code), None),
        End::Signaled(signal) => (Ended::Signaled, None, Some(signal)),
        End::TimedOut => (Ended::TimedOut, None, None),
        End::Waited => (Ended::Waited, None, None),
        End::TooMuch(_) => (Ended::TooMuch, None, None),
        End::NotStarted(..) => (Ended::NotStarted, None, None),
        End::Interrupted => (Ended::Interrupted, None, None),
    };
    output.record(&Event::Run(RunEvent {
        probe: run.key.probe.clone(),
        format: run.key.format,
        variant: run.key.variant,
        nth: run.key.nth,
        exit,
        ended,
        signal,
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        stdout_bytes: run.stdout.bytes.len(),
        stderr_bytes: run.stderr.bytes.len(),
        left_behind: run.left_behind.len(),
    }))
}
