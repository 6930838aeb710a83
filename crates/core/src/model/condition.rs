//! The condition of a run, for people: its variant, and which one of several alike.

use super::{Variant, parts};

/// Names the condition: the variant, for an environment which one, and the number of a repetition, from 1.
pub fn condition(variant: Variant, nth: u8) -> String {
    let environments = variant.environments();
    match environments.get(usize::from(nth)) {
        Some((name, _)) if environments.len() > 1 && !name.is_empty() => {
            format!("{} ({name})", variant.name())
        }
        _ if variant == Variant::Repeat => format!("{} {}", variant.name(), u16::from(nth) + 1),
        _ => variant.name().to_owned(),
    }
}

/// The variables that the condition adds, as a shell takes them in front of a command.
pub fn settings(variant: Variant, nth: u8) -> String {
    let is_shown = variant == Variant::HostileEnv || parts(variant, nth).is_some();
    let added = variant.added(nth).filter(|_| is_shown);
    added.map(|(name, value)| format!("{name}={value} ")).collect()
}

/// The condition as words that follow a command line; none for a plain run. Of an environment they name the
/// first variables, enough to see the same again.
pub fn in_words(variant: Variant, nth: u8) -> Option<String> {
    let words = match variant {
        Variant::Plain => return None,
        Variant::Tty | Variant::SlowReader if nth == 1 => {
            let usual = in_words(variant, 0).unwrap_or_default();
            return Some(format!("{usual}{}", first_of(variant, nth)));
        }
        Variant::File if nth == 1 => "into a file with stdin left open",
        Variant::Tty => "on a terminal",
        Variant::SlowReader => "with a slow reader",
        Variant::File => "into a file",
        Variant::ClosedPipe => "with a reader that closes early",
        Variant::OpenStdin => "with stdin left open",
        Variant::Repeat => "run again",
        Variant::TerminalIn => "with a terminal on stdin",
        Variant::FullTerminal => "on a terminal, stdin too",
        Variant::ColourPipe => "with TERM=xterm-256color",
        Variant::NoColour if nth == 0 => "on a terminal with NO_COLOR=1",
        Variant::NoColour => "on a terminal with TERM=dumb",
        Variant::NoPager => "on a terminal with PAGER=",
        Variant::Full => "with stdout on /dev/full",
        Variant::Bare if nth == 0 => "without HOME",
        Variant::Bare => "with an invalid configuration file",
        Variant::Xdg => "with the XDG folders elsewhere",
        Variant::HostileEnv => return Some(first_of(variant, nth).trim_start().to_owned()),
    };
    Some(words.to_owned())
}

/// The first variables of the condition.
fn first_of(variant: Variant, nth: u8) -> String {
    let terminal = Variant::Tty.added(0).collect::<Vec<_>>();
    let added: Vec<_> = variant.added(nth).filter(|added| !terminal.contains(added)).collect();
    let first = added.iter().take(2).map(|(name, value)| format!(" {name}={value}"));
    let more = if added.len() > 2 { " …" } else { "" };
    format!(" with{}{more}", first.collect::<String>())
}
