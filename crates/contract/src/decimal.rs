//! Exact decimal numbers.

/// The exact absolute value of a decimal number: digits times a power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// The digits without trailing zeros; empty for 0.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Parses a JSON number, and drops its sign. Returns `None` if the text is not a number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut digits = format!("{integer}{fraction}");
        if !is_digits(&digits) || !is_digits(power.trim_start_matches(['+', '-'])) {
            return None;
        }
        // A power outside the range of `i64` is clamped to it.
        let limit = if power.starts_with('-') { i64::MIN } else { i64::MAX };
        let power = power.parse().unwrap_or(limit).saturating_sub(fraction.len() as i64);
        let length = digits.len();
        digits.truncate(digits.trim_end_matches('0').len());
        let exponent = power.saturating_add((length - digits.len()) as i64);
        Some(Self { digits, exponent })
    }

    /// Returns whether the number has no fraction.
    pub fn is_integer(&self) -> bool {
        self.digits.is_empty() || self.exponent >= 0
    }

    /// Returns whether the number is an integer multiple of `other`; `None` if `other` has too many digits to decide.
    pub fn is_multiple_of(&self, other: &Self) -> Option<bool> {
        if self.digits.is_empty() || other.digits.is_empty() {
            return Some(self.digits.is_empty());
        }
        // The digits of neither end in 0, so a number with a smaller exponent is not a multiple.
        if self.exponent < other.exponent {
            return Some(false);
        }
        let modulus = u128::from(other.digits.parse::<u64>().ok()?);
        let digits = self.digits.bytes().map(|digit| u128::from(digit - b'0'));
        let mut rest = digits.fold(0, |rest, digit| (rest * 10 + digit) % modulus);
        let (mut power, mut base) = (self.exponent.abs_diff(other.exponent), 10 % modulus);
        while power > 0 {
            if power & 1 == 1 {
                rest = rest * base % modulus;
            }
            base = base * base % modulus;
            power >>= 1;
        }
        Some(rest == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn multiples_are_exact() {
        for (number, divisor, expected) in [
            ("9007199254740993", "1.5", true),
            ("9007199254740992", "1.5", false),
            ("9007199254740993.5", "0.5", true),
            ("9007199254740993.5", "1", false),
            ("4.5", "1.5", true),
            ("-4.50", "15e-1", true),
            ("0.3", "0.1", true),
            ("0.35", "0.1", false),
            ("1e400", "1e399", true),
            ("1e400", "3", false),
            ("3e99999999999999999999", "3", true),
            ("0", "7", true),
            ("0.000", "7", true),
            ("18446744073709551615", "5", true),
            ("1e-7", "1e-8", true),
            ("1e-8", "1e-7", false),
            ("120", "40", true),
            ("100", "40", false),
        ] {
            let (left, right) = (Decimal::parse(number).unwrap(), Decimal::parse(divisor).unwrap());
            assert_eq!(left.is_multiple_of(&right), Some(expected), "{number} {divisor}");
        }
        for (number, integer) in
            [("1.0", true), ("9007199254740993.5", false), ("15e-1", false), ("1e3", true)]
        {
            assert_eq!(Decimal::parse(number).unwrap().is_integer(), integer, "{number}");
        }
        assert!(["NaN", "", "-", "1e", "e1", "."].iter().all(|text| Decimal::parse(text).is_none()));
    }
}
