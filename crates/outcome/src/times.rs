//! Times as streams write them, and as exports do.

use std::num::NonZeroU8;
use time::OffsetDateTime;
use time::format_description::well_known::iso8601::{Config, EncodedConfig, TimePrecision};
use time::format_description::well_known::{Iso8601, Rfc3339};

/// RFC 3339 with milliseconds, as JavaScript writes it.
const MILLISECONDS: EncodedConfig =
    Config::DEFAULT.set_time_precision(TimePrecision::Second { decimal_digits: NonZeroU8::new(3) }).encode();

/// Milliseconds since 1970 of a time in RFC 3339.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a year has four digits: milliseconds are below 2^53")]
    Some((time.unix_timestamp_nanos() / 1_000_000) as f64)
}

/// Milliseconds since 1970 in RFC 3339; none for what is no time.
pub(super) fn rfc3339(milliseconds: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "what is too large is no time")]
    let nanoseconds = i128::from(milliseconds.round() as i64) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()?.format(&Iso8601::<MILLISECONDS>).ok()
}
