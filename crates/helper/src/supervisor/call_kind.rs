//! The kinds of calls that are executed: runs and services.

use crate::Ready;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of bytes that are captured of the stdout, and of the stderr, of a service. They explain why a service
/// does not become ready.
pub(super) const MAX_SERVICE_OUTPUT: u64 = 64 * 1024;
/// Maximum lifetime of a service (one day); no check takes longer.
pub(super) const MAX_SERVICE_LIFETIME: Duration = Duration::from_secs(86_400);

pub(super) enum CallKind {
    /// A run, which ends by itself or at its deadline.
    Run,
    /// A service. It has to fulfil the condition before its deadline; then the sender reports that it is ready.
    Service(Ready, oneshot::Sender<()>),
}
