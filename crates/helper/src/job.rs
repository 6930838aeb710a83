//! Jobs, which describe the runs to make, and the options of a helper.

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
    /// Maximum number of captured bytes of stdout, and of stderr. A run that writes more to one of them is ended.
    pub max_output: u64,
    /// How long the output of remaining processes is captured after the first process of a run has ended.
    pub drain: Duration,
    /// Time between SIGTERM and SIGKILL when a run is ended by force.
    pub grace: Duration,
    /// Whether SIGINT, SIGTERM and SIGHUP are reported as events instead of ending the client's process. Suitable for a
    /// program that controls its own signals. Signals that were ignored when the program started stay ignored.
    pub stop_on_signals: bool,
    /// Slots that several helpers share to limit their parallel runs. This helper makes at most one run more than the
    /// number of shared slots that it has acquired. `None`: only `jobs` limits the parallel runs.
    #[serde(skip)]
    pub slots: Option<Slots>,
    /// Whether the output of jobs with [`shows_output`](Job::shows_output) goes to the stderr of the client's process.
    pub show: bool,
}

impl Default for Options {
    /// Returns the default options: twice as many jobs as processors, 1 GiB per stream, 200 ms to drain and 300 ms of
    /// grace. Signals are not handled, and no output is shown.
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

/// Describes one run: a program, its arguments and its conditions. Paths are [`OsString`]s, since serde cannot
/// serialize a `PathBuf` that is not UTF-8.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Absolute path of the program.
    pub program: OsString,
    /// Arguments, without the name of the program itself.
    pub args: Vec<OsString>,
    /// The folder that the run starts in, unless `workspace` replaces it.
    pub cwd: OsString,
    /// A fresh folder that the run starts in, instead of `cwd`.
    pub workspace: Option<Workspace>,
    /// Calls of the same program that are made before the run, in the same fresh folder. Their variant is
    /// [`Variant::Plain`], or [`Variant::Xdg`] if that is the variant of the run.
    pub setup: Vec<SetupCall>,
    /// When and how the run is interrupted by a signal; it then has [`Job::INTERRUPTION_GRACE`] to end.
    pub interrupt: Option<Interruption>,
    /// Whether the outcome reports changes of files in the workspace and the home.
    pub snapshots: bool,
    /// If set, starts a server on the loopback interface that accepts connections and never answers. In the arguments
    /// and variables of the run, this text is replaced by the address of the server (`HOST:PORT`).
    pub stalled_server_placeholder: Option<String>,
    /// A value that the run must not reveal, and how the run receives it. The outcome does not contain the value.
    pub secret: Option<Secret>,
    /// The stored template ([`Helper::store_template`](crate::Helper::store_template)) that is copied to the fresh home
    /// of the run. `None`: the home is empty.
    pub home: Option<OsString>,
    /// Path of the target's configuration file, relative to the home. The second environment of [`Variant::Bare`]
    /// replaces this file by one that no parser accepts, and [`Variant::Unconfigured`] removes it.
    pub config_file: Option<OsString>,
    /// Environment variables of the run. They override the variables that all runs have, and those of `variant`.
    pub env: Vec<(OsString, OsString)>,
    /// Whether the call is made twice at the same time in the same folder. The outcome is that of the call that did not
    /// exit with 0, if there is one.
    pub is_doubled: bool,
    /// Number of columns of the terminal, if a standard stream is one.
    pub columns: u16,
    /// The condition of the run. It determines stdout and additional environment variables. It also determines stdin if
    /// `stdin` is `None`.
    pub variant: Variant,
    /// Index into the [environments](Variant::environments) of `variant`.
    pub environment: u8,
    /// Contents of stdin, which is a pipe that ends after these bytes. The run may leave bytes unread. If `None`,
    /// `variant` determines stdin, usually as `/dev/null`. Not part of the serialized form.
    #[serde(skip)]
    pub stdin: Option<Arc<[u8]>>,
    /// Time limit after which the run is ended by force. Time in which other processes kept the processors from the run
    /// does not count. The total time is at most five times the limit.
    pub deadline: Duration,
    /// Resource limits of the run. They do not apply to services and to [`trusted`](Job::trusted) jobs.
    pub limits: Limits,
    /// Whether and how the run is confined.
    pub isolation: RequestedConfinement,
    /// TCP ports of this machine that a confined run can connect to.
    pub connect: Vec<u16>,
    /// Whether a confined run can use the network of the machine.
    pub network: bool,
    /// ID that is common to the runs of one call under several conditions. If such a run times out in parallel with
    /// others, it is repeated alone. If it times out again, the runs with this ID that have not started are skipped.
    /// `None`: the run is made exactly once.
    pub family: Option<u32>,
    /// Whether no other run is made at the same time, since the measured times of this run are evidence.
    pub runs_alone: bool,
    /// Why the run is skipped; `None` if it is made.
    pub skip_reason: Option<String>,
    /// Whether the run may change its start folder. Otherwise its changes to that folder are discarded if it is
    /// confined.
    pub writes_to_start_folder: bool,
    /// The project folder around the start folder. It is ignored if the start folder is in a git repository, which
    /// takes its place.
    pub project: Option<OsString>,
    /// Files in the start folder that a run cannot change, even if it may change that folder.
    pub protected: Vec<OsString>,
    /// Paths in the user's home folders that the run can read, in addition to its project and its program.
    pub readable: Vec<OsString>,
    /// Names of browsers, editors and pagers that no tripwire replaces, since the project of the target has programs of
    /// these names.
    pub unreplaced_programs: Vec<String>,
    /// Whether the run receives all environment variables of the caller. Intended for a tool that the caller itself
    /// needs.
    pub trusted: bool,
    /// Whether the output is intended for users: if [`Options::show`] is set, it is shown and not captured.
    pub shows_output: bool,
    /// Whether the call was found in help pages and not declared by the user. Such a run sees no devices for computing,
    /// and receives no variables that select the version of a tool.
    pub undeclared: bool,
}

