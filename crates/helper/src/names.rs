//! Names of the helper's processes, of its variable and of its argument.

/// What processes of the helper are called.
pub(crate) const NAME: &str = "agentnative-helper";

/// The variable that tells in whose run a process is.
pub(crate) const RUN_VARIABLE: &str = "AGENTNATIVE_RUN";

/// The argument that makes an executable the supervisor.
pub(crate) const SUPERVISE: &str = "__supervise";
