//! The parsed help pages of a target: its own, and those of the commands that its probes call.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement, Reason};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::targets::{CommandPage, HelpPage, Interface, TargetNames};
use std::io::Read as _;
use std::sync::Arc;

/// Maximum length of a help page, in bytes; the rest is not read.
const MAX_PAGE: u64 = 1 << 20;
const MAX_NAMED: usize = 3;

/// A parsed help page, with the run that printed it.
pub struct PrintedPage<'a> {
    pub run: RunView<'a>,
    /// Words that name the command, such as `remote` and `add`; empty for the target itself.
    pub path: &'a [String],
    pub page: Arc<CommandPage>,
}

pub struct Pages<'a> {
    /// Page of the target itself.
    pub root: PrintedPage<'a>,
    /// Help pages of its commands that are judged. An error states why a page is missing.
    pub commands: Vec<Result<PrintedPage<'a>, Reason>>,
    /// Other help pages of its commands.
    background: Vec<PrintedPage<'a>>,
}

impl PrintedPage<'_> {
    /// Returns a failed assertion that points to the first line of the page that contains `words`, or to its start.
    pub fn failed_at_mention(&self, kind: &str, words: &str, detail: String) -> Assertion {
        let lines = self.run.lines(Stream::Stdout).unwrap_or_default();
        match lines.iter().position(|line| line.contains(words)) {
            Some(line) => self.run.failed_at_line(kind, Stream::Stdout, line, detail),
            None => self.run.failed_at_start(kind, Stream::Stdout, detail),
        }
    }
}

impl<'a> Pages<'a> {
    /// Parses the help pages of the target and of its commands from their runs. Returns an error if the target itself
    /// printed no help page.
    pub fn read(context: &'a CheckContext<'a>) -> Result<Self, Reason> {
        let run = help_run(context).ok_or("`--help` was not run")?;
        if run.exited()? != 0 || !run.prints_words() {
            return Err(run.blocked_by(CheckId::P3Help, "there is no help page".to_owned()));
        }
        let bytes = stdout_start(&run);
        let (page, names) = &*root_page(&run);
        let page = Arc::new(page.clone());
        let of_command = |run: RunView<'a>| {
            prints_own_page(&run, &bytes).map_err(|_| {
                run.blocked_by(
                    CheckId::P3CommandHelp,
                    format!("`{}` prints no separate help page", run.probe.name),
                )
            })?;
            let path = &run.probe.call.args[..run.probe.call.args.len().saturating_sub(1)];
            let parse = || {
                let words: Vec<&str> = path.iter().map(String::as_str).collect();
                let commands = &page.interface.commands;
                CommandPage::new(&HelpPage::parse(&stdout_start(&run)), &words, names, commands)
            };
            let parsed = context.scans.page(run.bytes(Stream::Stdout), path, parse);
            Ok(PrintedPage { run, path, page: parsed })
        };
        let (judged, known): (Vec<RunView>, Vec<RunView>) =
            context.known_runs(DerivedKind::CommandHelp).partition(|run| context.judges(run.probe));
        let commands = judged.into_iter().map(of_command).collect();
        let background = known.into_iter().filter_map(|run| of_command(run).ok()).collect();
        Ok(Self { root: PrintedPage { run, path: &[], page: Arc::clone(&page) }, commands, background })
    }

    /// Returns the known pages of the commands.
    pub fn of_commands(&self) -> impl Iterator<Item = &PrintedPage<'a>> {
        self.commands.iter().flatten().chain(&self.background)
    }

    /// Returns all known pages: that of the target itself, and those of its commands.
    pub fn all(&self) -> impl Iterator<Item = &PrintedPage<'a>> {
        std::iter::once(&self.root).chain(self.of_commands())
    }

    /// Returns the pages that are judged: those of the target itself and of its commands.
    pub fn judged(&self) -> impl Iterator<Item = &PrintedPage<'a>> {
        let root = Some(&self.root).filter(|root| root.run.context.judges(root.run.probe));
        root.into_iter().chain(self.commands.iter().flatten())
    }

    /// Returns a judgement if no help page of a command was requested: not applicable if the target has no commands,
    /// otherwise unverified. `None` if such pages were requested.
    pub fn without_commands(&self) -> Option<Judgement> {
        if !self.commands.is_empty() {
            return None;
        }
        let names: Vec<&str> =
            self.root.page.interface.commands.iter().map(|command| command.name.as_str()).collect();
        if names.is_empty() {
            return Some(Judgement::NotApplicable("the help lists no subcommands".to_owned()));
        }
        let more = if names.len() > MAX_NAMED { ", \u{2026}" } else { "" };
        Some(Judgement::unverified(format!(
            "no probe begins with a subcommand that the help lists ({}{more}): declare one, with `formats = [\"text\"]` if it prints the same text in each format",
            names[..names.len().min(MAX_NAMED)].join(", "),
        )))
    }
}

