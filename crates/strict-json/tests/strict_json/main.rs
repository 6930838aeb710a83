//! The strict reader and the sanitiser, through their public face.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
#[path = "../../../../tests/support/events.rs"]
mod events;
mod memory;
#[path = "../../../../tests/support/pieces.rs"]
mod pieces;
mod properties;
mod reading;
mod sanitize;
mod sink;
