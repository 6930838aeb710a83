//! Calls that a text shows, held against the help pages.

use super::pages::Printed;
use crate::verdict::{Assertion, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::Stream;
use agentnative_core::targets::Example;

/// The pages that examples are compared with.
pub struct Examples<'p, 'a> {
    root: &'p Printed<'a>,
    commands: Vec<&'p Printed<'a>>,
}

/// What an example calls.
enum Called<'p, 'a> {
    /// The target, or a command whose page was read; so many arguments name it.
    Page(&'p Printed<'a>, usize),
    /// A command whose page was not read.
    Unread(String),
    /// What the page that lists commands does not tell.
    Unknown(String),
    /// A word that may be an argument.
    Unclear,
}

/// What is wrong with a call that a text shows.
pub enum Wrong {
    /// The help lists no such subcommand.
    Command(String),
    /// The help describes no such option.
    Flag(String),
    /// Whether this subcommand has this option is not known: its page was not read.
    Unread(String, String),
}

impl Wrong {
    /// The `kind` of the evidence, and what was seen; or why it cannot be told.
    pub fn told(self) -> Result<(&'static str, String), String> {
        match self {
            Self::Command(command) => {
                Ok(("unknown-command", format!("the help lists no subcommand `{command}`")))
            }
            Self::Flag(flag) => Ok(("unknown-flag", format!("the help describes no option `{flag}`"))),
            Self::Unread(command, flag) => Err(format!(
                "whether `{command}` has the option `{flag}` of an example is unknown: declare a probe of `{command}`"
            )),
        }
    }
}

impl<'p, 'a> Examples<'p, 'a> {
    /// The pages of a target that its calls are compared with.
    pub fn of(root: &'p Printed<'a>, commands: Vec<&'p Printed<'a>>) -> Self {
        Self { root, commands }
    }

    /// All of them, that of the target itself first.
    pub fn pages(&self) -> impl Iterator<Item = &'p Printed<'a>> {
        std::iter::once(self.root).chain(self.commands.iter().copied())
    }

    /// Its command and its long flags exist, and if it is the call of a probe, that ended as declared.
    pub fn is_valid(&self, at: &Printed, example: &Example) -> Assertion {
        match self.wrong(&example.args).map(Wrong::told) {
            Some(Ok((kind, detail))) => at.run.failed_at_line(kind, Stream::Stdout, example.line, detail),
            Some(Err(reason)) => inconclusive(reason),
            None => self.ended_as_declared(&example.args),
        }
    }

    /// What is wrong with a call of these arguments, as far as the pages show.
    pub fn wrong(&self, args: &[String]) -> Option<Wrong> {
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let args = &args[..end];
        let called = self.called(args);
        if let Called::Unknown(command) = called {
            return Some(Wrong::Command(command));
        }
        let mut unread = None;
        for (nth, flag) in args.iter().enumerate().filter(|(_, arg)| arg.len() > 2 && arg.starts_with("--")) {
            let flag = flag.split('=').next().unwrap_or(flag);
            if self.root.page.has_flag(flag) {
                continue;
            }
            match &called {
                Called::Page(page, words) => {
                    // In front of a command's last word is a flag of the commands above it.
                    let above = nth < *words && page.path.len() > 1;
                    let of_others = page.page.passes_on()
                        && args[*words..nth.max(*words)].iter().any(|arg| !arg.starts_with('-'));
                    if !above && !of_others && !page.page.has_flag(flag) {
                        return Some(Wrong::Flag(flag.to_owned()));
                    }
                }
                Called::Unread(command) => unread = Some(Wrong::Unread(command.clone(), flag.to_owned())),
                Called::Unknown(_) | Called::Unclear => {}
            }
        }
        unread
    }

    /// The command that the arguments of an example begin with.
    fn called(&self, args: &[String]) -> Called<'p, 'a> {
        let root = self.root;
        if root.page.interface.commands.is_empty() {
            return Called::Page(root, 0);
        }
        let word = |from: usize| (from..args.len()).find(|at| !args[*at].starts_with('-'));
        let Some(mut first) = word(0) else { return Called::Page(root, 0) };
        while !root.page.has_command(&args[first]) {
            // Behind a flag it may be the value of that.
            let is_value = first > 0 && args[first - 1].starts_with('-') && !args[first - 1].contains('=');
            match word(first + 1) {
                _ if first == 0 && root.page.lists_all_commands() => return Called::Unknown(args[0].clone()),
                Some(next) if is_value => first = next,
                _ => return Called::Unclear,
            }
        }
        let mut path = vec![args[first].clone()];
        let mut end = first + 1;
        loop {
            let below = |page: &&&Printed| page.path.len() > path.len() && page.path.starts_with(&path);
            let next = word(end).map(|at| (at, &args[at]));
            if let Some((at, next)) = next
                && self.commands.iter().filter(below).any(|page| &page.path[path.len()] == next)
            {
                path.push(next.clone());
                end = at + 1;
                continue;
            }
            return match self.commands.iter().find(|page| page.path == path) {
                Some(page) => match next {
                    Some((at, next)) if at == end && page.page.lists_all_commands() => {
                        if page.page.has_command(next) {
                            Called::Unread(format!("{} {next}", path.join(" ")))
                        } else {
                            Called::Unknown(format!("{} {next}", path.join(" ")))
                        }
                    }
                    _ => Called::Page(page, end),
                },
                None => Called::Unread(path.join(" ")),
            };
        }
    }

    /// An example that is the call of a declared probe did as that is declared.
    fn ended_as_declared(&self, args: &[String]) -> Assertion {
        let context = self.root.run.context;
        let without_format = context.derived(Derived::NoFormat);
        for probe in context.declared().chain(without_format) {
            for format in &probe.formats {
                if probe.args_in(*format, context.profile) == args
                    && let Some(run) = context.plain(probe, *format)
                {
                    run.usable()?;
                }
            }
        }
        Ok(())
    }
}
