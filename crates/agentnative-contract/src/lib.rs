//! Contracts: what a target promises, as data, and whether documents, streams and runs keep it.
//!
//! A contract is a folder with a `contract.toml` and JSON Schemas, bundled or anywhere, or just a
//! schema file. Reading one gives a [`Contract`]; its [`StreamValidator`] takes the document or the
//! records of a stream and the end of the run, and gives [`Violation`]s. Nothing here runs or prints anything.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod about;
mod contract;
mod data_file;
pub mod diff;
mod discriminator;
pub mod error;
mod exit_rules;
mod finding;
mod flat;
mod format;
pub mod infer;
mod line_chunker;
mod location_buffer;
pub mod lock;
pub mod outcome;
mod outline;
mod parallel;
mod promise;
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
mod validate;
mod view;
mod violation;

pub use about::{About, AboutCondition, AboutRule};
pub use contract::{CONTRACT_FILE, Contract, contract_path, names};
pub use data_file::{DataFile, data_files};
pub use discriminator::{DISCRIMINATORS, Discriminator, type_keys};
pub use exit_rules::RunExit;
pub use finding::{Against, Finding, Verdict};
pub use format::{OutputFormat, Stream};
pub use outline::{OutlineLine, outline};
pub use promise::{Errors, Events, Exit, Order, Promise};
pub use samples::is_schema_file;
pub use schema::Schema;
pub use spec::{Framing, Payload};
pub use stream_state::Outcome;
pub use stream_validator::StreamValidator;
pub use validate::{Settings, Validation};
pub use violation::{Broken, Violation};
