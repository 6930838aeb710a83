//! Reports problems: what was expected, what was found, and in which value.

use std::io::Read;

use super::expected::{Expected, Scope};
use super::parser::{Parser, Stop};
use super::utf8::{first_code_point, valid_text};
use super::{Problem, ProblemKind, Sink};

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reports that the grammar does not allow the next byte, where `expected` has to follow.
    pub(super) fn unexpected(&mut self, expected: Expected) -> Stop {
        let at = self.input.offset();
        let byte = self.input.buffered_byte().unwrap_or_default();
        let mut word_length = 0;
        while word_length < 24
            && self.input.ensure(word_length + 1)
            && self.input.rest()[word_length].is_ascii_alphanumeric()
        {
            word_length += 1;
        }
        let kind = match byte {
            b'\n' if self.line.is_json_lines => return self.torn(at, expected),
            0 => ProblemKind::Nul,
            1..=8 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f => ProblemKind::Control,
            0xc2 if (0x80..=0x9f).contains(&first_code_point(self.input.rest())) => ProblemKind::Control,
            0xef if self.input.rest().starts_with(b"\xef\xbb\xbf") => ProblemKind::Bom,
            _ if expected == Expected::End => ProblemKind::Trailing,
            _ => ProblemKind::Syntax,
        };
        self.report(kind, at, expected.scope(), |parser| {
            let found = describe_found(parser.input.rest(), word_length);
            format!("expected {}, found {found}", parser.describe_expected(expected))
        })
    }

    fn describe_expected(&self, expected: Expected) -> &'static str {
        match expected {
            Expected::End if self.line.is_json_lines => "a newline after the record",
            _ => expected.description(),
        }
    }

    /// Reports that the input ends, or is not UTF-8, where `expected` has to follow.
    pub(super) fn ended(&mut self, expected: Expected) -> Stop {
        let at = self.input.offset();
        if let Some(byte) = self.input.invalid_byte() {
            if at == 0 && matches!(byte, 0xfe | 0xff) {
                return self.report(ProblemKind::Bom, at, Scope::Root, |_| {
                    "expected UTF-8, found the byte order mark of UTF-16".into()
                });
            }
            return self.report(ProblemKind::InvalidUtf8, at, expected.scope(), |_| {
                format!("expected UTF-8, found {byte:#04x}")
            });
        }
        if self.line.is_json_lines {
            return self.torn(at, expected);
        }
        self.report(ProblemKind::Truncated, at, expected.scope(), |_| {
            format!("expected {}, found the end of the input", expected.description())
        })
    }

    /// Reports that a line ends at offset `at`, inside a value.
    pub(super) fn torn(&mut self, at: u64, expected: Expected) -> Stop {
        self.report(ProblemKind::Torn, at, expected.scope(), |_| {
            format!("expected {}, found the end of the line", expected.description())
        })
    }

    /// Reports a problem at offset `at`, which must be buffered or saved with `pin`. If the problem ends the document
    /// or record, the caller returns the [`Stop`]; otherwise the caller ignores it.
    #[cold]
    pub(super) fn report(
        &mut self,
        kind: ProblemKind,
        at: u64,
        scope: Scope,
        message: impl FnOnce(&Self) -> String,
    ) -> Stop {
        let count = self.summary.counts[kind as usize];
        self.summary.counts[kind as usize] += 1;
        if count < self.options.max_problems as u64 {
            let at = self.input.position(at);
            let pointer = self.path.pointer(scope);
            let message = message(self);
            self.summary.problems.push(Problem { kind, position: at, pointer, message });
            self.sink.problem(kind, self.summary.problems.last());
        } else {
            self.sink.problem(kind, None);
        }
        Stop
    }
}

/// Describes the start of `bytes` in printable ASCII: its first word (of `word_length` bytes), character or byte.
fn describe_found(bytes: &[u8], word_length: usize) -> String {
    match bytes.first() {
        None => "the end of the input".into(),
        Some(b'`') => "a backquote".into(),
        Some(_) if word_length > 0 => format!("`{}`", valid_text(&bytes[..word_length])),
        Some(b'\n') => "a newline".into(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
        Some(byte) if byte.is_ascii() => format!("{byte:#04x}"),
        Some(_) => format!("U+{:04X}", first_code_point(bytes)),
    }
}
