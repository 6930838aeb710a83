//! Ranges of bytes to look places up in.

use std::cmp::Reverse;
use std::ops::Range;

/// Ranges in order, without those that are in another one: so their ends are in order, too.
#[derive(Default)]
pub struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Of these, in any order.
    pub fn of(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
        let mut end = 0;
        ranges.retain(|range| {
            let is_outermost = range.end > end;
            end = end.max(range.end);
            is_outermost
        });
        Self(ranges)
    }

    /// Whether one of them contains all of `place`.
    pub fn contain(&self, place: &Range<usize>) -> bool {
        self.end_of_those(|start| start <= place.start).is_some_and(|end| place.end <= end)
    }

    /// Whether one of them has a byte in common with `place`.
    pub fn overlap(&self, place: &Range<usize>) -> bool {
        self.end_of_those(|start| start < place.end).is_some_and(|end| place.start < end)
    }

    /// The greatest end of those whose start is early enough.
    fn end_of_those(&self, is_early: impl Fn(usize) -> bool) -> Option<usize> {
        let begun = self.0.partition_point(|range| is_early(range.start));
        self.0[..begun].last().map(|range| range.end)
    }
}
