//! Decides the order of runs, which runs are repeated, and which are skipped.
//!
//! A run that times out in parallel with others may have lacked a processor, or waited for a resource of another run,
//! such as a lock. It is repeated alone, and only that outcome counts. Its family, the same call under other
//! conditions, waits meanwhile. If the run times out alone as well, so would its family: the members that have not
//! started are skipped. So each call that hangs costs its time limit only once more, at most [`MAX_FAILED_REPEATS`]
//! times per request.

use crate::{Job, Outcome, RunEnd, Waiting};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of repeated runs that time out again. After that, no more runs are repeated, since most calls of the
/// target hang.
const MAX_FAILED_REPEATS: usize = 10;

/// A run that has not started, or that waits to be repeated.
struct PendingRun {
    index: usize,
    job: Job,
    /// The outcome of the run in parallel with others, if the run waits to be repeated alone.
    first_outcome: Option<Outcome>,
}

/// A run in progress.
struct RunningJob {
    job: Job,
    in_parallel: bool,
    is_repeated: bool,
}

/// The runs of one request. Jobs that must not run in parallel with others come last, one at a time.
pub(super) struct Queue {
    max_parallel: usize,
    parallel: VecDeque<PendingRun>,
    alone: VecDeque<PendingRun>,
    running: BTreeMap<usize, RunningJob>,
    /// Families of runs that hung: the ID of the family, and whether the run that hung was under a special condition.
    hung: BTreeSet<(u32, bool)>,
    /// Number of runs that were repeated alone and timed out again.
    failed_repeats: usize,
}

impl Queue {
    pub fn new(jobs: Vec<Job>, max_parallel: usize) -> Self {
        let runs =
            jobs.into_iter().enumerate().map(|(index, job)| PendingRun { index, job, first_outcome: None });
        let (alone, parallel) = runs.partition(|run| run.job.runs_alone);
        Self {
            max_parallel,
            parallel,
            alone,
            running: BTreeMap::new(),
            hung: BTreeSet::new(),
            failed_repeats: 0,
        }
    }

    /// Whether a run can start now.
    pub fn can_start(&self) -> bool {
        match self.parallel.is_empty() {
            false => self.running.len() < self.max_parallel,
            true => self.running.is_empty() && !self.alone.is_empty(),
        }
    }

    /// Removes the next run that can start now from the queue, and returns it with its index in the request.
    pub fn start_next(&mut self) -> Option<(usize, Job)> {
        let run = match self.can_start() {
            true => self.parallel.pop_front().or_else(|| self.alone.pop_front()),
            false => None,
        }?;
        let in_parallel = !self.running.is_empty();
        if in_parallel {
            self.running.values_mut().for_each(|run| run.in_parallel = true);
        }
        let is_repeated = run.first_outcome.is_some();
        self.running.insert(run.index, RunningJob { job: run.job.clone(), in_parallel, is_repeated });
        Some((run.index, run.job))
    }

    /// Records the end of the run with this index. Returns the outcomes that are final now, each with the index of its
    /// run.
    pub fn finish(&mut self, index: usize, mut outcome: Outcome) -> Vec<(usize, Outcome)> {
        let Some(RunningJob { job, in_parallel, is_repeated }) = self.running.remove(&index) else {
            return Vec::new();
        };
        outcome.alone = is_repeated;
        let Some(family) = job.family.filter(|_| outcome.is_out_of_time()) else {
            return vec![(index, outcome)];
        };
        let is_special = job.variant.is_special();
        // A run that waits for input would also do so alone.
        let waits_for_input = outcome.waiting.is_some_and(Waiting::is_for_input);
        outcome.in_parallel = in_parallel && !waits_for_input;
        self.failed_repeats += usize::from(is_repeated);
        if outcome.in_parallel
            && self.failed_repeats < MAX_FAILED_REPEATS
            && !self.hung.contains(&(family, is_special))
        {
            let family_runs = remove_family(&mut self.parallel, family, is_special);
            self.alone.extend(family_runs);
            self.alone.push_front(PendingRun { index, job, first_outcome: Some(outcome) });
            return Vec::new();
        }
        let mut outcomes = Vec::new();
        if outcome.end == RunEnd::TimedOut {
            outcomes = self.drop_family(family, is_special);
        }
        outcomes.insert(0, (index, outcome));
        while self.failed_repeats >= MAX_FAILED_REPEATS
            && let Some(PendingRun { job, .. }) = self.alone.iter().find(|run| run.first_outcome.is_some())
            && let Some(family) = job.family
        {
            let is_special = job.variant.is_special();
            outcomes.extend(self.drop_family(family, is_special));
        }
        outcomes
    }

    /// Drops the waiting runs of a family that hangs. Returns the earlier outcomes of those that were to be repeated,
    /// with their indexes.
    fn drop_family(&mut self, family: u32, is_special: bool) -> Vec<(usize, Outcome)> {
        self.hung.insert((family, is_special));
        let queues = [&mut self.parallel, &mut self.alone].into_iter();
        let others = queues.flat_map(|queue| remove_family(queue, family, is_special));
        others.filter_map(|run| Some((run.index, run.first_outcome?))).collect()
    }

    /// Returns the earlier outcomes, with their indexes, of the runs that still wait to be repeated. They will not be
    /// repeated any more.
    pub fn into_first_outcomes(self) -> impl Iterator<Item = (usize, Outcome)> {
        self.alone.into_iter().filter_map(|run| Some((run.index, run.first_outcome?)))
    }
}

/// Removes the runs of a family from a queue and returns them. If `is_special` is true, a run under a special condition
/// hung. Then only runs under special conditions are removed, since that proves nothing about the others.
fn remove_family(queue: &mut VecDeque<PendingRun>, family: u32, is_special: bool) -> VecDeque<PendingRun> {
    let is_in_family = |job: &Job| job.family == Some(family) && (job.variant.is_special() || !is_special);
    let (family_runs, others) = std::mem::take(queue).into_iter().partition(|run| is_in_family(&run.job));
    *queue = others;
    family_runs
}
