//! The messages between a helper, its client and the launcher of a run, over sockets.
//!
//! A frame consists of the length of the message, the length of the payload, the message in JSON, and the payload.
//! Descriptors are sent with its first byte.

use crate::{Confinement, Failure, Job, Options, Outcome, Service, Template};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A message of the client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first message: the options, the environment of the client, and whether stdout is the counter of
    /// [slots](crate::Slots).
    Start(Options, Vec<(OsString, OsString)>, bool),
    /// Makes these runs. The payload has the stdin of each run that has one, with this length.
    Run(Vec<(Job, Option<usize>)>),
    /// Redacts these values from all following outcomes, instead of the previous values.
    Redact(Vec<OsString>),
    /// Stores a template until the helper ends. The payload has its files, with these lengths.
    Keep(Template, Vec<usize>),
    /// Starts this service and waits until it is ready.
    Serve(Box<Service>),
    /// Ends all services.
    EndServices,
    /// Ends all runs, or the starting service: as at a deadline, or immediately if sent a second time.
    Stop,
}

/// A message of the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The helper is ready for runs. Has the numbers of the signals that were ignored when it was started.
    Ready(Vec<i32>),
    /// The request failed.
    Refused(Failure),
    /// The template is in this folder.
    Kept(OsString),
    /// The service is ready.
    Serving,
    /// The run with this index in the request, or the service with this index, has ended: its outcome, and the
    /// locations of the bytes of stdout and stderr.
    Done(usize, Box<Outcome>, [StreamLocation; 2]),
    /// All runs, or all services, have ended: the weakest confinement of the runs that were to be confined, and why the
    /// system has no namespaces, if they were needed.
    Finished(Option<Confinement>, Option<String>),
    /// The last message: this folder could not be removed completely.
    Left(OsString),
}

/// The location of the bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StreamLocation {
    /// In the payload, with this length.
    Here(usize),
    /// In the next file that is sent with the message, with this length and digest.
    File(u64, u128),
}

/// Length of the two lengths, in bytes.
pub(crate) const PREFIX_LEN: usize = 8;

/// Encodes a frame, without its descriptors.
pub(crate) fn frame(message: &impl Serialize, payload: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; PREFIX_LEN];
    serde_json::to_writer(&mut frame, message)?;
    let length = |n: usize| u32::try_from(n).map_err(io::Error::other).map(u32::to_le_bytes);
    let message_len = length(frame.len() - PREFIX_LEN)?;
    frame[..4].copy_from_slice(&message_len);
    frame[4..PREFIX_LEN].copy_from_slice(&length(payload.iter().map(|bytes| bytes.len()).sum())?);
    payload.iter().for_each(|bytes| frame.extend_from_slice(bytes));
    Ok(frame)
}

/// Decodes the lengths of the message and of the payload.
pub(crate) fn parse_prefix([a, b, c, d, e, f, g, h]: [u8; PREFIX_LEN]) -> (usize, usize) {
    let length = |bytes| u32::from_le_bytes(bytes) as usize;
    (length([a, b, c, d]), length([e, f, g, h]))
}

/// Maximum number of descriptors that are sent with one message.
pub(crate) const MAX_FDS: usize = 32;

/// Receives a message, its payload and its descriptors.
pub(crate) fn receive<M: DeserializeOwned>(
    mut socket: &UnixStream,
) -> io::Result<(M, Vec<u8>, Vec<OwnedFd>)> {
    let mut prefix = [0; PREFIX_LEN];
    let (received_len, fds) = loop {
        match receive_with_fds(socket, &mut prefix) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => break received?,
        }
    };
    socket.read_exact(&mut prefix[received_len..])?;
    let (message_len, payload_len) = parse_prefix(prefix);
    let mut message = vec![0; message_len + payload_len];
    socket.read_exact(&mut message)?;
    let payload = message.split_off(message_len);
    Ok((serde_json::from_slice(&message)?, payload, fds))
}

/// Receives bytes and the descriptors that were sent with them; returns the number of bytes.
pub(crate) fn receive_with_fds(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok((received.bytes, fds))
}
