//! A loopback server that answers, stalls, trickles, resets and sends invalid responses.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How one request is answered.
pub enum Reply {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Sends nothing until the client disconnects.
    Stall,
    /// Sends these bytes, then nothing until the client disconnects.
    ThenStall(Vec<u8>),
    /// Sends these bytes one by one, with a pause before each.
    Trickle(Vec<u8>, Duration),
    /// Sends these bytes and resets the connection.
    Reset(Vec<u8>),
    /// Sends this head and an infinite body.
    Endless(Vec<u8>),
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    pub head: String,
    pub body: Value,
}

/// A server that answers one request per reply, in order.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    address: std::net::SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let thread = std::thread::spawn({
            let requests = Arc::clone(&requests);
            move || {
                for reply in replies {
                    let Ok((mut stream, _)) = listener.accept() else { return };
                    let Some(request) = read_request(&stream) else { return };
                    requests.lock().unwrap().push(request);
                    // Some tests expect the client to disconnect early.
                    let _ = answer(&mut stream, reply);
                }
            }
        });
        Self { url: format!("http://{address}/v1"), requests, address, thread: Some(thread) }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Wakes the thread if it still waits for a connection.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_request(stream: &TcpStream) -> Option<Request> {
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
        Reply::Stall => wait_for_disconnect(stream),
        Reply::ThenStall(bytes) => stream.write_all(&bytes).and_then(|()| wait_for_disconnect(stream)),
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

fn wait_for_disconnect(stream: &mut TcpStream) -> std::io::Result<()> {
    std::io::copy(stream, &mut std::io::sink()).map(|_| ())
}

/// Returns a response with this status, these headers and this body.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// Returns a completion with this text.
pub fn text_reply(text: &str, usage: Option<(u64, u64)>) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    Reply::Bytes(completion(message, usage))
}

/// Returns a completion with these tool calls.
pub fn call_reply(calls: &[(&str, Value)]) -> Reply {
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

/// Returns a response that streams these events.
pub fn stream(events: &[&str]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{head}{events}").into_bytes()
}

/// Returns an event with the next part of the text.
pub fn delta(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}).to_string()
}

/// An event with a finish reason.
pub const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
