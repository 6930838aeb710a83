//! Tests of the strict reader and the sanitiser through their public API.

#[path = "../../../../tests/support/chunked_reader.rs"]
mod chunked_reader;
#[path = "../../../../tests/support/events.rs"]
mod events;
mod memory;
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
mod properties;
mod reading;
mod sanitize;
mod sink;
mod tape;
#[path = "../../../../tests/support/tape_printer.rs"]
mod tape_printer;
