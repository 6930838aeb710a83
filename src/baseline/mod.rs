//! Known faults: a project accepts those that it has and fails on new ones.
//!
//! `file` reads and writes them, `compared` compares them with those of a check. Judging accepts them as it does what a
//! waiver names.

mod compared;
mod file;

pub use compared::Compared;
pub use file::BaselineFile;
