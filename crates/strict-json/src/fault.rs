//! Noting problems: what was expected, what was found, and which value it is in.

use std::io::Read;

use super::expected::{Expected, Scope};
use super::parser::{Parser, Stop};
use super::utf8::{decode, text};
use super::{Problem, ProblemKind, Sink};

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// The next byte is none that may stand here.
    pub(super) fn unexpected(&mut self, expected: Expected) -> Stop {
        let at = self.input.offset();
        let byte = self.input.at_hand().unwrap_or_default();
        let mut word = 0;
        while word < 24 && self.input.ensure(word + 1) && self.input.rest()[word].is_ascii_alphanumeric() {
            word += 1;
        }
        let kind = match byte {
            b'\n' if self.line.wanted => return self.torn(at, expected),
            0 => ProblemKind::Nul,
            1..=8 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f => ProblemKind::Control,
            0xc2 if (0x80..=0x9f).contains(&decode(self.input.rest())) => ProblemKind::Control,
            0xef if self.input.rest().starts_with(b"\xef\xbb\xbf") => ProblemKind::Bom,
            _ if expected == Expected::End => ProblemKind::Trailing,
            _ => ProblemKind::Syntax,
        };
        self.report(kind, at, expected.scope(), |parser| {
            format!("expected {}, found {}", parser.wording(expected), spell(parser.input.rest(), word))
        })
    }

    fn wording(&self, expected: Expected) -> &'static str {
        match expected {
            Expected::End if self.line.wanted => "a newline after the record",
            _ => expected.text(),
        }
    }

    /// There are no more valid bytes.
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
        if self.line.wanted {
            return self.torn(at, expected);
        }
        self.report(ProblemKind::Truncated, at, expected.scope(), |_| {
            format!("expected {}, found the end of the input", expected.text())
        })
    }

    /// The line ends inside a value, at `at`.
    pub(super) fn torn(&mut self, at: u64, expected: Expected) -> Stop {
        self.report(ProblemKind::Torn, at, expected.scope(), |_| {
            format!("expected {}, found the end of the line", expected.text())
        })
    }

    /// Notes a problem at an offset that is at hand or pinned; gives what to return where the document or
    /// record ends with it.
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
            self.summary.problems.push(Problem { kind, at, pointer, message });
            self.sink.problem(kind, self.summary.problems.last());
        } else {
            self.sink.problem(kind, None);
        }
        Stop
    }
}

/// What comes next, in printable ASCII: a word of `word` bytes, a character or a byte.
fn spell(bytes: &[u8], word: usize) -> String {
    match bytes.first() {
        None => "the end of the input".into(),
        Some(b'`') => "a backquote".into(),
        Some(_) if word > 0 => format!("`{}`", text(&bytes[..word])),
        Some(b'\n') => "a newline".into(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
        Some(byte) if byte.is_ascii() => format!("{byte:#04x}"),
        Some(_) => format!("U+{:04X}", decode(bytes)),
    }
}
