//! Keys whose value determines the shape of an object.

/// A key whose value determines the shape of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discriminator {
    /// The key.
    pub key: &'static str,
    /// Whether its value is a boolean; otherwise it is a string.
    pub boolean: bool,
    /// Whether its value is the type of a record.
    pub names_type: bool,
}

/// All discriminators; the first that an object has counts.
pub const DISCRIMINATORS: [Discriminator; 8] = [
    type_key("type"),
    type_key("kind"),
    type_key("event"),
    type_key("record"),
    Discriminator { key: "ok", boolean: true, names_type: false },
    Discriminator { key: "success", boolean: true, names_type: false },
    Discriminator { key: "status", boolean: false, names_type: false },
    Discriminator { key: "role", boolean: false, names_type: false },
];

const fn type_key(key: &'static str) -> Discriminator {
    Discriminator { key, boolean: false, names_type: true }
}

/// Returns the keys that hold the type of a record; the first that all records have counts.
pub fn type_keys() -> impl Iterator<Item = &'static str> {
    DISCRIMINATORS
        .iter()
        .filter(|discriminator| discriminator.names_type)
        .map(|discriminator| discriminator.key)
}
