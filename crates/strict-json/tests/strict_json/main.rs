//! Tests of the strict reader and the sanitiser through their public API.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
#[path = "../../../../tests/support/events.rs"]
mod events;
mod memory;
#[path = "../../../../tests/support/on_tape.rs"]
mod on_tape;
#[path = "../../../../tests/support/pieces.rs"]
mod pieces;
mod properties;
mod reading;
mod sanitize;
mod sink;
mod tape;
