//! A server for one run that accepts connections and never answers.

use crate::Job;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, spawn_local};

/// Maximum number of connections that the server holds open; it closes further ones.
const MAX_CONNECTIONS: usize = 100;

/// A server that accepts connections and never answers. It ends when this is dropped.
pub(super) struct StalledServer {
    /// The text in the arguments and variables of the job that is replaced by the address of the server.
    placeholder: String,
    port: u16,
    connections: Rc<Cell<u32>>,
    task: AbortHandle,
}

impl StalledServer {
    /// Starts the server on a free port of `127.0.0.1`.
    pub fn start(placeholder: &str) -> io::Result<Self> {
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
                if open.len() < MAX_CONNECTIONS {
                    open.push(connection);
                }
            }
        };
        Ok(Self {
            placeholder: placeholder.to_owned(),
            port,
            connections,
            task: spawn_local(serve).abort_handle(),
        })
    }

    /// Returns a copy of the job with the address of the server instead of the placeholder, and with permission to
    /// connect to it.
    pub fn with_address(&self, job: &Job) -> Job {
        let address = format!("{}:{}", Ipv4Addr::LOCALHOST, self.port);
        let replaced = |text: &OsStr| replace_text(text, self.placeholder.as_bytes(), address.as_bytes());
        let mut job = job.clone();
        job.args.iter_mut().for_each(|arg| *arg = replaced(arg));
        job.env.iter_mut().for_each(|(_, value)| *value = replaced(value));
        job.connect.push(self.port);
        job
    }

    /// Returns the number of connections that the server has accepted.
    pub fn connections(&self) -> u32 {
        self.connections.get()
    }
}

impl Drop for StalledServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns `text` with all occurrences of `placeholder` replaced by `address`.
pub(super) fn replace_text(text: &OsStr, placeholder: &[u8], address: &[u8]) -> OsString {
    let (mut rest, mut replaced) = (text.as_bytes(), Vec::new());
    while let Some(index) = rest.windows(placeholder.len()).position(|part| part == placeholder) {
        replaced.extend_from_slice(&rest[..index]);
        replaced.extend_from_slice(address);
        rest = &rest[index + placeholder.len()..];
    }
    replaced.extend_from_slice(rest);
    OsString::from_vec(replaced)
}
