//! Compares two versions of a program's output, and classifies the changes by whether they break consumers.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod array;
mod bundle;
mod canonicalize;
mod catalogue;
mod change;
mod compare;
mod evaluate;
mod events;
mod examples;
pub mod infer;
mod inline;
pub mod interface;
pub mod lock;
mod merge;
mod normalize;
mod object;
mod outputs;
mod pattern;
mod predicates;
mod rename;
mod sample_comparison;
mod samples;
mod scalar;
mod schema_comparer;
pub mod shape;
mod streams;
mod typed_schema;
mod union;
mod validator;
mod variants;
mod witness;

pub use catalogue::{ChangeRule, RuleExample, SoundExample, change_rule, change_rules};
pub use change::{Change, ChangeSeverity, Evidence, OtherOutput, SamplePosition, Witness};
pub use compare::compare;
pub use sample_comparison::{SampleComparison, SampleSide, compare_sample};
pub use samples::{infer_spec, is_schema_file};
