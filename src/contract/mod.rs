//! Promises about output: JSON Schemas, offline.

mod schema;

pub use schema::{Schema, Violation};
