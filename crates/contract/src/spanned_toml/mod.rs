//! Reads TOML files strictly and reports all errors at once, each with its span.

mod diagnostics;
mod json;
mod nearest;
mod parse;
mod syntax;
mod value;

pub use diagnostics::{Diagnostics, Span, place};
pub use nearest::nearest;
pub use parse::{parse_file, parse_table};
pub use value::{MAX_DURATION, Table, Value, check_variable_name, collect_all, name_hint};
