//! The kinds of calls that are executed: runs and services.

use crate::Ready;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of bytes that are captured of a stream of a service; the output explains why a service does not
/// become ready.
pub(super) const MAX_SERVICE_OUTPUT: u64 = 64 * 1024;
/// Maximum lifetime of a service; no check takes longer.
pub(super) const MAX_SERVICE_LIFETIME: Duration = Duration::from_secs(86_400);

pub(super) enum CallKind {
    /// A run, which ends by itself or at its deadline.
    Run,
    /// A service, which has to be ready at its deadline and then reports that to the sender.
    Service(Ready, oneshot::Sender<()>),
}
