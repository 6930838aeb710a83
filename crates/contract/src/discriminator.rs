//! Keys whose value determines the shape of an object, such as `type`.

/// A key whose value determines the shape of an object, such as `type` or `ok`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discriminator {
    /// The name of the key.
    pub key: &'static str,
    /// Whether the value of the key is a boolean, as in `{"ok": true}`; otherwise it is a string.
    pub boolean: bool,
    /// Whether the value of the key is the type of a record, as in `{"type": "start"}`.
    pub names_type: bool,
}

/// All discriminators, in order of precedence: if an object has several of them, only the first counts.
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

/// Returns the keys whose value can be the type of a record, in order of precedence: the first that all records have
/// counts.
pub fn type_keys() -> impl Iterator<Item = &'static str> {
    DISCRIMINATORS
        .iter()
        .filter(|discriminator| discriminator.names_type)
        .map(|discriminator| discriminator.key)
}
