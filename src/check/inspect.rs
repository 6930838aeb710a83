//! Finds a target and reads its help pages for `agentnative init`: makes only help calls, configured like the runs
//! of `check`.

use super::Session;
use super::help_pages::help_text;
use super::run_environment::{Services, program_error, store_workspaces};
use super::runs::redact_secrets;
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{OutputFormat, ProbeId};
use agentnative_core::probe::{self, Probe, RunEnvironment, TargetProfile};
use agentnative_core::run::{Observation, RequestedConfinement, RunEnd, RunKey, RunSpec, Runner};
use agentnative_core::targets::{CommandTree, Target, TreeLimits, exit_code_meanings};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time limit for all help pages of subcommands.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A target and what its help pages list.
#[derive(Debug)]
pub struct InspectedTarget {
    /// The target that was found.
    pub target: Target,
    /// The commands that the help pages list, with their subcommands.
    pub commands: CommandTree,
    /// The exit codes that its root help page documents, with their meaning.
    pub exit_codes: BTreeMap<i32, String>,
}

impl Session {
    /// Finds the target and reads its help page, and the help pages of its subcommands if the first page shows how to
    /// request them. Calls `on_page` with the number of pages read so far.
    ///
    /// # Errors
    /// The errors of [`Finder::find`](agentnative_core::targets::Finder::find) and
    /// [`Config::load`](agentnative_core::config::Config::load); a configuration error if there are several targets
    /// and none was selected, or if the target cannot be started; a general error if it does not exit by itself.
    pub fn inspect(&self, on_page: &mut dyn FnMut(usize)) -> Result<InspectedTarget> {
        let mut runner = Runner::new(self.options.runner.clone());
        let located = self.locate(None, true, false)?;
        let no_program = || Error::nothing_run("the target has no program");
        let target = self.apply_options(located.target.ok_or_else(no_program)??);
        let config = located.config.as_ref();
        redact_secrets(&target.config, &mut runner)?;
        let profile = TargetProfile::from_config(&target.config);
        let mut environment =
            Services::with_chosen_ports(&target, config)?.surroundings(&target, &mut runner)?;
        let probes = config.into_iter().flat_map(|config| config.probes_of(&target.config));
        let workspace = probes.filter_map(|probe| probe.call.workspace.clone()).next();
        let help = probe::target_calls(DerivedKind::Help, &profile, target.config.timeout);
        let help = help.ok_or_else(|| Error::general("the target has no help call"))?;
        let mut help = help;
        help.call.workspace = workspace;
        store_workspaces(&mut environment, std::slice::from_ref(&help), &mut runner)?;
        let calls = HelpRunner { target: &target, environment, profile, help };
        let page = calls.root_page(&mut runner)?;
        on_page(1);
        let commands = calls.commands(&page, &mut runner, self.options.runner.jobs, on_page)?;
        let exit_codes = exit_code_meanings(&String::from_utf8_lossy(&page));
        Ok(InspectedTarget { target, commands, exit_codes })
    }
}

/// Makes help calls of a target, configured like the runs of `check`.
struct HelpRunner<'t> {
    target: &'t Target,
    environment: RunEnvironment,
    profile: TargetProfile,
    /// The help call `mycli --help`, from which the help calls of subcommands are derived.
    help: Probe,
}

impl HelpRunner<'_> {
    /// Calls the target with `--help` and returns the page that it prints.
    fn root_page(&self, runner: &mut Runner) -> Result<Vec<u8>> {
        let root = self.specs(&[vec!["--help".to_owned()]]);
        let seen = run_all(runner, root, &mut |_| {})?.pop();
        let seen = seen.ok_or_else(|| Error::general("the helper returned no outcome"))?;
        let name = &self.target.name;
        match &seen.end {
            RunEnd::Exited(_) => Ok(help_text(&seen)),
            RunEnd::NotStarted(_, why) => {
                Err(program_error(&seen, format!("{name} could not be started: {why}")))
            }
            _ => Err(Error::general(format!("`{name} --help` did not exit"))),
        }
    }

    /// Returns the commands that the root help page `page` lists, and the subcommands that their help pages list. Makes
    /// at most `jobs` help calls in parallel. Calls `on_page` with the number of pages read so far.
    fn commands(
        &self,
        page: &[u8],
        runner: &mut Runner,
        jobs: usize,
        on_page: &mut dyn FnMut(usize),
    ) -> Result<CommandTree> {
        let deadline = Instant::now() + TOTAL_TIMEOUT;
        let (mut pages, mut failure) = (1, None);
        let commands = CommandTree::explore(page, &TreeLimits::default(), &mut |requested| {
            let mut help_pages = Vec::new();
            for requested in requested.chunks(jobs) {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() || failure.is_some() {
                    break;
                }
                let mut specs = self.specs(requested);
                for RunSpec { job, .. } in &mut specs {
                    job.deadline = job.deadline.min(left);
                    // A subcommand that ignores `--help` and does its work must not change anything here.
                    job.isolation = job.isolation.max(RequestedConfinement::Available);
                }
                let mut on_done = |_: &Observation| {
                    pages += 1;
                    on_page(pages);
                };
                match run_all(runner, specs, &mut on_done) {
                    Ok(seen) => help_pages.extend(seen.iter().map(help_page)),
                    Err(error) => failure = Some(error),
                }
            }
            help_pages
        });
        failure.map_or(Ok(commands), Err)
    }

    /// Returns the specification of a run for each call; a call is its list of arguments.
    fn specs(&self, calls: &[Vec<String>]) -> Vec<RunSpec> {
        let probe = |args: &Vec<String>| {
            let mut help = self.help.clone().with_args(args.clone());
            help.call.format_flags.insert(OutputFormat::Text, FormatFlag::Given(Vec::new()));
            let id = ProbeId::Explored { explored: args.clone(), stdin: None };
            Probe { id, name: args.join(" "), ..help }
        };
        let probes: Vec<Probe> = calls.iter().map(probe).collect();
        let keys: Vec<RunKey> = probes.iter().map(|probe| probe.plain_run(OutputFormat::Text)).collect();
        probe::run_specs(&keys, &probes, &self.profile, self.target, &self.environment)
    }
}

/// Makes runs and returns their observations; fails if a signal arrives.
fn run_all(
    runner: &mut Runner,
    specs: Vec<RunSpec>,
    on_done: &mut dyn FnMut(&Observation),
) -> Result<Vec<Observation>> {
    let finished = runner.run_all(specs, on_done)?;
    match finished.interrupted {
        Some(signal) => Err(Error::interrupted(signal, "interrupted")),
        None => Ok(finished.observations),
    }
}

/// Returns the help page of a subcommand, if its help call succeeded and printed one.
fn help_page(seen: &Observation) -> Option<Vec<u8>> {
    let page = help_text(seen);
    (seen.end == RunEnd::Exited(0) && !page.trim_ascii().is_empty()).then_some(page)
}
