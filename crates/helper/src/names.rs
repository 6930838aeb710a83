//! Names of the helper's processes, of its environment variable and of its argument.

/// The name of the helper's processes in lists of processes.
pub(crate) const NAME: &str = "agentnative-helper";

/// The environment variable whose value identifies the run that a process belongs to.
pub(crate) const RUN_VARIABLE: &str = "AGENTNATIVE_RUN";

/// The argument that starts the helper's executable as the supervisor, the process that makes the runs.
pub(crate) const SUPERVISE: &str = "__supervise";
