//! A loopback server of our own that answers, stalls, trickles, resets and sends garbage.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How one request is answered.
pub enum Reply {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// Nothing, until the client goes away.
    Stall,
    /// These bytes, and then nothing until the client goes away.
    Then(Vec<u8>),
    /// These bytes, one by one, with a pause before each.
    Trickle(Vec<u8>, Duration),
    /// These bytes, and then a reset.
    Reset(Vec<u8>),
    /// This head, and then a body without end.
    Endless(Vec<u8>),
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub head: String,
    pub body: Value,
}

/// A server that answers one request after another, and then no more.
pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    address: std::net::SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let thread = std::thread::spawn({
            let seen = Arc::clone(&seen);
            move || {
                for reply in replies {
                    let Ok((mut stream, _)) = listener.accept() else { return };
                    let Some(request) = request(&stream) else { return };
                    seen.lock().unwrap().push(request);
                    // A client that goes away early is part of the play.
                    let _ = answer(&mut stream, reply);
                }
            }
        });
        Self { url: format!("http://{address}/v1"), seen, address, thread: Some(thread) }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Wakes the thread when it still waits for somebody.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let mut body = vec![0; length];
    if chunked {
        body = Vec::new();
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else {
        reader.read_exact(&mut body).ok()?;
    }
    Some(Request { head, body: serde_json::from_slice(&body).unwrap() })
}

fn answer(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Bytes(bytes) => stream.write_all(&bytes),
        Reply::Stall => gone(stream),
        Reply::Then(bytes) => stream.write_all(&bytes).and_then(|()| gone(stream)),
        Reply::Trickle(bytes, pause) => {
            stream.set_nodelay(true)?;
            for byte in bytes {
                std::thread::sleep(pause);
                stream.write_all(&[byte])?;
            }
            Ok(())
        }
        Reply::Reset(bytes) => {
            stream.write_all(&bytes)?;
            let now = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&*stream, now).map_err(std::io::Error::from)
        }
        Reply::Endless(head) => {
            stream.write_all(&head)?;
            loop {
                stream.write_all(&[b' '; 64 * 1024])?;
            }
        }
    }
}

fn gone(stream: &mut TcpStream) -> std::io::Result<()> {
    std::io::copy(stream, &mut std::io::sink()).map(|_| ())
}

/// An answer with this status, these headers and this body.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// An answer: these words.
pub fn text_reply(text: &str, usage: Option<(u64, u64)>) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    Reply::Bytes(completion(message, usage))
}

/// An answer: these tool calls.
pub fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(n, (name, args))| {
            json!({"id": format!("c{n}"), "type": "function", "function": {"name": name, "arguments": args.to_string()}})
        })
        .collect();
    Reply::Bytes(completion(json!({"role": "assistant", "content": null, "tool_calls": calls}), Some((5, 6))))
}

fn completion(message: Value, usage: Option<(u64, u64)>) -> Vec<u8> {
    let mut body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    if let Some((input, output)) = usage {
        body["usage"] = json!({"prompt_tokens": input, "completion_tokens": output});
    }
    http("200 OK", "content-type: application/json\r\n", &body.to_string())
}

/// A stream of these events.
pub fn stream(events: &[&str]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{head}{events}").into_bytes()
}

/// An event with the next words.
pub fn delta(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}).to_string()
}

/// The event that ends an answer.
pub const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
