//! Strict reading of TOML files: what is there, what was expected, and every fault on its span.

mod fault;
mod nearest;
mod value;

pub use nearest::nearest;

pub use fault::{Faults, Span, place};
pub use value::{Table, Value, suggestion, variable_name};
