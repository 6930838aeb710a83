//! Estimates the remaining time of work in progress.

use std::time::Duration;

/// Minimum elapsed time before an estimate is made.
const MIN_ELAPSED: Duration = Duration::from_secs(1);

/// Estimates the remaining time of work of which `done` of `total` units took `elapsed`. Assumes a constant speed, and
/// returns a text such as "about 20 s left". Returns `None` if less than a second has elapsed, if nothing is done yet,
/// or if nothing is left.
pub fn time_left(done: u64, total: u64, elapsed: Duration) -> Option<String> {
    if done == 0 || done >= total || elapsed < MIN_ELAPSED {
        return None;
    }
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    let words = match seconds {
        seconds if seconds <= 10.0 => format!("{:.0} s", seconds.ceil()),
        // Estimates are not more precise than five seconds.
        seconds if seconds <= 60.0 => format!("{:.0} s", (seconds / 5.0).ceil() * 5.0),
        seconds if seconds <= 3600.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        seconds => format!("{:.0} h", (seconds / 3600.0).ceil()),
    };
    Some(format!("about {words} left"))
}
