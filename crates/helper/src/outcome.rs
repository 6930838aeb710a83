//! What a run gave.

use crate::{Changes, Leak, Limit, Trip};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// What a helper tells.
#[derive(Debug)]
#[cfg(feature = "client")]
pub enum Event {
    /// The run of the job at this place is over, or the service that was started at this place.
    Done(usize, Box<Outcome>),
    /// The service that was asked for is ready.
    Serving,
    /// All runs are over, or all services; how those were confined that were to be, in the weakest way of all,
    /// and why the system has no namespaces, where they were asked for.
    Finished(Option<Confinement>, Option<String>),
    /// A signal came to this process, by number.
    Signal(i32),
}

/// Everything that was seen of one run. Its streams are bytes, or what a recording has for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome<C = Captured> {
    /// How it ended.
    pub end: End,
    /// When it started, since the helper did; none if it did not, or in a recording that is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Duration>,
    /// From start to the end of the leader.
    pub duration: Duration,
    /// The exact bytes of standard output (on a terminal: as written, before any line discipline).
    pub stdout: C,
    /// The exact bytes of standard error.
    pub stderr: C,
    /// What it wrote to the terminal on its standard input, where no other stream is that terminal: its first bytes; in
    /// a recording with what is no UTF-8 replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "lossy_text")]
    pub terminal: Vec<u8>,
    /// Processes that were still there when the leader had ended and the drain deadline was over,
    /// and were then killed.
    pub left_behind: Vec<Leftover>,
    /// A descendant held standard output or error open past the drain deadline.
    pub held_open: bool,
    /// What it was waiting for: at the deadline, or when a read of a silent standard input or of the
    /// terminal was seen.
    pub waiting: Option<Waiting>,
    /// The browsers, editors and pagers that it called by their names; none where no tripwires were set, or in a
    /// recording that is older than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trips: Option<Vec<Trip>>,
    /// What it changed in its workspace and its home; none where nobody asked
    /// ([`Job::snapshots`](crate::Job::snapshots)), where there was too much to look at, or in a recording that is older
    /// than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// How long it went on after it was interrupted; none where it was not ([`Job::interrupt`](crate::Job::interrupt)), or
    /// in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signalled: Option<Duration>,
    /// How many connections came to the server that never answers; none where there was no such server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Where the secret was seen that it was given; none where it was given none, where not all could be searched, or in
    /// a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Vec<Leak>>,
    /// How it was confined; none where that was not asked for, or in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// It could not write to the folder that it started in, since the system makes no copy-on-write view of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only_start: bool,
    /// It tried to reach the network of the machine, from which it was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed_network: bool,
    /// There was something in the empty folder that it started in when it had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrote: bool,
    /// It had run out of time beside others, and this is what came of it alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// It ran out of time while other runs were in progress, and was not repeated alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parallel: bool,
    /// How much of its time limit the machine withheld, if that decides what its end shows: when it ran out of time, left
    /// processes behind, or was made alone for its times ([`Job::quiet`](crate::Job::quiet)). None if that is unknown,
    /// or in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
    /// The file lock that it waited for when it ran out of time, if a process outside of the run held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<FileLock>,
}

impl<C> Outcome<C> {
    /// Whether it did not end by itself because it was reading standard input or a terminal.
    pub fn waits_for_input(&self) -> bool {
        let ended = !matches!(self.end, End::TimedOut | End::Waited);
        !ended && self.waiting.is_some_and(Waiting::is_for_input)
    }

    /// Returns the same with its streams in another form: standard output is converted first, which the flag says.
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

impl<C: Default> From<End> for Outcome<C> {
    /// A run that ended so, of which nothing else was seen.
    fn from(end: End) -> Self {
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
    /// Whether more of the machine could have changed its end: it ran out of time, also before the target was started, or
    /// processes that it left behind did.
    #[cfg_attr(not(feature = "runtime"), expect(dead_code, reason = "a supervisor repeats such runs"))]
    pub(crate) fn is_out_of_time(&self) -> bool {
        let is_left = self.held_open || !self.left_behind.is_empty();
        match self.end {
            End::TimedOut | End::NotStarted(ETIMEDOUT, _) => true,
            _ => is_left && self.starvation.is_some_and(|starvation| starvation.is_significant()),
        }
    }
}

/// How much of a time the machine withheld from a run: its threads waited for a processor, and none of them had one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starvation {
    /// The time that was withheld.
    pub withheld: Duration,
    /// The time that passed.
    pub elapsed: Duration,
}

impl Starvation {
    /// Whether a program may have missed its time limit for that: a tenth of the time was withheld.
    pub fn is_significant(&self) -> bool {
        self.withheld * 10 >= self.elapsed
    }
}

/// A file lock that a run waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLock {
    /// The path of the file, with what is no UTF-8 replaced; none if it is unknown.
    pub path: Option<String>,
    /// The name of the program that held it; none if it was another run.
    pub holder: Option<String>,
}

