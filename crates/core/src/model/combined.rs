//! Combined conditions: one run under several conditions. Each of them makes a program print more or wait, and none
//! hides the effect of another. If the run equals the plain run, so do the runs under each single condition.

use super::{ASCII_LOCALE, GERMAN_LOCALE, NARROW_TERMINAL, TURKISH_LOCALE, Variant};

/// The condition of a run: a variant, such as a terminal, and the 0-based index of its environment or repetition.
pub type Condition = (Variant, u8);

/// The combined conditions. Each has the single conditions that it combines: one run under it replaces a run under each
/// of them. A combination with more conditions comes before one with a part of them, which older recordings contain.
pub const COMBINED: &[(Condition, &[Condition])] = &[
    (
        (Variant::Tty, 1),
        &[
            (Variant::Tty, 0),
            (Variant::HostileEnv, 0),
            (Variant::HostileEnv, 1),
            (Variant::HostileEnv, GERMAN_LOCALE),
        ],
    ),
    (
        (Variant::SlowReader, 2),
        &[
            (Variant::SlowReader, 0),
            (Variant::HostileEnv, 3),
            (Variant::HostileEnv, NARROW_TERMINAL),
            (Variant::HostileEnv, ASCII_LOCALE),
            (Variant::UsedHome, 1),
        ],
    ),
    (
        (Variant::File, 2),
        &[
            (Variant::File, 0),
            (Variant::OpenStdin, 0),
            (Variant::HostileEnv, TURKISH_LOCALE),
            (Variant::UsedHome, 0),
        ],
    ),
    ((Variant::SlowReader, 1), &[(Variant::SlowReader, 0), (Variant::HostileEnv, 3)]),
    ((Variant::File, 1), &[(Variant::File, 0), (Variant::OpenStdin, 0)]),
];

/// Returns the single conditions that a combined condition replaces; `None` if the condition is not a combined one.
pub fn single_conditions(variant: Variant, nth: u8) -> Option<&'static [Condition]> {
    COMBINED.iter().find(|(combined, _)| *combined == (variant, nth)).map(|(_, parts)| *parts)
}

/// Returns the combined conditions that include this condition, which may itself be a combined one.
pub fn combined_conditions(condition: Condition) -> impl Iterator<Item = Condition> {
    let (variant, nth) = condition;
    let own = single_conditions(variant, nth);
    let includes = move |parts: &[Condition]| match own {
        Some(own) => own.iter().all(|part| parts.contains(part)),
        None => parts.contains(&condition),
    };
    let all = COMBINED.iter().filter(move |(combined, parts)| *combined != condition && includes(parts));
    all.map(|(combined, _)| *combined)
}
