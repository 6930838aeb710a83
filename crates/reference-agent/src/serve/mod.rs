//! `reference-agent serve`: a model server that answers by script, for trying agents offline.
//!
//! ```text
//! connection ─▶ http ─▶ api ─▶ prompt ─▶ turn ─▶ api ─▶ connection
//! ```

mod api;
mod http;
mod prompt;
mod scene;
mod turn;

use agentnative_contract::error::{Error, Result};
use agentnative_output::{Cell, Output, whole_number};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

/// So many connections are answered at a time; others are refused with 503.
const CONNECTIONS: usize = 64;

/// Run a mock model server that agents can be tried with, without a key and offline.
#[derive(clap::Parser, Debug, Clone, Default)]
#[command(name = "serve", after_help = after_help())]
pub struct ServeArgs {
    /// Port on 127.0.0.1; 0 for a free one.
    #[arg(long, value_name = "PORT", value_parser = whole_number::<u16>(0..=65535), default_value_t = 0)]
    port: u16,
}

fn after_help() -> String {
    format!(
        "It speaks OpenAI chat completions and responses, Anthropic messages, and Gemini, streaming or not. The last \
marker in the prompt chooses the answer:
{}

Examples:
  reference-agent serve
  reference-agent serve --port 8080 --output json",
        scene::help()
    )
}

/// What is told when the server listens.
#[derive(Serialize)]
struct Listening {
    url: String,
    port: u16,
}

/// What the main thread hears of.
enum Notification {
    Signal(i32),
    /// A request and how it was answered.
    Served(String),
}

/// Serves until a signal comes; gives the exit code, 128 and the signal.
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
    let of_signals = sender.clone();
    let no_thread = |error| failed("cannot start a thread", error);
    let listen = move || {
        for signal in signals.forever() {
            let _ = of_signals.send(Notification::Signal(signal));
        }
    };
    Builder::new().spawn(listen).map_err(no_thread)?;
    let listening = Listening { url: format!("http://127.0.0.1:{port}"), port };
    output.emit("serve", true, &listening, |page| {
        page.line(0, &[Cell::plain(format!("listening on {}", listening.url))]);
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

/// Answers each connection in a thread of its own.
fn accept(listener: &TcpListener, sender: &Sender<Notification>) {
    let open = Arc::new(());
    for stream in listener.incoming() {
        // A client that goes away early concerns nobody else.
        let Ok(stream) = stream else { continue };
        if Arc::strong_count(&open) > CONNECTIONS {
            let _ = http::refuse(&stream, 503, "too many connections");
            continue;
        }
        let stream = Arc::new(stream);
        let (token, sender, of_thread) = (Arc::clone(&open), sender.clone(), Arc::clone(&stream));
        let work = move || {
            answer(&of_thread, &sender);
            drop(token);
        };
        if Builder::new().spawn(work).is_err() {
            let _ = http::refuse(&stream, 503, "no more threads");
        }
    }
}

/// Answers the one request of a connection.
fn answer(stream: &TcpStream, sender: &Sender<Notification>) {
    let (line, written) = match http::read(stream) {
        Ok(request) => {
            let reply = api::reply(&request);
            let line = format!("{} {} {}", request.method, request.path, reply.summary());
            (line, reply.write(stream))
        }
        Err(refused) => {
            let line = format!("{} {}", refused.status, refused.message);
            (line, http::refuse(stream, refused.status, &refused.message))
        }
    };
    let gone = if written.is_err() { " (the client went away)" } else { "" };
    let _ = sender.send(Notification::Served(format!("{line}{gone}")));
}
