//! What the launcher is told, what it answers, and how both go over the socket between us.
//!
//! To the launcher: the length of the plan, the plan in JSON, and with the first byte the three
//! standard descriptors of the target. From the launcher: `R` and how far the sandbox is enforced,
//! just before exec, or `E`, an error number and words. End of file after `R` means that exec happened.

use crate::Enforced;
use crate::protocol::receive_with;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// What the launcher has to do before it becomes the target. Paths are [`OsString`]s: as a `PathBuf`, one
/// that is not UTF-8 cannot be serialised.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub cwd: OsString,
    /// Our process: when it is gone, so is the target.
    pub parent: i32,
    /// Standard output is a terminal, to become that of the session.
    pub terminal: bool,
    /// Folders and files that may be written, when the target is confined.
    pub sandbox: Option<Vec<OsString>>,
    /// Processor time, in seconds.
    pub cpu: u64,
    /// Size of the largest file, in bytes.
    pub file_size: u64,
    /// Number of open files.
    pub open_files: Option<u64>,
    /// Signals to be set back to their defaults, since we were started with them ignored.
    pub ignored: Vec<i32>,
}

impl Plan {
    /// The plan as it goes over the socket.
    pub fn to_wire(&self) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let len = u32::try_from(json.len()).map_err(|_| io::Error::from(Errno::TOOBIG))?;
        Ok([&len.to_le_bytes()[..], &json].concat())
    }

    /// Reads a plan and the three descriptors.
    pub fn receive(mut socket: &UnixStream) -> io::Result<(Self, [OwnedFd; 3])> {
        let mut len = [0; 4];
        let (got, fds) = receive_with(socket, &mut len)?;
        socket.read_exact(&mut len[got..])?;
        let len = usize::try_from(u32::from_le_bytes(len)).map_err(io::Error::other)?;
        let mut json = vec![0; len];
        socket.read_exact(&mut json)?;
        let fds = <[OwnedFd; 3]>::try_from(fds).map_err(|_| io::Error::from(Errno::BADF))?;
        Ok((serde_json::from_slice(&json)?, fds))
    }
}

/// What the launcher answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The target runs.
    Started(Option<Enforced>),
    /// It does not: error number and words.
    Failed(i32, String),
}

impl Answer {
    /// The bytes that stand for "about to exec".
    pub fn ready(enforced: Option<Enforced>) -> [u8; 2] {
        let letter = match enforced {
            None => b'-',
            Some(Enforced::Fully) => b'f',
            Some(Enforced::Partly) => b'p',
            Some(Enforced::Not) => b'n',
        };
        [b'R', letter]
    }

    /// The bytes that stand for a failure.
    pub fn failed(error: &io::Error, doing: &str) -> Vec<u8> {
        let number = error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error());
        let words = match doing {
            "" => words(number),
            doing => format!("{doing}: {}", words(number)),
        };
        [b"E", &number.to_le_bytes()[..], words.as_bytes()].concat()
    }

    /// Reads all that the launcher sent until it closed the socket.
    pub fn read(answer: &[u8]) -> Self {
        match answer {
            [b'R', letter] => Self::Started(match letter {
                b'f' => Some(Enforced::Fully),
                b'p' => Some(Enforced::Partly),
                b'n' => Some(Enforced::Not),
                _ => None,
            }),
            [b'E', a, b, c, d, words @ ..] | [b'R', _, b'E', a, b, c, d, words @ ..] => {
                let number = i32::from_le_bytes([*a, *b, *c, *d]);
                Self::Failed(number, String::from_utf8_lossy(words).into_owned())
            }
            _ => Self::Failed(0, "the launcher ended before it had started the program".into()),
        }
    }
}

/// The operating system's words for an error number.
pub(super) fn words(number: i32) -> String {
    let words = io::Error::from_raw_os_error(number).to_string();
    // The number stands beside the words already.
    words.split(" (os error").next().unwrap_or_default().to_owned()
}
