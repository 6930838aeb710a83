//! Baselines: a project accepts the problems that it has and fails on new ones.
//!
//! `file` reads and writes baselines, `compared` compares a baseline with the problems of a check. The judge accepts
//! known problems in the same way as waivers.

mod compared;
mod file;

pub use compared::BaselineComparison;
pub use file::BaselineFile;
