//! What changed between two versions of a promise.

mod kinds;
mod lengths;
mod pairs;
mod real;
mod references;
mod rules;
mod soundness;
mod support;
