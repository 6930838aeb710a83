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
