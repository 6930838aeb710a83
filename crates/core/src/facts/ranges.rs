//! A set of byte ranges with binary search for containment and overlap.

use std::cmp::Reverse;
use std::ops::Range;

/// A sorted set of byte ranges. No range contains another one, so both their starts and their ends ascend.
#[derive(Default)]
pub struct RangeSet(Vec<Range<usize>>);

impl RangeSet {
    /// Builds the set from ranges in any order. Drops each range that another one contains.
    pub fn new(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
        let mut end = 0;
        ranges.retain(|range| {
            let is_outermost = range.end > end;
            end = end.max(range.end);
            is_outermost
        });
        Self(ranges)
    }

    /// Returns whether a single range of the set contains all of `place`.
    pub fn contains(&self, place: &Range<usize>) -> bool {
        self.last_end_where(|start| start <= place.start).is_some_and(|end| place.end <= end)
    }

    /// Returns whether a range of the set has a byte in common with `place`.
    pub fn overlaps(&self, place: &Range<usize>) -> bool {
        self.last_end_where(|start| start < place.end).is_some_and(|end| place.start < end)
    }

    /// Returns the end of the last range whose start meets the condition. If one start meets it, all smaller starts
    /// have to meet it, too.
    fn last_end_where(&self, starts_in_time: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.0.partition_point(|range| starts_in_time(range.start));
        self.0[..count].last().map(|range| range.end)
    }
}
