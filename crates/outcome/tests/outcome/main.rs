//! Outcomes, through the public face of their crate.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
mod memory;
