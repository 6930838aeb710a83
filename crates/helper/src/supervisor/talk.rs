//! The helper's side of the socket: requests are read as they come, replies wait for nobody.

use crate::protocol::{MOST_FDS, PREFIX, Place, Reply, Request, frame, lengths};
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

/// Both directions. Must be called in a `LocalSet`.
pub(super) fn split(socket: std::os::unix::net::UnixStream) -> io::Result<(Requests, Sender)> {
    let (read, write) = UnixStream::from_std(socket)?.into_split();
    let (requested, requests) = unbounded_channel();
    let (replies, to_send) = unbounded_channel();
    spawn_local(read_all(read, requested));
    let writer = spawn_local(write_all(write, to_send));
    Ok((Requests(requests), Sender { replies, writer }))
}

/// What the client asks for.
pub(super) struct Requests(UnboundedReceiver<Request>);

impl Requests {
    /// The next request; none when the client is gone. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Request> {
        self.0.recv().await
    }
}

async fn read_all(mut socket: OwnedReadHalf, requests: UnboundedSender<Request>) {
    while let Ok(request) = read(&mut socket).await {
        if requests.send(request).is_err() {
            return;
        }
    }
}

async fn read(socket: &mut OwnedReadHalf) -> io::Result<Request> {
    let mut prefix = [0; PREFIX];
    socket.read_exact(&mut prefix).await?;
    let (json, behind) = lengths(prefix);
    let mut rest = vec![0; json + behind];
    socket.read_exact(&mut rest).await?;
    let (message, mut bytes) = rest.split_at(json);
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

/// A frame, and the files that go with it.
type Frame = (Vec<u8>, Vec<Arc<File>>);

/// What is sent to the client.
pub(super) struct Sender {
    replies: UnboundedSender<Frame>,
    writer: JoinHandle<()>,
}

impl Sender {
    /// Sends a reply without anything behind it. One that nobody is left to read is lost.
    pub fn send(&self, reply: &Reply) -> io::Result<()> {
        self.replies.send((frame(reply, &[])?, Vec::new())).unwrap_or_default();
        Ok(())
    }

    /// Sends what a run came to.
    pub fn send_done(&self, at: usize, outcome: Outcome) -> io::Result<()> {
        let streams = [&outcome.stdout, &outcome.stderr].map(|stream| stream.bytes.clone());
        let (mut behind, mut files) = (Vec::new(), Vec::new());
        let places = streams.each_ref().map(|bytes| match bytes {
            Bytes::Memory(bytes) => {
                behind.push(&bytes[..]);
                Place::Here(bytes.len())
            }
            Bytes::File { file, len, digest, .. } => {
                files.push(file.clone());
                Place::File(*len, *digest)
            }
        });
        let frame = frame(&Reply::Done(at, outcome.into(), places), &behind)?;
        self.replies.send((frame, files)).unwrap_or_default();
        Ok(())
    }

    /// Waits until all is sent, or nobody is left to read it.
    pub async fn finish(self) {
        drop(self.replies);
        self.writer.await.unwrap_or_default();
    }
}

async fn write_all(socket: OwnedWriteHalf, mut frames: UnboundedReceiver<Frame>) {
    while let Some((frame, files)) = frames.recv().await {
        if write(socket.as_ref(), &frame, files).await.is_err() {
            return;
        }
    }
}

async fn write(socket: &UnixStream, frame: &[u8], mut files: Vec<Arc<File>>) -> io::Result<()> {
    let mut sent = 0;
    while sent < frame.len() {
        let fds: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        socket.writable().await?;
        let step = socket.try_io(Interest::WRITABLE, || send_with(socket, &frame[sent..], &fds));
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

/// Sends the beginning of these bytes, and with it the descriptors; gives how many bytes went.
pub(super) fn send_with(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?)
}
