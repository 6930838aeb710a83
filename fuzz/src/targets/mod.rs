//! The fuzz targets, one per file, and their shared code.

pub mod config;
pub mod contract;
pub mod diff;
#[path = "../../../tests/support/events.rs"]
mod events;
pub mod help;
pub mod infer;
pub mod json_lines;
#[path = "../../../tests/support/on_tape.rs"]
mod on_tape;
pub mod outcome;
#[path = "../../../tests/support/pieces.rs"]
mod pieces;
pub mod recording;
pub mod sanitize;
pub mod schema;
mod shared;
pub mod strict_json;
