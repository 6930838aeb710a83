//! Finding a target and reading its help pages, for `agentnative init`: nothing but help is called, in runs such as
//! those of `check`.

use super::Session;
use super::help_pages::page_of;
use super::runs::redact_secrets;
use super::surroundings::{Services, failed, keep_workspaces};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{OutputFormat, ProbeId};
use agentnative_core::probe::{self, Probe, Surroundings, TargetProfile};
use agentnative_core::run::{End, Isolation, Observation, RunKey, RunSpec, Runner};
use agentnative_core::targets::{Commands, Target, documented_exit_codes};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long the pages of its subcommands may take together.
const ALL_PAGES: Duration = Duration::from_secs(30);

/// What the help pages of a target say.
#[derive(Debug)]
pub struct Inspected {
    /// The target.
    pub target: Target,
    /// Its commands.
    pub commands: Commands,
    /// The exit codes that its own page names, with their meaning.
    pub exit_codes: BTreeMap<i32, String>,
}

impl Session {
    /// Finds the target and reads its help, and that of its subcommands where its help says how to ask for it;
    /// `on_page` is told how many pages were asked for.
    ///
    /// # Errors
    /// Those of [`Finder::find`](agentnative_core::targets::Finder::find) and
    /// [`Config::load`](agentnative_core::config::Config::load);
    /// configuration when there are several targets and none was chosen, or it cannot be started; general when it
    /// does not end by itself.
    pub fn inspect(&self, on_page: &mut dyn FnMut(usize)) -> Result<Inspected> {
        let mut runner = Runner::new(self.options.runner.clone());
        let located = self.locate(None, true, false)?;
        let none = || Error::nothing_run("the target has no program");
        let target = self.with_options(located.target.ok_or_else(none)??);
        let config = located.config.as_ref();
        redact_secrets(&target.config, &mut runner)?;
        let profile = TargetProfile::of(&target.config);
        let mut around = Services::of(&target, config)?.surroundings(&target, &mut runner)?;
        let probes = config.into_iter().flat_map(|config| config.probes_of(&target.config));
        let workspace = probes.filter_map(|probe| probe.call.workspace.clone()).next();
        let help = probe::standalone(Derived::Help, &profile, target.config.timeout);
        let help = help.ok_or_else(|| Error::general("there is no call for help"))?;
        let mut help = help;
        help.call.workspace = workspace;
        keep_workspaces(&mut around, std::slice::from_ref(&help), &mut runner)?;
        let calls = HelpCalls { target: &target, around, profile, help };
        let page = calls.root_page(&mut runner)?;
        on_page(1);
        let commands = calls.commands(&page, &mut runner, self.options.runner.jobs, on_page)?;
        let exit_codes = exit_codes(&String::from_utf8_lossy(&page));
        Ok(Inspected { target, commands, exit_codes })
    }
}

/// Calls for help, as `check` makes its own.
struct HelpCalls<'t> {
    target: &'t Target,
    around: Surroundings,
    profile: TargetProfile,
    /// The call for the page of the target itself.
    help: Probe,
}

impl HelpCalls<'_> {
    /// The help page of the target itself.
    fn root_page(&self, runner: &mut Runner) -> Result<Vec<u8>> {
        let root = self.specs(&[vec!["--help".to_owned()]]);
        let seen = run_all(runner, root, &mut |_| {})?.pop();
        let seen = seen.ok_or_else(|| Error::general("the helper gave no result"))?;
        let name = &self.target.name;
        match &seen.end {
            End::Exited(_) => Ok(page_of(&seen)),
            End::NotStarted(_, why) => Err(failed(&seen, format!("{name} could not be started: {why}"))),
            _ => Err(Error::general(format!("`{name} --help` did not end"))),
        }
    }

    /// The commands that the page lists, and those that their pages list; `on_page` gets the number of pages so far.
    fn commands(
        &self,
        page: &[u8],
        runner: &mut Runner,
        jobs: usize,
        on_page: &mut dyn FnMut(usize),
    ) -> Result<Commands> {
        let end = Instant::now() + ALL_PAGES;
        let (mut pages, mut failed) = (1, None);
        let commands = Commands::explore(page, &mut |wanted| {
            let mut answers = Vec::new();
            for wanted in wanted.chunks(jobs) {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() || failed.is_some() {
                    break;
                }
                let mut specs = self.specs(wanted);
                for RunSpec { job, .. } in &mut specs {
                    job.deadline = job.deadline.min(left);
                    // A subcommand that does its work instead of printing help may change nothing here.
                    job.isolation = job.isolation.max(Isolation::Available);
                }
                let mut on_done = |_: &Observation| {
                    pages += 1;
                    on_page(pages);
                };
                match run_all(runner, specs, &mut on_done) {
                    Ok(seen) => answers.extend(seen.iter().map(help_page)),
                    Err(error) => failed = Some(error),
                }
            }
            answers
        });
        failed.map_or(Ok(commands), Err)
    }

    /// The runs of calls with these arguments.
    fn specs(&self, calls: &[Vec<String>]) -> Vec<RunSpec> {
        let probe = |args: &Vec<String>| Probe {
            id: ProbeId::Explored { explored: args.clone() },
            name: args.join(" "),
            ..self.help.clone().with_args(args.clone())
        };
        let probes: Vec<Probe> = calls.iter().map(probe).collect();
        let keys: Vec<RunKey> = probes.iter().map(|probe| probe.plain(OutputFormat::Text)).collect();
        probe::specs(&keys, &probes, &self.profile, self.target, &self.around)
    }
}

/// Makes these runs, until a signal.
fn run_all(
    runner: &mut Runner,
    specs: Vec<RunSpec>,
    on_done: &mut dyn FnMut(&Observation),
) -> Result<Vec<Observation>> {
    let finished = runner.run_all_blocking(specs, on_done)?;
    match finished.interrupted {
        Some(signal) => Err(Error::interrupted(signal, "interrupted")),
        None => Ok(finished.observations),
    }
}

/// The page that a call for the help of a subcommand gave.
fn help_page(seen: &Observation) -> Option<Vec<u8>> {
    let page = page_of(seen);
    (seen.end == End::Exited(0) && !page.trim_ascii().is_empty()).then_some(page)
}

/// The exit codes whose meaning a text tells; the meaning is the rest of the line that begins with the code.
fn exit_codes(text: &str) -> BTreeMap<i32, String> {
    let lines: Vec<&str> = text.lines().collect();
    let meaning = |code: u8, from: usize| {
        let of_line = |line: &&str| {
            let line = line.trim_start().trim_start_matches(['-', '*', ' ', '`']);
            let rest = line.strip_prefix(&code.to_string())?;
            let rest = rest.strip_prefix(|char: char| !char.is_alphanumeric())?;
            Some(rest.trim_matches(|char: char| !char.is_alphanumeric() && char != ')').to_owned())
        };
        lines[from.min(lines.len())..].iter().find_map(of_line).unwrap_or_default()
    };
    let told = documented_exit_codes(text).into_iter();
    told.map(|(code, line)| (i32::from(code), meaning(code, line))).collect()
}
