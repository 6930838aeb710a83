//! Arithmetic on optional numbers, with finite results for JSON.

/// Returns the sum of two numbers, of which a missing one counts as 0; `None` if both are missing.
pub(super) fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| clamp_finite(one + other)).or(one).or(other)
}

/// Rounds a cost to twelve decimals, which removes the errors of adding small decimals.
pub(super) fn round_cost(cost: f64) -> f64 {
    let scaled = (cost * 1e12).round();
    if scaled.is_finite() { scaled / 1e12 } else { cost }
}

/// Limits a result to the largest finite numbers, because JSON cannot represent infinity.
pub(super) fn clamp_finite(result: f64) -> f64 {
    result.clamp(f64::MIN, f64::MAX)
}

/// Returns the time from `start` to `end`; `None` if one of them is missing or the time is negative.
pub(super) fn elapsed(start: Option<f64>, end: Option<f64>) -> Option<f64> {
    Some(clamp_finite(end? - start?)).filter(|elapsed| *elapsed >= 0.0)
}
