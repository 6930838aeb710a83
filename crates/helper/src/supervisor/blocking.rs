//! Runs blocking work on another thread, so that the supervisor continues with its runs.

use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use tokio::sync::oneshot;

/// Calls `work` on another thread, so that the supervisor continues with its runs. If the system has no more threads,
/// calls it on this one; the thread pool of the runtime would panic then.
///
/// # Errors
/// If `work` panics.
pub(super) async fn spawn_blocking<T, F>(work: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (work_sender, work_receiver) = mpsc::channel::<F>();
    let (result_sender, result) = oneshot::channel();
    let thread = Builder::new().spawn(move || {
        if let Ok(work) = work_receiver.recv() {
            // The receiver is gone if the supervisor has ended.
            let _ = result_sender.send(work());
        }
    });
    if thread.is_err() {
        return Ok(work());
    }
    let failed = || io::Error::other("a thread of the supervisor failed");
    work_sender.send(work).map_err(|_| failed())?;
    result.await.map_err(|_| failed())
}
