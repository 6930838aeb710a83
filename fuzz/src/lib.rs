//! Fuzz targets: each takes any bytes and panics where the product does not keep a promise.
//!
//! The README of this folder says how to run them, and how to add one.

pub mod corpus;
pub mod dice;
pub mod drive;
pub mod mutate;
mod targets;

/// One thing that is fuzzed.
pub struct Target {
    /// Its name, which is that of its file, of its folder in `finds/`, and of its row.
    pub name: &'static str,
    /// Panics where a promise is not kept.
    pub run: fn(&[u8]),
    /// What inputs are made of, from the files of the repository.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Tokens of its language that the seeds may lack.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    targets::strict_json::TARGET,
    targets::json_lines::TARGET,
    targets::schema::TARGET,
    targets::contract::TARGET,
    targets::config::TARGET,
    targets::recording::TARGET,
    targets::infer::TARGET,
    targets::diff::TARGET,
    targets::outcome::TARGET,
    targets::sanitize::TARGET,
    targets::help::TARGET,
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
