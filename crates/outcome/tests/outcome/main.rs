//! Tests of outcomes through the public API.

mod memory;
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
