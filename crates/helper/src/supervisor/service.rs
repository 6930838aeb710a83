//! Services: programs that stay alive during the runs, from their readiness until they are ended.

use super::call_kind::CallKind;
use super::client_socket::Requests;
use super::common::Common;
use super::execute::{execute, not_started};
use super::loopback::is_listening;
use super::stop::{STOP_NOW, raise_urgency};
use crate::{Outcome, Ready, Service};
use std::rc::Rc;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_local};

/// The services that are started, in the order of their start.
#[derive(Default)]
pub(super) struct Services(Vec<ActiveService>);

struct ActiveService {
    stop_sender: watch::Sender<u8>,
    task: JoinHandle<Outcome>,
}

impl Services {
    /// Starts a service and waits until it is ready. If the service ends before, returns its outcome as the error. Must
    /// be called in a `LocalSet`.
    pub async fn start(
        &mut self,
        common: &Rc<Common>,
        Service { job, ready }: Service,
        requests: &mut Requests,
    ) -> Result<(), Box<Outcome>> {
        if let Ready::Port(port) = ready
            && is_listening(port).await
        {
            let message = format!("another program already listens on port {port}");
            return Err(not_started(0, message).into());
        }
        let (stop_sender, stop) = watch::channel(0);
        let (ready_sender, mut became_ready) = oneshot::channel();
        let common = Rc::clone(common);
        let kind = CallKind::Service(ready, ready_sender);
        let task = spawn_local(async move { execute(&common, &job, kind, stop).await });
        loop {
            tokio::select! {
                result = &mut became_ready => {
                    if result.is_err() {
                        return Err(join(task).await.into());
                    }
                    self.0.push(ActiveService { stop_sender, task });
                    return Ok(());
                }
                request = requests.next(), if *stop_sender.borrow() < STOP_NOW => {
                    raise_urgency(&stop_sender, request.as_ref());
                }
            }
        }
    }

    /// Ends all services and returns their outcomes. `level` is the urgency: as at a deadline, or immediately.
    pub async fn end(&mut self, level: u8) -> Vec<Outcome> {
        for service in &self.0 {
            service.stop_sender.send_replace(level);
        }
        let mut outcomes = Vec::new();
        for ActiveService { task, stop_sender: _kept } in self.0.drain(..) {
            outcomes.push(join(task).await);
        }
        outcomes
    }
}

async fn join(task: JoinHandle<Outcome>) -> Outcome {
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
