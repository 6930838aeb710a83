//! What changed between two versions of a promise.

mod kinds;
mod pairs;
mod real;
mod references;
mod rules;
mod samples;
mod sizes;
mod soundness;
mod support;
mod variants;
