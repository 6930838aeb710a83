//! Times as the contracts write them, and names that do not repeat.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;

/// Whole milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn utc(ms: u64) -> OffsetDateTime {
    OffsetDateTime::from(UNIX_EPOCH + Duration::from_millis(ms))
}

/// A time in ISO 8601, UTC, with milliseconds.
pub fn iso(ms: u64) -> String {
    let time = utc(ms);
    let (hour, minute, second, milli) = time.to_hms_milli();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z", time.date())
}

/// A time as it stands in a file's name: `2026-11-21-204503`.
pub fn stamp(ms: u64) -> String {
    let time = utc(ms);
    let (hour, minute, second) = time.to_hms();
    format!("{}-{hour:02}{minute:02}{second:02}", time.date())
}

/// A number that is another one at each call and in each process.
pub fn fresh() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A fresh name: the prefix, and twelve hexadecimal digits.
pub fn id(prefix: &str) -> String {
    format!("{prefix}{:012x}", fresh() & 0xffff_ffff_ffff)
}

/// A fresh UUID of version 4.
pub fn uuid() -> String {
    let (high, low) = (fresh(), fresh());
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (fourth, fifth) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{first:08x}-{second:04x}-4{third:03x}-{fourth:04x}-{fifth:012x}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(super::iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::iso(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(super::iso(1_795_293_120_162), "2026-11-21T20:32:00.162Z");
        assert_eq!(super::stamp(4_107_542_399_000), "2100-02-28-235959");
        assert_eq!(super::stamp(4_107_542_400_000), "2100-03-01-000000");
    }
}
