//! The outcome of a run: how it ended, what it printed, and what it left behind.

use crate::{Changes, Leak, Limit, TripwireCall};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// An event that a helper reports to its client.
#[derive(Debug)]
#[cfg(feature = "client")]
pub enum HelperEvent {
    /// The run of the job with this index, or the service with this index, has ended with this outcome.
    Done(usize, Box<Outcome>),
    /// The service that was requested last is ready.
    ServiceReady,
    /// All requested runs, or all services, have ended. The first value is the weakest confinement of the runs that had
    /// to be confined. The second is the reason why the system has no namespaces, if a run needed them.
    AllEnded(Option<Confinement>, Option<String>),
    /// This process received the signal with this number.
    Signal(i32),
}

/// The outcome of one run. `C` is the type of its streams: the captured bytes, or their form in a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome<C = Captured> {
    /// How the run ended.
    pub end: RunEnd,
    /// Time between the start of the helper and the start of the run; `None` if the run did not start, or in an older
    /// recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Duration>,
    /// Time between the start and the end of the first process of the run.
    pub duration: Duration,
    /// The exact bytes of stdout. If stdout is a terminal, they are captured before its line discipline changes them.
    pub stdout: C,
    /// The exact bytes of stderr.
    pub stderr: C,
    /// First bytes that the run printed on a terminal that is connected only to stdin. In a recording, invalid UTF-8 is
    /// replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "lossy_text")]
    pub terminal: Vec<u8>,
    /// Processes that still ran after the first process had ended and the drain time was over. The helper then killed
    /// them.
    pub left_behind: Vec<Leftover>,
    /// Whether a remaining process held stdout or stderr open after the drain time.
    pub held_open: bool,
    /// What the run was doing when it was ended at its deadline, or when it was ended because it waited for input from
    /// an empty stdin or terminal.
    pub waiting: Option<Waiting>,
    /// Calls of browsers, editors and pagers that tripwire programs logged, such as of `xdg-open`; `None` if the run
    /// had no tripwires, or in an older recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trips: Option<Vec<TripwireCall>>,
    /// Changes of files in the workspace and the home. `None` if they were not requested
    /// ([`Job::snapshots`](crate::Job::snapshots)) or exceeded the limits of a snapshot, or in an older recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Time between the interrupting signal and the end of the run. `None` if the run was not interrupted
    /// ([`Job::interrupt`](crate::Job::interrupt)), or in an older recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signalled: Option<Duration>,
    /// Number of connections to the server that never answers
    /// ([`Job::stalled_server_placeholder`](crate::Job::stalled_server_placeholder)); `None` if there was no such
    /// server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Places where the run revealed its secret. `None` if the run had no secret, if not all output could be searched,
    /// or in an older recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Vec<Leak>>,
    /// How the run was confined; `None` if no confinement was requested, or in an older recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// Whether the start folder was read-only, since the system could not make a copy-on-write view of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only_start: bool,
    /// Whether the run had no access to the network of the machine, but tried to reach it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed_network: bool,
    /// Whether the workspace, which was empty at the start, had an entry after the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrote: bool,
    /// Whether this is the outcome of a run that was repeated alone, after it had timed out in parallel with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Whether the run timed out in parallel with other runs, and was not repeated alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parallel: bool,
    /// How much of the time limit passed while other processes kept the processors from the run. Present if it affects
    /// the meaning of the end: the run timed out, left processes behind, or was made alone to measure its times
    /// ([`Job::runs_alone`](crate::Job::runs_alone)). Otherwise `None`; also if it is unknown, or in an older
    /// recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
    /// The file lock that the run waited for when it timed out, if a process outside the run held the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<FileLock>,
}

impl<C> Outcome<C> {
    /// Whether the run was ended by force while it waited for input from stdin or a terminal.
    pub fn waits_for_input(&self) -> bool {
        let ended = !matches!(self.end, RunEnd::TimedOut | RunEnd::Waited);
        !ended && self.waiting.is_some_and(Waiting::is_for_input)
    }

    /// Converts stdout and then stderr with `convert`, whose first argument is true for stdout. Returns the first
    /// error.
    pub fn map_streams<D, E>(
        self,
        mut convert: impl FnMut(bool, C) -> Result<D, E>,
    ) -> Result<Outcome<D>, E> {
        Ok(Outcome {
            stdout: convert(true, self.stdout)?,
            stderr: convert(false, self.stderr)?,
            end: self.end,
            started: self.started,
            duration: self.duration,
            terminal: self.terminal,
            left_behind: self.left_behind,
            held_open: self.held_open,
            waiting: self.waiting,
            trips: self.trips,
            changes: self.changes,
            signalled: self.signalled,
            connections: self.connections,
            leaks: self.leaks,
            confinement: self.confinement,
            missed_network: self.missed_network,
            read_only_start: self.read_only_start,
            wrote: self.wrote,
            alone: self.alone,
            in_parallel: self.in_parallel,
            starvation: self.starvation,
            lock: self.lock,
        })
    }
}

