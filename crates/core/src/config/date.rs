//! A calendar date, and times in RFC 3339. Nothing here reads the clock.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::SystemTime;
use time::OffsetDateTime;

/// A calendar day, ordered by time (proleptic Gregorian calendar).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// Returns the date of `time` in UTC.
    pub fn from_time(time: SystemTime) -> Self {
        let date = OffsetDateTime::from(time).date();
        Self { year: date.year().into(), month: date.month().into(), day: date.day() }
    }
}

/// Formats a time as RFC 3339, in UTC, truncated to seconds.
pub fn rfc3339(time: SystemTime) -> String {
    let (date, time) = (Date::from_time(time), OffsetDateTime::from(time).time());
    format!("{date}T{:02}:{:02}:{:02}Z", time.hour(), time.minute(), time.second())
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, rfc3339};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn date_of_a_time_is_its_day_in_utc() {
        const DAY: Duration = Duration::from_secs(86_400);
        let cases = [
            (UNIX_EPOCH, "1970-01-01"),
            (UNIX_EPOCH - Duration::from_secs(1), "1969-12-31"),
            (UNIX_EPOCH - DAY, "1969-12-31"),
            (UNIX_EPOCH + DAY, "1970-01-02"),
            (UNIX_EPOCH + 11_016 * DAY, "2000-02-29"),
            (UNIX_EPOCH + 11_017 * DAY - Duration::from_secs(1), "2000-02-29"),
            (UNIX_EPOCH + 11_017 * DAY, "2000-03-01"),
            (UNIX_EPOCH + 20_454 * DAY, "2026-01-01"),
            (UNIX_EPOCH - 25_567 * DAY, "1900-01-01"),
            (UNIX_EPOCH - 719_468 * DAY, "0000-03-01"),
        ];
        for (time, date) in cases {
            assert_eq!(Date::from_time(time).to_string(), date);
        }
    }

    #[test]
    fn rfc3339_truncates_to_seconds() {
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(1_782_993_909_999)), "2026-07-02T12:05:09Z");
    }

    #[test]
    fn dates_are_ordered_by_time() {
        let date = |year, month, day| Date { year, month, day };
        assert!(date(2026, 11, 22) < date(2026, 11, 23));
        assert!(date(2026, 11, 30) < date(2026, 12, 1));
        assert!(date(2026, 12, 31) < date(2027, 1, 1));
    }
}
