//! Requests to stop runs, by urgency.

use crate::protocol::Request;
use tokio::sync::watch;

/// How urgently a run is told to stop.
pub(super) type Stop = watch::Receiver<u8>;
/// End all processes as at a deadline.
pub(super) const STOP: u8 = 1;
/// Kill them now.
pub(super) const STOP_NOW: u8 = 2;

/// The level of urgency after a request, which none that may come in the meantime is but [`Request::Stop`].
/// Without a client there is nobody to be gentle for.
pub(super) fn urge(order: &watch::Sender<u8>, request: Option<&Request>) {
    order.send_modify(|level| *level = if request.is_none() || *level == STOP { STOP_NOW } else { STOP });
}
