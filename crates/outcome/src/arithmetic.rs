//! Arithmetic on unknown quantities, with results that JSON can write.

/// The sum of what is known.
pub(super) fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| finite(one + other)).or(one).or(other)
}

/// Costs are sums of small decimals; what is behind the twelfth is no money.
pub(super) fn money(cost: f64) -> f64 {
    let digits = (cost * 1e12).round();
    if digits.is_finite() { digits / 1e12 } else { cost }
}

/// A result of arithmetic that JSON can write: beyond the greatest number is that number.
pub(super) fn finite(result: f64) -> f64 {
    result.clamp(f64::MIN, f64::MAX)
}

/// From one time to a later one.
pub(super) fn span(start: Option<f64>, end: Option<f64>) -> Option<f64> {
    Some(finite(end? - start?)).filter(|span| *span >= 0.0)
}