/// Returns the names that the target has in its help and its command line, such as `mycli`. Empty if its help was not
/// run.
pub fn target_names(context: &CheckContext) -> TargetNames {
    let Some(run) = help_run(context) else { return TargetNames::default() };
    root_page(&run).1.clone()
}

/// Returns whether the help of the target shows a positional argument that each call needs.
pub fn requires_argument(context: &CheckContext) -> bool {
    help_run(context).is_some_and(|run| {
        let arguments = &root_page(&run).0.interface.arguments;
        arguments.iter().any(|argument| argument.required && argument.option.is_none())
    })
}

/// Returns the parsed help page of the target, and the names that the target has in it and in its command line.
fn root_page(run: &RunView) -> Arc<(CommandPage, TargetNames)> {
    run.context.scans.root_page(run.bytes(Stream::Stdout), || {
        let page = HelpPage::parse(&stdout_start(run));
        let commands = Interface::of_command(&page, &[]).commands;
        let call = run.probe.args_in(OutputFormat::Text, run.context.profile);
        let argv = run.observation.argv.strip_suffix(&*call).unwrap_or_default();
        let names = TargetNames::new(&page, &commands, argv);
        (CommandPage::new(&page, &[], &names, &commands), names)
    })
}

pub fn help_run<'a>(context: &'a CheckContext<'a>) -> Option<RunView<'a>> {
    context.known_runs(DerivedKind::Help).next()
}

pub fn command_help_runs<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    runs_of_kind(context, DerivedKind::CommandHelp)
}

pub fn runs_of_kind<'a>(
    context: &'a CheckContext<'a>,
    kind: DerivedKind,
) -> impl Iterator<Item = RunView<'a>> {
    context.derived_probes(kind).filter_map(|probe| context.plain_run(probe, OutputFormat::Text))
}

/// Passes if the help page of a command differs from `root`, which is the help page of the target.
pub fn prints_own_page(run: &RunView, root: &[u8]) -> Assertion {
    let call = &run.probe.name;
    let exit = run.exited()?;
    if exit != 0 {
        let detail = format!("`{call}` exits with {exit}; expected help and exit code 0");
        return run.failed_at_reason("exit", Stream::Stderr, detail);
    }
    if !run.prints_words() {
        let detail = format!("`{call}` prints no help on stdout");
        return run.failed_at_start("nothing", Stream::Stdout, detail);
    }
    if stdout_start(run).trim_ascii() == root.trim_ascii() {
        let detail = format!("`{call}` prints the help of the target, not that of the subcommand");
        return run.failed_at_start("same", Stream::Stdout, detail);
    }
    Ok(())
}

/// Returns the first bytes on stdout, up to 1 MiB.
pub fn stdout_start(run: &RunView) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An unreadable capture is an empty page.
    let _ = run.bytes(Stream::Stdout).reader().take(MAX_PAGE).read_to_end(&mut bytes);
    bytes
}
