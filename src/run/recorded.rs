//! An observation as JSON: bytes as text where they are UTF-8, else as base64.

use super::{Bytes, Captured, Chunk, End, Leftover, Observation, RunKey, Waiting};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::time::Duration;

/// An observation, fit to be written and read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    run: RunKey,
    end: End,
    duration: Duration,
    stdout: Stream,
    stderr: Stream,
    left_behind: Vec<Leftover>,
    held_open: bool,
    waiting: Option<Waiting>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    bytes: Text,
    chunks: Vec<Chunk>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Text {
    Text(String),
    Base64(String),
}

impl Recorded {
    /// The observation, with its streams read.
    ///
    /// # Errors
    /// Those of reading a large stream's temporary file.
    pub fn of(observation: &Observation) -> io::Result<Self> {
        Ok(Self {
            run: observation.key.clone(),
            end: observation.end.clone(),
            duration: observation.duration,
            stdout: Stream::of(&observation.stdout)?,
            stderr: Stream::of(&observation.stderr)?,
            left_behind: observation.left_behind.clone(),
            held_open: observation.held_open,
            waiting: observation.waiting,
        })
    }

    /// The observation again.
    ///
    /// # Errors
    /// Bytes that are no base64.
    pub fn into_observation(self) -> Result<Observation, base64::DecodeError> {
        Ok(Observation {
            key: self.run,
            stdout: self.stdout.into_captured()?,
            stderr: self.stderr.into_captured()?,
            end: self.end,
            duration: self.duration,
            left_behind: self.left_behind,
            held_open: self.held_open,
            waiting: self.waiting,
        })
    }
}

impl Stream {
    fn of(captured: &Captured) -> io::Result<Self> {
        let mut bytes = Vec::new();
        captured.bytes.reader().read_to_end(&mut bytes)?;
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => Text::Text(text),
            Err(error) => Text::Base64(STANDARD.encode(error.as_bytes())),
        };
        Ok(Self { bytes, chunks: captured.chunks.clone() })
    }

    fn into_captured(self) -> Result<Captured, base64::DecodeError> {
        let bytes = match self.bytes {
            Text::Text(text) => text.into_bytes(),
            Text::Base64(text) => STANDARD.decode(text)?,
        };
        Ok(Captured { bytes: Bytes::from(bytes), chunks: self.chunks })
    }
}
