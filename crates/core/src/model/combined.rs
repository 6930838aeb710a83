//! Conditions that one run is made under at once. Each makes a program print more or wait, and none hides another:
//! where the run is like the plain one, so are runs under each of them.

use super::Variant;

/// A variant, and which one of several alike.
pub type Condition = (Variant, u8);

/// Each condition that stands for others, with those.
pub const COMBINED: &[(Condition, &[Condition])] = &[
    (
        (Variant::Tty, 1),
        &[(Variant::Tty, 0), (Variant::HostileEnv, 0), (Variant::HostileEnv, 1), (Variant::HostileEnv, 2)],
    ),
    ((Variant::SlowReader, 1), &[(Variant::SlowReader, 0), (Variant::HostileEnv, 3)]),
    ((Variant::File, 1), &[(Variant::File, 0), (Variant::OpenStdin, 0)]),
];

/// The conditions that this one stands for; none for a single one.
pub fn parts(variant: Variant, nth: u8) -> Option<&'static [Condition]> {
    COMBINED.iter().find(|(whole, _)| *whole == (variant, nth)).map(|(_, parts)| *parts)
}

/// The condition that stands for this one as well, if there is one.
pub fn combination_of(variant: Variant, nth: u8) -> Option<Condition> {
    COMBINED.iter().find(|(_, parts)| parts.contains(&(variant, nth))).map(|(whole, _)| *whole)
}
