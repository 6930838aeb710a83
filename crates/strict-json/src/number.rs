//! Numbers: their grammar, and whether other readers keep their value.

use std::io::Read;

use super::expected::{Expected, Scope};
use super::limits::MAX_SAFE;
use super::parser::{Parser, Step};
use super::utf8::text;
use super::{Event, ProblemKind, Sink, Span};

/// A sink gets this many bytes of a number.
const MAX_NUMBER: usize = 4096;
/// The first 19 digits of the least decimal that rounds to infinity, about 1.797693134862315807e308.
const LIMIT: u64 = 1_797_693_134_862_315_807;

/// What the last byte of a number was.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Last {
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

/// A number read byte by byte in constant memory.
#[derive(Default)]
struct Scan {
    last: Last,
    /// The first 19 significant digits.
    digits: u64,
    kept: u32,
    /// The power of ten of the first significant digit, without the exponent.
    magnitude: i64,
    exponent: i64,
    exponent_negative: bool,
    real: bool,
}

impl Scan {
    /// Takes a byte; false when the number ends before it.
    fn step(&mut self, byte: u8) -> bool {
        use Last::*;
        self.last = match (self.last, byte) {
            (Nothing, b'-') => Minus,
            (Nothing | Minus, b'0') => Zero,
            (Nothing | Minus | Digit, b'0'..=b'9') => {
                self.magnitude += i64::from(self.kept > 0);
                self.digit(byte);
                Digit
            }
            (Zero | Digit, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => {
                self.magnitude -= i64::from(self.kept == 0);
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
        self.real |= !matches!(self.last, Nothing | Minus | Zero | Digit);
        true
    }

    fn digit(&mut self, byte: u8) {
        if (self.kept > 0 || byte != b'0') && self.kept < 19 {
            self.digits = self.digits * 10 + u64::from(byte - b'0');
            self.kept += 1;
        }
    }

    fn complete(&self) -> bool {
        matches!(self.last, Last::Zero | Last::Digit | Last::Fraction | Last::ExponentDigit)
    }

    /// Whether it rounds to infinity in binary64; `text` is the number, unless it is too long.
    fn overflows(&self, text: Option<&str>) -> bool {
        let exponent = if self.exponent_negative { -self.exponent } else { self.exponent };
        match self.magnitude.saturating_add(exponent) {
            _ if self.kept == 0 => false,
            308 => match text.and_then(|text| text.parse::<f64>().ok()) {
                Some(value) => value.is_infinite(),
                None => self.digits > LIMIT,
            },
            magnitude => magnitude > 308,
        }
    }
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reads a number; the next byte is a digit or a minus.
    #[inline]
    pub(super) fn number(&mut self) -> Step {
        let rest = self.input.rest();
        let first = usize::from(rest[0] == b'-');
        let mut value = 0;
        let mut length = first;
        while let Some(byte @ b'0'..=b'9') = rest.get(length)
            && length < 17
        {
            value = value * 10 + u64::from(byte - b'0');
            length += 1;
        }
        let ends = rest.get(length).is_some_and(|byte| matches!(byte, b',' | b'}' | b']' | b'\n'));
        let leading_zero = rest.get(first) == Some(&b'0') && length > first + 1;
        if !ends || length == first || leading_zero || value > MAX_SAFE {
            return self.any_number();
        }
        if S::TEXT && self.sink.wants_text() {
            let start = self.input.offset();
            let span = Span { start, end: start + length as u64 };
            self.sink.event(Event::Number(span, self.input.text(0, length)));
        }
        self.input.advance(length);
        Ok(())
    }

    fn any_number(&mut self) -> Step {
        if self.input.ensure(2) && matches!(self.input.rest(), [b'-', b'I' | b'i' | b'N' | b'n', ..]) {
            return self.no_value(Expected::Value);
        }
        let start = self.pin();
        let mut scan = Scan::default();
        self.scratch.clear();
        while self.input.peek().is_some() {
            let rest = self.input.rest();
            let taken = rest.iter().position(|byte| !scan.step(*byte)).unwrap_or(rest.len());
            let kept = taken.min(MAX_NUMBER - self.scratch.len());
            self.scratch.extend_from_slice(&rest[..kept]);
            let over = taken < rest.len();
            self.input.advance(taken);
            if over {
                break;
            }
        }
        if !scan.complete() {
            return Err(match self.input.peek() {
                Some(_) => self.unexpected(Expected::Digit),
                None => self.ended(Expected::Digit),
            });
        }
        if scan.last == Last::Zero && matches!(self.input.peek(), Some(b'0'..=b'9')) {
            return Err(self.report(ProblemKind::Syntax, self.input.offset(), Scope::Value, |_| {
                "expected no digit after the leading zero of a number".into()
            }));
        }
        let span = Span { start, end: self.input.offset() };
        let whole = span.end - span.start == self.scratch.len() as u64;
        if scan.overflows(whole.then(|| text(&self.scratch))) {
            self.report(ProblemKind::Overflow, start, Scope::Value, |_| {
                "expected a number in the range of a double; this one overflows to infinity".into()
            });
        } else if !scan.real && scan.kept > 0 && (scan.magnitude >= 16 || scan.digits > MAX_SAFE) {
            self.report(ProblemKind::IntegerRange, start, Scope::Value, |_| {
                "expected an integer of at most 2^53-1 (9007199254740991) in size; larger ones lose digits"
                    .into()
            });
        }
        if S::TEXT && self.sink.wants_text() {
            self.sink.event(Event::Number(span, text(&self.scratch)));
        }
        Ok(())
    }
}
