//! Tests of outcomes through the public API.

mod memory;
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
#[path = "../../../../tests/support/recordings.rs"]
#[expect(dead_code, reason = "the tests here use only some of its items")]
mod recordings;
mod recordings_of_agents;
