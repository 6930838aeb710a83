//! Combined conditions: one run under several conditions. Each of them makes a program print more or wait, and none
//! hides the effect of another. If the run equals the plain run, so do the runs under each single condition.

use super::Variant;

/// The condition of a run: a variant, such as a terminal, and the 0-based index of its environment or repetition.
pub type Condition = (Variant, u8);

/// The combined conditions. Each has the single conditions that it combines: one run under it replaces a run under each
/// of them.
pub const COMBINED: &[(Condition, &[Condition])] = &[
    (
        (Variant::Tty, 1),
        &[(Variant::Tty, 0), (Variant::HostileEnv, 0), (Variant::HostileEnv, 1), (Variant::HostileEnv, 2)],
    ),
    ((Variant::SlowReader, 1), &[(Variant::SlowReader, 0), (Variant::HostileEnv, 3)]),
    ((Variant::File, 1), &[(Variant::File, 0), (Variant::OpenStdin, 0)]),
];

/// Returns the single conditions that a combined condition replaces; `None` if the condition is not a combined one.
pub fn single_conditions(variant: Variant, nth: u8) -> Option<&'static [Condition]> {
    COMBINED.iter().find(|(combined, _)| *combined == (variant, nth)).map(|(_, parts)| *parts)
}

/// Returns the combined condition that includes this single condition; `None` if there is none.
pub fn combined_condition(variant: Variant, nth: u8) -> Option<Condition> {
    COMBINED.iter().find(|(_, parts)| parts.contains(&(variant, nth))).map(|(combined, _)| *combined)
}
