//! Which details of values a shape keeps, in addition to their types and keys.

use super::model::{Arrays, Elements, Fields, Group, Objects, Strings};
use super::text::Formats;
use agentnative_contract::type_keys;
use memchr::memmem::Finder;
use strict_json::{JsonType, TapeNode};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a string that is hashed, in bytes. Longer strings arrive in parts and are ignored.
const MAX_HASHED_TEXT: usize = 64 << 10;
/// Maximum number of different keys of objects in comparisons of values. Objects with more keys count as maps.
const MAX_KEYS: usize = 4096;

/// What a shape keeps of values, in addition to their types and keys.
pub(super) enum Detail {
    /// For a schema: formats and closed sets of strings, tuples, and a separate shape for the objects of each tag.
    Schema,
    /// For comparisons of values: the kinds of records, with hashes of their values.
    Values {
        /// Searches for "json" in strings. Such strings may name the output format and differ between formats.
        format_names: Box<Finder<'static>>,
        /// Hashes of the keys that name the type of a record, such as `type`.
        type_keys: Vec<u64>,
    },
}

impl Detail {
    /// Creates the variant for comparisons of values.
    pub fn values() -> Self {
        let type_keys = type_keys().map(|key| xxh3_64(key.as_bytes())).collect();
        Self::Values { format_names: Box::new(Finder::new("json")), type_keys }
    }

    /// Returns the hashes of the keys that name the type of a record, such as `type`. Empty for a schema.
    pub fn type_keys(&self) -> &[u64] {
        match self {
            Self::Schema => &[],
            Self::Values { type_keys, .. } => type_keys,
        }
    }

    pub fn is_schema(&self) -> bool {
        matches!(self, Self::Schema)
    }

    /// Returns the shape of no strings, which keeps this detail.
    pub fn empty_strings(&self) -> Box<Strings> {
        Box::new(match self {
            Self::Schema => Strings::default(),
            Self::Values { .. } => Strings { count: 0, formats: Formats::NONE, choices: None },
        })
    }

    /// Returns the shape of no arrays, which keeps this detail.
    pub fn empty_arrays(&self) -> Box<Arrays> {
        let elements = match self {
            Self::Schema => Elements::default(),
            Self::Values { .. } => Elements::List(Box::default()),
        };
        Box::new(Arrays { count: 0, elements })
    }

    /// Returns the shape of no objects, which keeps this detail.
    pub fn empty_objects(&self) -> Box<Objects> {
        let groups = match self {
            Self::Schema => Vec::new(),
            Self::Values { .. } => {
                let fields = Fields { max_keys: MAX_KEYS, ..Fields::default() };
                vec![Group { fields, ..Group::default() }]
            }
        };
        Box::new(Objects { groups, ..Objects::default() })
    }

    /// Returns the hash of a scalar value. `key` is the hash of its key, or `None` for an array element. Ignored
    /// values, such as null, have the hash 0.
    pub fn hash(&self, key: Option<u64>, value: TapeNode<'_>) -> u64 {
        let Self::Values { format_names, .. } = self else { return 0 };
        let text = value.text();
        let hash = match value.json_type() {
            JsonType::Null => return 0,
            JsonType::Boolean if value.as_bool() == Some(true) => xxh3_64(b"true"),
            JsonType::Boolean => xxh3_64(b"false"),
            JsonType::String
                if text.len() > MAX_HASHED_TEXT || format_names.find(text.as_bytes()).is_some() =>
            {
                return 0;
            }
            // 1.0 equals 1.
            JsonType::Number if let Ok(number) = text.parse::<f64>() => {
                xxh3_64(&number.to_bits().to_le_bytes())
            }
            _ => xxh3_64(text.as_bytes()),
        };
        key.unwrap_or_default().rotate_left(17) ^ hash
    }
}
