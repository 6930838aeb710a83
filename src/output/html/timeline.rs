//! The timeline of runs.

use crate::report::RunEvent;
use serde::Serialize;
use std::time::Duration;

/// Width of the drawing, in SVG units.
const WIDTH: f64 = 1000.0;
/// Minimum width of a visible bar, in SVG units.
const MIN_BAR_WIDTH: f64 = 1.5;

/// A drawing of runs as bars in rows. The bars of a row do not overlap.
#[derive(Debug, Serialize)]
pub(super) struct Timeline {
    rows: usize,
    bars: Vec<Bar>,
    /// Time from the first start to the last end, in milliseconds.
    total_ms: u128,
}

#[derive(Debug, Serialize)]
struct Bar {
    run: usize,
    row: usize,
    x: f64,
    width: f64,
}

impl Timeline {
    /// Creates the timeline of runs, each with its start time. Runs without a start time are left out; `None` if no run
    /// has one.
    pub fn of(runs: &[(Option<Duration>, &RunEvent)]) -> Option<Self> {
        let end = |(start, run): (Duration, &RunEvent)| start + Duration::from_millis(run.duration_ms);
        let mut timed: Vec<(usize, (Duration, &RunEvent))> = runs
            .iter()
            .enumerate()
            .filter_map(|(nth, (start, run))| Some((nth, ((*start)?, *run))))
            .collect();
        timed.sort_by_key(|(_, (start, _))| *start);
        let first = timed.first()?.1.0;
        let total = timed.iter().map(|(_, run)| end(*run)).max()? - first;
        let scale = WIDTH / total.as_secs_f64().max(0.001);
        let mut row_ends: Vec<Duration> = Vec::new();
        let mut bars = Vec::new();
        for (nth, (start, run)) in timed {
            let free_row = row_ends.iter().position(|end| *end <= start);
            let row = free_row.unwrap_or_else(|| {
                row_ends.push(Duration::ZERO);
                row_ends.len() - 1
            });
            row_ends[row] = end((start, run));
            bars.push(Bar {
                run: nth,
                row,
                x: round((start - first).as_secs_f64() * scale),
                width: round(((row_ends[row] - start).as_secs_f64() * scale).max(MIN_BAR_WIDTH)),
            });
        }
        Some(Self { rows: row_ends.len(), bars, total_ms: total.as_millis() })
    }
}

/// Rounds to two decimal places.
fn round(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
