//! Runs a session: finds its target, makes the runs and reads the code into a recording.

use super::code;
use super::locate::{Located, needs_program};
use super::manual_page::read_manual;
use super::progress::{Observer, Progress};
use super::session::{Session, SessionOutput};
use crate::report::Report;
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::Check;
use agentnative_core::config::{Config, TargetConfig, rfc3339};
use agentnative_core::model::{CheckId, Layer, TargetInfo};
use agentnative_core::probe::{Probe, Recording, TargetProfile};
use agentnative_core::run::Runner;
use agentnative_core::targets::CodeBase;
use agentnative_judge::Scans;
use std::path::Path;
use std::time::{Instant, SystemTime};

/// The kinds of evidence that checks need.
#[derive(Debug, Clone, Copy)]
struct Needs {
    runs: bool,
    source: bool,
    project: bool,
    /// The manual page of the target.
    manual: bool,
}

impl Needs {
    fn of(checks: &[&Check]) -> Self {
        let on = |layer| checks.iter().any(|check| check.layer == layer);
        let has = |id| checks.iter().any(|check| check.id == id);
        Self {
            runs: on(Layer::Behavioral),
            source: on(Layer::Source),
            // Files of the project show whether there is a bundle to install.
            project: on(Layer::Project) || has(CheckId::P8BundleInstall),
            manual: has(CheckId::P2ExitDocumented),
        }
    }
}

impl Session {
    /// Makes the runs that these checks need, and judges the recording.
    pub fn check(&self, checks: &[&Check]) -> Result<Report> {
        Ok(self.run(checks, &mut |_| Ok(()))?.judged(checks, &[], &[])?.report)
    }

    /// Makes the runs that these checks need, and reads the code that they need. Calls the observer with each run
    /// that ends.
    ///
    /// # Errors
    /// If there is no such target, its configuration is invalid, or nothing could be run or read; and the first error
    /// of the observer.
    pub fn run(&self, checks: &[&Check], observer: &mut Observer<'_>) -> Result<SessionOutput> {
        let started = Instant::now();
        let mut runner = Runner::new(self.options.runner.clone());
        let needs = Needs::of(checks);
        let builder = Some(&mut runner).filter(|_| self.needs_build(checks));
        let located = self.locate(builder, needs_program(checks), needs.source || needs.project);
        let (scans, mut root) = (Scans::default(), None);
        let (mut recording, signal) = match located {
            Err(error) => {
                let Some(signal) = error.signal else { return Err(error) };
                (self.record_without_target(&error, observer)?, Some(signal))
            }
            Ok(located) => {
                root = located.config.as_ref().map(|config| config.root.clone());
                let (mut recording, signal, code) =
                    self.record_located(checks, located, &scans, &mut runner, observer)?;
                // From here on, a signal ends this process immediately.
                if let Some(left) = runner.finish() {
                    let left = left.display();
                    let note = format!("cannot remove {left}: a run has left files there");
                    recording.notes.push(note);
                }
                if let Some(code) = &code {
                    code::add_code_facts(code, root.as_deref(), needs.source, needs.project, &mut recording)?;
                }
                (recording, signal)
            }
        };
        recording.ended = Some(rfc3339(SystemTime::now()));
        Ok(SessionOutput { recording, scans, signal, root, elapsed: started.elapsed() })
    }

    /// Makes the runs of a target that was located. Returns the recording, the signal that stopped the runs if any, and
    /// the code of the target.
    fn record_located(
        &self,
        checks: &[&Check],
        Located { config, target, code }: Located,
        scans: &Scans,
        runner: &mut Runner,
        observer: &mut Observer<'_>,
    ) -> Result<(Recording, Option<i32>, Option<CodeBase>)> {
        let (needs, runs) = (Needs::of(checks), !self.options.no_runs);
        let here = std::env::current_dir().unwrap_or_default();
        let target = target.transpose().and_then(|target| {
            if target.is_some() && needs.project && runs {
                runner.start()?;
            }
            Ok(target)
        });
        let known = target.as_ref().ok().and_then(Option::as_ref);
        let manual = if needs.manual { read_manual(known, code.as_ref()) } else { None };
        let (mut recording, signal) = match (target, &code) {
            (Ok(Some(target)), _) if runs => self.record(checks, target, config, scans, runner, observer)?,
            // Code can be read even if the program is not built or cannot be run here.
            (without, Some(code)) if !needs.runs || !runs => {
                let mut recording =
                    self.record_without_runs(code.info(&here), &code.config, config, observer)?;
                recording.notes = without.err().filter(|_| runs).iter().map(not_run_note).collect();
                recording.set_toolkit(code.toolkit());
                (recording, None)
            }
            (Ok(Some(target)), _) => {
                (self.record_without_runs(target.info(&here), &target.config, config, observer)?, None)
            }
            (Err(error), _) => return Err(error),
            (Ok(None), _) => {
                return Err(Error::nothing_run("the target has neither a program nor code to check"));
            }
        };
        recording.manual = manual;
        Ok((recording, signal, code))
    }

    /// Returns a recording without runs, for a signal that arrived before the target was found or built.
    fn record_without_target(&self, why: &Error, observer: &mut Observer<'_>) -> Result<Recording> {
        let profile = TargetProfile::from_config(&TargetConfig::default());
        let mut recording = self.new_recording(self.target.info(), profile, None);
        recording.interrupted = true;
        recording.notes = vec![not_run_note(why)];
        observer(Progress::Started { recording: &recording, runs: 0 })?;
        Ok(recording)
    }

    /// Returns a recording without runs, for checks of files only.
    fn record_without_runs(
        &self,
        target: TargetInfo,
        settings: &TargetConfig,
        config: Option<Config>,
        observer: &mut Observer<'_>,
    ) -> Result<Recording> {
        let mut settings = settings.clone();
        if let Some(name) = self.options.contract.as_deref().filter(|name| !["auto", "none"].contains(name)) {
            settings.apply_contract(&Contract::by_name(Path::new("."), name)?);
        }
        let mut recording =
            self.new_recording(target, TargetProfile::from_config(&settings), config.as_ref());
        recording.no_runs = self.options.no_runs;
        let configs = self.probe_configs(config.as_ref(), &settings);
        recording.probes = configs.map(|probe| Probe::declared(probe, &settings)).collect();
        if let Some(config) = config {
            recording.waivers = config.waivers_of(&settings);
        }
        observer(Progress::Started { recording: &recording, runs: 0 })?;
        Ok(recording)
    }
}

fn not_run_note(why: &Error) -> String {
    let hint = why.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("nothing was run: {}{hint}", why.message)
}
