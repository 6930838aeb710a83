//! In which order runs are made, which are made again, and which are not made.
//!
//! A run that is out of time in parallel with others may have missed a processor, or have waited for what another one
//! held, such as a lock: it is repeated alone, and only that outcome counts. Its family, the same call under other
//! conditions, waits for it meanwhile. If it is out of time alone as well, its family would be too: those of it that have
//! not begun are not made. So each call that hangs costs its time limit once more, at most [`MAX_IN_VAIN`] times in a
//! request.

use crate::{End, Job, Outcome, Waiting};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// After so many runs that were out of time alone as well, no more are repeated: most calls of the target hang.
const MAX_IN_VAIN: usize = 10;

/// A run that is not under way.
struct Entry {
    at: usize,
    job: Job,
    /// What came of it beside others.
    before: Option<Outcome>,
}

/// A run that is.
struct Running {
    job: Job,
    beside: bool,
    again: bool,
}

/// The runs of one request. Those that want quiet come last, one by one.
pub(super) struct Queue {
    side_by_side: usize,
    loud: VecDeque<Entry>,
    alone: VecDeque<Entry>,
    running: BTreeMap<usize, Running>,
    /// The families of those that hung, and whether under a condition of its own.
    hung: BTreeSet<(u32, bool)>,
    /// How many were repeated alone and were out of time again.
    in_vain: usize,
}

impl Queue {
    pub fn new(jobs: Vec<Job>, side_by_side: usize) -> Self {
        let entries = jobs.into_iter().enumerate().map(|(at, job)| Entry { at, job, before: None });
        let (alone, loud) = entries.partition(|entry| entry.job.quiet);
        Self { side_by_side, loud, alone, running: BTreeMap::new(), hung: BTreeSet::new(), in_vain: 0 }
    }

    /// Whether there is one that can begin now.
    pub fn can_begin(&self) -> bool {
        match self.loud.is_empty() {
            false => self.running.len() < self.side_by_side,
            true => self.running.is_empty() && !self.alone.is_empty(),
        }
    }

    /// The next run that can begin now, with its place in the request.
    pub fn next(&mut self) -> Option<(usize, Job)> {
        let entry = match self.can_begin() {
            true => self.loud.pop_front().or_else(|| self.alone.pop_front()),
            false => None,
        }?;
        let beside = !self.running.is_empty();
        if beside {
            self.running.values_mut().for_each(|run| run.beside = true);
        }
        let again = entry.before.is_some();
        self.running.insert(entry.at, Running { job: entry.job.clone(), beside, again });
        Some((entry.at, entry.job))
    }

    /// Takes what came of a run; gives the outcomes that are to be told.
    pub fn ended(&mut self, at: usize, mut outcome: Outcome) -> Vec<(usize, Outcome)> {
        let Some(Running { job, beside, again }) = self.running.remove(&at) else { return Vec::new() };
        outcome.alone = again;
        let Some(family) = job.family.filter(|_| outcome.is_out_of_time()) else {
            return vec![(at, outcome)];
        };
        let special = job.variant.is_special();
        // What waits for input would do so alone.
        let waits = outcome.waiting.is_some_and(Waiting::is_for_input);
        outcome.in_parallel = beside && !waits;
        self.in_vain += usize::from(again);
        if outcome.in_parallel && self.in_vain < MAX_IN_VAIN && !self.hung.contains(&(family, special)) {
            let kin = take(&mut self.loud, family, special);
            self.alone.extend(kin);
            self.alone.push_front(Entry { at, job, before: Some(outcome) });
            return Vec::new();
        }
        let mut told = Vec::new();
        if outcome.end == End::TimedOut {
            told = self.drop_family(family, special);
        }
        told.insert(0, (at, outcome));
        while self.in_vain >= MAX_IN_VAIN
            && let Some(Entry { job, .. }) = self.alone.iter().find(|entry| entry.before.is_some())
            && let Some(family) = job.family
        {
            let special = job.variant.is_special();
            told.extend(self.drop_family(family, special));
        }
        told
    }

    /// Drops the runs of a family that hangs and that are not in progress; gives the outcomes of those that were to be
    /// repeated.
    fn drop_family(&mut self, family: u32, special: bool) -> Vec<(usize, Outcome)> {
        self.hung.insert((family, special));
        let queues = [&mut self.loud, &mut self.alone].into_iter();
        let others = queues.flat_map(|queue| take(queue, family, special));
        others.filter_map(|entry| Some((entry.at, entry.before?))).collect()
    }

    /// What came of the runs that are not made again after all.
    pub fn rest(self) -> impl Iterator<Item = (usize, Outcome)> {
        self.alone.into_iter().filter_map(|entry| Some((entry.at, entry.before?)))
    }
}

/// Takes the runs of a family out of a queue; those of special conditions alone where one of these hung, which says
/// nothing of the others.
fn take(queue: &mut VecDeque<Entry>, family: u32, special: bool) -> VecDeque<Entry> {
    let is_kin = |job: &Job| job.family == Some(family) && (job.variant.is_special() || !special);
    let (kin, others) = std::mem::take(queue).into_iter().partition(|entry| is_kin(&entry.job));
    *queue = others;
    kin
}