impl<C: Default> From<RunEnd> for Outcome<C> {
    /// Creates the outcome of a run that ended this way, with no output and no other observations.
    fn from(end: RunEnd) -> Self {
        Self {
            end,
            started: None,
            duration: Duration::ZERO,
            stdout: C::default(),
            stderr: C::default(),
            terminal: Vec::new(),
            left_behind: Vec::new(),
            held_open: false,
            waiting: None,
            trips: None,
            changes: None,
            signalled: None,
            connections: None,
            leaks: None,
            confinement: None,
            missed_network: false,
            read_only_start: false,
            wrote: false,
            alone: false,
            in_parallel: false,
            starvation: None,
            lock: None,
        }
    }
}

impl Outcome {
    /// Whether the load of the machine could have caused this outcome. That is so if the run timed out, even before the
    /// target was started, or if it left processes behind that may have lacked processor time.
    #[cfg_attr(not(feature = "runtime"), expect(dead_code, reason = "a supervisor repeats such runs"))]
    pub(crate) fn is_out_of_time(&self) -> bool {
        let is_left = self.held_open || !self.left_behind.is_empty();
        match self.end {
            RunEnd::TimedOut | RunEnd::NotStarted(ETIMEDOUT, _) => true,
            _ => is_left && self.starvation.is_some_and(|starvation| starvation.is_significant()),
        }
    }
}

/// How long the machine withheld the processors from a run. In that time, a thread of the run waited for a processor,
/// and no thread of the run had one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starvation {
    /// Time in which the processors were withheld.
    pub withheld: Duration,
    /// Total time of the measurement, including the withheld time.
    pub elapsed: Duration,
}

impl Starvation {
    /// Whether the run may have missed its time limit because of the withheld time: it is at least a tenth of the total
    /// time.
    pub fn is_significant(&self) -> bool {
        self.withheld * 10 >= self.elapsed
    }
}

/// A file lock that a run waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLock {
    /// Path of the file, with invalid UTF-8 replaced; `None` if it is unknown.
    pub path: Option<String>,
    /// Name of the program that held the lock; `None` if another run of the helper held it.
    pub holder: Option<String>,
}

/// Serializes bytes as a string, with invalid UTF-8 replaced.
mod lossy_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnd {
    /// The program exited with this code.
    Exited(i32),
    /// The program was killed by the signal with this number, which the helper did not send.
    Signaled(i32),
    /// The run was ended by force at its deadline.
    TimedOut,
    /// The run was ended by force because it waited for input that never arrives. [`Outcome::waiting`] names the
    /// source.
    Waited,
    /// The run was ended because it exceeded this limit.
    TooMuch(Limit),
    /// The program did not start. The values are the error number of the operating system, or 0, and the message.
    NotStarted(i32, String),
    /// The run was ended because the client requested it.
    Interrupted,
}

/// Error number of an unknown executable format, which is the same on every Unix.
const ENOEXEC: i32 = 8;
/// Error number of a timeout on Linux. Used for a target that could not be started in time.
pub(crate) const ETIMEDOUT: i32 = 110;

/// Prefix of the message of [`RunEnd::NotStarted`] if an error of the helper, not of the target, prevented the run.
pub(crate) const CANNOT_MAKE_RUN: &str = "agentnative cannot make the run: ";
/// Error numbers of exhausted resources on Linux: EAGAIN (no more processes), ENOMEM, ENFILE, EMFILE, ENOSPC and
/// EDQUOT.
const EXHAUSTION_ERRORS: [i32; 6] = [11, 12, 23, 24, 28, 122];

/// Whether an error number means that a resource of the system, such as memory, is exhausted.
pub(crate) fn is_exhaustion(number: i32) -> bool {
    EXHAUSTION_ERRORS.contains(&number)
}

impl RunEnd {
    /// Whether the run did not start because permission was denied.
    pub fn is_denied(&self) -> bool {
        let Self::NotStarted(number, _) = self else { return false };
        std::io::Error::from_raw_os_error(*number).kind() == std::io::ErrorKind::PermissionDenied
    }

    /// Whether the helper lacked descriptors, processes, memory or disk space for the run, which proves nothing about
    /// the target.
    pub fn is_resource_exhaustion(&self) -> bool {
        let Self::NotStarted(number, message) = self else { return false };
        is_exhaustion(*number) && message.starts_with(CANNOT_MAKE_RUN)
    }

