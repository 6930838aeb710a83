//! Names and descriptions of the conditions of runs, for reports.

use super::{OutputFormat, Variant, single_conditions};

/// Returns the name of a condition for reports: the name of the variant, and the name of its environment if it has
/// several. For a repetition, its number from 1 follows instead.
pub fn condition_name(variant: Variant, nth: u8) -> String {
    let environments = variant.environments();
    match environments.get(usize::from(nth)) {
        Some((name, _)) if environments.len() > 1 && !name.is_empty() => {
            format!("{} ({name})", variant.name())
        }
        _ if variant == Variant::Repeat => format!("{} {}", variant.name(), u16::from(nth) + 1),
        _ => variant.name().to_owned(),
    }
}

/// Returns the environment variables that a condition sets, as assignments in front of a shell command (`CI=true `).
/// Empty for most conditions.
pub fn condition_assignments(variant: Variant, nth: u8) -> String {
    let is_shown = variant == Variant::HostileEnv || single_conditions(variant, nth).is_some();
    let added = variant.added_variables(nth).filter(|_| is_shown);
    added.map(|(name, value)| format!("{name}={value} ")).collect()
}

/// Returns the number of columns of a terminal on which a call prints `format`. Data must not depend on the width, and text
/// on a wide terminal is complete.
pub const fn terminal_columns(format: OutputFormat) -> u16 {
    if format.is_json() { 20 } else { 500 }
}

/// Returns a phrase that describes a condition after a command line, such as `on a terminal`; `None` for a plain run.
/// For an environment, the phrase contains only the first variables, which are enough to reproduce the result.
pub fn condition_phrase(variant: Variant, nth: u8, format: Option<OutputFormat>) -> Option<String> {
    let words = match variant {
        Variant::Plain => return None,
        Variant::Tty | Variant::SlowReader if nth > 0 => {
            let single = condition_phrase(variant, 0, format).unwrap_or_default();
            return Some(format!("{single}{}", first_variables(variant, nth)));
        }
        Variant::File if nth == 1 => "into a file with stdin left open",
        Variant::File if nth == 2 => "into a file with stdin left open, in the home of an earlier call",
        Variant::Tty if format.is_some_and(OutputFormat::is_json) => "on a terminal of 20 columns",
        Variant::Tty => "on a terminal",
        Variant::SlowReader => "with a slow reader",
        Variant::File => "into a file",
        Variant::ClosedPipe => "into a closed pipe",
        Variant::OpenStdin => "with stdin left open",
        Variant::Repeat => "repeated",
        Variant::TerminalIn => "with a terminal on stdin",
        Variant::FullTerminal => "with all streams on a terminal",
        Variant::ColourPipe => "with TERM=xterm-256color",
        Variant::NoColour if nth == 0 => "on a terminal with NO_COLOR=1",
        Variant::NoColour => "on a terminal with TERM=dumb",
        Variant::NoPager => "on a terminal with PAGER=",
        Variant::Full => "with stdout on /dev/full",
        Variant::Bare if nth == 0 => "without HOME",
        Variant::Bare => "with an invalid configuration file",
        Variant::Xdg => "with the XDG folders outside the home",
        Variant::UsedHome if nth == 0 => "in the home of an earlier call",
        Variant::UsedHome => "in the home of two earlier calls, whose files are 30 days old",
        Variant::ReadOnlyHome => "with a read-only home",
        Variant::Unconfigured => "without its configuration file",
        Variant::HostileEnv => return Some(first_variables(variant, nth).trim_start().to_owned()),
    };
    Some(words.to_owned())
}

/// Returns a phrase for the first two variables that a condition sets, such as `with CI=true`. Omits variables that are
/// set in every run on a terminal.
fn first_variables(variant: Variant, nth: u8) -> String {
    let terminal = Variant::Tty.added_variables(0).collect::<Vec<_>>();
    let added: Vec<_> = variant.added_variables(nth).filter(|added| !terminal.contains(added)).collect();
    let first = added.iter().take(2).map(|(name, value)| format!(" {name}={value}"));
    let more = if added.len() > 2 { " …" } else { "" };
    format!(" with{}{more}", first.collect::<String>())
}
