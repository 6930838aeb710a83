//! Services: programs that run beside the runs, from their readiness until they are told to end.

use super::all_runs::Common;
use super::execute::{execute, not_started};
use super::kind::Kind;
use super::loopback::takes_connections;
use super::stop::{STOP_NOW, urge};
use super::talk::Requests;
use crate::{Outcome, Ready, Service};
use std::rc::Rc;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_local};

/// The services that were started, in their order.
#[derive(Default)]
pub(super) struct Services(Vec<Running>);

struct Running {
    order: watch::Sender<u8>,
    task: JoinHandle<Outcome>,
}

impl Services {
    /// Starts a service and waits until it is ready; else gives what came of it. Must be called in a
    /// `LocalSet`.
    pub async fn start(
        &mut self,
        common: &Rc<Common>,
        Service { job, ready }: Service,
        requests: &mut Requests,
    ) -> Result<(), Box<Outcome>> {
        if let Ready::Port(port) = ready
            && takes_connections(port).await
        {
            let words = format!("another program already listens on port {port}");
            return Err(not_started(0, words).into());
        }
        let (order, stop) = watch::channel(0);
        let (told, mut is_ready) = oneshot::channel();
        let common = Rc::clone(common);
        let kind = Kind::Service(ready, told);
        let task = spawn_local(async move { execute(&common, &job, kind, stop).await });
        loop {
            tokio::select! {
                told = &mut is_ready => {
                    if told.is_err() {
                        return Err(outcome(task).await.into());
                    }
                    self.0.push(Running { order, task });
                    return Ok(());
                }
                request = requests.next(), if *order.borrow() < STOP_NOW => urge(&order, request.as_ref()),
            }
        }
    }

    /// Ends all of them; gives what came of each.
    pub async fn end(&mut self, level: u8) -> Vec<Outcome> {
        for running in &self.0 {
            running.order.send_replace(level);
        }
        let mut outcomes = Vec::new();
        for Running { task, order: _kept } in self.0.drain(..) {
            outcomes.push(outcome(task).await);
        }
        outcomes
    }
}

async fn outcome(task: JoinHandle<Outcome>) -> Outcome {
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
