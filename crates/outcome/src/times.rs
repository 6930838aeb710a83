//! Conversion of times between RFC 3339 and milliseconds since 1970.

use std::num::NonZeroU8;
use time::OffsetDateTime;
use time::format_description::well_known::iso8601::{Config, EncodedConfig, TimePrecision};
use time::format_description::well_known::{Iso8601, Rfc3339};

/// Format of RFC 3339 with milliseconds, as in JavaScript.
const MILLISECONDS: EncodedConfig =
    Config::DEFAULT.set_time_precision(TimePrecision::Second { decimal_digits: NonZeroU8::new(3) }).encode();

/// Parses a time in RFC 3339 to milliseconds since 1970.
pub(super) fn parse_milliseconds(text: &str) -> Option<f64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a year has four digits: milliseconds are below 2^53")]
    Some((time.unix_timestamp_nanos() / 1_000_000) as f64)
}

/// Formats milliseconds since 1970 in RFC 3339. Returns `None` for a time that RFC 3339 cannot express.
pub(super) fn format_rfc3339(milliseconds: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "larger values are outside of the range of times")]
    let nanoseconds = i128::from(milliseconds.round() as i64) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()?.format(&Iso8601::<MILLISECONDS>).ok()
}
