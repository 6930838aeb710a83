//! The help pages of a target, read: its own and those of the commands that its probes call.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement, Reason};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::targets::{Command, HelpPage, Interface, Names, Page};
use std::io::Read as _;

/// More of a help is not read, in bytes.
const MOST: u64 = 1 << 20;
/// So many commands are named where none was tried.
const NAMED: usize = 3;

/// The page that a run printed.
pub struct Printed<'a> {
    /// The run.
    pub run: RunView<'a>,
    /// The words of the command; none for the target itself.
    pub path: &'a [String],
    /// What it says.
    pub page: Page,
}

/// All pages of a target.
pub struct Pages<'a> {
    /// Its own.
    pub root: Printed<'a>,
    /// Those of its commands, or why there is none.
    pub commands: Vec<Result<Printed<'a>, Reason>>,
}

impl<'a> Pages<'a> {
    /// The pages that were printed as they have to be, or why the page of the target itself was not.
    pub fn read(context: &'a CheckContext<'a>) -> Result<Self, Reason> {
        let run = root(context).ok_or("`--help` was not run")?;
        if run.exited()? != 0 || !run.prints_words() {
            return Err(run.blocked_by(CheckId::P3Help, "there is no help page".to_owned()));
        }
        let bytes = printed(&run);
        let root = HelpPage::read(&bytes);
        let commands = Interface::of_command(&root, &[]).commands;
        let names = names_of(&run, &root, &commands);
        let page = Page::of(&root, &[], &names, &commands);
        let of_command = |run: RunView<'a>| {
            own_page(&run, &bytes).map_err(|_| {
                run.blocked_by(
                    CheckId::P3CommandHelp,
                    format!("`{}` prints no page of its own", run.probe.name),
                )
            })?;
            let path = &run.probe.call.args[..run.probe.call.args.len().saturating_sub(1)];
            let words: Vec<&str> = path.iter().map(String::as_str).collect();
            let page = Page::of(&HelpPage::read(&printed(&run)), &words, &names, &commands);
            Ok(Printed { run, path, page })
        };
        let commands = of_commands(context).map(of_command).collect();
        Ok(Self { root: Printed { run, path: &[], page }, commands })
    }

    /// What is left to say where no command was asked for its page.
    pub fn without_commands(&self) -> Option<Judgement> {
        if !self.commands.is_empty() {
            return None;
        }
        let names: Vec<&str> =
            self.root.page.interface.commands.iter().map(|command| command.name.as_str()).collect();
        if names.is_empty() {
            return Some(Judgement::NotApplicable("the help lists no subcommands".to_owned()));
        }
        let more = if names.len() > NAMED { ", \u{2026}" } else { "" };
        Some(Judgement::unverified(format!(
            "no probe begins with a subcommand that the help lists ({}{more}): declare one",
            names[..names.len().min(NAMED)].join(", "),
        )))
    }
}

/// The names that a target is called by, as far as its help shows.
pub fn names(context: &CheckContext) -> Names {
    let Some(run) = root(context) else { return Names::default() };
    let page = HelpPage::read(&printed(&run));
    names_of(&run, &page, &Interface::of_command(&page, &[]).commands)
}

fn names_of(run: &RunView, page: &HelpPage, commands: &[Command]) -> Names {
    let call = run.probe.args_in(OutputFormat::Text, run.context.profile);
    Names::of(page, commands, run.observation.argv.strip_suffix(&*call).unwrap_or_default())
}

/// The run that asked the target for its help.
pub fn root<'a>(context: &'a CheckContext<'a>) -> Option<RunView<'a>> {
    of_kind(context, Derived::Help).next()
}

/// The runs that asked commands for their help.
pub fn of_commands<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    of_kind(context, Derived::CommandHelp)
}

/// The runs of a derived kind.
pub fn of_kind<'a>(context: &'a CheckContext<'a>, kind: Derived) -> impl Iterator<Item = RunView<'a>> {
    context.derived(kind).filter_map(|probe| context.plain(probe, OutputFormat::Text))
}

/// A command prints a page that is not that of the target.
pub fn own_page(run: &RunView, root: &[u8]) -> Assertion {
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
    if printed(run).trim_ascii() == root.trim_ascii() {
        let detail = format!("`{call}` prints the help of the target, not that of the subcommand");
        return run.failed_at_start("same", Stream::Stdout, detail);
    }
    Ok(())
}

/// The first bytes on standard output.
pub fn printed(run: &RunView) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An unreadable capture is an empty page.
    let _ = run.bytes(Stream::Stdout).reader().take(MOST).read_to_end(&mut bytes);
    bytes
}