/// A value that a run receives and must not print or store in plain text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The secret itself.
    pub value: OsString,
    /// If set, the value is passed in a file that only this user can read and that ends with a newline. In the
    /// arguments, this text is replaced by the path of the file.
    pub file: Option<String>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Secret").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A call of the program that prepares a run. The run is made only if the call exits with 0 or is interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCall {
    /// Arguments of the call, without the name of the program.
    pub args: Vec<OsString>,
    /// Variables of the call, instead of [those of the run](Job::env).
    pub env: Vec<(OsString, OsString)>,
    /// When and how the call is interrupted. It may then end with any exit code or signal.
    pub interrupt: Option<Interruption>,
}

/// When a run is interrupted, and by which signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// The run is interrupted shortly after it printed this text to stdout or stderr.
    pub after: String,
    /// The signal that interrupts the run.
    pub signal: StopSignal,
}

/// A signal that asks a program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// SIGTERM to the first process of the run, as a scheduler sends it.
    Terminate,
    /// SIGINT to the process group of the run, as a terminal sends it for Ctrl-C.
    Interrupt,
}

impl Job {
    /// Time that a run has to end after its interruption.
    pub const INTERRUPTION_GRACE: Duration = Duration::from_secs(5);

    /// Creates a job that runs the program at an absolute path in the folder `cwd`: with variant `plain`, an empty
    /// stdin and no variables, and not confined.
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
            is_doubled: false,
            columns: 80,
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
            undeclared: false,
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
    /// Prefix of the message of [`RunEnd::NotStarted`](crate::RunEnd::NotStarted) for a run that was not made because
    /// this system cannot confine it.
    pub const UNAVAILABLE: &str = "it has to be confined, and this system has";
}

/// The initial contents of the fresh folder that a run starts in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty folder.
    Empty,
    /// A copy of the stored template in this folder ([`Helper::store_template`](crate::Helper::store_template)).
    Copy(OsString),
}

/// The contents of a template: a folder that the helper stores and copies for runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Template {
    /// A folder with these files.
    Files(Vec<TemplateFile>),
    /// A copy of a folder, with permissions, times and links.
    Folder {
        /// Path of the folder that is copied.
        from: OsString,
        /// Whether a folder that is too large to be copied for each run is rejected.
        is_bounded: bool,
    },
}

/// A file of a template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateFile {
    /// Path of the file, relative to the folder of the template.
    pub path: OsString,
    /// Contents of the file. Not part of the serialized form.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// A program that stays alive during the runs, such as a server that the target needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Service {
    /// How the service is started. The deadline of the job limits the time until the service is ready.
    pub job: Job,
    /// The condition that shows that the service is ready.
    pub ready: Ready,
}

/// The condition under which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// This TCP port of the machine accepts connections.
    Port(u16),
    /// The service has printed a line that contains this text, to stdout or stderr.
    Line(String),
}
