//! Fuzz targets: each takes any bytes and panics if the product violates one of its properties.
//!
//! The README describes how to run and add targets.

pub mod corpus;
pub mod drive;
pub mod mutate;
pub mod rng;
mod targets;

/// A fuzz target.
pub struct Target {
    /// Name, also of its file and of its folder in `finds/`.
    pub name: &'static str,
    /// Panics if the product violates a property on this input.
    pub run: fn(&[u8]),
    /// Returns the seeds from the files of the repository.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Tokens of the input language that the seeds may lack.
    pub words: &'static [&'static str],
}

/// All fuzz targets.
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
    targets::explore::TARGET,
];

/// Returns the target with this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
