//! What a helper says to its client and to the launcher of a run, over the sockets between them.
//!
//! A frame is the length of a message, the length of the bytes behind it, the message in JSON, and
//! those bytes. Descriptors go with its first byte.

use crate::{Confinement, Failure, Job, Options, Outcome, Service, Template};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// From the client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first one; with the environment of the client, and whether standard output counts [slots](crate::Slots).
    Start(Options, Vec<(OsString, OsString)>, bool),
    /// Make these runs. Behind the message stands the standard input of each that has one, of this
    /// length.
    Run(Vec<(Job, Option<usize>)>),
    /// Take these values out of all that is told from now on, in the place of those that were named before.
    Redact(Vec<OsString>),
    /// Keep a template until the end. Behind the message stand its files, of these lengths.
    Keep(Template, Vec<usize>),
    /// Start this service, and wait until it is ready.
    Serve(Box<Service>),
    /// End all services.
    EndServices,
    /// End all runs, or the service that is being started: as at a deadline, or (the second time) at once.
    Stop,
}

/// From the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// Runs can be made. These signals were ignored when the helper was started, by number.
    Ready(Vec<i32>),
    /// What was asked for cannot be done.
    Refused(Failure),
    /// The template is in this folder.
    Kept(OsString),
    /// The service is ready.
    Serving,
    /// The run with this number in the request is over, or the service with this number: what was seen, and
    /// where the bytes of standard output and standard error are.
    Done(usize, Box<Outcome>, [Place; 2]),
    /// All runs are over, or all services. How those were confined that were to be, in the weakest way of all,
    /// and why the system has no namespaces, where they were asked for.
    Finished(Option<Confinement>, Option<String>),
    /// The last one: this folder could not be removed with all that is in it.
    Left(OsString),
}

/// Where the bytes of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// Behind the message, so many.
    Here(usize),
    /// In the next of the files that go with it; its length and digest.
    File(u64, u128),
}

/// How many bytes the two lengths take.
pub(crate) const PREFIX: usize = 8;

/// A frame without its descriptors.
pub(crate) fn frame(message: &impl Serialize, behind: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; PREFIX];
    serde_json::to_writer(&mut frame, message)?;
    let length = |n: usize| u32::try_from(n).map_err(io::Error::other).map(u32::to_le_bytes);
    let json = length(frame.len() - PREFIX)?;
    frame[..4].copy_from_slice(&json);
    frame[4..PREFIX].copy_from_slice(&length(behind.iter().map(|bytes| bytes.len()).sum())?);
    behind.iter().for_each(|bytes| frame.extend_from_slice(bytes));
    Ok(frame)
}

/// The lengths of the message and of what stands behind it.
pub(crate) fn lengths([a, b, c, d, e, f, g, h]: [u8; PREFIX]) -> (usize, usize) {
    let length = |bytes| u32::from_le_bytes(bytes) as usize;
    (length([a, b, c, d]), length([e, f, g, h]))
}

/// The most descriptors that go with one message.
pub(crate) const MOST_FDS: usize = 32;

/// Receives a message, what stands behind it, and the descriptors that came with it.
pub(crate) fn receive<M: DeserializeOwned>(
    mut socket: &UnixStream,
) -> io::Result<(M, Vec<u8>, Vec<OwnedFd>)> {
    let mut prefix = [0; PREFIX];
    let (got, fds) = loop {
        match receive_with(socket, &mut prefix) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => break received?,
        }
    };
    socket.read_exact(&mut prefix[got..])?;
    let (json, behind) = lengths(prefix);
    let mut message = vec![0; json + behind];
    socket.read_exact(&mut message)?;
    let behind = message.split_off(json);
    Ok((serde_json::from_slice(&message)?, behind, fds))
}

/// Receives some bytes and the descriptors that came with them.
pub(crate) fn receive_with(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok((got.bytes, fds))
}
