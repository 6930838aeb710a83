//! Jobs (the runs to make) and the options of a helper.

use crate::{Limits, Slots, Variant};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// Options of a helper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// Maximum number of parallel runs, at least 1.
    pub jobs: usize,
    /// Maximum number of captured bytes per stream; a target that writes more is ended.
    pub max_output: u64,
    /// How long the output of remaining processes is captured after the end of the leader.
    pub drain: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether SIGINT, SIGTERM and SIGHUP are reported as events instead of ending the client's process. For a program
    /// that owns its signals; those that were ignored when it was started stay ignored.
    pub stop_on_signals: bool,
    /// Slots that several helpers share: the number of parallel runs is at most that of the acquired slots plus one.
    /// `None`: only `jobs` limits it.
    #[serde(skip)]
    pub slots: Option<Slots>,
    /// Whether the output of [`shown`](Job::shows_output) jobs goes to the stderr of the client's process.
    pub show: bool,
}

impl Default for Options {
    /// Returns twice as many jobs as processors, 1 GiB per stream, 200 ms to drain and 300 ms of grace; signals are not
    /// handled, and no output is shown.
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

/// Returns the number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A run to make. Paths are [`OsString`]s, since serde cannot serialize a `PathBuf` that is not UTF-8.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Absolute path of the program.
    pub program: OsString,
    /// Arguments, without the name of the program.
    pub args: Vec<OsString>,
    /// Working directory, unless there is a workspace.
    pub cwd: OsString,
    /// The fresh folder that the run starts in.
    pub workspace: Option<Workspace>,
    /// Calls of the program before the run, under the plain condition and in the same fresh folder.
    pub setup: Vec<SetupCall>,
    /// When the run is interrupted; it then has [`Job::INTERRUPTION_GRACE`] to end.
    pub interrupt: Option<Interruption>,
    /// Whether the outcome reports changes to the workspace and the home.
    pub snapshots: bool,
    /// Starts a server on the loopback interface that accepts connections and never answers: this text is replaced by
    /// its address (`HOST:PORT`) in the arguments and variables.
    pub stalled_server_placeholder: Option<String>,
    /// A value that the run must not reveal, and how it is passed. It is not part of an outcome.
    pub secret: Option<Secret>,
    /// The template ([`Helper::store_template`](crate::Helper::store_template)) that its fresh home is copied from.
    pub home: Option<OsString>,
    /// Path of the target's configuration, below the home: the second environment of [`Variant::Bare`] puts a file
    /// there that no parser accepts.
    pub config_file: Option<OsString>,
    /// Variables added to the cleared base environment. They override it and those of the variant.
    pub env: Vec<(OsString, OsString)>,
    /// The condition of the run: it determines stdout, additional environment variables, and stdin if `stdin` is
    /// `None`.
    pub variant: Variant,
    /// Index of the [environment](Variant::environments) of the variant.
    pub environment: u8,
    /// Contents of stdin: a pipe that holds these bytes, which may stay unread, and then ends; `None` is `/dev/null`.
    /// Not part of the serialized form.
    #[serde(skip)]
    pub stdin: Option<Arc<[u8]>>,
    /// Time limit after which the run is ended by force. Time in which the machine withheld the processors does not
    /// count, up to five times the limit.
    pub deadline: Duration,
    /// Resource limits. They do not apply to services and to [`trusted`](Job::trusted) jobs.
    pub limits: Limits,
    /// How the run is confined.
    pub isolation: RequestedConfinement,
    /// TCP ports of the machine that a confined run can connect to.
    pub connect: Vec<u16>,
    /// Whether a confined run has the network of the machine.
    pub network: bool,
    /// ID of a family of runs: the same call under several conditions. A run of a family that times out in parallel
    /// with others is repeated alone; if it times out again, the members that have not started are skipped. `None`: the
    /// run is made exactly once.
    pub family: Option<u32>,
    /// Whether the run is made alone, since its times are evidence.
    pub runs_alone: bool,
    /// Why the run is not made.
    pub skip_reason: Option<String>,
    /// Whether the run writes to its start folder. Otherwise the changes of a confined run to it are discarded.
    pub writes_to_start_folder: bool,
    /// The project that contains the start folder, used if no repository does.
    pub project: Option<OsString>,
    /// Files in the start folder that the run cannot write to.
    pub protected: Vec<OsString>,
    /// Paths in the home folders that the run sees in addition to its project and its program.
    pub readable: Vec<OsString>,
    /// Names of tripwire programs that are not replaced, since the project of the target has programs of that name.
    pub unreplaced_programs: Vec<String>,
    /// Whether the run has the caller's whole environment, for a tool that the caller itself needs.
    pub trusted: bool,
    /// Whether the output is for users: if [`Options::show`] is set, it is shown and not captured.
    pub shows_output: bool,
}

