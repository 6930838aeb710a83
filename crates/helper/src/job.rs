//! What to run, and how runs are made.

use crate::{Limits, Slots, Variant};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// How runs are made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// How many runs go side by side, at least 1.
    pub jobs: usize,
    /// The most that is kept of one stream, in bytes; a target that writes more is ended.
    pub max_output: u64,
    /// How long bytes of those who are left are taken after the leader's end.
    pub drain: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// SIGINT, SIGTERM and SIGHUP do not end the client's process any more: they are events. For a program,
    /// which its signals belong to; those that it was started to ignore stay ignored.
    pub stop_on_signals: bool,
    /// Slots that this helper shares with others: it makes no more runs side by side than it gets of them, beside
    /// one of its own. None: `jobs` alone counts.
    #[serde(skip)]
    pub slots: Option<Slots>,
    /// What a job prints that is [`shown`](Job::shown) goes to the standard error of the client's process.
    pub show: bool,
}

impl Default for Options {
    /// Twice as many jobs as processors, 1 GiB a stream, 200 ms to drain, 300 ms of grace; signals are
    /// left alone, and nothing is shown.
    fn default() -> Self {
        Self {
            jobs: 2 * processors(),
            max_output: 1 << 30,
            drain: Duration::from_millis(200),
            grace: Duration::from_millis(300),
            stop_on_signals: false,
            slots: None,
            show: false,
        }
    }
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// One execution to make. Paths are [`OsString`]s: as a `PathBuf`, one that is not UTF-8 cannot be
/// serialised.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Absolute path of the program.
    pub program: OsString,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Working directory, where there is no workspace.
    pub cwd: OsString,
    /// A folder of its own that it starts in, fresh for each run.
    pub workspace: Option<Workspace>,
    /// Calls of the program that are made before it, plainly and in the same fresh folder.
    pub setup: Vec<SetupCall>,
    /// It is interrupted, and has [`Job::GRACE`] then.
    pub interrupt: Option<Interruption>,
    /// What it changes in its workspace and its home is told.
    pub snapshots: bool,
    /// Beside it is a server on the loopback that takes connections and never answers: this text stands for its
    /// address (`HOST:PORT`) in the arguments and variables.
    pub stalled: Option<String>,
    /// What must not be seen of it, and how it is given. It is not part of an outcome.
    pub secret: Option<Secret>,
    /// A template ([`Helper::keep`](crate::Helper::keep)) that its fresh home is a copy of.
    pub home: Option<OsString>,
    /// Where the target looks for its configuration, below the home: the second environment of
    /// [`Variant::Bare`] has a file there that no parser accepts.
    pub config_file: Option<OsString>,
    /// Variables added to the cleared base environment (they win over it and over the variant's).
    pub env: Vec<(OsString, OsString)>,
    /// The condition: it decides the channel of standard output, the extra environment variables and
    /// (when `stdin` is none) standard input.
    pub variant: Variant,
    /// Which of the variant's [environments](Variant::environments).
    pub nth: u8,
    /// Standard input: a pipe that holds these bytes, which may be left unread, and then ends; none is
    /// `/dev/null`. It is not part of the serialised form.
    #[serde(skip)]
    pub stdin: Option<Arc<[u8]>>,
    /// When the run is ended by force, from its start. Time in which the machine gave it no processor does not count, up
    /// to five times as long.
    pub deadline: Duration,
    /// How much it may use. One that is [`trusted`](Job::trusted), or a service, may use what it likes.
    pub limits: Limits,
    /// Whether it is confined.
    pub isolation: Isolation,
    /// The TCP ports of the machine that it may connect to though it is confined.
    pub connect: Vec<u16>,
    /// It has the network of the machine though it is confined.
    pub network: bool,
    /// Runs of one number are the same call under several conditions. One that is out of time in parallel with others is
    /// repeated alone, and once it is sure that one hangs, those that have not begun are not made. None: it
    /// is made once, whatever comes of it.
    pub family: Option<u32>,
    /// Run alone: its times are evidence.
    pub quiet: bool,
    /// Why it is not made.
    pub obstacle: Option<String>,
    /// It writes to the folder that it starts in. Otherwise, where it is confined, what it writes there is gone afterwards.
    pub writes: bool,
    /// The project that the folder belongs to, where no repository is around it.
    pub project: Option<OsString>,
    /// Files in that folder that it cannot write to all the same.
    pub protected: Vec<OsString>,
    /// What it sees of the homes of the user beside its project and its program.
    pub readable: Vec<OsString>,
    /// Names on tripwires that are left alone, since the project of the target provides programs of that name.
    pub own_programs: Vec<String>,
    /// It has the caller's whole environment: a tool that the caller itself needs.
    pub trusted: bool,
    /// What it prints is for people, where [`Options::show`] says that it is shown: then it is not captured.
    pub shown: bool,
}

