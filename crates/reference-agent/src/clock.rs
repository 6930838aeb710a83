//! Timestamps in the formats of the contracts, and random IDs.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;

/// Converts a duration to whole milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the current time, in milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn utc(ms: u64) -> OffsetDateTime {
    OffsetDateTime::from(UNIX_EPOCH + Duration::from_millis(ms))
}

/// Formats a time as ISO 8601 in UTC. `ms` is the number of milliseconds since the Unix epoch.
pub fn iso_8601(ms: u64) -> String {
    let time = utc(ms);
    let (hour, minute, second, milli) = time.to_hms_milli();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z", time.date())
}

/// Formats a time in UTC for a file name, such as `2026-11-21-204503`. `ms` is the number of milliseconds since the
/// Unix epoch.
pub fn file_timestamp(ms: u64) -> String {
    let time = utc(ms);
    let (hour, minute, second) = time.to_hms();
    format!("{}-{hour:02}{minute:02}{second:02}", time.date())
}

/// Returns a random number, which differs between calls and between processes. It is not suitable for cryptography.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns the prefix, followed by twelve random hexadecimal digits.
pub fn random_id(prefix: &str) -> String {
    format!("{prefix}{:012x}", random() & 0xffff_ffff_ffff)
}

/// Returns a random UUID (version 4).
pub fn random_uuid() -> String {
    let (high, low) = (random(), random());
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (fourth, fifth) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{first:08x}-{second:04x}-4{third:03x}-{fourth:04x}-{fifth:012x}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_formatted_in_utc() {
        assert_eq!(super::iso_8601(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::iso_8601(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(super::iso_8601(1_795_293_120_162), "2026-11-21T20:32:00.162Z");
        assert_eq!(super::file_timestamp(4_107_542_399_000), "2100-02-28-235959");
        assert_eq!(super::file_timestamp(4_107_542_400_000), "2100-03-01-000000");
    }
}
