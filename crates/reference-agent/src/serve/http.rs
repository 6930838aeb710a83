//! Reads and writes HTTP/1.1, with one request per connection and with limits on size and time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Maximum size of the body of a request, in bytes.
const MAX_BODY: usize = 32 << 20;
const MAX_HEADERS: usize = 128;
/// Timeout of each read from and write to a connection.
const IO_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of bytes of a request that are read and discarded after an error response.
const MAX_DISCARDED: u64 = 1 << 20;
/// Timeout of each read of bytes that are discarded.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Request {
    pub method: String,
    /// Path of the URL, without the query.
    pub path: String,
    pub query: String,
    pub body: Vec<u8>,
}

/// Why a request is invalid: the HTTP status and the message of the error response.
#[derive(Debug)]
pub(super) struct RequestError {
    pub status: u16,
    pub message: String,
}

impl RequestError {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<io::Error> for RequestError {
    fn from(error: io::Error) -> Self {
        Self::new(408, format!("the request ended early: {error}"))
    }
}

/// The parsed head of a request: its first line and its headers.
struct Head {
    request: Request,
    content_length: usize,
    chunked: bool,
    /// Whether the client waits for the status `100 Continue` before it sends the body.
    expects_continue: bool,
}

/// Reads the only request of a connection, including its body.
pub(super) fn read_request(mut stream: &TcpStream) -> Result<Request, RequestError> {
    stream.set_read_timeout(Some(IO_TIMEOUT))?;
    stream.set_write_timeout(Some(IO_TIMEOUT))?;
    let mut bytes = Vec::new();
    let (mut head, body_start) = loop {
        if let Some(found) = parse_head(&bytes)? {
            break found;
        }
        if bytes.len() > MAX_HEAD {
            return Err(RequestError::new(431, "the head of the request is too long"));
        }
        read_more(stream, &mut bytes)?;
    };
    if head.expects_continue {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = bytes.split_off(body_start);
    if head.chunked {
        head.request.body = read_chunks(stream, body)?;
        return Ok(head.request);
    }
    if head.content_length > MAX_BODY {
        return Err(too_long());
    }
    while body.len() < head.content_length {
        read_more(stream, &mut body)?;
    }
    body.truncate(head.content_length);
    head.request.body = body;
    Ok(head.request)
}

fn too_long() -> RequestError {
    RequestError::new(413, "the body of the request is too long")
}

/// Reads the next bytes of the stream and appends them to `bytes`. Fails at the end of the stream.
fn read_more(mut stream: &TcpStream, bytes: &mut Vec<u8>) -> Result<(), RequestError> {
    let mut buffer = [0; 16 << 10];
    let count = stream.read(&mut buffer)?;
    if count == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    bytes.extend_from_slice(&buffer[..count]);
    Ok(())
}

/// Parses the head of a request. Returns it with the offset of the body in `bytes`; `None` if the head is not complete
/// yet.
fn parse_head(bytes: &[u8]) -> Result<Option<(Head, usize)>, RequestError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let status = parsed.parse(bytes).map_err(|error| RequestError::new(400, format!("not HTTP: {error}")))?;
    let httparse::Status::Complete(body_start) = status else { return Ok(None) };
    let header = |name: &str| {
        let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
    };
    let length = header("content-length").map(|length| length.parse()).transpose();
    let length = length.map_err(|_| RequestError::new(400, "content-length is not a number"))?;
    let target = parsed.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: Vec::new(),
    };
    let chunked = header("transfer-encoding").is_some_and(|encoding| encoding.ends_with("chunked"));
    let expects_continue = header("expect").is_some_and(|expected| expected == "100-continue");
    let head = Head { request, content_length: length.unwrap_or(0), chunked, expects_continue };
    Ok(Some((head, body_start)))
}

/// Reads a body with chunked encoding. `bytes` is the part of the body that was already read.
fn read_chunks(stream: &TcpStream, mut bytes: Vec<u8>) -> Result<Vec<u8>, RequestError> {
    let (mut body, mut offset) = (Vec::new(), 0);
    loop {
        let parsed = httparse::parse_chunk_size(&bytes[offset..]);
        match parsed.map_err(|_| RequestError::new(400, "the size of a chunk is not a number"))? {
            httparse::Status::Partial => read_more(stream, &mut bytes)?,
            httparse::Status::Complete((_, 0)) => return Ok(body),
            httparse::Status::Complete((start, size)) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                if size > MAX_BODY - body.len() {
                    return Err(too_long());
                }
                let (start, end) = (offset + start, offset + start + size);
                // A line break follows the chunk.
                while bytes.len() < end + 2 {
                    read_more(stream, &mut bytes)?;
                }
                body.extend_from_slice(&bytes[start..end]);
                offset = end + 2;
            }
        }
    }
}

/// Writes an error response in a general form. It is for errors that are detected before the API is known.
pub(super) fn write_error(mut stream: &TcpStream, status: u16, message: &str) -> io::Result<()> {
    let body = serde_json::json!({ "error": { "code": status, "message": message } }).to_string();
    let (length, head) = (body.len(), head(status, "application/json"));
    stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // Closing a connection with unread bytes resets it, and the client loses the response.
    stream.set_read_timeout(Some(DISCARD_TIMEOUT))?;
    io::copy(&mut stream.take(MAX_DISCARDED), &mut io::sink()).map(|_| ())
}

/// Returns the head of a response. The final empty line is left out, so that headers can be added.
pub(super) fn head(status: u16, media_type: &str) -> String {
    let reason = ureq::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let reason = reason.unwrap_or("Error");
    format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {media_type}\r\nconnection: close\r\n")
}
