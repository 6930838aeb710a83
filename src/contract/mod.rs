//! Contracts: what a target promises, as data, and whether documents, streams and runs keep it.
//!
//! A contract is a folder with a `contract.toml` and JSON Schemas, bundled or anywhere, or just a
//! schema file. Reading one gives a [`Contract`]; its [`Judge`] takes the document or the records of
//! a stream and the end of the run, and gives [`Violation`]s. Nothing here runs or prints anything.

mod about;
mod chunks;
#[expect(clippy::module_inception, reason = "the file of the type that the room is named for")]
mod contract;
mod cut;
pub mod diff;
mod ending;
mod examine;
mod facts;
mod finding;
mod flat;
pub mod infer;
mod judge;
pub mod lock;
mod promise;
mod read;
mod read_rule;
mod rule;
mod schema;
mod sources;
mod spec;
mod tail;
mod validate;
mod view;
mod violation;

pub use about::{About, AboutCondition, AboutRule};
pub use contract::{CONTRACT_FILE, Contract, contract_path, names};
pub use ending::Ending;
pub use finding::{Against, Finding, Verdict};
pub use judge::{Judge, Outcome};
pub use promise::{Errors, Events, Exit, Order, Promise};
pub use schema::Schema;
pub use spec::{Framing, Payload};
pub use validate::{Settings, Validation};
pub use violation::{Broken, Violation};
