//! Reads exactly one document.

use std::io::{self, Read};

use super::expected::{Expected, Scope};
use super::parser::{Parser, Step};
use super::{ProblemKind, ReadOptions, ReadSummary, Sink};

/// Reads exactly one RFC 8259 document in constant memory, and passes its parts to `sink`.
///
/// Reading ends at a structural problem, such as a syntax error. The result is an error only if `reader` fails.
pub fn read_document<R: Read, S: Sink>(
    reader: R,
    options: &ReadOptions,
    sink: &mut S,
) -> io::Result<ReadSummary> {
    let mut parser = Parser::new(reader, options, sink);
    if parser.document().is_ok() {
        parser.summary.complete = 1;
    }
    parser.finish()
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    fn document(&mut self) -> Step {
        self.byte_order_mark();
        if self.space(true).is_none() && self.input.invalid_byte().is_none() {
            return Err(self.report(ProblemKind::Empty, self.input.offset(), Scope::Root, |_| {
                "expected a JSON value, found nothing".into()
            }));
        }
        self.summary.records = 1;
        self.value()?;
        match self.space(true) {
            Some(_) => Err(self.unexpected(Expected::End)),
            None if self.input.invalid_byte().is_some() => Err(self.ended(Expected::End)),
            None => Ok(()),
        }
    }
}
