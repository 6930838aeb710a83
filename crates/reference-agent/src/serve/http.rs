//! HTTP/1.1 with one request per connection, and limits.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The head of a request is at most this long, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// And its body this long.
const MAX_BODY: usize = 32 << 20;
const HEADERS: usize = 128;
/// How long the next bytes of a request, or the reader of an answer, may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Of a request that is refused, so much more is read, for so long.
const MAX_UNREAD: u64 = 1 << 20;
const LINGER: Duration = Duration::from_secs(1);

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    pub body: Vec<u8>,
}

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Refused {
    pub status: u16,
    pub message: String,
}

impl Refused {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::new(408, format!("the request ended early: {error}"))
    }
}

/// What the head says.
struct Head {
    request: Request,
    length: usize,
    chunked: bool,
    /// The client waits for 100 Continue before it sends the body.
    expects: bool,
}

/// Reads the request of a connection.
pub(super) fn read(mut stream: &TcpStream) -> Result<Request, Refused> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    let (mut head, start) = loop {
        if let Some(found) = parse(&bytes)? {
            break found;
        }
        if bytes.len() > MAX_HEAD {
            return Err(Refused::new(431, "the head of the request is too long"));
        }
        more(stream, &mut bytes)?;
    };
    if head.expects {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = bytes.split_off(start);
    if head.chunked {
        head.request.body = chunks(stream, body)?;
        return Ok(head.request);
    }
    if head.length > MAX_BODY {
        return Err(too_long());
    }
    while body.len() < head.length {
        more(stream, &mut body)?;
    }
    body.truncate(head.length);
    head.request.body = body;
    Ok(head.request)
}

fn too_long() -> Refused {
    Refused::new(413, "the body of the request is too long")
}

/// Reads what comes next.
fn more(mut stream: &TcpStream, bytes: &mut Vec<u8>) -> Result<(), Refused> {
    let mut buffer = [0; 16 << 10];
    let count = stream.read(&mut buffer)?;
    if count == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    bytes.extend_from_slice(&buffer[..count]);
    Ok(())
}

/// The head, if it is whole, and where the body begins.
fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Refused> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let status = parsed.parse(bytes).map_err(|error| Refused::new(400, format!("not HTTP: {error}")))?;
    let httparse::Status::Complete(start) = status else { return Ok(None) };
    let header = |name: &str| {
        let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
    };
    let length = header("content-length").map(|length| length.parse()).transpose();
    let length = length.map_err(|_| Refused::new(400, "content-length is not a number"))?;
    let target = parsed.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: Vec::new(),
    };
    let chunked = header("transfer-encoding").is_some_and(|encoding| encoding.ends_with("chunked"));
    let expects = header("expect").is_some_and(|expected| expected == "100-continue");
    Ok(Some((Head { request, length: length.unwrap_or(0), chunked, expects }, start)))
}

/// A body in chunks, of which `bytes` were read.
fn chunks(stream: &TcpStream, mut bytes: Vec<u8>) -> Result<Vec<u8>, Refused> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let parsed = httparse::parse_chunk_size(&bytes[at..]);
        match parsed.map_err(|_| Refused::new(400, "the size of a chunk is not a number"))? {
            httparse::Status::Partial => more(stream, &mut bytes)?,
            httparse::Status::Complete((_, 0)) => return Ok(body),
            httparse::Status::Complete((start, size)) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                if size > MAX_BODY - body.len() {
                    return Err(too_long());
                }
                let (start, end) = (at + start, at + start + size);
                // Its bytes, and the line end behind them.
                while bytes.len() < end + 2 {
                    more(stream, &mut bytes)?;
                }
                body.extend_from_slice(&bytes[start..end]);
                at = end + 2;
            }
        }
    }
}

/// Answers with an error that no provider has.
pub(super) fn refuse(mut stream: &TcpStream, status: u16, message: &str) -> io::Result<()> {
    let body = serde_json::json!({ "error": { "code": status, "message": message } }).to_string();
    let (length, head) = (body.len(), head(status, "application/json"));
    stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // A connection that is closed with bytes unread is reset, and the client loses the answer.
    stream.set_read_timeout(Some(LINGER))?;
    io::copy(&mut stream.take(MAX_UNREAD), &mut io::sink()).map(|_| ())
}

/// The head of an answer, without the empty line at its end.
pub(super) fn head(status: u16, media: &str) -> String {
    let reason = ureq::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let reason = reason.unwrap_or("Error");
    format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {media}\r\nconnection: close\r\n")
}
