//! Requests to stop runs, by urgency.

use crate::protocol::Request;
use tokio::sync::watch;

/// Receives the urgency of a request to stop: 0, [`STOP`] or [`STOP_NOW`].
pub(super) type Stop = watch::Receiver<u8>;
/// End the processes as at a deadline.
pub(super) const STOP: u8 = 1;
/// Kill the processes immediately.
pub(super) const STOP_NOW: u8 = 2;

/// Raises the urgency after a request; the only request that arrives during runs is [`Request::Stop`]. `None` means
/// that the client is gone, which needs no grace period.
pub(super) fn raise_urgency(stop_sender: &watch::Sender<u8>, request: Option<&Request>) {
    stop_sender
        .send_modify(|level| *level = if request.is_none() || *level == STOP { STOP_NOW } else { STOP });
}
