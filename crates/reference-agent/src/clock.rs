//! Times as the contracts write them, and names that do not repeat.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_64;

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Year, month, day, hour, minute, second in UTC.
fn civil(seconds: u64) -> (i64, i64, i64, u64, u64, u64) {
    let days = i64::try_from(seconds / 86_400).unwrap_or(i64::MAX / 2);
    // Count from 1 March of year 0, so that the leap day is the last of its year.
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// A time in ISO 8601, UTC, with milliseconds.
pub fn iso(ms: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(ms / 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// A time as it stands in a file's name: `2026-11-21-204503`.
pub fn stamp(ms: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(ms / 1000);
    format!("{year:04}-{month:02}-{day:02}-{hour:02}{minute:02}{second:02}")
}

/// A number that is another one at each call and in each process.
pub fn fresh() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    xxh3_64(format!("{nanos}/{}/{call}", std::process::id()).as_bytes())
}

/// A fresh name: the prefix, and twelve hexadecimal digits.
pub fn id(prefix: &str) -> String {
    format!("{prefix}{:012x}", fresh() & 0xffff_ffff_ffff)
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
