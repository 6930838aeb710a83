//! The runs in time: which ran when, beside which others.

use crate::report::RunEvent;
use serde::Serialize;
use std::time::Duration;

/// The width of the drawing, in units.
const WIDTH: f64 = 1000.0;
/// A shorter bar would not be seen, in units.
const THIN: f64 = 1.5;

/// Bars in rows; no two bars of a row are at the same time.
#[derive(Debug, Serialize)]
pub(super) struct Timeline {
    rows: usize,
    bars: Vec<Bar>,
    /// From the first start to the last end, in milliseconds.
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
    /// The drawing of these runs, each with its start; none where a start is not known.
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
        let mut ends: Vec<Duration> = Vec::new();
        let mut bars = Vec::new();
        for (nth, (start, run)) in timed {
            let free = ends.iter().position(|end| *end <= start);
            let row = free.unwrap_or_else(|| {
                ends.push(Duration::ZERO);
                ends.len() - 1
            });
            ends[row] = end((start, run));
            bars.push(Bar {
                run: nth,
                row,
                x: round((start - first).as_secs_f64() * scale),
                width: round(((ends[row] - start).as_secs_f64() * scale).max(THIN)),
            });
        }
        Some(Self { rows: ends.len(), bars, total_ms: total.as_millis() })
    }
}

/// To a hundredth.
fn round(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
