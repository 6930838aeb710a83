//! The end of a run: by itself with a time to drain its output, or by force; then all its processes are killed.

use super::{ForcedEnd, Interrupt, RunProgress, SupervisedRun};
use crate::supervisor::capture::OutputOverflow;
use crate::supervisor::launch::Leader;
use crate::supervisor::status::ProcessStatus;
use crate::supervisor::stop::STOP_NOW;
use crate::supervisor::stream::ReadResult;
use crate::{Leftover, Limit, Outcome, RunEnd};
use rustix::process::Signal;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// Interval between two checks whether a run still has processes, while only their end is awaited.
const LEFTOVER_INTERVAL: Duration = Duration::from_millis(4);
/// Maximum time to wait for the end of a killed leader. A leader that takes longer is in an uninterruptible wait.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

impl SupervisedRun<'_> {
    /// Captures the output of the remaining processes after the end of the leader, until the drain time is over.
    /// Returns an overflow if a stream exceeds its limit.
    async fn drain(&mut self) -> Option<OutputOverflow> {
        if !self.tree.running_members().is_empty() {
            self.start_limit(self.drain);
        } else {
            self.clock.restart(self.drain, Instant::now());
        }
        self.stdout.read_eagerly();
        while (self.is_open() || !self.tree.running_members().is_empty())
            && !self.is_time_over(Instant::now())
        {
            let until = self.clock.next_check();
            let wake = if self.is_open() { until } else { until.min(Instant::now() + LEFTOVER_INTERVAL) };
            match self.wait_for_event(wake, STOP_NOW).await {
                RunProgress::Overflow(overflow) => return Some(overflow),
                RunProgress::Stop => break,
                RunProgress::Moved | RunProgress::Ended | RunProgress::Time => {}
            }
        }
        self.read_available()
    }

    /// Captures the bytes that the streams contain now. Returns an overflow if a stream exceeds its limit.
    fn read_available(&mut self) -> Option<OutputOverflow> {
        let steps = [self.stdout.read_available(), self.stderr.read_available()];
        let overflow = steps.into_iter().find_map(|step| match step {
            ReadResult::Overflow(overflow) => Some(overflow),
            ReadResult::Continue | ReadResult::End => None,
        });
        overflow.or_else(|| self.stdout.file_overflow())
    }

    /// Sends SIGTERM to the leader and its group, and SIGKILL after a grace period. There is no grace period for a run
    /// that exceeds a resource limit other than the length of its output, since it would use more and more.
    async fn end_by_force(&mut self, end: &RunEnd) {
        self.stdout.read_eagerly();
        self.tree.signal(Signal::TERM);
        self.tree.signal(Signal::CONT);
        let is_growing = matches!(end, RunEnd::TooMuch(limit) if !matches!(limit, Limit::Output(_)));
        if is_growing {
            self.meter.kill();
        }
        self.start_limit(self.grace);
        // A process in another session has not received the signal, so there is nothing to wait for.
        let is_left =
            |run: &Self| run.tree.running_members().iter().any(|stat| !run.tree.is_in_other_session(stat));
        while !is_growing && (self.ended.is_none() || is_left(self)) && !self.is_time_over(Instant::now()) {
            let wake = self.clock.next_check().min(Instant::now() + LEFTOVER_INTERVAL);
            if let RunProgress::Stop = self.wait_for_event(wake, STOP_NOW).await {
                break;
            }
        }
        self.tree.signal(Signal::KILL);
        let until = Instant::now() + KILL_TIMEOUT;
        while Instant::now() < until && self.ended.is_none() {
            self.wait_for_event(until, u8::MAX).await;
        }
    }

    /// Ends the run by force if `forced_end` is set, kills the remaining processes, and returns the outcome.
    pub(super) async fn finish(mut self, forced_end: Option<ForcedEnd>) -> io::Result<Outcome> {
        let by_force = forced_end.is_some();
        if self.is_timed && !by_force {
            self.sample(Instant::now());
            self.starvation = self.clock.starvation();
        }
        let (mut end, waiting) =
            forced_end.unwrap_or_else(|| (self.meter.reclassify(self.end_of_leader()), None));
        let mut left = if by_force {
            self.end_by_force(&end).await;
            let mut left = self.tree.running_members();
            left.retain(|stat| self.tree.is_in_other_session(stat));
            left
        } else {
            if let Some(overflow) = self.drain().await {
                end = overflow.into();
            }
            self.tree.running_members()
        };
        let held_open = !by_force && self.is_open();
        if !by_force && (!left.is_empty() || held_open) {
            self.starvation = self.clock.starvation();
        }
        if !left.is_empty() || held_open {
            self.tree.signal(Signal::KILL);
        }
        if by_force || !left.is_empty() || held_open {
            self.meter.kill();
        }
        match &self.leader {
            // The kernel kills all processes of the namespace.
            Leader::Confined(init) => init.kill_all().await,
            Leader::Child(_) => self.tree.kill_members().await,
        }
        if by_force {
            self.read_available();
        }
        let survivors = self.tree.running_members();
        left.retain(|stat| survivors.iter().all(|survivor| survivor.pid != stat.pid));
        let mut left_behind: Vec<Leftover> =
            left.into_iter().map(|stat| self.tree.leftover(stat, false)).collect();
        left_behind.extend(survivors.into_iter().map(|stat| self.tree.leftover(stat, true)));
        left_behind.sort_by_key(|left| left.pid);
        let ended = self.ended.unwrap_or_else(Instant::now);
        let duration = ended - self.start;
        let signalled = match self.interrupt {
            Interrupt::Sent(at) => Some(ended - at),
            _ => None,
        };
        let (stdout, stderr) = (self.stdout.finish().await?, self.stderr.finish().await?);
        Ok(Outcome {
            stdout,
            stderr,
            terminal: self.feed.into_terminal_output(),
            started: Some(self.started),
            duration,
            left_behind,
            held_open,
            waiting,
            signalled,
            confinement: self.confinement,
            missed_network: self.leader.missed_network(),
            read_only_start: self.read_only_start,
            starvation: self.starvation,
            lock: self.lock,
            ..end.into()
        })
    }

    fn end_of_leader(&self) -> RunEnd {
        match self.leader.status() {
            Some(ProcessStatus::Exited(code)) => RunEnd::Exited(code),
            Some(ProcessStatus::Signaled(signal)) => RunEnd::Signaled(signal),
            None => RunEnd::NotStarted(0, "another process reaped it".into()),
        }
    }
}
