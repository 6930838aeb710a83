//! What changed between two versions of a promise.

mod kinds;
mod real;
mod references;
mod rules;
mod soundness;
mod support;
