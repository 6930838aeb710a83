//! Contracts of command-line output: validated, inferred, compared, locked, summarised.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod array_records;
mod contract;
mod counted;
mod data_file;
mod decimal;
pub mod diff;
mod discriminator;
pub mod error;
mod exit_rules;
mod format;
pub mod infer;
mod line_chunker;
mod location_buffer;
pub mod lock;
pub mod outcome;
mod outline;
mod output_spec;
mod parallel;
mod pointer;
mod read;
mod read_rule;
mod record_pipeline;
mod record_validator;
mod rule;
mod rule_index;
mod samples;
mod schema;
mod sources;
pub mod spanned_toml;
mod spec;
mod stream_state;
mod stream_validator;
mod summary;
mod tape;
mod validate;
mod violation;
mod workers;

pub use contract::{CONTRACT_FILE, Contract, contract_path, names};
pub use counted::counted;
pub use data_file::{DataFile, data_files};
pub use discriminator::{DISCRIMINATORS, Discriminator, type_keys};
pub use exit_rules::RunExit;
pub use format::{OutputFormat, Stream};
pub use outline::{OutlineLine, outline};
pub use output_spec::{Errors, Events, Exit, Order, OutputSpec};
pub use samples::{is_schema, is_schema_file};
pub use schema::Schema;
pub use spec::{Condition, Finding, Framing, Payload};
pub use stream_state::StreamOutcome;
pub use stream_validator::StreamValidator;
pub use summary::{ContractSummary, RuleSummary};
pub use validate::{Settings, Validation, Verdict};
pub use violation::{Against, Violation};
