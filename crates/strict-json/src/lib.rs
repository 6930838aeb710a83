//! Strict reader of JSON bytes: one document or JSON lines, streamed in constant memory.
//!
//! Everything a checker must see and other readers pass over is a [`Problem`] with its kind, position
//! and JSON pointer: duplicate keys, NaN, unpaired surrogates, integers past 2^53, blank, torn and
//! pretty-printed records, and so on. The values themselves go to a [`Sink`].
//!
//! The rules are those of RFC 8259 (JSON), RFC 7493 (I-JSON) and JSON lines; pointers follow RFC 6901.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod fault;
mod input;
mod json_type;
mod lines;
mod number;
mod parser;
mod path;
mod pointer;
mod position;
mod problem;
mod reader;
pub mod sanitize;
mod sink;
mod span;
mod string;
mod value;

pub use json_type::JsonType;
pub use lines::read_lines;
pub use pointer::{escape_token, unescape_token};
pub use position::{Position, locate};
pub use problem::{Class, Options, Problem, ProblemKind, Summary};
pub use reader::read_document;
pub use sink::{Sink, Span};
pub use span::find_span;
pub use value::{Builder, Document, Record, read_records, read_value};
