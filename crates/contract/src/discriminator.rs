//! The keys whose value tells kinds of objects apart.

/// A key whose value tells which shape an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discriminator {
    /// The key.
    pub key: &'static str,
    /// Its value is a boolean, and else a string.
    pub boolean: bool,
    /// Its value names the type of a record.
    pub names_type: bool,
}

/// All such keys; the first that an object has counts.
pub const DISCRIMINATORS: [Discriminator; 8] = [
    named("type"),
    named("kind"),
    named("event"),
    named("record"),
    Discriminator { key: "ok", boolean: true, names_type: false },
    Discriminator { key: "success", boolean: true, names_type: false },
    Discriminator { key: "status", boolean: false, names_type: false },
    Discriminator { key: "role", boolean: false, names_type: false },
];

const fn named(key: &'static str) -> Discriminator {
    Discriminator { key, boolean: false, names_type: true }
}

/// The keys that name the type of a record; the first that all records have counts.
pub fn type_keys() -> impl Iterator<Item = &'static str> {
    DISCRIMINATORS
        .iter()
        .filter(|discriminator| discriminator.names_type)
        .map(|discriminator| discriminator.key)
}
