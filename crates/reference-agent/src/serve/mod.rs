//! `reference-agent serve`: a mock model server, to try agents offline.
//!
//! ```text
//! connection ─▶ http ─▶ api ─▶ prompt ─▶ turn ─▶ api ─▶ connection
//! ```

mod api;
mod behavior;
mod http;
mod prompt;
mod turn;

use agentnative_contract::error::{Error, Result};
use agentnative_output::{Output, StyledText, whole_number};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

/// Maximum number of open connections; others are rejected with 503.
const MAX_CONNECTIONS: usize = 64;

/// Run a mock model server, to test agents offline and without a key.
#[derive(clap::Parser, Debug, Clone, Default)]
#[command(name = "serve", after_help = after_help())]
pub struct ServeArgs {
    /// Port on 127.0.0.1; 0 for a free one.
    #[arg(long, value_name = "PORT", value_parser = whole_number::<u16>(0..=65535), default_value_t = 0)]
    port: u16,
}

fn after_help() -> String {
    format!(
        "It implements OpenAI chat completions and responses, Anthropic messages, and Gemini, with or without streaming. \
The last marker in the prompt selects the answer:
{}

Examples:
  reference-agent serve
  reference-agent serve --port 8080 --output json",
        behavior::help()
    )
}

/// What the server prints when it accepts connections.
#[derive(Serialize)]
struct Listening {
    url: String,
    port: u16,
}

/// A message to the main thread.
enum Notification {
    Signal(i32),
    /// A request was answered. Contains its line for the log.
    Served(String),
}

/// Runs the server until a signal arrives. Returns the exit code, which is 128 + the signal.
pub fn run(args: &ServeArgs, output: &mut Output) -> u8 {
    serve(args, output).unwrap_or_else(|error| {
        output.error(&error);
        error.kind.exit_code()
    })
}

fn serve(args: &ServeArgs, output: &mut Output) -> Result<u8> {
    let failed = |what: &str, error: std::io::Error| Error::general(format!("{what}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| failed(&format!("cannot listen at 127.0.0.1:{}", args.port), error))?;
    let port = listener.local_addr().map_err(|error| failed("no local address", error))?.port();
    let (sender, receiver) = channel();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| failed("cannot listen for signals", error))?;
    let signal_sender = sender.clone();
    let no_thread = |error| failed("cannot start a thread", error);
    let listen = move || {
        for signal in signals.forever() {
            let _ = signal_sender.send(Notification::Signal(signal));
        }
    };
    Builder::new().spawn(listen).map_err(no_thread)?;
    let listening = Listening { url: format!("http://127.0.0.1:{port}"), port };
    output.emit("serve", true, &listening, |page| {
        page.line(0, &[StyledText::plain(format!("listening on {}", listening.url))]);
    })?;
    Builder::new().spawn(move || accept(&listener, &sender)).map_err(no_thread)?;
    for notification in receiver {
        match notification {
            Notification::Signal(signal) => return Ok(u8::try_from(128 + signal).unwrap_or(1)),
            Notification::Served(line) => output.diagnostic(&line),
        }
    }
    Ok(0)
}

/// Accepts connections, and handles each in a thread of its own.
fn accept(listener: &TcpListener, sender: &Sender<Notification>) {
    let connections = Arc::new(());
    for stream in listener.incoming() {
        // A connection that failed early does not affect others.
        let Ok(stream) = stream else { continue };
        if Arc::strong_count(&connections) > MAX_CONNECTIONS {
            let _ = http::write_error(&stream, 503, "too many connections");
            continue;
        }
        let stream = Arc::new(stream);
        let (token, sender, thread_stream) = (Arc::clone(&connections), sender.clone(), Arc::clone(&stream));
        let work = move || {
            handle_connection(&thread_stream, &sender);
            drop(token);
        };
        if Builder::new().spawn(work).is_err() {
            let _ = http::write_error(&stream, 503, "no more threads");
        }
    }
}

/// Reads the only request of a connection, answers it, and sends its line for the log.
fn handle_connection(stream: &TcpStream, sender: &Sender<Notification>) {
    let (line, result) = match http::read_request(stream) {
        Ok(request) => {
            let reply = api::reply(&request);
            let line = format!("{} {} {}", request.method, request.path, reply.summary());
            (line, reply.write(stream))
        }
        Err(error) => {
            let line = format!("{} {}", error.status, error.message);
            (line, http::write_error(stream, error.status, &error.message))
        }
    };
    let suffix = if result.is_err() { " (the client disconnected)" } else { "" };
    let _ = sender.send(Notification::Served(format!("{line}{suffix}")));
}
