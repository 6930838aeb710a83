//! A stream of a run as a recording has it: bytes as text where they are UTF-8, else as base64.

use super::{Captured, Chunk};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io::Read as _;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    bytes: Text,
    chunks: Vec<Chunk>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Text {
    Text(String),
    Base64(String),
}

pub(super) fn serialize<S: Serializer>(captured: &Captured, serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    captured.bytes.reader().read_to_end(&mut bytes).map_err(S::Error::custom)?;
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => Text::Text(text),
        Err(error) => Text::Base64(STANDARD.encode(error.as_bytes())),
    };
    Stream { bytes, chunks: captured.chunks.clone() }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Captured, D::Error> {
    let Stream { bytes, chunks } = Stream::deserialize(deserializer)?;
    let bytes = match bytes {
        Text::Text(text) => text.into_bytes(),
        Text::Base64(text) => STANDARD.decode(text).map_err(D::Error::custom)?,
    };
    Ok(Captured { bytes: bytes.into(), chunks })
}
