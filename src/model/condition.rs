//! The condition of a run, for people: its variant, and which one of several alike.

use super::Variant;
use agentnative_helper::HOSTILE_ENVIRONMENTS;

/// Names the condition: the variant, for an environment which one, and the number of a repetition, from 1.
pub fn condition(variant: Variant, nth: u8) -> String {
    match (variant, HOSTILE_ENVIRONMENTS.get(usize::from(nth))) {
        (Variant::HostileEnv, Some((name, _))) => format!("{} ({name})", variant.name()),
        (Variant::Repeat, _) => format!("{} {}", variant.name(), u16::from(nth) + 1),
        _ => variant.name().to_owned(),
    }
}

/// The variables that the condition adds, as a shell takes them in front of a command.
pub fn settings(variant: Variant, nth: u8) -> String {
    let added = match (variant, HOSTILE_ENVIRONMENTS.get(usize::from(nth))) {
        (Variant::HostileEnv, Some((_, added))) => added,
        _ => &[][..],
    };
    added.iter().map(|(name, value)| format!("{name}={value} ")).collect()
}

/// The condition as words that follow a command line; none for a plain run. Of an environment they name the
/// first variables, enough to see the same again.
pub fn in_words(variant: Variant, nth: u8) -> Option<String> {
    let words = match variant {
        Variant::Plain => return None,
        Variant::Tty => "on a terminal",
        Variant::SlowReader => "with a slow reader",
        Variant::File => "into a file",
        Variant::ClosedPipe => "with a reader that closes early",
        Variant::OpenStdin => "with stdin left open",
        Variant::Repeat => "run again",
        Variant::HostileEnv => {
            let (_, added) = HOSTILE_ENVIRONMENTS.get(usize::from(nth))?;
            let first = added.iter().take(2).map(|(name, value)| format!(" {name}={value}"));
            let more = if added.len() > 2 { " …" } else { "" };
            return Some(format!("with{}{more}", first.collect::<String>()));
        }
    };
    Some(words.to_owned())
}
