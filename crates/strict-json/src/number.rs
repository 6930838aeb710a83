//! Reads numbers, and reports those whose value other JSON parsers change, such as `1e400`.

use std::io::Read;

use super::expected::{Expected, Scope};
use super::limits::MAX_SAFE_INTEGER;
use super::parser::{Parser, Step};
use super::utf8::valid_text;
use super::{Event, ProblemKind, Sink, Span};

/// Maximum length of the text of a number in an event, in bytes; longer texts are cut.
const MAX_NUMBER_TEXT: usize = 4096;
/// The first 19 digits of the smallest decimal number that rounds to infinity in binary64, about
/// 1.797693134862315807e308.
const OVERFLOW_DIGITS: u64 = 1_797_693_134_862_315_807;

/// The part of a number to which the last scanned byte belongs.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum LastByte {
    #[default]
    Nothing,
    Minus,
    Zero,
    Digit,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigit,
}

/// State of scanning a number byte by byte, in constant memory.
#[derive(Default)]
struct NumberScan {
    last: LastByte,
    /// The first 19 significant digits, as one integer.
    digits: u64,
    /// Number of decimal digits that `digits` contains.
    digit_count: u32,
    /// The power of ten of the first significant digit, before the exponent is added: 2 for `123.4e5`.
    magnitude: i64,
    exponent: i64,
    exponent_negative: bool,
    has_fraction_or_exponent: bool,
}

impl NumberScan {
    /// Scans the next byte of the number. Returns false if the number ends before this byte.
    fn consume(&mut self, byte: u8) -> bool {
        use LastByte::*;
        self.last = match (self.last, byte) {
            (Nothing, b'-') => Minus,
            (Nothing | Minus, b'0') => Zero,
            (Nothing | Minus | Digit, b'0'..=b'9') => {
                self.magnitude += i64::from(self.digit_count > 0);
                self.digit(byte);
                Digit
            }
            (Zero | Digit, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => {
                self.magnitude -= i64::from(self.digit_count == 0);
                self.digit(byte);
                Fraction
            }
            (Zero | Digit | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => {
                self.exponent_negative = byte == b'-';
                ExponentSign
            }
            (Exponent | ExponentSign | ExponentDigit, b'0'..=b'9') => {
                let digit = i64::from(byte - b'0');
                self.exponent = self.exponent.saturating_mul(10).saturating_add(digit);
                ExponentDigit
            }
            _ => return false,
        };
        self.has_fraction_or_exponent |= !matches!(self.last, Nothing | Minus | Zero | Digit);
        true
    }

    fn digit(&mut self, byte: u8) {
        if (self.digit_count > 0 || byte != b'0') && self.digit_count < 19 {
            self.digits = self.digits * 10 + u64::from(byte - b'0');
            self.digit_count += 1;
        }
    }

    fn complete(&self) -> bool {
        matches!(self.last, LastByte::Zero | LastByte::Digit | LastByte::Fraction | LastByte::ExponentDigit)
    }

    /// Returns whether the number rounds to infinity in binary64. `text` is the complete number; `None` if the number
    /// is too long to be stored.
    fn overflows(&self, text: Option<&str>) -> bool {
        let exponent = if self.exponent_negative { -self.exponent } else { self.exponent };
        match self.magnitude.saturating_add(exponent) {
            _ if self.digit_count == 0 => false,
            308 => match text.and_then(|text| text.parse::<f64>().ok()) {
                Some(value) => value.is_infinite(),
                None => self.digits > OVERFLOW_DIGITS,
            },
            magnitude => magnitude > 308,
        }
    }
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reads a number. The next byte of the input must be a digit or a minus.
    #[inline]
    pub(super) fn number(&mut self) -> Step {
        let rest = self.input.rest();
        let digits_start = usize::from(rest[0] == b'-');
        let mut value = 0;
        let mut length = digits_start;
        while let Some(byte @ b'0'..=b'9') = rest.get(length)
            && length < 17
        {
            value = value * 10 + u64::from(byte - b'0');
            length += 1;
        }
        let ends = rest.get(length).is_some_and(|byte| matches!(byte, b',' | b'}' | b']' | b'\n'));
        let leading_zero = rest.get(digits_start) == Some(&b'0') && length > digits_start + 1;
        if !ends || length == digits_start || leading_zero || value > MAX_SAFE_INTEGER {
            return self.number_slow();
        }
        if S::NEEDS_TEXT && self.sink.wants_text() {
            let start = self.input.offset();
            let span = Span { start, end: start + length as u64 };
            self.sink.event(Event::Number(span, self.input.text(0, length)));
        }
        self.input.advance(length);
        Ok(())
    }

    fn number_slow(&mut self) -> Step {
        if self.input.ensure(2) && matches!(self.input.rest(), [b'-', b'I' | b'i' | b'N' | b'n', ..]) {
            return self.non_finite(Expected::Value);
        }
        let start = self.pin();
        let mut scan = NumberScan::default();
        self.scratch.clear();
        while self.input.peek().is_some() {
            let rest = self.input.rest();
            let consumed = rest.iter().position(|byte| !scan.consume(*byte)).unwrap_or(rest.len());
            let kept = consumed.min(MAX_NUMBER_TEXT - self.scratch.len());
            self.scratch.extend_from_slice(&rest[..kept]);
            let ended = consumed < rest.len();
            self.input.advance(consumed);
            if ended {
                break;
            }
        }
        if !scan.complete() {
            return Err(match self.input.peek() {
                Some(_) => self.unexpected(Expected::Digit),
                None => self.ended(Expected::Digit),
            });
        }
        if scan.last == LastByte::Zero && matches!(self.input.peek(), Some(b'0'..=b'9')) {
            return Err(self.report(ProblemKind::Syntax, self.input.offset(), Scope::Value, |_| {
                "expected no digit after the leading zero of a number".into()
            }));
        }
        let span = Span { start, end: self.input.offset() };
        let complete = span.end - span.start == self.scratch.len() as u64;
        if scan.overflows(complete.then(|| valid_text(&self.scratch))) {
            self.report(ProblemKind::Overflow, start, Scope::Value, |_| {
                "expected a number in the range of a double; this one overflows to infinity".into()
            });
        } else if !scan.has_fraction_or_exponent
            && scan.digit_count > 0
            && (scan.magnitude >= 16 || scan.digits > MAX_SAFE_INTEGER)
        {
            self.report(ProblemKind::IntegerRange, start, Scope::Value, |_| {
                "expected an integer of at most 2^53-1 (9007199254740991) in size; larger ones lose digits"
                    .into()
            });
        }
        if S::NEEDS_TEXT && self.sink.wants_text() {
            self.sink.event(Event::Number(span, valid_text(&self.scratch)));
        }
        Ok(())
    }
}
