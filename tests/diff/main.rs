//! What changed between two versions of a promise.

mod cli;
mod kinds;
mod real;
mod rules;
mod soundness;
mod support;
