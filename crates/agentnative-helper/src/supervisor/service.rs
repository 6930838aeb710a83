//! Services: programs that run beside the runs, from their readiness until they are told to end.

use super::execute::{Kind, execute, not_started};
use super::talk::Requests;
use super::{Common, STOP_NOW, urge};
use crate::{Outcome, Ready, Service};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;

/// So much is kept of what a service prints, in bytes: it tells why it does not become ready.
pub(super) const SERVICE_OUTPUT: u64 = 64 * 1024;
/// No check takes so long.
pub(super) const LONGEST_SERVICE: Duration = Duration::from_secs(86_400);
/// A machine answers itself faster.
const CONNECT: Duration = Duration::from_millis(250);

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

/// The addresses of this machine, or of a network of its own, for itself.
pub(super) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Whether somebody on this machine listens at the port.
pub(super) async fn takes_connections(port: u16) -> bool {
    for address in LOOPBACK {
        if let Ok(Ok(_)) = timeout(CONNECT, TcpStream::connect((address, port))).await {
            return true;
        }
    }
    false
}
