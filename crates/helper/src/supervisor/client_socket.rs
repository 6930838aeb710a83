//! The supervisor's end of the socket to the client: reads requests as they arrive, and sends replies without blocking.

use crate::protocol::{MAX_FDS, PREFIX_LEN, Reply, Request, StreamLocation, frame, parse_prefix};
use crate::{Bytes, Outcome, Template};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_local};

/// Splits the socket to the client into a receiver of requests and a sender of replies. Must be called in a `LocalSet`.
pub(super) fn split(socket: std::os::unix::net::UnixStream) -> io::Result<(Requests, Sender)> {
    let (read, write) = UnixStream::from_std(socket)?.into_split();
    let (requested, requests) = unbounded_channel();
    let (replies, to_send) = unbounded_channel();
    spawn_local(read_requests(read, requested));
    let writer = spawn_local(write_frames(write, to_send));
    Ok((Requests(requests), Sender { replies, writer }))
}

/// Receives the requests of the client.
pub(super) struct Requests(UnboundedReceiver<Request>);

impl Requests {
    /// Returns the next request; `None` when the client is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Request> {
        self.0.recv().await
    }
}

async fn read_requests(mut socket: OwnedReadHalf, requests: UnboundedSender<Request>) {
    while let Ok(request) = read_request(&mut socket).await {
        if requests.send(request).is_err() {
            return;
        }
    }
}

async fn read_request(socket: &mut OwnedReadHalf) -> io::Result<Request> {
    let mut prefix = [0; PREFIX_LEN];
    socket.read_exact(&mut prefix).await?;
    let (message_len, payload_len) = parse_prefix(prefix);
    let mut rest = vec![0; message_len + payload_len];
    socket.read_exact(&mut rest).await?;
    let (message, mut bytes) = rest.split_at(message_len);
    let mut request = serde_json::from_slice(message)?;
    let mut take = |len: usize| {
        let (its, others) = bytes.split_at_checked(len).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes = others;
        io::Result::Ok(its)
    };
    match &mut request {
        Request::Run(jobs) => {
            for (job, stdin) in jobs {
                job.stdin = stdin.map(&mut take).transpose()?.map(Into::into);
            }
        }
        Request::Keep(Template::Files(files), lens) => {
            for (file, len) in files.iter_mut().zip(lens) {
                file.bytes = take(*len)?.into();
            }
        }
        _ => {}
    }
    Ok(request)
}

/// An encoded frame, and the files whose descriptors are sent with it.
type Frame = (Vec<u8>, Vec<Arc<File>>);

/// Sends replies to the client.
pub(super) struct Sender {
    replies: UnboundedSender<Frame>,
    writer: JoinHandle<()>,
}

impl Sender {
    /// Queues a reply without a payload. The reply is lost if the client is gone.
    pub fn send(&self, reply: &Reply) -> io::Result<()> {
        self.replies.send((frame(reply, &[])?, Vec::new())).unwrap_or_default();
        Ok(())
    }

    /// Queues the outcome of the run or service with this index, together with the bytes of its streams.
    pub fn send_outcome(&self, index: usize, outcome: Outcome) -> io::Result<()> {
        let streams = [&outcome.stdout, &outcome.stderr].map(|stream| stream.bytes.clone());
        let (mut payload, mut files) = (Vec::new(), Vec::new());
        let locations = streams.each_ref().map(|bytes| match bytes {
            Bytes::Memory(bytes) => {
                payload.push(&bytes[..]);
                StreamLocation::Here(bytes.len())
            }
            Bytes::File { file, len, digest, .. } => {
                files.push(file.clone());
                StreamLocation::File(*len, *digest)
            }
        });
        let frame = frame(&Reply::Done(index, outcome.into(), locations), &payload)?;
        self.replies.send((frame, files)).unwrap_or_default();
        Ok(())
    }

    /// Waits until all replies are sent, or the client is gone.
    pub async fn finish(self) {
        drop(self.replies);
        self.writer.await.unwrap_or_default();
    }
}

async fn write_frames(socket: OwnedWriteHalf, mut frames: UnboundedReceiver<Frame>) {
    while let Some((frame, files)) = frames.recv().await {
        if write_frame(socket.as_ref(), &frame, files).await.is_err() {
            return;
        }
    }
}

async fn write_frame(socket: &UnixStream, frame: &[u8], mut files: Vec<Arc<File>>) -> io::Result<()> {
    let mut sent = 0;
    while sent < frame.len() {
        let fds: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        socket.writable().await?;
        let step = socket.try_io(Interest::WRITABLE, || send_with_fds(socket, &frame[sent..], &fds));
        drop(fds);
        match step {
            Ok(n) => {
                sent += n;
                files.clear();
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends as many of `bytes` as possible, and the descriptors with them. Returns the number of bytes sent.
pub(super) fn send_with_fds(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?)
}