/// Bytes as a string, with what is no UTF-8 replaced.
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
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// Of this signal, which was not ours.
    Signaled(i32),
    /// By force at the deadline.
    TimedOut,
    /// By force, since it was seen to wait for input that never comes (`waiting` says for what).
    Waited,
    /// By force, since it went over a limit.
    TooMuch(Limit),
    /// It never started: the operating system's error number and its words.
    NotStarted(i32, String),
    /// It was ended since we were told to stop.
    Interrupted,
}

/// The number of the error, the same on each Unix.
const ENOEXEC: i32 = 8;
/// The number of the error "timed out" on Linux: of a target that could not be started in time.
pub(crate) const ETIMEDOUT: i32 = 110;

/// How the words begin of what keeps the helper from making a run.
pub(crate) const CANNOT_MAKE: &str = "agentnative cannot make the run: ";
/// EAGAIN (no more processes), ENOMEM, ENFILE, EMFILE, ENOSPC, EDQUOT on Linux.
const WANTS: [i32; 6] = [11, 12, 23, 24, 28, 122];

/// Whether an error of the system says that it has no more of something.
pub(crate) fn is_want(number: i32) -> bool {
    WANTS.contains(&number)
}

impl End {
    /// Whether it never started since the system does not allow it.
    pub fn is_denied(&self) -> bool {
        let Self::NotStarted(number, _) = self else { return false };
        std::io::Error::from_raw_os_error(*number).kind() == std::io::ErrorKind::PermissionDenied
    }

    /// Whether it was not made, or not to its end, since this machine has no more descriptors, processes, memory or
    /// room on its disk for the helper: that says nothing of the target.
    pub fn is_want_of_resources(&self) -> bool {
        let Self::NotStarted(number, words) = self else { return false };
        is_want(*number) && words.starts_with(CANNOT_MAKE)
    }

    /// Whether it never started since the kernel cannot execute such a file (`ENOEXEC`).
    pub fn is_no_program(&self) -> bool {
        matches!(self, Self::NotStarted(ENOEXEC, _))
    }
}

/// What a process was doing when it did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Waiting {
    /// Reading standard input.
    Stdin,
    /// Reading a terminal.
    Terminal,
    /// Using the processor.
    Busy,
    /// Asleep, or waiting for something else.
    Asleep,
    /// Stopped by a signal.
    Stopped,
}

impl Waiting {
    /// Whether it waits for input.
    pub const fn is_for_input(self) -> bool {
        matches!(self, Self::Stdin | Self::Terminal)
    }
}

/// A process that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// Its process ID.
    pub pid: i32,
    /// Its command name as the kernel has it (raw bytes of a stranger).
    pub name: Vec<u8>,
    /// It could not be ended: it has the rights of another user, or is in an uninterruptible wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub survives: bool,
    /// It is in a session of its own, as a daemon is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

/// When a piece of a stream arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Length of the stream after it arrived.
    pub end: u64,
    /// Since the start of the run.
    pub at: Duration,
}

/// How a run was confined, from the strongest to the weakest way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// In namespaces of its own: it sees no process and no network of the machine, no credentials of the user, and writes
    /// only to its own folders.
    Namespaces,
    /// By Landlock and a filter on sockets: it writes only to its own folders, makes only Unix sockets, and signals nobody
    /// outside.
    Landlock,
    /// By what this kernel has of these.
    PartlyLandlock,
    /// Not at all: the kernel cannot.
    None,
}

/// One stream of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Captured {
    /// The bytes. They are not part of the serialised form.
    #[serde(skip)]
    pub bytes: Bytes,
    /// When they arrived: at most [`Captured::MAX_CHUNKS`], the last one always kept up to date.
    pub chunks: Vec<Chunk>,
}

impl Captured {
    /// More arrivals than this are merged into the last one.
    pub const MAX_CHUNKS: usize = 1024;
}

/// Bytes of any size: small ones in memory, large ones in an unlinked temporary file, which may hold others as well.
/// Cheap to clone.
#[derive(Debug, Clone)]
pub enum Bytes {
    /// In memory.
    Memory(Arc<[u8]>),
    /// In a file that has no name any more.
    File {
        /// The file.
        file: Arc<File>,
        /// Where they start in it.
        start: u64,
        /// Their number.
        len: u64,
        /// Their digest: those of the same length and digest are the same.
        digest: u128,
    },
}

impl Bytes {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What tells them from all others that exist: a clone has the same.
    pub fn place(&self) -> (usize, u64) {
        match self {
            Self::Memory(bytes) => (Arc::as_ptr(bytes).cast::<u8>() as usize, 0),
            Self::File { file, start, .. } => (Arc::as_ptr(file) as usize, *start),
        }
    }

    /// Fills `buffer` from `offset` on; gives how many bytes were read (0 at the end).
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

    /// A reader from the start; each has a place of its own.
    pub fn reader(&self) -> impl Read + '_ {
        Reader { bytes: self, at: 0 }
    }

    /// The first bytes, at most so many; none of what cannot be read.
    pub fn first(&self, most: u64) -> Vec<u8> {
        let mut first = Vec::new();
        // An unreadable capture is an empty one; what needs it says so.
        let _ = self.reader().take(most).read_to_end(&mut first);
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

struct Reader<'a> {
    bytes: &'a Bytes,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read_at(self.at, buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}
