//! What is kept of values beside their types and keys.

use super::model::{Arrays, Elements, Fields, Group, Objects, Strings};
use super::text::Formats;
use agentnative_contract::type_keys;
use memchr::memmem::Finder;
use strict_json::{JsonType, TapeNode};
use xxhash_rust::xxh3::xxh3_64;

/// Longer strings have no hash: they come in parts.
const LONG: usize = 64 << 10;
/// An object with more different keys is a map, where values are compared.
const MAX_KEYS: usize = 4096;

/// What is kept of values.
pub(super) enum Detail {
    /// What a schema says: formats, closed sets, tuples, and the shapes of objects by their tag.
    Schema,
    /// Kinds of records with hashes of their values.
    Values {
        /// Finds the strings that name a format.
        json: Box<Finder<'static>>,
        /// The hashes of the keys that name the type of a record.
        type_keys: Vec<u64>,
    },
}

impl Detail {
    /// For the kinds of records and their values.
    pub fn values() -> Self {
        let type_keys = type_keys().map(|key| xxh3_64(key.as_bytes())).collect();
        Self::Values { json: Box::new(Finder::new("json")), type_keys }
    }

    /// Whether a key with this hash names the type of a record, where that matters.
    pub fn names_type(&self, key: u64) -> bool {
        matches!(self, Self::Values { type_keys, .. } if type_keys.contains(&key))
    }

    pub fn is_schema(&self) -> bool {
        matches!(self, Self::Schema)
    }

    /// Strings of which there are none yet.
    pub fn strings(&self) -> Box<Strings> {
        Box::new(match self {
            Self::Schema => Strings::default(),
            Self::Values { .. } => Strings { count: 0, formats: Formats::NONE, choices: None },
        })
    }

    /// Arrays of which there are none yet.
    pub fn arrays(&self) -> Box<Arrays> {
        let elements = match self {
            Self::Schema => Elements::default(),
            Self::Values { .. } => Elements::List(Box::default()),
        };
        Box::new(Arrays { count: 0, elements })
    }

    /// Objects of which there are none yet.
    pub fn objects(&self) -> Box<Objects> {
        let groups = match self {
            Self::Schema => Vec::new(),
            Self::Values { .. } => {
                let fields = Fields { max_keys: MAX_KEYS, ..Fields::default() };
                vec![Group { fields, ..Group::default() }]
            }
        };
        Box::new(Objects { groups, ..Objects::default() })
    }

    /// The hash of a value that is neither an object nor an array: of a member whose key has that hash, or else of an
    /// element; 0 where it does not count.
    pub fn hash(&self, key: Option<u64>, value: TapeNode<'_>) -> u64 {
        let Self::Values { json, .. } = self else { return 0 };
        let text = value.text();
        let hash = match value.json_type() {
            JsonType::Null => return 0,
            JsonType::Boolean if value.as_bool() == Some(true) => xxh3_64(b"true"),
            JsonType::Boolean => xxh3_64(b"false"),
            JsonType::String if text.len() > LONG || json.find(text.as_bytes()).is_some() => return 0,
            // 1.0 and 1 are one number.
            JsonType::Number if let Ok(number) = text.parse::<f64>() => {
                xxh3_64(&number.to_bits().to_le_bytes())
            }
            _ => xxh3_64(text.as_bytes()),
        };
        key.unwrap_or_default().rotate_left(17) ^ hash
    }
}
