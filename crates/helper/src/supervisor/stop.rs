//! Requests to stop runs, by urgency.

use crate::protocol::Request;
use tokio::sync::watch;

/// Receives how urgently the runs have to stop: 0 (not at all), [`STOP`] or [`STOP_NOW`].
pub(super) type Stop = watch::Receiver<u8>;
/// Urgency of a request to end the processes as at a deadline: by SIGTERM, and after a grace period by SIGKILL.
pub(super) const STOP: u8 = 1;
/// Urgency of a request to kill the processes immediately.
pub(super) const STOP_NOW: u8 = 2;

/// Raises the urgency after a request from the client, which during runs can only be [`Request::Stop`]. The first
/// request sets [`STOP`], the second [`STOP_NOW`]. `None` means that the client is gone, and sets [`STOP_NOW`].
pub(super) fn raise_urgency(stop_sender: &watch::Sender<u8>, request: Option<&Request>) {
    stop_sender
        .send_modify(|level| *level = if request.is_none() || *level == STOP { STOP_NOW } else { STOP });
}
