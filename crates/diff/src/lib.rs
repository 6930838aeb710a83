//! What changed between two versions of an output, and whom it breaks.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod array;
mod bundle;
mod canonicalize;
mod catalogue;
mod change;
mod channels;
mod compare;
mod documents;
mod elsewhere;
mod evaluate;
mod events;
pub mod infer;
mod inline;
pub mod lock;
mod normalize;
mod object;
mod outputs;
mod pattern;
mod predicates;
mod rename;
mod sample;
mod samples;
mod scalar;
pub mod shape;
mod typed_schema;
mod union;
mod validator;
mod variants;
mod walk;
mod witness;

pub use catalogue::{Rule, RuleExample, rule, rules};
pub use change::{Change, Class, Elsewhere, Evidence, SamplePlace, Witness};
pub use compare::compare;
pub use documents::{SampleComparison, SampleSide, compare_sample};
pub use samples::{infer_spec, is_schema_file};
