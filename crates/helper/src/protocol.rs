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

/// A message from the client to the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first message: the options, the environment of the client, and whether the stdout of the helper is the
    /// counter of shared [slots](crate::Slots).
    Start(Options, Vec<(OsString, OsString)>, bool),
    /// Requests the runs of these jobs. The number is the length of the job's stdin, which is in the payload; `None`
    /// without stdin.
    Run(Vec<(Job, Option<usize>)>),
    /// Sets the secrets that are removed from all following outcomes. They replace those of an earlier message.
    Redact(Vec<OsString>),
    /// Stores a template until the helper ends. The payload contains the files of the template, which have these
    /// lengths.
    Keep(Template, Vec<usize>),
    /// Starts this service and waits until it is ready.
    Serve(Box<Service>),
    /// Ends all services.
    EndServices,
    /// Ends all runs, or the service that is being started. The first message ends them as at a deadline, the second
    /// immediately.
    Stop,
}

/// A message from the helper to the client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The helper is ready for runs. Contains the numbers of the signals that were ignored when the helper was started.
    Ready(Vec<i32>),
    /// The request failed with this error.
    Refused(Failure),
    /// The template is stored in this folder.
    Kept(OsString),
    /// The requested service is ready.
    Serving,
    /// The run or service with this index in the request has ended with this outcome. The bytes of its stdout and
    /// stderr are at these two locations.
    Done(usize, Box<Outcome>, [StreamLocation; 2]),
    /// All requested runs, or all services, have ended. The first value is the weakest confinement of the runs that had
    /// to be confined. The second is the reason why the system has no namespaces, if a run needed them.
    Finished(Option<Confinement>, Option<String>),
    /// The last message: the helper could not remove this folder completely.
    Left(OsString),
}

/// Where a message contains the captured bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StreamLocation {
    /// In the next bytes of the payload; the number is the length.
    Here(usize),
    /// In the next file descriptor that was sent with the message. The values are the length and the digest of the
    /// bytes.
    File(u64, u128),
}

/// Number of bytes at the start of a frame that contain the lengths of the message and the payload, 4 bytes each.
pub(crate) const PREFIX_LEN: usize = 8;

/// Encodes a message and its payload as a frame. Descriptors are sent separately.
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

/// Decodes the start of a frame. Returns the length of the message and the length of the payload, in bytes.
pub(crate) fn parse_prefix([a, b, c, d, e, f, g, h]: [u8; PREFIX_LEN]) -> (usize, usize) {
    let length = |bytes| u32::from_le_bytes(bytes) as usize;
    (length([a, b, c, d]), length([e, f, g, h]))
}

/// Maximum number of file descriptors that are sent with one message.
pub(crate) const MAX_FDS: usize = 32;

/// Receives one frame. Returns the message, the payload, and the file descriptors that were sent with them.
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

/// Receives into `bytes`, together with file descriptors. Returns the number of bytes received, and the descriptors.
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