    /// Whether the run did not start because the kernel cannot execute the file (`ENOEXEC`).
    pub fn is_not_executable(&self) -> bool {
        matches!(self, Self::NotStarted(ENOEXEC, _))
    }
}

/// What a process was doing when it was ended by force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Waiting {
    /// It was reading stdin.
    Stdin,
    /// It was reading a terminal.
    Terminal,
    /// It was using a processor.
    Busy,
    /// It was sleeping, or waiting for an event other than input.
    Asleep,
    /// It was stopped by a signal, such as SIGSTOP.
    Stopped,
}

impl Waiting {
    /// Whether the process waits for input from stdin or a terminal.
    pub const fn is_for_input(self) -> bool {
        matches!(self, Self::Stdin | Self::Terminal)
    }
}

/// A process that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// Process ID.
    pub pid: i32,
    /// Command name that the kernel stores, as raw bytes.
    pub name: Vec<u8>,
    /// Whether the process could not be killed: it has the rights of another user, or is in an uninterruptible wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub survives: bool,
    /// Whether the process is in another session than the first process of the run, like a daemon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

/// Records when a part of a stream arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Length of the stream including this part, in bytes.
    pub end: u64,
    /// Time between the start of the run and the arrival of this part.
    pub at: Duration,
}

/// The confinement level of a run, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Separate namespaces: the run sees neither processes and network of the machine nor credentials of the user, and
    /// writes only to its own folders.
    Namespaces,
    /// Landlock and a filter on sockets: the run writes only to its own folders, creates only Unix sockets, and signals
    /// no process outside.
    Landlock,
    /// Landlock and a filter on sockets, as far as this kernel supports them.
    PartlyLandlock,
    /// None: the kernel supports no confinement.
    None,
}

/// The captured bytes of stdout or stderr of a run, and when they arrived.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Captured {
    /// The bytes of the stream. Not part of the serialized form.
    #[serde(skip)]
    pub bytes: Bytes,
    /// Arrivals of the bytes in order, at most [`Captured::MAX_CHUNKS`]. The last one always contains the current
    /// length and time.
    pub chunks: Vec<Chunk>,
}

impl Captured {
    /// Maximum number of recorded arrivals. Later arrivals replace the last one.
    pub const MAX_CHUNKS: usize = 1024;
}

/// Bytes of any length, cheap to clone. Short ones are in memory. Long ones are in an unlinked temporary file, which
/// may also contain other bytes.
#[derive(Debug, Clone)]
pub enum Bytes {
    /// Bytes in memory.
    Memory(Arc<[u8]>),
    /// Bytes in a part of an unlinked file.
    File {
        /// The file.
        file: Arc<File>,
        /// Offset in the file at which the bytes start.
        start: u64,
        /// Number of bytes.
        len: u64,
        /// Digest of the bytes. Bytes with the same length and the same digest are equal.
        digest: u128,
    },
}

impl Bytes {
    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of the storage and the offset in it. With these, clones are recognized without a comparison
    /// of their bytes.
    pub fn identity(&self) -> (usize, u64) {
        match self {
            Self::Memory(bytes) => (Arc::as_ptr(bytes).cast::<u8>() as usize, 0),
            Self::File { file, start, .. } => (Arc::as_ptr(file) as usize, *start),
        }
    }

    /// Reads bytes into `buffer`, from `offset` on. Returns the number of bytes read, which is 0 at the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let n = buffer.len().min(bytes.len() - start);
                buffer[..n].copy_from_slice(&bytes[start..start + n]);
                Ok(n)
            }
            Self::File { file, start, len, .. } => {
                let left = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
                let n = buffer.len().min(left);
                read_at(file, &mut buffer[..n], start.saturating_add(offset))
            }
        }
    }

    /// Returns a reader that starts at the first byte.
    pub fn reader(&self) -> impl Read + '_ {
        BytesReader { bytes: self, offset: 0 }
    }

    /// Returns the first bytes, at most `max`. The result is empty if the bytes cannot be read.
    pub fn first(&self, max: u64) -> Vec<u8> {
        let mut first = Vec::new();
        // An unreadable capture counts as empty; callers that need it report the error.
        let _ = self.reader().take(max).read_to_end(&mut first);
        first
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

impl Default for Bytes {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Memory(bytes.into())
    }
}

struct BytesReader<'a> {
    bytes: &'a Bytes,
    offset: u64,
}

impl Read for BytesReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read_at(self.offset, buffer)?;
        self.offset += n as u64;
        Ok(n)
    }
}