/// A value that a run receives and must not print or store in plain text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The value.
    pub value: OsString,
    /// Passes the value in a file that only this user can read and that ends with a newline: this text is replaced by
    /// the path of the file in the arguments.
    pub file: Option<String>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Secret").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A call before a run. The run is made only if the call exits with 0 or is interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCall {
    /// Arguments of the call.
    pub args: Vec<OsString>,
    /// Variables of the call, instead of [those of the run](Job::env).
    pub env: Vec<(OsString, OsString)>,
    /// When the call is interrupted; it may then end in any way.
    pub interrupt: Option<Interruption>,
}

/// When a run is interrupted, and by which signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// The run is interrupted shortly after it printed this text to stdout or stderr.
    pub after: String,
    /// The signal.
    pub signal: StopSignal,
}

/// A signal that asks a program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// SIGTERM to the leader, as a scheduler sends it.
    Terminate,
    /// SIGINT to the leader's process group, as a terminal sends it for Ctrl-C.
    Interrupt,
}

impl Job {
    /// Time that a run has to end after its interruption.
    pub const INTERRUPTION_GRACE: Duration = Duration::from_secs(5);

    /// Creates a job for the absolute path of a program in a folder: plain, with an empty stdin, without variables, and
    /// not confined.
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
            stalled_server_placeholder: None,
            secret: None,
            home: None,
            config_file: None,
            env: Vec::new(),
            variant: Variant::Plain,
            environment: 0,
            stdin: None,
            deadline,
            limits: Limits::default(),
            isolation: RequestedConfinement::None,
            connect: Vec::new(),
            network: false,
            family: None,
            runs_alone: false,
            skip_reason: None,
            writes_to_start_folder: false,
            project: None,
            protected: Vec::new(),
            readable: Vec::new(),
            unreplaced_programs: Vec::new(),
            trusted: false,
            shows_output: false,
        }
    }
}

/// Whether and how a run is confined: see [`Confinement`](crate::Confinement).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RequestedConfinement {
    /// Not confined.
    #[default]
    None,
    /// Landlock and a filter on sockets, as far as the system supports them.
    Landlock,
    /// The strongest confinement that the system supports, if any.
    Available,
    /// The strongest confinement that the system supports; if there is none, the run is not made.
    Required,
    /// Namespaces; if the system has none, the run is not made.
    Full,
}

impl RequestedConfinement {
    /// Prefix of the message of [`RunEnd::NotStarted`](crate::RunEnd::NotStarted) if a run was not made since it could not be
    /// confined.
    pub const UNAVAILABLE: &str = "it has to be confined, and this system has";
}

/// The fresh folder that a run starts in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty folder.
    Empty,
    /// A copy of this template ([`Helper::store_template`](crate::Helper::store_template)).
    Copy(OsString),
}

/// The contents of a template: a folder that is copied for runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Template {
    /// These files.
    Files(Vec<TemplateFile>),
    /// A copy of a folder, with permissions, times and links.
    Folder {
        /// Path of the folder.
        from: OsString,
        /// Whether a folder is rejected if it is too large to be copied for a run.
        is_bounded: bool,
    },
}

/// A file of a template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateFile {
    /// Path in the template.
    pub path: OsString,
    /// Contents. Not part of the serialized form.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A program that stays alive during the runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Service {
    /// How the service is started; the deadline limits the time until it is ready.
    pub job: Job,
    /// When it is ready.
    pub ready: Ready,
}

/// The condition under which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// This TCP port of the machine accepts connections.
    Port(u16),
    /// The service printed a line that contains this text, to stdout or stderr.
    Line(String),
}
