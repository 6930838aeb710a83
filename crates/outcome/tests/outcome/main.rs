//! Tests of outcomes through the public API.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
mod memory;
