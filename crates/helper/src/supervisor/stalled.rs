//! A server that takes connections and never answers, for one run.

use crate::Job;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, spawn_local};

/// No more connections are held open.
const MOST: usize = 100;

/// The server; it ends when this is dropped.
pub(super) struct StalledServer {
    /// What stands for its address.
    place: String,
    port: u16,
    connections: Rc<Cell<u32>>,
    task: AbortHandle,
}

impl StalledServer {
    /// Takes connections from now on.
    pub fn start(place: &str) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = TcpListener::from_std(listener)?;
        let connections = Rc::new(Cell::new(0));
        let count = Rc::clone(&connections);
        let serve = async move {
            let mut open: Vec<TcpStream> = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                count.set(count.get() + 1);
                if open.len() < MOST {
                    open.push(connection);
                }
            }
        };
        Ok(Self { place: place.to_owned(), port, connections, task: spawn_local(serve).abort_handle() })
    }

    /// The job with the address in its place, to which it may connect.
    pub fn place(&self, job: &Job) -> Job {
        let address = format!("{}:{}", Ipv4Addr::LOCALHOST, self.port);
        let placed = |text: &OsStr| replace_text(text, self.place.as_bytes(), address.as_bytes());
        let mut job = job.clone();
        job.args.iter_mut().for_each(|arg| *arg = placed(arg));
        job.env.iter_mut().for_each(|(_, value)| *value = placed(value));
        job.connect.push(self.port);
        job
    }

    /// How many connections came.
    pub fn connections(&self) -> u32 {
        self.connections.get()
    }
}

impl Drop for StalledServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A text with something in a place.
pub(super) fn replace_text(text: &OsStr, place: &[u8], address: &[u8]) -> OsString {
    let (mut rest, mut placed) = (text.as_bytes(), Vec::new());
    while let Some(at) = rest.windows(place.len()).position(|part| part == place) {
        placed.extend_from_slice(&rest[..at]);
        placed.extend_from_slice(address);
        rest = &rest[at + place.len()..];
    }
    placed.extend_from_slice(rest);
    OsString::from_vec(placed)
}
