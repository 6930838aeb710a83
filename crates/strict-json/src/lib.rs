//! Strict streaming reader of JSON and JSON Lines.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod array_records;
mod expected;
mod input;
mod json_type;
mod limits;
mod line_chunker;
mod lines;
mod number;
mod parser;
mod path;
mod plain_text;
mod pointer;
mod position;
mod problem;
mod reader;
mod report;
pub mod sanitize;
mod sink;
mod span;
mod string;
mod tape;
mod utf8;
mod value;

pub use array_records::ArrayRecords;
pub use json_type::JsonType;
pub use line_chunker::{Chunk, LineChunker};
pub use lines::{read_lines, read_lines_in_memory};
pub use pointer::{escape_token, unescape_token};
pub use position::{Position, locate};
pub use problem::{Problem, ProblemKind, ProblemSeverity, ReadOptions, ReadSummary};
pub use reader::read_document;
pub use sink::{Event, Sink, Span};
pub use span::find_span;
pub use tape::{Elements, JsonKind, KeyMap, Members, Tape, TapeKey, TapeNode};
pub use value::{Builder, Document, Record, read_records, read_value};
