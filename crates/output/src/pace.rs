//! How long work will still take.

use std::time::Duration;

/// Sooner there is no telling how fast work goes.
const TOO_SOON: Duration = Duration::from_secs(1);

/// The time that is left, in words such as "about 20 s left", if the rest goes as fast as what is done; none
/// where that cannot be told yet, or nothing is left.
pub fn time_left(done: u64, total: u64, elapsed: Duration) -> Option<String> {
    if done == 0 || done >= total || elapsed < TOO_SOON {
        return None;
    }
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    let words = match seconds {
        seconds if seconds <= 10.0 => format!("{:.0} s", seconds.ceil()),
        // No estimate is better than five seconds.
        seconds if seconds <= 60.0 => format!("{:.0} s", (seconds / 5.0).ceil() * 5.0),
        seconds if seconds <= 3600.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        seconds => format!("{:.0} h", (seconds / 3600.0).ceil()),
    };
    Some(format!("about {words} left"))
}
