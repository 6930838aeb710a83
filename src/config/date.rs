//! A calendar day, without a clock.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the proleptic Gregorian calendar. Ordered by time.
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
    /// The day that `time` falls on in UTC.
    pub fn of(time: SystemTime) -> Self {
        let days = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (since.as_secs() / 86_400).cast_signed(),
            Err(before) => -(before.duration().as_secs().div_ceil(86_400).cast_signed()),
        };
        Self::from_days(days)
    }

    /// The day that is `days` after 1970-01-01.
    fn from_days(days: i64) -> Self {
        // Count from 0000-03-01, so that the leap day is the last of a year and 400 years repeat.
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let small = |n: i64| u8::try_from(n).expect("a month or a day of the month is below 32");
        Self { year, month: small(month), day: small(day) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_454, "2026-01-01"),
            (-25_567, "1900-01-01"),
            (-719_468, "0000-03-01"),
        ];
        for (days, date) in cases {
            assert_eq!(Date::from_days(days).to_string(), date);
        }
    }

    #[test]
    fn each_day_is_later_than_the_one_before() {
        for days in -800_000..800_000 {
            assert!(Date::from_days(days) < Date::from_days(days + 1));
        }
    }

    #[test]
    fn a_time_before_1970_is_on_the_day_that_it_falls_on() {
        let second = std::time::Duration::from_secs(1);
        assert_eq!(Date::of(UNIX_EPOCH - second).to_string(), "1969-12-31");
        assert_eq!(Date::of(UNIX_EPOCH - 86_400 * second).to_string(), "1969-12-31");
        assert_eq!(Date::of(UNIX_EPOCH + 86_400 * second).to_string(), "1970-01-02");
    }
}
