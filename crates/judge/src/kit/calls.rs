//! Validates command lines in documents, such as examples in a help page, against the help pages of the target.

use super::pages::{Pages, PrintedPage};
use crate::verdict::{Assertion, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Stream;
use agentnative_core::targets::{Example, is_path};

/// Validates examples against the help pages of the target and of its commands.
pub struct ExampleValidator<'p, 'a> {
    root: &'p PrintedPage<'a>,
    commands: Vec<&'p PrintedPage<'a>>,
}

/// The command that an example calls.
enum CalledCommand<'p, 'a> {
    /// The target or a command whose help page is known: the page, and the number of leading arguments that name the
    /// command.
    Page(&'p PrintedPage<'a>, usize),
    /// A command whose help page was not read.
    Unread(String),
    /// A word that is not in the list of commands, although the list is complete.
    Unknown(String),
    /// It is unclear whether the word is a command or an argument.
    Unclear,
}

/// Why a call in a document is invalid, or why this is unknown.
pub enum InvalidCall {
    /// The help lists no such subcommand.
    Command(String),
    /// The help describes no such option.
    Flag(String),
    /// It is unknown whether this subcommand (the first text) has this option (the second), because its help page was
    /// not read.
    Unread(String, String),
}

impl InvalidCall {
    /// Returns the kind and the detail of the evidence for an invalid call. An error states why the call cannot be
    /// judged.
    pub fn into_problem(self) -> Result<(&'static str, String), String> {
        match self {
            Self::Command(command) => {
                Ok(("unknown-command", format!("the help lists no subcommand `{command}`")))
            }
            Self::Flag(flag) => Ok(("unknown-flag", format!("the help describes no option `{flag}`"))),
            Self::Unread(command, flag) => Err(format!(
                "it is unknown whether `{command}` has the option `{flag}` of an example: declare a probe of `{command}`"
            )),
        }
    }
}

impl<'p, 'a> ExampleValidator<'p, 'a> {
    pub fn new(pages: &'p Pages<'a>) -> Self {
        Self { root: &pages.root, commands: pages.of_commands().collect() }
    }

    /// Passes if the help describes the command and the long options of an example. If a probe makes the same call, its
    /// run also has to end as declared. A failure points to the example in `page`.
    pub fn validate(&self, page: &PrintedPage, example: &Example) -> Assertion {
        match self.find_error(&example.args).map(InvalidCall::into_problem) {
            Some(Ok((kind, detail))) => page.run.failed_at_line(kind, Stream::Stdout, example.line, detail),
            Some(Err(reason)) => inconclusive(reason),
            None => self.ended_as_declared(&example.args),
        }
    }

    /// Returns what is wrong with the arguments of a call according to the help pages; `None` if no error is found.
    pub fn find_error(&self, args: &[String]) -> Option<InvalidCall> {
        let len = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let args = &args[..len];
        let called = self.called_command(args);
        if let CalledCommand::Unknown(command) = called {
            return Some(InvalidCall::Command(command));
        }
        let mut unread = None;
        for (nth, flag) in args.iter().enumerate().filter(|(_, arg)| arg.len() > 2 && arg.starts_with("--")) {
            // esbuild: `--loader:.js=jsx`
            let flag = flag.split(['=', ':']).next().unwrap_or(flag);
            if self.root.page.mentions_flag(flag) {
                continue;
            }
            match &called {
                CalledCommand::Page(page, words) => {
                    // A flag before the last word of a command belongs to the commands above it.
                    let above = nth < *words && page.path.len() > 1;
                    let passed_on = page.page.forwards_arguments()
                        && args[*words..nth.max(*words)].iter().any(|arg| !arg.starts_with('-'));
                    if !above && !passed_on && !page.page.mentions_flag(flag) {
                        return Some(InvalidCall::Flag(flag.to_owned()));
                    }
                }
                CalledCommand::Unread(command) => {
                    unread = Some(InvalidCall::Unread(command.clone(), flag.to_owned()))
                }
                CalledCommand::Unknown(_) | CalledCommand::Unclear => {}
            }
        }
        unread
    }

    /// Returns the command that an example calls, which the first words of its arguments name.
    fn called_command(&self, args: &[String]) -> CalledCommand<'p, 'a> {
        let root = self.root;
        if root.page.interface.commands.is_empty() {
            return CalledCommand::Page(root, 0);
        }
        let word = |from: usize| (from..args.len()).find(|index| !args[*index].starts_with('-'));
        let Some(mut first) = word(0) else { return CalledCommand::Page(root, 0) };
        while !root.page.has_command(&args[first]) {
            // A word after a flag may be its value.
            let is_value = first > 0 && args[first - 1].starts_with('-') && !args[first - 1].contains('=');
            match word(first + 1) {
                // A target with a default command may take a value in the place of a command.
                _ if first == 0 && is_path(&args[0]) => return CalledCommand::Unclear,
                _ if first == 0 && root.page.lists_all_commands() => {
                    return CalledCommand::Unknown(args[0].clone());
                }
                Some(next) if is_value => first = next,
                _ => return CalledCommand::Unclear,
            }
        }
        let mut path = vec![args[first].clone()];
        let mut end = first + 1;
        loop {
            let below = |page: &&&PrintedPage| page.path.len() > path.len() && page.path.starts_with(&path);
            let next = word(end).map(|index| (index, &args[index]));
            if let Some((index, next)) = next
                && self.commands.iter().filter(below).any(|page| &page.path[path.len()] == next)
            {
                path.push(next.clone());
                end = index + 1;
                continue;
            }
            return match self.commands.iter().find(|page| page.path == path) {
                Some(page) => match next {
                    Some((index, next)) if index == end && page.page.lists_all_commands() => {
                        if page.page.has_command(next) {
                            CalledCommand::Unread(format!("{} {next}", path.join(" ")))
                        } else {
                            CalledCommand::Unknown(format!("{} {next}", path.join(" ")))
                        }
                    }
                    _ => CalledCommand::Page(page, end),
                },
                None => CalledCommand::Unread(path.join(" ")),
            };
        }
    }

    /// Fails only if a declared probe makes the same call as the example, and its run did not end as declared.
    fn ended_as_declared(&self, args: &[String]) -> Assertion {
        let context = self.root.run.context;
        let without_format = context.derived_probes(DerivedKind::NoFormat);
        for probe in context.sources().chain(without_format) {
            for format in &probe.formats {
                if probe.args_in(*format, context.profile) == args
                    && let Some(run) = context.plain_run(probe, *format)
                {
                    run.usable()?;
                }
            }
        }
        Ok(())
    }
}
