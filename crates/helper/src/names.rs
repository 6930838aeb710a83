//! Names of the helper's processes, of its environment variable and of its argument.

/// The name of the helper's processes.
pub(crate) const NAME: &str = "agentnative-helper";

/// The environment variable that identifies the run of a process.
pub(crate) const RUN_VARIABLE: &str = "AGENTNATIVE_RUN";

/// The argument that selects the supervisor.
pub(crate) const SUPERVISE: &str = "__supervise";
