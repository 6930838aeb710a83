//! Work that blocks, beside the runs.

use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use tokio::sync::oneshot;

/// Does this on a thread of its own, so that runs go on meanwhile. Where the system has no more threads, they wait.
/// (The runtime's own pool panics there.)
///
/// # Errors
/// It panicked.
pub(super) async fn unblock<T, F>(work: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (hand_over, taken) = mpsc::channel::<F>();
    let (answer, answered) = oneshot::channel();
    let thread = Builder::new().spawn(move || {
        if let Ok(work) = taken.recv() {
            // Nobody waits for it any more when the supervisor has ended.
            let _ = answer.send(work());
        }
    });
    if thread.is_err() {
        return Ok(work());
    }
    let failed = || io::Error::other("a thread of the supervisor failed");
    hand_over.send(work).map_err(|_| failed())?;
    answered.await.map_err(|_| failed())
}
