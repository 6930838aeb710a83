//! Strict reading of TOML files: what is there, what was expected, and every fault on its span.

mod diagnostics;
mod nearest;
mod value;

pub use nearest::nearest;

pub use diagnostics::{Diagnostics, Span, place};
pub use value::{Table, Value, suggestion, variable_name};
