//! Finding a target and reading its help pages, for `agentnative init`: nothing but help is called.

use super::Session;
use super::locate::{MAX_TEXT, find_one};
use super::surroundings::failed;
use crate::judge;
use crate::run::{End, Isolation, Job, Observation, Runner};
use crate::target::{Commands, Target};
use agentnative_contract::error::{Error, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How long a target may take to print one help page.
const PAGE: Duration = Duration::from_secs(10);
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
    /// Those of [`Finder::find`](crate::target::Finder::find) and [`Config::load`](crate::config::Config::load);
    /// configuration when there are several targets and none was chosen, or it cannot be started; general when it
    /// does not end by itself.
    pub fn inspect(&self, on_page: &mut dyn FnMut(usize)) -> Result<Inspected> {
        let mut runner = Runner::new(self.options.runner.clone());
        let target = self.with_finder(&mut runner, false, |finder, config| {
            find_one(finder, &self.target, config.as_ref())
        })?;
        let seen = runner.run_trusted(job(&target, &["--help".to_owned()], PAGE))?;
        let page = match &seen.end {
            End::Exited(_) => page_of(&seen),
            End::NotStarted(_, why) => {
                return Err(failed(&seen, format!("{} could not be started: {why}", target.name)));
            }
            _ => return Err(Error::general(format!("`{} --help` did not end", target.name))),
        };
        let end = Instant::now() + ALL_PAGES;
        let (mut pages, mut failed) = (1, None);
        on_page(pages);
        let jobs = self.options.runner.jobs;
        let commands = Commands::explore(&page, &mut |calls| {
            let mut answers = Vec::new();
            for calls in calls.chunks(jobs) {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() || failed.is_some() {
                    break;
                }
                // Should a subcommand do its work in the place of printing help, it may change nothing here.
                let job = |args: &Vec<String>| Job {
                    isolation: Isolation::Available,
                    ..job(&target, args, PAGE.min(left))
                };
                let mut on_done = |_: &Observation| {
                    pages += 1;
                    on_page(pages);
                };
                match runner.run_all_trusted(calls.iter().map(job), &mut on_done) {
                    Ok(seen) => answers.extend(seen.iter().map(help_page)),
                    Err(error) => failed = Some(error),
                }
            }
            answers
        });
        let exit_codes = exit_codes(&String::from_utf8_lossy(&page));
        failed.map_or(Ok(Inspected { target, commands, exit_codes }), Err)
    }
}

fn job(target: &Target, args: &[String], deadline: Duration) -> Job {
    let args: Vec<OsString> =
        target.prefix_args.iter().cloned().chain(args.iter().map(OsString::from)).collect();
    Job::new(&target.program, args, &target.cwd, deadline)
}

/// The page that a call for the help of a subcommand gave.
fn help_page(seen: &Observation) -> Option<Vec<u8>> {
    let page = page_of(seen);
    (seen.end == End::Exited(0) && !page.trim_ascii().is_empty()).then_some(page)
}

/// What a call for help printed, on either stream.
pub(super) fn page_of(seen: &Observation) -> Vec<u8> {
    [seen.stdout.bytes.first(MAX_TEXT), seen.stderr.bytes.first(MAX_TEXT)].concat()
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
    let told = judge::codes_told(text).into_iter();
    told.map(|(code, line)| (i32::from(code), meaning(code, line))).collect()
}
