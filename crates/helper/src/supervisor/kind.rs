//! What is executed: runs and services.

use crate::Ready;
use std::time::Duration;
use tokio::sync::oneshot;

/// So much is kept of what a service prints, in bytes: it tells why it does not become ready.
pub(super) const SERVICE_OUTPUT: u64 = 64 * 1024;
/// No check takes so long.
pub(super) const LONGEST_SERVICE: Duration = Duration::from_secs(86_400);

/// What is executed.
pub(super) enum Kind {
    /// A run, which ends by itself or at its deadline.
    Run,
    /// A service, which has to be ready at its deadline. It is told when it is.
    Service(Ready, oneshot::Sender<()>),
}
