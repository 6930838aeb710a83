//! What changed between two versions of a promise, and whom it breaks.
//!
//! An output is what a producer gives: whoever reads it relies on every promise, so a promise that is
//! widened breaks readers, and one that is narrowed does not.

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
mod inline;
mod normalize;
mod object;
mod outputs;
mod pattern;
mod predicates;
mod rename;
mod sample;
mod scalar;
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
