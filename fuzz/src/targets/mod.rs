//! The fuzz targets, one per file, and their shared code.

#[path = "../../../tests/support/chunked_reader.rs"]
mod chunked_reader;
pub mod config;
pub mod contract;
pub mod diff;
#[path = "../../../tests/support/events.rs"]
mod events;
pub mod explore;
pub mod help;
pub mod infer;
pub mod json_lines;
pub mod outcome;
pub mod recording;
pub mod sanitize;
pub mod schema;
mod shared;
pub mod strict_json;
#[path = "../../../tests/support/tape_printer.rs"]
mod tape_printer;