/// A value that a run is given and that it must not print or store in the open.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The value.
    pub value: OsString,
    /// It is also in a file, for this user only and with a newline at its end: this text stands for the path of
    /// the file in the arguments.
    pub file: Option<String>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Secret").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A call before a run. The run is made only if the call exits with 0, or is interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCall {
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its variables, in the place of [those of the run](Job::env).
    pub env: Vec<(OsString, OsString)>,
    /// It is interrupted, and may end in any way.
    pub interrupt: Option<Interruption>,
}

/// When a run is interrupted, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// Shortly after this text was seen on either stream.
    pub after: String,
    /// By this signal.
    pub signal: StopSignal,
}

/// A signal that asks a program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// SIGTERM to the leader, as a scheduler sends it.
    Terminate,
    /// SIGINT to the leader's group, as a terminal sends it for Ctrl-C.
    Interrupt,
}

impl Job {
    /// So long may a run that is interrupted go on.
    pub const GRACE: Duration = Duration::from_secs(5);

    /// A plain run of a program (an absolute path) in a folder: nothing on standard input, no variables of its
    /// own, not confined.
    pub fn new(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
        cwd: impl Into<OsString>,
        deadline: Duration,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            workspace: None,
            setup: Vec::new(),
            interrupt: None,
            snapshots: false,
            stalled: None,
            secret: None,
            home: None,
            config_file: None,
            env: Vec::new(),
            variant: Variant::Plain,
            nth: 0,
            stdin: None,
            deadline,
            limits: Limits::default(),
            isolation: Isolation::None,
            connect: Vec::new(),
            network: false,
            family: None,
            quiet: false,
            obstacle: None,
            writes: false,
            project: None,
            protected: Vec::new(),
            readable: Vec::new(),
            own_programs: Vec::new(),
            trusted: false,
            shown: false,
        }
    }
}

/// Whether a run is confined, and how: see [`Confinement`](crate::Confinement).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Isolation {
    /// It is not.
    #[default]
    None,
    /// By Landlock and a filter on sockets, as far as the system can.
    Landlock,
    /// In the strongest way that the system has, if it has any.
    Available,
    /// In the strongest way that the system has; where it has none, the run is not made.
    Required,
    /// In namespaces; where the system has none, the run is not made.
    Full,
}

impl Isolation {
    /// What [`End::NotStarted`](crate::End::NotStarted) begins with where a run was not made since it cannot be
    /// confined.
    pub const UNAVAILABLE: &str = "it has to be confined, and this system has";
}

/// A folder of its own that a run starts in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty one.
    Empty,
    /// A copy of this template ([`Helper::keep`](crate::Helper::keep)).
    Copy(OsString),
}

/// What a template is made from: a folder that runs start with copies of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Template {
    /// These files.
    Files(Vec<TemplateFile>),
    /// A copy of a folder, with permissions, times and links.
    Folder {
        /// The folder.
        from: OsString,
        /// It is not made if the folder is too large to be copied for a run.
        is_bounded: bool,
    },
}

/// A file of a template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateFile {
    /// Where it is in the template.
    pub path: OsString,
    /// What it holds. It is not part of the serialised form.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A program that runs beside the runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Service {
    /// How it is started; its deadline is that of its readiness.
    pub job: Job,
    /// When it is ready.
    pub ready: Ready,
}

/// When a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// This TCP port of the machine itself takes connections.
    Port(u16),
    /// It printed a line that holds this text, on either stream.
    Line(String),
}
