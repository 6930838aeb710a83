//! The configuration: `agentnative.toml`, or its table in a manifest. Finds, parses and validates it, and reports all
//! errors together.
//!
//! `keys.toml` is the reference of the keys. Each value is validated by the schema of its type there, and the messages
//! name what the type expects (`section`). The valid values are deserialized into the settings (`types`). Only
//! conditions on several keys, on the rest of the file or on the file system are written by hand: first those within
//! each element (`target`, `probe`, `waiver`: one file each), then those between elements (`parse`). A file with any
//! errors returns one error that lists all of them. So a new key of a simple type is an entry in `keys.toml`, a field
//! in `types`, and its use.

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
pub use common_flags::{CommonOption, CommonOptions, SHELL_PLACEHOLDER};
pub use conventions::{Conventions, Feature, SecretConfig};
pub use date::{Date, rfc3339};
pub use discover::{FILE_NAME, repository_root};
pub use formats::{FORMAT_PLACEHOLDER, FormatFlag, FormatFlags, insert_format_flag};
pub use reference::{ConfigKey, find_keys, keys};
pub use schema::schema;
pub use trust::{ancestors_in_repository, check_owner, searched_folders};
pub use types::{
    CallConfig, CheckConfig, Config, Contracts, EffectConfig, ExploreConfig, FILE_PLACEHOLDER, Isolation,
    ListConfig, PORT_PLACEHOLDER, ProbeConfig, Ready, STALLED_PLACEHOLDER, ServiceConfig, TargetConfig,
    ValidationContext, Waiver, Workspace,
};
