//! `agentnative.toml`, or the same in a manifest: where it is found, what it says, and everything that is wrong
//! with it at once.
//!
//! `keys.toml` is the reference of its keys: each value is validated by the schema of its type there, and the messages
//! say what the type expects (`section`). The valid values are deserialized into the settings. By hand is only what
//! concerns several keys, the rest of the file or the file system: first in each element (`target`, `probe`, `waiver`: a
//! file each), then of the elements against each other (`parse`). A file with any fault gives one error that lists them
//! all. So a new key of a simple type is an entry in `keys.toml`, a field in `types`, and its use.

mod check;
mod common_flags;
mod contract;
mod conventions;
mod date;
mod discover;
mod flag;
mod formats;
mod parse;
mod path;
mod probe;
mod reference;
mod schema;
mod section;
mod service;
mod target;
mod trust;
mod types;
mod waiver;

pub use agentnative_contract::contract_path;
pub use common_flags::{Flag, Flags, SHELL_PLACE};
pub use conventions::{Conventions, Feature, SecretConfig};
pub use date::{Date, rfc3339};
pub use discover::{FILE_NAME, repository};
pub use formats::{Asking, FORMAT_PLACE, Formats, place_format};
pub use reference::{Key, find_keys, keys};
pub use schema::schema;
pub use trust::{check_owner, folders_above, searched_folders};
pub use types::{
    CallConfig, CheckConfig, Config, Contracts, EffectConfig, FILE_PLACE, Isolation, Known, ListConfig,
    PORT_PLACE, ProbeConfig, Ready, STALLED_PLACE, ServiceConfig, TargetConfig, Waiver, Workspace,
};
